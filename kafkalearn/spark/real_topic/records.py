"""The records that chapter 14 sends to a real topic: orders with keys, and commits that the simulator has encoded."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.offsets.store import Commit, DeleteGroup, Settings, simulate

OFFSETS_TOPIC = "__consumer_offsets"
ORDER_COUNT, CUSTOMER_COUNT = 300, 40
COMMITTED_MS = 1_700_000_000_000


def shop_orders(spark: SparkSession) -> DataFrame:
    """300 orders of 40 customers, ``key`` and ``value``, both text."""
    number = sf.col("id").cast("string")
    customer = (sf.col("id") % CUSTOMER_COUNT).cast("string")
    return spark.range(ORDER_COUNT).select(
        sf.concat(sf.lit("user-"), customer).alias("key"), sf.concat(sf.lit("order "), number).alias("value")
    )


def simulated_commits(spark: SparkSession) -> DataFrame:
    """What the coordinator's simulator has written for two groups, one of them deleted: ``key``, ``value``, bytes."""
    events = [Commit(group, "orders", number, 10 * number, COMMITTED_MS) for group in ("a", "b") for number in range(3)]
    log = simulate(Settings(), [*events, DeleteGroup("b")])[-1].state.log
    rows = [(entry.key, entry.value) for entry in log]
    return spark.createDataFrame(rows, "key binary, value binary").coalesce(1)  # one writer keeps the order
