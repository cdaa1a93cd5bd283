"""The rules as Spark queries, and a Spark session to run them in; the only folder that imports pyspark.

A rule takes and returns DataFrames, so that ``df.transform(with_partition, 12)`` reads like a step of a pipeline.
Records have the columns of Spark's Kafka source (``key`` and ``value`` as binary, ``topic``, ``partition``,
``offset``, ``timestamp``, ``timestampType``), so the same query reads a real topic.

Rules, by their subject:

- `kafkalearn.spark.coordinator`: group id -> offsets partition -> broker
- `kafkalearn.spark.partitioning`: key -> partition, by each client's rule; what another number of partitions changes
- `kafkalearn.spark.rebalances`: thousands of rebalances by every assignor, what they cost, and how long they take
- `kafkalearn.spark.group_logs`: the logs of coordinators -> rebalances -> how long groups stood still, and why
- `kafkalearn.spark.remedies`: the rebalances of a log -> what each change of settings would have saved of them
- `kafkalearn.spark.server_logs`: the lines of brokers' logs -> the logs of coordinators
- `kafkalearn.spark.lag`: the lag of groups by partition, by member and over time; partitions that go to another member;
  many consumers, pulled from a log or pushed to
- `kafkalearn.spark.delivery`: what was acknowledged, against what the log holds; what crashes lose and double, by
  commit strategy
- `kafkalearn.spark.bursts`: bursts of sends, cut off: what seven producers send again, and what their leader writes
- `kafkalearn.spark.offsets`: raw records and segment files of the offsets topic -> the state and lag of groups,
  and how far each commit moves its own
- `kafkalearn.spark.share_states`: raw records of the share groups' topic -> states of share-partitions, and their lag
- `kafkalearn.spark.compaction`: what the cleaner leaves of a log; which segments are deleted, and by which rule
- `kafkalearn.spark.replication`: the fetches that leaders saw -> LEO, HW and ISR of thousands of partitions
- `kafkalearn.spark.real_topic`: topics of a real Kafka, read, streamed and written; topics that were recorded
- `kafkalearn.spark.company`: a million orders and ten thousand groups' commits on a real broker, or made again
- `kafkalearn.spark.waiting`: how long writes with acks=all and fetches wait; timers in wheels
- `kafkalearn.spark.operations`, `kafkalearn.spark.faults`: leaders, load and moves of a cluster; faults in its logs
- `kafkalearn.spark.plans`: plans for many clusters: what they copy, how long it takes under a throttle, racks
- `kafkalearn.spark.zookeeper`: old consumers: their fetchers, and their commits to both stores
- `kafkalearn.spark.agreement`, `kafkalearn.spark.unread`: how long a group of theirs takes to agree; how long
  partitions have no reader

For SQL and for expressions:

- `kafkalearn.spark.register`: ``offsets_partition`` and ``kafka_partition`` in a session's SQL
- `kafkalearn.spark.functions`: the same as functions of columns

What they share:

- `kafkalearn.spark.session`: `get_spark`, a session here or on your cluster; whether it works; how far a job is; the
  one way in which our code gets to Spark's workers
- `kafkalearn.spark.columns`: columns checked, rows counted by partition, Java's own functions
- `kafkalearn.spark.data`: group ids, keys, orders, logs and records by the million, the same from the same seed
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkalearn.base.errors import KafkaLearnError, require

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["register"]

SUPPORTED = ("4.1", "4.2", "4.3")
"""The lines of Spark's releases that all rules are tried on, the oldest first."""

require(__name__, "pyspark", "pyarrow", "numpy")

from pyspark import __version__ as _version  # noqa: E402

if tuple(map(int, _version.split(".")[:2])) < tuple(map(int, SUPPORTED[0].split("."))):
    raise KafkaLearnError(
        f"{__name__} is for Spark {SUPPORTED[0]} to {SUPPORTED[-1]}, this is PySpark {_version}, which lacks what the "
        "rules are made of; on a cluster choose a runtime with Spark 4.1 or newer, elsewhere "
        "pip install 'kafkalearn[spark]' (kafkalearn itself, its simulators and its command need no Spark)"
    )


def register(spark: SparkSession) -> None:
    """Let a session's SQL call ``offsets_partition`` and ``kafka_partition``: `kafkalearn.spark.functions.register`."""
    from kafkalearn.spark import functions  # not before it is asked for: it imports rules, which import this package

    functions.register(spark)
