"""Consumers of one group, which commit and crash."""

from kafkalearn.live.conform.mechanisms.commits.crashes import CRASHES

__all__ = ["CRASHES"]
