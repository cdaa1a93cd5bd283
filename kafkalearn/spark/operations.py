"""A cluster's work over millions of records: the incident of the offsets topic, leaders, load and moved bytes.

*Records* are those of ``__consumer_offsets``, with the columns of Spark's Kafka source
(`kafkalearn.spark.data.groups`): each step of the incident is measured over them, and what the load of each partition
reads and keeps, before and after cleaning.

*Partitions* are rows ``topic``, ``partition``, ``replicas`` (the preferred leader first), ``isr``, ``leader`` (null:
nobody leads), ``size_bytes``; a *plan* has ``topic``, ``partition``, ``replicas``. The queries are those of
`kafkalearn.operations.leadership`. All is Spark's own expressions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import iterable, sequence, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.rule import OFFSETS_PARTITION_COUNT
from kafkalearn.log.model import RUNNING, UNCLEANABLE
from kafkalearn.operations.incident import BACK, BROKERS, FULL, GROWING, Stage, topic_stages
from kafkalearn.operations.leadership import Led
from kafkalearn.operations.loading import MEASURED, Rate
from kafkalearn.operations.placement import Placement
from kafkalearn.operations.reassignment import Target
from kafkalearn.spark.columns import BYTES, NUMBERS, TEXT, rule
from kafkalearn.spark.compaction import compact
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.faults import as_findings, find_faults
from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.state import latest_state
from kafkalearn.spark.plans import broker_moves

__all__ = [
    "as_findings",
    "find_faults",
]

HEADER_BYTES = 7  # a record's own fields, about; batches and compression are left out


_RECORDS = {"key": BYTES, "value": BYTES, "partition": ("int",), "offset": ("bigint",)}
_FROM_SOURCE = "records have the columns of Spark's Kafka source"


@rule(_RECORDS, remedy=_FROM_SOURCE)
def sizes(records: DataFrame, has_cleaner: bool = True) -> DataFrame:
    """How large each partition is, cleaned or not: ``partition``, ``record_count``, ``size_bytes``.

    Not cleaned it is what the dead cleaner leaves; cleaned, one pass over all of it. What is kept is a row for each
    partition, and what `compact` keeps where the cleaner runs.

    Examples
    --------
    >>> from kafkalearn.spark.data.groups import offsets_records
    >>> from kafkalearn.spark.session import get_spark
    >>> records = offsets_records(get_spark(), "small")
    >>> left, grown = (sizes(records, has).agg({"record_count": "sum"}).first()[0] for has in (True, False))
    >>> left < grown == 100_000
    True
    """
    kept = compact(records) if has_cleaner else records
    length = sf.coalesce(sf.length("key"), sf.lit(0)) + sf.coalesce(sf.length("value"), sf.lit(0)) + HEADER_BYTES
    return kept.groupBy("partition").agg(
        sf.count("*").alias("record_count"), sf.sum(length.cast("bigint")).alias("size_bytes")
    )


@rule({"group_id": TEXT}, remedy="a group id is text: cast it")
def without_coordinator(groups: DataFrame, placement: Placement, dead: Sequence[int]) -> DataFrame:
    """The groups that no broker coordinates when these brokers are dead, each with its partition.

    Parameters
    ----------
    groups : DataFrame
        A string column ``group_id``.
    placement : sequence of sequence of int
        The replicas of each partition of the offsets topic, all in sync.
    dead : sequence of int
        Ids of brokers.

    Returns
    -------
    DataFrame
        ``group_id``, ``offsets_partition``. Row by row: nothing is kept.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame([("billing",), ("shipping",)], "group_id string")
    >>> without_coordinator(groups, [(1,), (2,), (3,)] * 16 + [(1,), (2,)], dead=[3]).show()
    +--------+-----------------+
    |group_id|offsets_partition|
    +--------+-----------------+
    |shipping|                8|
    +--------+-----------------+
    """
    gone = [partition for partition, replicas in enumerate(placement) if {*replicas} <= {*dead}]
    placed = groups.select("group_id").transform(with_offsets_partition, partition_count=len(placement))
    return placed.where(sf.col("offsets_partition").isin(gone))


def measure(records: DataFrame, groups: DataFrame) -> tuple[Stage, ...]:
    """The seven stages of `kafkalearn.operations.incident`, measured: all partitions of the topic, and all groups.

    Its rows come to this Python: one for each stage.

    Parameters
    ----------
    records : DataFrame
        Raw records of the offsets topic, with the columns of Spark's Kafka source.
    groups : DataFrame
        A string column ``group_id``.

    Returns
    -------
    tuple of Stage
        `record_count` and `size_bytes` are those of one replica of the whole topic. *Healthy* is what a cleaner that
        never stopped would have left of the same records.

    Examples
    --------
    >>> from kafkalearn.spark.data.datasets import group_ids
    >>> from kafkalearn.spark.data.groups import offsets_records
    >>> from kafkalearn.spark.session import get_spark
    >>> stages = measure(offsets_records(get_spark(), "small"), group_ids(get_spark(), "small"))
    >>> [stage.record_count for stage in stages if stage.name in ("disk full, broker dead", "broker back")]
    [100000, 100000]
    """
    total = [sf.sum("record_count"), sf.sum("size_bytes")]
    grown, cleaned = (tuple(row) for has in (False, True) for row in sizes(records, has).agg(*total).collect())
    states = {GROWING: UNCLEANABLE, FULL: UNCLEANABLE}
    stages = []
    for name, topic in topic_stages().items():
        dead = [each for each in BROKERS if each not in topic.live]
        lost = groups.transform(without_coordinator, topic.replicas, dead=dead).count() if topic.leaderless else 0
        record_count, size_bytes = grown if name in (GROWING, FULL, BACK) else cleaned
        cleaner = states.get(name, RUNNING)
        stages.append(Stage(name, record_count, size_bytes, cleaner, len(topic.replicas[0]), lost))
    return tuple(stages)


@rule({"partition": NUMBERS, "size_bytes": NUMBERS}, remedy="give what sizes returns")
def bytes_to_copy(of_partitions: DataFrame, before: Placement, after: Placement) -> DataFrame:
    """What a reassignment copies to each broker: ``broker``, ``partition_count``, ``size_bytes``.

    What is kept is a row for each replica that is added: it comes from this Python.

    Parameters
    ----------
    of_partitions : DataFrame
        ``partition`` and ``size_bytes``, as `sizes` makes them.
    before, after : sequence of sequence of int
        The replicas of each partition.
    """
    added = [
        (partition, broker)
        for partition, (old, new) in enumerate(zip(before, after, strict=True))
        for broker in new
        if broker not in old
    ]
    spark = of_partitions.sparkSession
    copies = spark.createDataFrame(added, "partition INT, broker INT")
    return (
        copies.join(of_partitions, "partition")
        .groupBy("broker")
        .agg(sf.count("*").alias("partition_count"), sf.sum("size_bytes").alias("size_bytes"))
    )


PARTITION_SCHEMA = "topic STRING, partition INT, replicas ARRAY<INT>, isr ARRAY<INT>, leader INT, size_bytes BIGINT"
PLAN_SCHEMA = "topic STRING, partition INT, replicas ARRAY<INT>"
PLACE = ["topic", "partition"]
IDS = ("array<int>",)
_PLAN = {"topic": TEXT, "partition": NUMBERS, "replicas": IDS}
_LED = {"replicas": IDS, "isr": IDS, "leader": ("int",), "size_bytes": ("bigint",)}
_HOW = "see kafkalearn.spark.operations.partition_rows and plan_rows"


def partition_rows(spark: SparkSession, partitions: Iterable[Led]) -> DataFrame:
    """The partitions of a simulator's state as rows."""
    rows = [
        (each.topic, each.partition, [*each.replicas], [*each.isr], each.leader, each.size_bytes) for each in partitions
    ]
    return spark.createDataFrame(rows, PARTITION_SCHEMA)


def plan_rows(spark: SparkSession, plan: Iterable[Target]) -> DataFrame:
    """A plan as rows."""
    return spark.createDataFrame([(each.topic, each.partition, [*each.replicas]) for each in plan], PLAN_SCHEMA)


@rule(_LED, remedy=_HOW)
def with_leader_without(partitions: DataFrame, dead: Iterable[int] = ()) -> DataFrame:
    """The partitions with the leaders they would have if some brokers were dead; null: nobody.

    The present leader stays if it lives; else the first replica that is in sync and lives leads. Row by row: nothing is
    kept.

    Examples
    --------
    >>> from kafkalearn.operations.leadership import partition_of
    >>> from kafkalearn.spark.session import get_spark
    >>> partitions = partition_rows(get_spark(), [partition_of("orders", 0, [1, 2]), partition_of("orders", 1, [2, 1])])
    >>> [row.leader for row in partitions.transform(with_leader_without, dead=[1]).orderBy("partition").collect()]
    [2, 2]
    """
    return partitions.withColumn("leader", _leader_without(_ids("dead", dead)))


def _leader_without(dead: tuple[int, ...]) -> Column:
    def lives(broker_id: Column) -> Column:
        in_sync = sf.array_contains("isr", broker_id)
        return in_sync & ~broker_id.isin(*dead) if dead else in_sync

    alive = sf.filter("replicas", lives)
    stays = sf.coalesce(sf.array_contains(alive, sf.col("leader")), sf.lit(False))
    return sf.when(stays, sf.col("leader")).otherwise(sf.try_element_at(alive, sf.lit(1)))


@rule(_LED, remedy=_HOW)
def load_without(partitions: DataFrame, dead: Iterable[int] = ()) -> DataFrame:
    """What every broker that is left carries while others are dead.

    Returns
    -------
    DataFrame
        ``broker_id``, ``leader_count``, ``led_bytes``, ``replica_count``, ``replica_bytes``. What is kept is a row for
        each broker.
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


@rule({**_LED, **_PLAN}, _PLAN, remedy=_HOW)
def moved_bytes(partitions: DataFrame, plan: DataFrame) -> DataFrame:
    """What each broker receives, sends and may delete for a plan; brokers that do nothing are left out.

    Lines of the plan for partitions that are not there, or that nobody leads, are left out as well: count them with an
    anti join first. `kafkalearn.operations.leadership.moved_bytes` refuses them.

    Returns
    -------
    DataFrame
        ``broker_id``, ``in_bytes``, ``out_bytes``, ``deleted_bytes``. Nothing is kept whole: partitions and plan are
        joined in order of their names, on disk if need be.
    """
    both = partitions.join(plan.withColumnRenamed("replicas", "target"), PLACE)
    return broker_moves(both, "target")


@rule(dict.fromkeys(("in_bytes", "out_bytes"), ("bigint",)), remedy="give what moved_bytes returns")
def move_seconds(moved: DataFrame, throttle_bytes_per_s: int, produced_bytes_per_s: int = 0) -> DataFrame:
    """How long a plan takes under a throttle: one row, ``seconds``; null: never, as producers write more meanwhile.

    All of it ends in one row.
    """
    rate = whole_number("throttle_bytes_per_s", throttle_bytes_per_s, at_least=1)
    left = rate - whole_number("produced_bytes_per_s", produced_bytes_per_s, at_least=0)
    busiest = sf.coalesce(sf.max(sf.greatest("in_bytes", "out_bytes")), sf.lit(0))
    seconds = busiest / sf.lit(left) if left > 0 else sf.when(busiest == 0, sf.lit(0.0))
    return moved.agg(seconds.cast("double").alias("seconds"))


def _ids(name: str, broker_ids: Iterable[int]) -> tuple[int, ...]:
    given = iterable(name, broker_ids, of="broker ids")
    try:
        return tuple(sorted({whole_number(name, each, at_least=0) for each in given}))
    except TypeError:
        raise KafkaLearnError(f"{name} must be broker ids, whole numbers") from None


@rule(_RECORDS, remedy=_FROM_SOURCE)
def load_sizes(
    records: DataFrame, *, partition_count: int = OFFSETS_PARTITION_COUNT, rate: Rate = MEASURED
) -> DataFrame:
    """What each partition's coordinator has to load, cleaned or not.

    Parameters
    ----------
    records : DataFrame
        ``key``, ``value``, ``partition``, ``offset``.
    partition_count : int
        Of the offsets topic.
    rate : kafkalearn.operations.loading.Rate
        How fast a broker loads.

    Returns
    -------
    DataFrame
        For each partition that has records: ``partition``; read without the cleaner ``record_count``, ``byte_count``,
        ``seconds``; read after one pass of it over all of the log ``cleaned_record_count``, ``cleaned_byte_count``,
        ``cleaned_seconds``; and kept in memory in both cases ``offset_count``, ``group_count``. Bytes are those of keys
        and values. What is kept is a row for each partition, and what `compact` and `latest_state` keep.

    Examples
    --------
    >>> from kafkalearn.spark.data.groups import offsets_records
    >>> from kafkalearn.spark.session import get_spark
    >>> sizes = load_sizes(offsets_records(get_spark(), "small"))
    >>> sizes.agg({"record_count": "sum", "group_count": "sum"}).first().asDict()["sum(record_count)"]
    100000

    References
    ----------
    Apache Kafka 4.3, ``CoordinatorLoaderImpl``; `kafkalearn.operations.loading.load_size` for one partition.
    """
    whole_number("partition_count", partition_count, at_least=1)
    cleaned = compact(records)
    return (
        _read(records, "")
        .join(_read(cleaned, "cleaned_"), "partition", "left")
        .join(_kept(cleaned, partition_count), "partition", "left")
        .fillna(0)
        .withColumns(
            {f"{state}seconds": sf.col(f"{state}record_count") / rate.records_per_s for state in ("", "cleaned_")}
        )
    )


def _read(records: DataFrame, state: str) -> DataFrame:
    length = sf.coalesce(sf.length("key"), sf.lit(0)) + sf.coalesce(sf.length("value"), sf.lit(0))
    return records.groupBy("partition").agg(
        sf.count("*").alias(f"{state}record_count"), sf.sum(length.cast("bigint")).alias(f"{state}byte_count")
    )


def _kept(cleaned: DataFrame, partition_count: int) -> DataFrame:
    """Groups and offsets in memory: what is left of the log after the cleaner says it, with far fewer records."""
    living = cleaned.transform(decode_offsets).transform(latest_state).where("NOT is_tombstone")
    by_group = living.groupBy("group_id").agg(sf.count("committed_offset").alias("offset_count"))
    placed = by_group.transform(with_offsets_partition, partition_count=partition_count, output="partition")
    return placed.groupBy("partition").agg(
        sf.sum("offset_count").alias("offset_count"), sf.count("*").alias("group_count")
    )


_LOADS = ("record_count", "seconds", "cleaned_record_count", "cleaned_seconds", "group_count")


@rule(
    {"partition": ("int",), **{name: ("double" if "seconds" in name else "bigint",) for name in _LOADS}},
    remedy="give what load_sizes returns",
)
def load_of_brokers(sizes: DataFrame, leaders: Sequence[int]) -> DataFrame:
    """What a broker's coordinator would load if it had just become the leader of all that it leads, one by one.

    Parameters
    ----------
    sizes : DataFrame
        From `load_sizes`.
    leaders : sequence of int
        ``leaders[p]`` leads partition p.

    Returns
    -------
    DataFrame
        ``broker``, ``record_count``, ``seconds``, ``cleaned_record_count``, ``cleaned_seconds``, ``group_count``. Loads
        of one broker share a thread, in each release: the last partition waits for all others. A row for each partition
        goes to every worker.
    """
    given = sequence("leaders", leaders, of="broker ids")
    rows = [(p, whole_number(f"leaders[{p}]", each, at_least=0)) for p, each in enumerate(given)]
    led = sizes.sparkSession.createDataFrame(rows, "partition INT, broker INT")
    return sizes.join(sf.broadcast(led), "partition").groupBy("broker").agg(*(sf.sum(n).alias(n) for n in _LOADS))
