"""The settings of a log with a reader: those of the log."""

from kafkalearn.log.settings import Settings

__all__ = ["Settings"]
