"""Kafka's bytes: layouts of messages, records and batches, segment files, and what lies in a broker's directory."""
