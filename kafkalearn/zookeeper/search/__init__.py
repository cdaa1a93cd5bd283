"""Searching all schedules of a few old consumers: the split brain and the herd, found and handed back to be played."""

from kafkalearn.zookeeper.search.find import BEGINNINGS, find
from kafkalearn.zookeeper.search.herd import HerdCost, find_herd, herd, herd_costs

__all__ = ["BEGINNINGS", "HerdCost", "find", "find_herd", "herd", "herd_costs"]
