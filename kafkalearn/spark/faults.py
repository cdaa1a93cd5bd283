"""The rules that find faults in a cluster's logs, over millions of records: those of `kafkalearn.operations.faults`.

The logs are tables (`kafkalearn.spark.data.logs`). A fault is what has been so for an hour, at every sample up to the
last one; what is found has one form for all kinds, a row of `COLUMNS`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.operations.faults import Finding
from kafkalearn.operations.faults import findings as kind
from kafkalearn.operations.faults.findings import SAMPLE_MS
from kafkalearn.operations.faults.rules import FAR_FUTURE_MS, HOT_RATIO, LASTING_MS, LEADER_RATIO
from kafkalearn.spark.columns import require
from kafkalearn.spark.data.logs import ClusterTables


def sample_of(at_ms: str) -> Column:
    """The sample, every five minutes, that a moment belongs to."""
    return sf.col(at_ms) - sf.pmod(sf.col(at_ms), sf.lit(SAMPLE_MS))


def lasting(rows: DataFrame, keys: Sequence[str], until: DataFrame) -> DataFrame:
    """Of rows that say that something is so the run of samples that reaches the end, where it is an hour long.

    Parameters
    ----------
    rows : DataFrame
        The keys and ``at_ms``, a row for each sample at which it is so; what else they have is kept.
    keys : sequence of str
        What is said of.
    until : DataFrame
        One row with the last sample: ``until_ms``.

    Returns
    -------
    DataFrame
        The rows of these runs, with ``since_ms`` and ``until_ms``. Nothing is kept whole: one worker has the samples of
        a key in order, on disk if need be.
    """
    backwards = Window.partitionBy(*keys).orderBy(sf.desc("at_ms"))
    step = (sf.row_number().over(backwards) - 1) * sf.lit(SAMPLE_MS)
    since = sf.min("at_ms").over(Window.partitionBy(*keys))
    return (
        rows.crossJoin(sf.broadcast(until))
        .withColumn("step_ms", step)
        .where(sf.col("at_ms") == sf.col("until_ms") - sf.col("step_ms"))
        .withColumn("since_ms", since)
        .where(sf.col("until_ms") - sf.col("since_ms") >= LASTING_MS)
        .drop("step_ms")
    )


# Findings as rows, one form for all kinds.

TYPES = {"broker": "int", "topic": "string", "partition": "int", "group_id": "string", "member_id": "string"}
COLUMNS = ("kind", "at_ms", *TYPES)


def finding(rows: DataFrame, kind: str, *names: str) -> DataFrame:
    """Rows with ``at_ms`` and what names the fault, as findings of a kind: the other columns are null.

    Row by row: nothing is kept.
    """
    named = (sf.col(name) if name in names else sf.lit(None).cast(TYPES[name]).alias(name) for name in TYPES)
    return rows.select(sf.lit(kind).alias("kind"), "at_ms", *named)


# Faults of consumers: members that get no further, groups that only commits keep alive.

PLACE = ["topic", "partition"]


def progress(records: DataFrame, commits: DataFrame) -> DataFrame:
    """How each group gets on in each partition in which it commits.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``; ``moved_ms``, of the first commit of the largest offset;
        ``committed_ms``, of the last; ``has_lag``; ``until_ms``, the last sample with records. Nothing is kept whole: a
        group and partition take a row in one worker, on disk if need be.
    """
    ends = records.groupBy(*PLACE).agg((sf.max("offset") + 1).alias("log_end"), sf.max("appended_ms").alias("last_ms"))
    until = ends.agg(sf.max(sample_of("last_ms")).alias("until_ms"))
    furthest = sf.min(sf.struct((-sf.col("offset")).alias("offset"), sf.col("committed_ms")))
    return (
        commits.groupBy("group_id", *PLACE)
        .agg(furthest.alias("moved"), sf.max("committed_ms").alias("committed_ms"))
        .join(ends, PLACE, "left")
        .crossJoin(sf.broadcast(until))
        .select(
            "group_id",
            *PLACE,
            sf.col("moved.committed_ms").alias("moved_ms"),
            "committed_ms",
            (sf.coalesce("log_end", sf.lit(0)) > -sf.col("moved.offset")).alias("has_lag"),
            "until_ms",
        )
    )


def hanging_consumers(of_groups: DataFrame, members: DataFrame) -> DataFrame:
    """Members that own partitions to the end, and for an hour got no further in any, with something left to read.

    What is kept is a row for each member, on disk if need be.
    """
    last = (
        _owners(members)
        .join(of_groups, ["group_id", *PLACE])
        .groupBy("group_id", "member_id")
        .agg(
            sf.max("moved_ms").alias("at_ms"),
            sf.bool_or("has_lag").alias("has_lag"),
            sf.max("until_ms").alias("until_ms"),
        )
    )
    hangs = last.where((sf.col("until_ms") - sf.col("at_ms") >= LASTING_MS) & sf.col("has_lag"))
    return finding(hangs, kind.HANGING_CONSUMER, "group_id", "member_id")


def kept_groups(of_groups: DataFrame, members: DataFrame) -> DataFrame:
    """Groups without members that somebody commits for to the end, for an hour without getting further.

    What is kept is a row for each group, on disk if need be.
    """
    last = (
        of_groups.join(_owners(members).select("group_id").distinct(), "group_id", "left_anti")
        .groupBy("group_id")
        .agg(
            sf.max("moved_ms").alias("at_ms"),
            sf.max("committed_ms").alias("committed_ms"),
            sf.bool_or("has_lag").alias("has_lag"),
            sf.max("until_ms").alias("until_ms"),
        )
    )
    is_kept = (sf.col("until_ms") - sf.col("at_ms") >= LASTING_MS) & sf.col("has_lag")
    is_committed = sf.col("until_ms") - sf.col("committed_ms") < LASTING_MS
    return finding(last.where(is_kept & is_committed), kind.KEPT_GROUP, "group_id")


def _owners(members: DataFrame) -> DataFrame:
    """What each member owns at the last sample."""
    until = members.agg(sf.max("at_ms").alias("at_ms"))
    return members.join(sf.broadcast(until), "at_ms").select("group_id", "member_id", *PLACE)


# Faults that records show: dated in the far future, or too many in one partition.


def future_records(records: DataFrame) -> DataFrame:
    """Records dated more than a day after they were appended; of a partition the first, by five minutes.

    What is kept is a row for each partition with such records.
    """
    found = (
        records.where(sf.col("timestamp_ms") - sf.col("appended_ms") > FAR_FUTURE_MS)
        .groupBy(*PLACE)
        .agg(sf.min(sample_of("appended_ms")).alias("at_ms"), sf.min_by("leader", "appended_ms").alias("broker"))
    )
    return finding(found, kind.FUTURE_RECORD, "broker", *PLACE)


def hot_partitions(records: DataFrame) -> DataFrame:
    """Partitions that get more than four times the median of their topic, for an hour up to the end.

    Nothing is kept whole: one worker has the counts of a topic's partitions at one sample, in memory.
    """
    counts = records.groupBy(*PLACE, sample_of("appended_ms").alias("at_ms")).agg(
        sf.count("*").alias("record_count"), sf.first("leader").alias("leader")
    )
    usual = sf.median("record_count").over(Window.partitionBy("topic", "at_ms"))
    hot = counts.withColumn("usual", usual).where(sf.col("record_count") > HOT_RATIO * sf.col("usual"))
    runs = lasting(hot.select(*PLACE, "at_ms", "leader"), PLACE, counts.agg(sf.max("at_ms").alias("until_ms")))
    found = runs.groupBy(*PLACE).agg(sf.min("since_ms").alias("since_ms"), sf.min_by("leader", "at_ms").alias("broker"))
    return finding(found.withColumnRenamed("since_ms", "at_ms"), kind.HOT_PARTITION, "broker", *PLACE)


# Faults of brokers and replicas: cleaners that stopped, leadership on one broker, followers that do not fetch.

REPLICA = ["broker", "topic", "partition"]


def stopped_cleaners(replicas: DataFrame) -> DataFrame:
    """Brokers none of whose compacted logs is cleaned for an hour, though they grow; else the single logs.

    As `kafkalearn.operations.faults.rules.stopped_cleaners`. A row for each broker whose cleaner is dead goes to every
    worker; a replica takes a row in one, on disk if need be.
    """
    cleaned = replicas.where("cleaner_offset is not null")
    until = cleaned.agg(sf.max("at_ms").alias("until_ms"))
    furthest = sf.min(sf.struct((-sf.col("cleaner_offset")).alias("offset"), sf.col("at_ms")))
    logs = (
        cleaned.groupBy(*REPLICA)
        .agg(furthest.alias("moved"), sf.max_by("log_end_offset", "at_ms").alias("log_end_offset"))
        .crossJoin(sf.broadcast(until))
        .select(
            *REPLICA,
            sf.col("moved.at_ms").alias("at_ms"),
            (
                (sf.col("until_ms") - sf.col("moved.at_ms") >= LASTING_MS)
                & (sf.col("log_end_offset") > -sf.col("moved.offset"))
            ).alias("is_stopped"),
        )
    )
    dead = (
        logs.groupBy("broker")
        .agg(
            sf.bool_and("is_stopped").alias("is_dead"), sf.count("*").alias("log_count"), sf.max("at_ms").alias("at_ms")
        )
        .where("is_dead and log_count > 1")
    )
    single = logs.where("is_stopped").join(sf.broadcast(dead.select("broker")), "broker", "left_anti")
    return finding(dead, kind.DEAD_CLEANER, "broker").unionByName(finding(single, kind.UNCLEANABLE, *REPLICA))


def leaders_on_one_broker(replicas: DataFrame) -> DataFrame:
    """Brokers that lead more than twice their fair share, for an hour up to the end.

    A row for each sample goes to every worker; a partition of a sample takes a row in one, on disk if need be.
    """
    led = replicas.select("at_ms", "leader", "topic", "partition").distinct().groupBy("at_ms", "leader").count()
    whole = replicas.select("at_ms", "topic", "partition").distinct().groupBy("at_ms").agg(sf.count("*").alias("whole"))
    brokers = replicas.agg(sf.count_distinct("broker").alias("broker_count"), sf.max("at_ms").alias("until_ms"))
    above = (
        led.join(sf.broadcast(whole), "at_ms")
        .crossJoin(sf.broadcast(brokers.select("broker_count")))
        .where(sf.col("count") * sf.col("broker_count") > LEADER_RATIO * sf.col("whole"))
        .select("at_ms", sf.col("leader").alias("broker"))
    )
    runs = lasting(above, ["broker"], brokers.select("until_ms"))
    return finding(runs.groupBy("broker").agg(sf.min("since_ms").alias("at_ms")), kind.ONE_LEADER, "broker")


def frozen_followers(replicas: DataFrame) -> DataFrame:
    """Replicas that are out of sync for an hour up to the end, their log's end standing still.

    Nothing is kept whole: one worker has the samples of a replica in order, on disk if need be.
    """
    until = replicas.agg(sf.max("at_ms").alias("until_ms"))
    out = replicas.where(~sf.col("is_in_sync")).select(*REPLICA, "at_ms", "log_end_offset")
    runs = (
        lasting(out, REPLICA, until)
        .groupBy(*REPLICA)
        .agg(
            sf.min("since_ms").alias("at_ms"),
            sf.min_by("log_end_offset", "at_ms").alias("first"),
            sf.max_by("log_end_offset", "at_ms").alias("last"),
        )
    )
    return finding(runs.where("first = last"), kind.FROZEN_FOLLOWER, *REPLICA)


# All rules over a cluster's tables, and their rows as the findings that `kafkalearn.operations.faults.judge` takes.


def find_faults(tables: ClusterTables) -> DataFrame:
    """All that the rules find in a cluster's logs.

    Parameters
    ----------
    tables : ClusterTables
        As `kafkalearn.spark.data.logs.cluster_tables` makes them.

    Returns
    -------
    DataFrame
        ``kind``, ``at_ms``, ``broker``, ``topic``, ``partition``, ``group_id``, ``member_id``: what does not name the
        fault is null. What is kept is what its rules keep: a row for each replica, partition and member in some worker,
        on disk if need be; a row for each sample on every worker.

    Examples
    --------
    >>> from kafkalearn.operations.faults import judge, plant
    >>> from kafkalearn.spark.data.logs import cluster_tables
    >>> from kafkalearn.spark.session import get_spark
    >>> found = as_findings(find_faults(cluster_tables(get_spark(), "small", seed=1)))
    >>> judge(found, plant(1)).is_perfect
    True
    """
    for column in ("offset", "appended_ms", "timestamp_ms"):
        require(tables.records, column, ("bigint",), "give what cluster_tables() returns")
    of_groups = progress(tables.records, tables.commits)
    found = (
        stopped_cleaners(tables.replicas),
        leaders_on_one_broker(tables.replicas),
        frozen_followers(tables.replicas),
        future_records(tables.records),
        hot_partitions(tables.records),
        hanging_consumers(of_groups, tables.members),
        kept_groups(of_groups, tables.members),
    )
    return reduce(DataFrame.unionByName, found)


def as_findings(found: DataFrame) -> tuple[Finding, ...]:
    """The rows of `find_faults` as `Finding`, in order; here in Python, less than a kilobyte each."""
    return tuple(sorted(Finding(*row) for row in found.select(*COLUMNS).collect()))
