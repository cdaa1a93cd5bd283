"""Logs of many clusters' coordinators over one day, made up: a few events a group, ten million in all.

Each group has its own trouble, by its number: most are only deployed once a day, some lose pods, some pause for
garbage collection, some are scaled up and down, and a few are too slow for their poll interval. A trouble comes
again and again, and each time takes a member away and brings it back: two rebalances. How long one takes follows
from when the members notice: each at its next heartbeat, and not before its poll thread is free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import text, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.defaults import COMPLETING, PREPARING, STABLE
from kafkalearn.offsets.protocol import Assignment, Subscription, encode_assignment, encode_subscription
from kafkalearn.offsets.records import encode_value
from kafkalearn.spark.columns import require
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.data.cache import Recipe, kept
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import ENVIRONMENTS, SERVICES, hash_of, uniform
from kafkalearn.spark.group_logs import CLOSED, EVENT_SCHEMA, MEMBER_FAILED, MEMBER_JOINED, MEMBER_LEFT, POLL_EXPIRED
from kafkalearn.spark.session.interrupts import Update

VERSION = 1
ROWS_PER_GROUP = 50  # about; what a group has depends on its trouble
DAY_START_MS = 1_772_323_200_000  # 2026-03-01T00:00:00Z
DAY_MS = 86_400_000
HEARTBEAT_MS, REBALANCE_TIMEOUT_MS = 3_000, 300_000
CLUSTERS = ("eu-1", "eu-2", "us-1", "us-2", "asia-1")

# kind: (of a hundred groups, troubles a day, how the member goes, away for at most, poll threads busy for at most)
KINDS = {
    "deployed": (60, 3, "closed", 40_000, 500),
    "losing pods": (14, 4, "failed", 60_000, 500),
    "collecting garbage": (10, 8, "failed", 5_000, 500),
    "scaled": (12, 12, "closed", 1_800_000, 2_000),
    "slow": (4, 30, "expired", 120_000, 60_000),
}
BILLING = ("shop", "billing", 205, 3)  # group 0: one of its three members is too slow, every seven minutes


def group_logs(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """A day of coordinators' logs, as `kafkalearn.spark.group_logs.rebalances` reads them; ``billing`` is among them.

    Parameters
    ----------
    spark : SparkSession
        Where it is made and read.
    size : str or int
        A name in `kafkalearn.spark.data.datasets.SIZES`, or about how many rows; there are 50 for each group, about.
    seed : int
        Another seed, other logs.
    update : callable, optional
        ``update(done, total)`` while it is made.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> logs = group_logs(get_spark(), 1000)
    >>> logs.select("group_id").distinct().count()
    20
    """
    row_count = rows_of(size)
    recipe = Recipe("group_logs", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=10)
    return kept(spark, recipe, lambda: generate_group_logs(spark, max(row_count // ROWS_PER_GROUP, 1), seed), update)


def generate_group_logs(spark: SparkSession, group_count: int, seed: int) -> DataFrame:
    """The logs of so many groups: each row from the number of its group and of its trouble, and the seed."""
    whole_number("group_count", group_count, at_least=1)
    groups = _groups(spark, group_count, seed)
    troubles = groups.select("*", sf.explode(sf.sequence(sf.lit(0), sf.col("trouble_count") - 1)).alias("trouble"))
    rows = _rebalances(troubles, seed).select(sf.col("cluster"), sf.col("group_id"), sf.inline("events"))
    return rows.select(
        "cluster",
        "group_id",
        sf.timestamp_millis(sf.col("at_ms")).alias("timestamp"),
        *(sf.col(column.split()[0]) for column in EVENT_SCHEMA.split(", ")[3:]),
    )


def _groups(spark: SparkSession, group_count: int, seed: int) -> DataFrame:
    row = sf.col("id")
    hundred = sf.pmod(hash_of(seed, "kind", row), sf.lit(100))
    limits, end = {}, 0
    for kind, (share, *_) in KINDS.items():
        limits[kind] = end = end + share

    def by_kind(place: int) -> Column:
        value = sf.lit(None)
        for kind in reversed(KINDS):
            value = sf.when(hundred < limits[kind], KINDS[kind][place]).otherwise(value)
        return sf.when(row == 0, KINDS["slow"][place]).otherwise(value)

    cluster, group_id, trouble_count, member_count = BILLING
    choose = {
        purpose: sf.element_at(sf.array(*map(sf.lit, names)), _draw(seed, purpose, row, len(names)))
        for purpose, names in (("cluster", CLUSTERS), ("service", SERVICES), ("environment", ENVIRONMENTS))
    }
    named = sf.concat_ws("-", choose["service"], choose["environment"], row)
    return spark.range(group_count).select(
        "id",
        sf.when(row == 0, cluster).otherwise(choose["cluster"]).alias("cluster"),
        sf.when(row == 0, group_id).otherwise(named).alias("group_id"),
        sf.when(row == 0, trouble_count).otherwise(by_kind(1)).alias("trouble_count"),
        by_kind(2).alias("goes"),
        by_kind(3).alias("away_ms"),
        sf.when(row == 0, KINDS["deployed"][4]).otherwise(by_kind(4)).alias("busy_ms"),  # its others are quick
        sf.when(row == 0, member_count).otherwise(_draw(seed, "members", row, 5) + 1).alias("member_count"),
    )


def _draw(seed: int, purpose: str, row: Column, count: int) -> Column:
    """A whole number from 1 to `count`."""
    return (sf.pmod(hash_of(seed, purpose, row), sf.lit(count)) + 1).cast("int")


def _rebalances(troubles: DataFrame, seed: int) -> DataFrame:
    """Each trouble with the events of its two rebalances; each of the two ends before the next begins."""
    number = sf.col("id") * 1_000 + sf.col("trouble")
    slot_ms = sf.floor(DAY_MS / sf.col("trouble_count"))
    # The two rebalances and the time away all fit into a trouble's share of the day.
    most_ms = sf.floor(slot_ms / 4)
    went_ms = DAY_START_MS + slot_ms * sf.col("trouble") + sf.floor(most_ms / 4 * uniform(seed, "at", number))
    down_ms = sf.least(_joining_ms(seed, "down", number), most_ms)
    up_ms = sf.least(_joining_ms(seed, "up", number), most_ms)
    away_ms = sf.floor(sf.least(sf.col("away_ms"), most_ms) * uniform(seed, "away", number))
    back_ms = went_ms + down_ms + 1_000 + away_ms
    generation = (2 * sf.col("trouble") + 1).cast("int")
    member = sf.concat(sf.lit("consumer-"), sf.pmod(sf.col("trouble"), sf.col("member_count")) + 1)
    goes = sf.col("goes")
    left = sf.when(goes == "failed", _event(went_ms, MEMBER_FAILED, member, generation)).otherwise(
        _event(went_ms, MEMBER_LEFT, member, generation, sf.when(goes == "expired", POLL_EXPIRED).otherwise(CLOSED))
    )
    why = sf.when(
        goes == "failed", sf.concat(sf.lit("removing member "), member, sf.lit(" on heartbeat expiration."))
    ).otherwise(sf.concat(sf.lit("explicit `LeaveGroup` request for ("), member, sf.lit(") members.")))
    added = sf.concat(
        sf.lit("Adding new member "), member, sf.lit(" with group instance id null; client reason: not provided")
    )
    events = sf.array(
        left,
        *_rebalance(went_ms, down_ms, why, member, generation, seed, number),
        _event(back_ms, MEMBER_JOINED, member, generation + 1),
        *_rebalance(back_ms, up_ms, added, member, generation + 1, seed, number + 1),
    )
    return troubles.select("cluster", "group_id", events.alias("events"))


def _joining_ms(seed: int, purpose: str, number: Column) -> Column:
    """How long the join phase lasts: the latest of so many members, each within a heartbeat and its own work.

    Of chances in [0, 1) the largest of n is distributed as one chance to the power 1/n. Of slow groups one in
    fifty has a member that does not come back at all, and the coordinator waits for the rebalance timeout.
    """
    latest = sf.pow(uniform(seed, purpose, number), sf.lit(1.0) / sf.col("member_count"))
    within_ms = sf.col("busy_ms") + HEARTBEAT_MS
    is_stuck = (sf.col("busy_ms") == KINDS["slow"][4]) & (_draw(seed, f"stuck {purpose}", number, 50) == 1)
    return sf.when(is_stuck, REBALANCE_TIMEOUT_MS).otherwise(sf.floor(latest * within_ms) + 1)


def _rebalance(
    at_ms: Column, joining_ms: Column, why: Column, member: Column, generation: Column, seed: int, number: Column
) -> list[Column]:
    sync_ms = _draw(seed, "sync", number, 100)
    return [
        _event(at_ms, PREPARING, member, generation, why),
        _event(at_ms + joining_ms, COMPLETING, sf.lit(None), generation + 1),
        _event(at_ms + joining_ms + sync_ms, STABLE, sf.lit(None), generation + 1),
    ]


def _event(at_ms: Column, event: str, member: Column, generation: Column, reason: Column | None = None) -> Column:
    return sf.struct(
        at_ms.cast("bigint").alias("at_ms"),
        sf.lit(event).alias("event"),
        member.cast("string").alias("member"),
        generation.cast("int").alias("generation"),
        (sf.lit(None) if reason is None else reason).cast("string").alias("reason"),
    )


# Commits as groups make them that read a topic: made up from its records, the same in every run.
#
# Each member of a group takes a batch of records of a partition, works on it, and commits the offset behind it.


@dataclass(frozen=True, slots=True)
class Pace:
    """How a group keeps up with a topic.

    Parameters
    ----------
    group_id : str
        The group.
    delay_ms : int
        From the timestamp of a batch's last record until its commit, at least 0.
    slow : dict of int to float
        For some partitions how many times longer than the records took to come the group takes to read them: 1.25 is a
        consumer that falls behind by a quarter of an hour in each hour.
    stops_after_ms : int or None
        Nothing is committed later than so long after the topic's first record.
    """

    group_id: str
    delay_ms: int = 1000
    slow: tuple[tuple[int, float], ...] = ()
    stops_after_ms: int | None = None

    def __post_init__(self) -> None:
        """Refuse what is no pace."""
        text("group_id", self.group_id)
        whole_number("delay_ms", self.delay_ms, at_least=0)
        object.__setattr__(self, "slow", tuple(sorted(dict(self.slow).items())))
        for partition, factor in self.slow:
            if not factor >= 1:
                raise KafkaLearnError(f"partition {partition} is slow by {factor!r}; a factor is at least 1")


def with_commits(records: DataFrame, paces: Sequence[Pace], batch_size: int = 500) -> DataFrame:
    """The commits of groups that read these records.

    Parameters
    ----------
    records : DataFrame
        ``topic``, ``partition``, ``offset``, ``timestamp``; offsets from 0, timestamps that rise with them.
    paces : sequence of Pace
        One for each group.
    batch_size : int
        Records between two commits of a partition (``max.poll.records`` is 500). The end of the log is committed only
        if it falls on a batch.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``offset``, ``committed_at``: what was committed up to the moment of the
        last record. Later is not known yet.

    Raises
    ------
    KafkaLearnError
        If there is no pace, or a column is missing.
    """
    whole_number("batch_size", batch_size, at_least=1)
    if not paces:
        raise KafkaLearnError("paces is empty: give at least one Pace")
    if len({pace.group_id for pace in paces}) < len(paces):
        raise KafkaLearnError("two paces have the same group id; give each group one")
    for column, types in (("topic", ("string",)), ("partition", ("int",)), ("offset", ("bigint", "int"))):
        require(records, column, types, "records have the columns of Spark's Kafka source")
    require(records, "timestamp", ("timestamp",), "records have the columns of Spark's Kafka source")
    span = records.agg(
        sf.unix_millis(sf.min("timestamp")).alias("first"), sf.unix_millis(sf.max("timestamp")).alias("now")
    )
    behind = records.where(sf.col("offset") % batch_size == batch_size - 1).select(
        "topic", "partition", (sf.col("offset") + 1).alias("offset"), sf.unix_millis("timestamp").alias("came")
    )
    batches = behind.crossJoin(sf.broadcast(span))
    return reduce(DataFrame.unionByName, (_of_one_group(batches, pace) for pace in paces))


def _of_one_group(batches: DataFrame, pace: Pace) -> DataFrame:
    factor = sf.lit(1.0)
    for partition, slow in pace.slow:
        factor = sf.when(sf.col("partition") == partition, sf.lit(float(slow))).otherwise(factor)
    took = ((sf.col("came") - sf.col("first")) * factor).cast("bigint")
    done = sf.col("first") + took + pace.delay_ms
    made = batches.select(
        sf.lit(pace.group_id).alias("group_id"), "topic", "partition", "offset", done.alias("done"), "first", "now"
    ).where("done <= now")
    if pace.stops_after_ms is not None:
        made = made.where(sf.col("done") <= sf.col("first") + pace.stops_after_ms)
    return made.select("group_id", "topic", "partition", "offset", sf.timestamp_millis("done").alias("committed_at"))


# Raw records of the offsets topic as a class needs them: to the byte what a broker writes, by the million.
#
# Fourteen days of a shop. `billing`, `shipping` and `search` commit most; 550 other groups commit now and then for the
# 13 partitions of `orders`. Every tenth of these is shut down after 4.2 days; seven days later its tombstones come.
# Another tenth goes on committing the same offset from the ninth day on. There are records of groups, commits in three
# versions of the value, and now and then a record that is damaged.

FIRST_MS = 1_763_337_600_000  # Monday, 17 November 2025, 00:00 UTC
FORTNIGHT_MS = 14 * 24 * 3600 * 1000
TOPIC, PARTITION_COUNT = "orders", 13
TOPIC_ID = "AAAAAAAAAAEAAAAAAAAAAQ"
SLOTS = 1000  # rows of one turn: 300 of billing, 100 of shipping, 50 of search, one of each other group
FIRST_OTHER = 450
STUCK_AFTER = 0.6
SHUT_DOWN_AFTER, EXPIRED_AFTER = 0.3, 0.8  # of the fortnight: seven days lie between


def offsets_records(
    spark: SparkSession, size: str | int = "class", *, seed: int = SEED, update: Update | None = None
) -> DataFrame:
    """Raw records of ``__consumer_offsets``, with the columns of Spark's Kafka source.

    Parameters
    ----------
    spark : SparkSession
        Where they are made and read.
    size : str or int
        A name in `kafkalearn.spark.data.datasets.SIZES`, or a number of rows.
    seed : int
        Another seed, other metadata and offsets.
    update : callable, optional
        ``update(done, total)`` while they are made.

    Returns
    -------
    DataFrame
        Offsets rise in each partition, with gaps as the cleaner leaves them.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> offsets_records(get_spark(), "small").where("value IS NULL").count()
    1100
    """
    row_count = rows_of(size)
    recipe = Recipe("offsets_records", row_count, (("seed", seed), ("v", VERSION)), bytes_per_row=20)
    return kept(spark, recipe, lambda: generate_offsets_records(spark, row_count, seed), update)


def generate_offsets_records(spark: SparkSession, row_count: int, seed: int) -> DataFrame:
    """The same, made anew by each query."""
    whole_number("row_count", row_count, at_least=1)
    row = sf.col("id")
    is_gone = sf.col("is_mortal") & (sf.col("age") >= SHUT_DOWN_AFTER)
    is_expired = is_gone & (sf.col("age") >= EXPIRED_AFTER)
    rows = spark.range(row_count).withColumns(
        {"slot": row % SLOTS, "turn": sf.floor(row / SLOTS), "age": row / row_count}
    )
    rows = rows.withColumn("is_mortal", (sf.col("slot") >= FIRST_OTHER) & (sf.col("slot") % 10 == 9))
    rows = rows.withColumns(
        {"is_expired": is_expired, "slot": sf.when(is_gone & ~is_expired, 0).otherwise(sf.col("slot"))}
    )
    turn, slot = sf.col("turn"), sf.col("slot")
    partition = sf.when(slot < FIRST_OTHER, row % PARTITION_COUNT).otherwise(turn % (PARTITION_COUNT + 1))
    is_of_group = (partition == PARTITION_COUNT) & (sf.col("is_expired") | ((slot % 5 == 0) & (turn % 56 == 13)))
    rows = rows.withColumns(
        {
            "group_id": _group_id(slot),
            "of_partition": (partition % PARTITION_COUNT).cast("int"),
            "is_of_group": is_of_group,
            "ms": row * (FORTNIGHT_MS / row_count),
        }
    )
    rows = rows.withColumn("ms", (sf.col("ms") + FIRST_MS).cast("bigint"))
    damage = row % 100_003
    key = sf.when(damage == 99, sf.lit("0018")).otherwise(_key_digits())
    value = sf.when(
        ~sf.col("is_expired"),
        sf.when(sf.col("is_of_group"), _group_digits()).otherwise(_offset_digits(row_count, seed)),
    )
    value = sf.when(damage == 77, sf.substring(value, 1, 40)).otherwise(value)
    return rows.transform(with_offsets_partition, output="partition").select(
        sf.unhex(key).alias("key"),
        sf.unhex(value).alias("value"),
        sf.lit(OFFSETS_TOPIC).alias("topic"),
        "partition",
        row.alias("offset"),
        sf.timestamp_millis("ms").alias("timestamp"),
        sf.lit(0).alias("timestampType"),
    )


def _group_id(slot: Column) -> Column:
    names = sf.array(*map(sf.lit, SERVICES))
    service = sf.element_at(names, (slot % len(SERVICES) + 1).cast("int"))
    return (
        sf.when(slot < 300, "billing")
        .when(slot < 400, "shipping")
        .when(slot < FIRST_OTHER, "search")
        .otherwise(sf.concat_ws("-", service, slot.cast("string")))
    )


def _digits(number: Column, width: int) -> Column:
    """A number in so many bytes, as hex digits."""
    return sf.lpad(sf.hex(number), 2 * width, "0")


def _key_digits() -> Column:
    group_id = sf.col("group_id")
    of_group = sf.concat(_digits(sf.octet_length(group_id), 2), sf.hex(group_id.cast("binary")))
    at_topic = f"{len(TOPIC):04X}{TOPIC.encode().hex()}"
    of_offset = sf.concat(sf.lit("0001"), of_group, sf.lit(at_topic), _digits(sf.col("of_partition"), 4))
    return sf.when(sf.col("is_of_group"), sf.concat(sf.lit("0002"), of_group)).otherwise(of_offset)


def _offset_digits(row_count: int, seed: int) -> Column:
    """A commit: version 4 as brokers write it since 4.1; 3 and, with a retention of its own, 1 by a few groups."""
    slot, ms = sf.col("slot"), _digits(sf.col("ms"), 8)
    last_turn = int(STUCK_AFTER * row_count / SLOTS)
    is_stuck = (slot >= FIRST_OTHER) & (slot % 10 == 4)
    turn = sf.when(is_stuck, sf.least(sf.col("turn"), sf.lit(last_turn))).otherwise(sf.col("turn"))
    jitter = sf.pmod(hash_of(seed, "read", sf.col("group_id")), sf.lit(10))
    offset = _digits(turn * 10 + jitter, 8)
    topic_id = (
        "010010"
        + encode_value(1, 4, {"offset": 0, "metadata": "", "commitTimestamp": 0, "topicId": TOPIC_ID})[-16:].hex()
    )
    metadata = sf.when(slot < 400, sf.lit("01")).otherwise(sf.lit("0461636B"))
    return (
        sf.when(
            slot % 31 == 30,
            sf.concat(sf.lit("0001"), offset, sf.lit("0000"), ms, _digits(sf.col("ms") + 86_400_000, 8)),
        )
        .when(slot % 7 == 6, sf.concat(sf.lit("0003"), offset, sf.lit("000000050000"), ms))
        .otherwise(sf.concat(sf.lit("0004"), offset, sf.lit("00000005"), metadata, ms, sf.lit(topic_id)))
    )


def _group_digits() -> Column:
    """A rebalance: two members, the same in every record but for the generation."""
    members = [
        {
            "memberId": f"consumer-{number}-6f1e",
            "groupInstanceId": None,
            "clientId": f"consumer-{number}",
            "clientHost": "/127.0.0.1",
            "rebalanceTimeout": 300_000,
            "sessionTimeout": 45_000,
            "subscription": encode_subscription(Subscription((TOPIC,), version=0)),
            "assignment": encode_assignment(Assignment((TopicPartition(TOPIC, number),), version=0)),
        }
        for number in (1, 2)
    ]
    fields = {
        "protocolType": "consumer",
        "generation": 0x01020304,
        "protocol": "range",
        "leader": members[0]["memberId"],
    }
    whole = encode_value(2, 3, fields | {"currentStateTimestamp": FIRST_MS, "members": members}).hex()
    before, after = whole.split("01020304")
    return sf.concat(sf.lit(before), _digits(sf.col("turn"), 4), sf.lit(after))
