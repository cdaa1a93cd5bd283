"""Tests of kafkalearn.consuming.truncation."""
