"""Tests of kafkalearn.spark.operations."""
