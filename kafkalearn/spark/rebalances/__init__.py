"""Thousands of rebalances on Spark, each given to every assignor."""

from kafkalearn.spark.rebalances.costs import COMPARED, random_rebalances, rebalance_costs

__all__ = [
    "COMPARED",
    "random_rebalances",
    "rebalance_costs",
]
