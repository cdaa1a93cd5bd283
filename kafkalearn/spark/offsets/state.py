"""What decoded records of the offsets topic say of every group: the last record of each key counts, and no other.

`latest_state` finds these last records, in one pass; the rest are questions to them: the groups and their states,
their lag, their members, which of them are dead. `commits_per_second` looks at all records. `place_costs` says what
each place where offsets could live would cost, over many groups: `kafkalearn.coordinator.places` on Spark.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import ArrayType, IntegerType, StringType, StructField, StructType

from kafkalearn.coordinator.leaders import leaders_of
from kafkalearn.coordinator.places import PLACES
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.offsets.protocol import CONSUMER_PROTOCOL
from kafkalearn.offsets.records import GROUP_TYPE, OFFSET_TYPES
from kafkalearn.spark.columns import (
    BYTES,
    NUMBERS,
    TEXT,
    int16_at,
    int32_at,
    require_all_read,
    require_one_copy,
    rule,
)
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.offsets.decode import assigned_in, members_of_rest, of_decoded, subscribed_in

_DECODE = "decode the records first, with decode_offsets"
KEY_COLUMNS = ("group_id", "committed_topic", "committed_partition", "record_type", "key")
VALUE_COLUMNS = ("committed_offset", "leader_epoch", "commit_ms", "expire_ms", "generation", "state_ms", "member_count")
TEXT_COLUMNS = ("metadata", "topic_id")
LEGACY, COMMIT = OFFSET_TYPES
STATE = {
    **of_decoded(*KEY_COLUMNS[:-1], "is_tombstone", *VALUE_COLUMNS, *TEXT_COLUMNS),
    "key": BYTES,
    "offset": NUMBERS,
}
"""What `latest_state` needs and returns, but for ``error``."""


@rule({**STATE, "error": TEXT}, remedy=f"{_DECODE}; the offset of each says which came last", needs_all=True)
def latest_state(decoded: DataFrame) -> DataFrame:
    """The last record of every key, tombstones too.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`, with the columns ``key`` and ``offset`` of the records.
        Leave out what aborted transactions wrote. Records that cannot be read do not count. A commit of record type 0
        counts as one of type 1: for a coordinator the two are one offset.

    Returns
    -------
    DataFrame
        ``group_id``, ``committed_topic``, ``committed_partition``, ``record_type`` and ``key`` (those of type 1, if it
        was 0), ``offset`` (of the record), ``is_tombstone``, ``committed_offset``, ``leader_epoch``, ``commit_ms``,
        ``expire_ms``, ``generation``, ``state_ms``, ``member_count``, ``metadata``, ``topic_id``. Nothing is kept
        whole: a key takes about 300 bytes in one worker, its own among them, on disk if need be.

    References
    ----------
    Apache Kafka 4.3, ``CoordinatorLoaderImpl`` and ``GroupCoordinatorShard.replay``: what a broker does when it
    becomes coordinator.
    """
    require_one_copy(decoded)
    require_all_read(decoded)
    numbers = ("is_tombstone", *VALUE_COLUMNS)
    # Spark counts in a hash table only if every result has a fixed width; with a text it would sort all rows. So the
    # texts, which hardly change for a key, are part of the key at first, and the few rows that are left are counted
    # again.
    by_text = last(decoded.where("error IS NULL").withColumns(_state_key()), (*KEY_COLUMNS, *TEXT_COLUMNS), numbers)
    return last(by_text, KEY_COLUMNS, (*numbers, *TEXT_COLUMNS))


def _state_key() -> dict[str, Column]:
    """Record type and key as the coordinator keeps them: `kafkalearn.offsets.records.state_key`."""
    is_legacy = sf.col("record_type") == LEGACY
    key = sf.concat(sf.unhex(sf.lit(f"{COMMIT:04x}")), sf.expr("substring(key, 3)"))
    return {
        "record_type": sf.when(is_legacy, COMMIT).otherwise(sf.col("record_type")),
        "key": sf.when(is_legacy, key).otherwise(sf.col("key")),
    }


def last(rows: DataFrame, keys: Sequence[str], values: Sequence[str]) -> DataFrame:
    """For each key the values of the row with the highest offset.

    Nothing is kept whole: a key and its values take a row in one worker, on disk if need be.
    """
    values_of_last = [sf.max_by(name, "offset").alias(name) for name in values]
    return rows.groupBy(*keys).agg(sf.max("offset").alias("offset"), *values_of_last)


_LATEST = "give what latest_state returns"


@rule(STATE, remedy=_LATEST, needs_all=True)
def group_states(latest: DataFrame) -> DataFrame:
    """A row for every living group: how many offsets it has, when it last committed, its state if it is a classic one.

    Parameters
    ----------
    latest : DataFrame
        From `latest_state`.

    Returns
    -------
    DataFrame
        ``group_id``, ``state`` (Stable with members, Empty without; null in a group of a newer protocol, whose state is
        spread over several records), ``generation``, ``member_count``, ``offset_count``, ``last_commit_ms``. A group
        with committed offsets alone is Empty, with generation 0. Nothing is kept whole: a group takes about 140 bytes
        in one worker, on disk if need be.
    """
    is_newer = sf.max(~sf.col("record_type").isin(*OFFSET_TYPES, GROUP_TYPE))
    members = sf.coalesce(sf.max("member_count"), sf.lit(0))
    return (
        latest.where("NOT is_tombstone")
        .groupBy("group_id")
        .agg(
            sf.when(~is_newer, sf.when(members > 0, STABLE).otherwise(EMPTY)).alias("state"),
            sf.when(~is_newer, sf.coalesce(sf.max("generation"), sf.lit(0))).alias("generation"),
            sf.when(~is_newer, members).alias("member_count"),
            sf.count("committed_offset").cast("int").alias("offset_count"),
            sf.max("commit_ms").alias("last_commit_ms"),
        )
    )


@rule(
    STATE,
    {"topic": TEXT, "partition": NUMBERS, "log_end": NUMBERS},
    remedy=f"{_LATEST}; a log end is the offset that the next record gets",
    needs_all=True,
)
def lag_of(latest: DataFrame, log_ends: DataFrame) -> DataFrame:
    """How far each committed offset is behind the log end of its partition.

    Parameters
    ----------
    latest : DataFrame
        From `latest_state`.
    log_ends : DataFrame
        ``topic``, ``partition``, ``log_end``, as from `kafkalearn.spark.lag.log_ends`.

    Returns
    -------
    DataFrame
        ``group_id``, ``topic``, ``partition``, ``committed_offset``, ``log_end``, ``lag``; the last two are null where
        `log_ends` does not have the partition. Nothing is kept whole: Spark joins by size, where neither side is small
        by the order of the partitions, on disk if need be.
    """
    committed = latest.where("NOT is_tombstone AND committed_offset IS NOT NULL").select(
        "group_id",
        sf.col("committed_topic").alias("topic"),
        sf.col("committed_partition").alias("partition"),
        "committed_offset",
    )
    ends = log_ends.select("topic", "partition", "log_end")
    with_end = committed.join(ends, ["topic", "partition"], "left")
    lag = (sf.col("log_end") - sf.col("committed_offset")).alias("lag")
    return with_end.select("group_id", "topic", "partition", "committed_offset", "log_end", lag)


@rule(STATE, remedy=_LATEST, needs_all=True)
def dead_groups(latest: DataFrame) -> DataFrame:
    """The groups of which nothing is left but tombstones.

    Once the cleaner has removed these too, no record of such a group is left.

    Parameters
    ----------
    latest : DataFrame
        From `latest_state`.

    Returns
    -------
    DataFrame
        ``group_id``, ``tombstone_count``, ``last_offset`` of the tombstones in the log. Nothing is kept whole: a group
        takes about 130 bytes in one worker, on disk if need be.
    """
    by_group = latest.groupBy("group_id").agg(
        sf.every("is_tombstone").alias("is_dead"),
        sf.count("*").cast("int").alias("tombstone_count"),
        sf.max("offset").alias("last_offset"),
    )
    return by_group.where("is_dead").drop("is_dead")


@rule(of_decoded("group_id", "commit_ms"), remedy=_DECODE, needs_all=True)
def commits_per_second(decoded: DataFrame) -> DataFrame:
    """How often each group commits, between its first commit and its last.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`.

    Returns
    -------
    DataFrame
        ``group_id``, ``commit_count``, ``first_ms``, ``last_ms``, ``commits_per_second``: null if all came in one
        millisecond. Every partition of a commit request is a record, so it counts once for each. Nothing is kept whole:
        a group takes about 130 bytes in one worker, on disk if need be.
    """
    require_one_copy(decoded)
    require_all_read(decoded)
    commits = (
        decoded.where("commit_ms IS NOT NULL")
        .groupBy("group_id")
        .agg(
            sf.count("*").alias("commit_count"),
            sf.min("commit_ms").alias("first_ms"),
            sf.max("commit_ms").alias("last_ms"),
        )
    )
    seconds = sf.nullif((sf.col("last_ms") - sf.col("first_ms")) / 1000, sf.lit(0.0))
    return commits.withColumn("commits_per_second", (sf.col("commit_count") - 1) / seconds)


# The members in the records of classic groups, a row each: who they are, what they subscribe to, what they read.
#
# A group's record holds all members one after the other, each with eight fields of its own length. Where each field
# begins is found by a running sum over the fields (`aggregate`), inside Spark's own expressions; subscriptions and
# assignments, the bytes that consumers write, are walked through in the same way. Only values of version 4, which
# brokers can read and do not write, go through the scalar function.

ID, INSTANCE, CLIENT, HOST, REBALANCE, SESSION, SUBSCRIPTION, ASSIGNMENT = range(8)
FIELD_COUNT = 8

TOPIC_PARTITION = StructType([StructField("topic", StringType()), StructField("partition", IntegerType())])
MEMBER_SCHEMA = StructType(
    [
        *(StructField(name, StringType()) for name in ("member_id", "instance_id", "client_id", "client_host")),
        *(StructField(name, IntegerType()) for name in ("rebalance_timeout_ms", "session_timeout_ms")),
        StructField("subscribed", ArrayType(StringType())),
        StructField("assigned", ArrayType(TOPIC_PARTITION)),
    ]
)
"""What `group_members` adds, in this order."""


@rule(
    {"{value}": BYTES, **of_decoded("error", "record_type", "member_count", "value_version", "protocol_type")},
    remedy=f"{_DECODE}; values are those of Spark's Kafka source",
)
def group_members(decoded: DataFrame, value: str = "value") -> DataFrame:
    """A row for each member in each record of a classic group.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`; or only those of its rows that are asked for, such as
        the last of each group.
    value : str
        The column with the records' values.

    Returns
    -------
    DataFrame
        The columns of `decoded`, a row for each member, and

        - ``member_id``, ``instance_id`` (null: not a static member), ``client_id``, ``client_host``
        - ``rebalance_timeout_ms`` (in a value of version 0 the session timeout), ``session_timeout_ms``
        - ``subscribed``, array of topics; null in a group whose members are no consumers, or if it cannot be read
        - ``assigned``, array of (topic, partition)

        Groups without members, tombstones, other records and those that cannot be read have no row. The bytes of the
        value are not kept. `decoded` is read twice: for most rows, and for values of version 4, which need Python on
        the workers; where reading takes long, keep what was read first. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column is missing.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataValue``, ``ConsumerProtocol``.
    """
    require_all_read(decoded)
    data = sf.col(f"`{value}`")
    of_groups = decoded.where((sf.col("record_type") == GROUP_TYPE) & sf.col("error").isNull() & data.isNotNull())
    of_groups = of_groups.where("member_count > 0")
    own = [sf.col(f"`{name}`") for name in decoded.columns if name != value]
    plain = of_groups.where("value_version <= 3").transform(_placed, value)
    plain = plain.select(*own, data, "_places", sf.explode(sf.sequence(sf.lit(0), sf.col("_count") - 1)).alias("_nth"))
    plain = plain.withColumns(_blobs(plain, data)).select(*own, *_columns(plain, data))
    rest = members_of_rest(of_groups.where("value_version > 3"), value, MEMBER_SCHEMA)
    return plain.unionByName(rest)


def _placed(rows: DataFrame, value: str) -> DataFrame:
    """The rows with the number of members, and where each field of each of them begins."""
    data, length = sf.col(f"`{value}`"), sf.octet_length(f"`{value}`")
    version = sf.col("value_version")

    def text_end(at: Column) -> Column:
        return at + 2 + sf.greatest(int16_at(rows, data, at, length), sf.lit(0))

    rows = rows.withColumn("_type_end", text_end(sf.lit(2)))
    rows = rows.withColumn("_protocol_end", text_end(sf.col("_type_end") + 4))  # the generation lies between
    rows = rows.withColumn("_leader_end", text_end(sf.col("_protocol_end")))
    rows = rows.withColumn("_count_at", sf.col("_leader_end") + sf.when(version >= 2, 8).otherwise(0))
    rows = rows.withColumn("_count", int32_at(rows, data, sf.col("_count_at"), length))

    def next_field(places: Column, number: Column) -> Column:
        at, field = sf.element_at(places, -1), number % FIELD_COUNT
        width = (
            sf.when((field == INSTANCE) & (version < 3) | (field == REBALANCE) & (version < 1), 0)
            .when(field <= HOST, 2 + sf.greatest(int16_at(rows, data, at, length), sf.lit(0)))
            .when(field <= SESSION, 4)
            .otherwise(4 + sf.greatest(int32_at(rows, data, at, length), sf.lit(0)))
        )
        return sf.concat(places, sf.array((at + width).cast("int")))

    fields = sf.sequence(sf.lit(0), sf.col("_count") * FIELD_COUNT - 1)
    first = sf.array((sf.col("_count_at") + 4).cast("int"))
    return rows.withColumn("_places", sf.aggregate(fields, first, next_field))


def _at(field: int) -> tuple[Column, Column]:
    """Where a field of the row's member begins and ends."""
    begin = sf.col("_nth") * FIELD_COUNT + field
    return sf.get("_places", begin), sf.get("_places", begin + 1)


def _blobs(rows: DataFrame, data: Column) -> dict[str, Column]:
    """The bytes that consumers wrote, and their lengths."""
    blobs = {}
    for name, field in (("_subscription", SUBSCRIPTION), ("_assignment", ASSIGNMENT)):
        start, end = _at(field)
        blobs[name] = sf.substring(data, start + 5, end - start - 4)
    return blobs


def _columns(rows: DataFrame, data: Column) -> list[Column]:
    length = sf.octet_length(data)

    def words(field: int) -> Column:
        start, end = _at(field)
        return sf.when(end - start >= 2, sf.substring(data, start + 3, end - start - 2).cast("string"))

    def number(field: int) -> Column:
        start, end = _at(field)
        return sf.when(end > start, int32_at(rows, data, start, length))

    instance_at = _at(INSTANCE)[0]
    has_instance = (sf.col("value_version") >= 3) & (int16_at(rows, data, instance_at, length) >= 0)
    is_consumer = sf.col("protocol_type") == CONSUMER_PROTOCOL
    nothing = sf.array().cast(ArrayType(TOPIC_PARTITION))
    return [
        words(ID).alias("member_id"),
        sf.when(has_instance, words(INSTANCE)).alias("instance_id"),
        words(CLIENT).alias("client_id"),
        words(HOST).alias("client_host"),
        sf.coalesce(number(REBALANCE), number(SESSION)).alias("rebalance_timeout_ms"),
        number(SESSION).alias("session_timeout_ms"),
        sf.when(is_consumer, subscribed_in(rows, sf.col("_subscription"))).alias("subscribed"),
        sf.coalesce(sf.when(is_consumer, assigned_in(rows, sf.col("_assignment"))), nothing).alias("assigned"),
    ]


_TEXTS = ("group_id", "topic", "member_before", "member_after")


@rule(dict.fromkeys(_TEXTS, TEXT) | {"partition": NUMBERS}, remedy="names are text, a partition is a whole number")
def place_costs(df: DataFrame, *, brokers: Sequence[int] | int) -> DataFrame:
    """For each place the connections, reads and offsets left behind of all groups together.

    Parameters
    ----------
    df : DataFrame
        A row for each partition of each group that has rebalanced once: the strings ``group_id``, ``topic``,
        ``member_before``, ``member_after``, and ``partition``, an int.
    brokers : sequence of int, or int
        As in `kafkalearn.coordinator.places.place_cost`.

    Returns
    -------
    DataFrame
        A row for each of `kafkalearn.coordinator.places.PLACES`, in their order: ``place``, and the columns
        ``connections``, ``reads`` and ``left_behind``, the sums of what `place_cost` gives for each group. No Python
        runs on the workers. Nothing is kept whole: a member of a group takes about 170 bytes in one worker, on disk if
        need be.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or the brokers are none.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("billing", "orders", n, "c1" if n < 2 else "c2", "c2") for n in range(4)]
    >>> columns = "group_id string, topic string, partition int, member_before string, member_after string"
    >>> get_spark().createDataFrame(rows, columns).transform(place_costs, brokers=3).show()
    +---------+-----------+-----+-----------+
    |    place|connections|reads|left_behind|
    +---------+-----------+-----+-----------+
    |partition|          2|    2|          0|
    |    topic|          1|    1|          0|
    | consumer|          1|    2|          2|
    |    group|          1|    1|          0|
    +---------+-----------+-----+-----------+

    """
    leaders = leaders_of(brokers=brokers)
    nodes: list[int | None] = [*sorted({broker_id for broker_id in leaders if broker_id is not None})]
    names = {
        ("partition", "after"): sf.concat_ws("-", "topic", sf.col("partition").cast("string")),
        ("topic", "after"): sf.col("topic"),
        ("consumer", "before"): sf.col("member_before"),
        ("consumer", "after"): sf.col("member_after"),
    }
    bits = [1 << nodes.index(leader) for leader in leaders]  # a set of nodes is one number: 50 partitions have 50
    placed = df.select("group_id", "member_after", *(text.alias("_".join(key)) for key, text in names.items()))
    for key in map("_".join, names):
        placed = placed.transform(with_offsets_partition, len(leaders), key, f"{key}_at").withColumn(
            key, _bit(key, bits)
        )
    differs = ("partition_after", "topic_after", "consumer_before")
    each = placed.groupBy("group_id", "member_after").agg(
        *(sf.bit_count(sf.bit_or(key)).alias(key) for key in differs),
        sf.sum((sf.col("consumer_before") != sf.col("consumer_after")).cast("int")).alias("left_behind"),
    )
    # By its own name a member is at one node, and by its group's: there is nothing to be gathered.
    one = {"member_after": "consumer_after", "group_id": "group_after"}
    sums = each.agg(
        *(sf.sum(key).alias(key) for key in (*differs, "left_behind")),
        *(sf.sum(sf.when(sf.isnotnull(name), 1)).alias(key) for name, key in one.items()),
    )
    return sums.select(sf.inline(sf.array(*(sf.struct(*_row(place)) for place in PLACES))))


def _bit(key: str, bits: Sequence[int]) -> Column:
    """The node of a name as a number with one bit set."""
    return sf.get(sf.array(*(sf.lit(bit).cast("bigint") for bit in bits)), sf.col(f"{key}_at"))


def _row(place: str) -> tuple[Column, ...]:
    """The sums of one place; only a consumer's changes with the rebalance."""
    is_consumer = place == "consumer"
    return (
        sf.lit(place).alias("place"),
        sf.col(f"{place}_after").alias("connections"),
        sf.col("consumer_before" if is_consumer else f"{place}_after").alias("reads"),
        (sf.col("left_behind") if is_consumer else sf.lit(0).cast("bigint")).alias("left_behind"),
    )
