"""Searching all schedules of a group's commits, for the shortest one that breaks a promise."""

from kafkalearn.zookeeper.commits.search.find import MOVES, find

__all__ = ["MOVES", "find"]
