"""Tests of kafkalearn.operations.leadership."""
