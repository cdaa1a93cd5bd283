"""A coordinator's load of its partition: what it reads and keeps, its time, and the cleaner at the same log."""

from kafkalearn.operations.loading.size import LoadSize, Rate, load_seconds, load_size

__all__ = ["LoadSize", "Rate", "load_seconds", "load_size"]
