"""The stages of "Build your own coordinator": the requests of each, and the script that records a real Kafka's answers."""
