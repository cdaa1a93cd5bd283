"""Kafka's requests, sent as they are: layouts, connections, error codes."""
