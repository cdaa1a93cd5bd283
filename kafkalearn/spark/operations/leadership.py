"""Leaders, load and moved bytes of a cluster's partitions as queries: those of `kafkalearn.operations.leadership`.

*Partitions* are rows ``topic``, ``partition``, ``replicas`` (the preferred leader first), ``isr``, ``leader`` (null:
nobody leads), ``size_bytes``; a *plan* has ``topic``, ``partition``, ``replicas``. All is Spark's own expressions.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import iterable, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.leadership.state import Led
from kafkalearn.operations.reassignment.plan import Target
from kafkalearn.spark.columns.checks import require

PARTITION_SCHEMA = "topic STRING, partition INT, replicas ARRAY<INT>, isr ARRAY<INT>, leader INT, size_bytes BIGINT"
PLAN_SCHEMA = "topic STRING, partition INT, replicas ARRAY<INT>"
PLACE = ["topic", "partition"]
IDS = ("array<int>",)


def partition_rows(spark: SparkSession, partitions: Iterable[Led]) -> DataFrame:
    """The partitions of a simulator's state as rows."""
    rows = [
        (each.topic, each.partition, [*each.replicas], [*each.isr], each.leader, each.size_bytes) for each in partitions
    ]
    return spark.createDataFrame(rows, PARTITION_SCHEMA)


def plan_rows(spark: SparkSession, plan: Iterable[Target]) -> DataFrame:
    """A plan as rows."""
    return spark.createDataFrame([(each.topic, each.partition, [*each.replicas]) for each in plan], PLAN_SCHEMA)


def with_leader_without(partitions: DataFrame, dead: Iterable[int] = ()) -> DataFrame:
    """The partitions with the leaders they would have if some brokers were dead; null: nobody.

    The present leader stays if it lives; else the first replica that is in sync and lives leads.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import partition_of
    >>> from kafkalearn.spark.session import get_spark
    >>> partitions = partition_rows(get_spark(), [partition_of("orders", 0, [1, 2]), partition_of("orders", 1, [2, 1])])
    >>> [row.leader for row in partitions.transform(with_leader_without, dead=[1]).orderBy("partition").collect()]
    [2, 2]
    """
    _require_partitions(partitions)
    return partitions.withColumn("leader", _leader_without(_ids("dead", dead)))


def _leader_without(dead: tuple[int, ...]) -> Column:
    def lives(broker_id: Column) -> Column:
        in_sync = sf.array_contains("isr", broker_id)
        return in_sync & ~broker_id.isin(*dead) if dead else in_sync

    alive = sf.filter("replicas", lives)
    stays = sf.coalesce(sf.array_contains(alive, sf.col("leader")), sf.lit(False))
    return sf.when(stays, sf.col("leader")).otherwise(sf.try_element_at(alive, sf.lit(1)))


def load_without(partitions: DataFrame, dead: Iterable[int] = ()) -> DataFrame:
    """What every broker that is left carries while others are dead.

    Returns
    -------
    DataFrame
        ``broker_id``, ``leader_count``, ``led_bytes``, ``replica_count``, ``replica_bytes``.
    """
    gone = _ids("dead", dead)
    led = partitions.transform(with_leader_without, dead=gone)
    held = led.select(sf.explode("replicas").alias("broker_id"), "leader", "size_bytes")
    is_led = sf.coalesce(sf.col("leader") == sf.col("broker_id"), sf.lit(False))
    left = held.where(~sf.col("broker_id").isin(*gone)) if gone else held
    return left.groupBy("broker_id").agg(
        sf.count_if(is_led).alias("leader_count"),
        sf.sum(sf.when(is_led, sf.col("size_bytes")).otherwise(0)).alias("led_bytes"),
        sf.count("*").alias("replica_count"),
        sf.sum("size_bytes").alias("replica_bytes"),
    )


def moved_bytes(partitions: DataFrame, plan: DataFrame) -> DataFrame:
    """What each broker receives, sends and may delete for a plan; brokers that do nothing are left out.

    Lines of the plan for partitions that are not there, or that nobody leads, are left out as well: count them with an
    anti join first. `kafkalearn.operations.leadership.moved_bytes` refuses them.

    Returns
    -------
    DataFrame
        ``broker_id``, ``in_bytes``, ``out_bytes``, ``deleted_bytes``.
    """
    _require_partitions(partitions)
    require(plan, "replicas", IDS, "see plan_rows")
    both = partitions.where("leader IS NOT NULL").join(plan.withColumnRenamed("replicas", "target"), PLACE)
    came, went = sf.array_except("target", "replicas"), sf.array_except("replicas", "target")
    nothing = sf.lit(0).cast("bigint")
    size = sf.col("size_bytes")
    parts = (
        both.select(sf.explode(came).alias("broker_id"), size.alias("i"), nothing.alias("o"), nothing.alias("d")),
        both.where(sf.size(came) > 0).select(
            sf.col("leader").alias("broker_id"),
            nothing.alias("i"),
            (size * sf.size(came)).alias("o"),
            nothing.alias("d"),
        ),
        both.select(sf.explode(went).alias("broker_id"), nothing.alias("i"), nothing.alias("o"), size.alias("d")),
    )
    added, sent, deleted = parts
    return (
        added.unionByName(sent)
        .unionByName(deleted)
        .groupBy("broker_id")
        .agg(sf.sum("i").alias("in_bytes"), sf.sum("o").alias("out_bytes"), sf.sum("d").alias("deleted_bytes"))
    )


def move_seconds(moved: DataFrame, throttle_bytes_per_s: int, produced_bytes_per_s: int = 0) -> DataFrame:
    """How long a plan takes under a throttle: one row, ``seconds``; null: never, as producers write more meanwhile."""
    rate = whole_number("throttle_bytes_per_s", throttle_bytes_per_s, at_least=1)
    left = rate - whole_number("produced_bytes_per_s", produced_bytes_per_s, at_least=0)
    busiest = sf.coalesce(sf.max(sf.greatest("in_bytes", "out_bytes")), sf.lit(0))
    seconds = busiest / sf.lit(left) if left > 0 else sf.when(busiest == 0, sf.lit(0.0))
    return moved.agg(seconds.cast("double").alias("seconds"))


def _require_partitions(partitions: DataFrame) -> None:
    for column, types in (("replicas", IDS), ("isr", IDS), ("leader", ("int",)), ("size_bytes", ("bigint",))):
        require(partitions, column, types, "see kafkalearn.spark.operations.leadership.partition_rows")


def _ids(name: str, broker_ids: Iterable[int]) -> tuple[int, ...]:
    given = iterable(name, broker_ids, of="broker ids")
    try:
        return tuple(sorted({whole_number(name, each, at_least=0) for each in given}))
    except TypeError:
        raise KafkaLearnError(f"{name} must be broker ids, whole numbers") from None
