"""The settings of a partition and its requests are those of its replication."""

from kafkalearn.replication.settings import Settings

__all__ = ["Settings"]
