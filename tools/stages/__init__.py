"""The stages of "Build your own coordinator": the requests of each, and what records a real Kafka's answers."""
