"""Thousands of rebalances on Spark, each by every assignor."""

from kafkalearn.spark.rebalances.costs import COMPARED, random_rebalances, rebalance_costs

__all__ = [
    "COMPARED",
    "random_rebalances",
    "rebalance_costs",
]
