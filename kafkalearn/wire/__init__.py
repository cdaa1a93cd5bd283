"""Kafka's binary forms: how a layout is written down, and how bytes are read and written by it."""
