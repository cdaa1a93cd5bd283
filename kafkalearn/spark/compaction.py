"""A cleaner's pass over a whole topic: which records survive, as DataFrame -> DataFrame.

The rule is that of `kafkalearn.log.cleaner`, record for record: the last record of each key stays, a
tombstone among them until its *delete horizon* has passed. Kafka reads a log twice, and so does the query:

1. **The last offset of each key.** The log is read without its values and grouped by partition and two 64-bit hashes
   of the key: a row of fixed size, which Spark looks up and shuffles quicker than the key itself. Kafka's own cleaner
   compares 128 bits too (MD5). One hash of 64 bits would not do: beside a billion keys of a partition it
   loses a record in one pass of forty, two of them in one of 10**20.
2. **A bitmap of the places that stay.** 64 offsets of a partition, ``offset >> 6``, are a word, and each last record
   sets a bit in its word: a row a word, however many records stay there.
3. **What stays is kept while the log is read a second time**: one look-up of a record's word, one test of its bit.
   Where each worker gets the whole bitmap, no record is shuffled and no value is copied.

Whether the bitmap goes to every worker, Spark decides from its real size, if adaptive execution is on (as it is by
default): the second scan is joined with one row that counts the words, so it cannot begin, or be planned to the end,
before they are there. Up to ``spark.sql.adaptive.autoBroadcastJoinThreshold`` they are sent: in sessions of `get_spark`
on this machine a 32nd of Java's memory, on your own cluster 10 MB until you raise it. 24 bytes a record
that stays count for that, less where they lie together. The driver and each worker then hold
a table of 64 to 96 bytes a word, the driver its rows too while it makes it. Above it, and with adaptive execution off,
all records are shuffled with their values by their words: slower, but no number of keys is too large.

Rows from `kafkalearn.spark.offsets.segments.segments_df` say more of a record: its batch's delete horizon, and how its
transaction ended. Then aborted data goes and markers wait like tombstones, as in `kafkalearn.log.cleaner`.

`with_retention` is for what is deleted instead: which files of many partitions, and by which rule of
`kafkalearn.log.retention`. Each of its parts takes segments from the old end of a partition up to the first one that it
may not take, and the next part looks at those that are left. On Spark a partition's segments are a window in the order
of their base offsets, and "up to the first one" is a running minimum.
"""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.log.cleaner import (
    ABORTED,
    BEHIND_THE_MAP,
    LAST_OF_KEY,
    MARKER,
    MARKER_GONE,
    NO_KEY,
    TOMBSTONE_GONE,
    TOMBSTONE_NEW,
    TOMBSTONE_WAITS,
)
from kafkalearn.log.model import Settings
from kafkalearn.log.retention import BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD, rules_in_order
from kafkalearn.spark.columns import require, require_one_copy, rule

HORIZON = "delete_horizon_ms"
CONTROL, TRANSACTION, HAS_DATA = "control", "transaction", "has_data"
NO_RECORDS = ("tail", "skipped")  # where one of these says something, the row is not a record
DAY_MS = 86_400_000
OVERTAKEN = "overtaken"

PARTITION_BITS, WORD_BITS = 16, 6  # of the numbers for a word of the bitmap, and for a place in it
MOST_OFFSET_BITS = 63 - PARTITION_BITS

Bound = int | Mapping[int, int] | None


_RECORDS = {"key": ("binary", "string"), "value": ("binary", "string"), "partition": ("int",), "offset": ("bigint",)}
_AS_KAFKA_HAS_IT = "cast it, and leave key and value as Kafka has them"


@rule(_RECORDS, remedy=_AS_KAFKA_HAS_IT, needs_all=True)
def compact(
    records: DataFrame,
    *,
    now_ms: int | None = None,
    delete_retention_ms: int = DAY_MS,
    first_uncleanable: Bound = None,
) -> DataFrame:
    """What a cleaner leaves of a topic in one pass over all of it.

    Parameters
    ----------
    records : DataFrame
        Of one topic, with the columns of Spark's Kafka source: at least ``key`` and ``value`` (binary or string),
        ``partition`` (int) and ``offset`` (bigint). Those that `segments_df` adds count if they are there.
    now_ms : int, optional
        The cleaner's clock. With it tombstones come in two phases: the result has a column ``delete_horizon_ms``, in
        which a tombstone that is met for the first time gets ``now_ms + delete_retention_ms``, and a tombstone that
        came with a horizon not above `now_ms` is gone; likewise a marker of which no data is left. Without it every
        last tombstone stays, and every marker, as in a first pass.
    delete_retention_ms : int
        The topic's ``delete.retention.ms``.
    first_uncleanable : int or mapping, optional
        The first offset that is not cleaned, of all partitions or by partition: the base of the active segment, or
        what ``min.compaction.lag.ms`` protects. What lies behind stays, and does not overtake what lies before; a
        partition that a mapping does not name is left alone. Without it the whole topic is cleaned.

    Returns
    -------
    DataFrame
        The records that stay, in no particular order, without the column ``has_data``. No records are kept whole: a key
        takes about 100 bytes in one worker while last offsets are sought, on disk if need be; and while they are few
        enough for a broadcast, each worker and the driver hold 64 to 96 bytes for each 64 offsets among which any stay.

        A record without key goes if it is cleaned: since 0.9 a compacted topic takes none, but there may be some from
        the time before its policy was changed.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, a number makes no sense, or the rows hold several copies of a
        partition, or markers without ``has_data``. While it runs the query ends with an error if there is a partition
        above 65,535 or an offset above 2**47 - 1, or if a transaction is open in the part that is cleaned.

    Examples
    --------
    >>> from kafkalearn.spark.data.datasets import customers
    >>> from kafkalearn.spark.session import get_spark
    >>> topic = customers(get_spark(), "small")
    >>> topic.count(), topic.transform(compact).count()
    (100000, 9798)

    References
    ----------
    Apache Kafka, ``Cleaner.shouldRetainRecord``; KIP-534 for delete horizons (3.1).
    """
    _check(records, now_ms, delete_retention_ms)
    is_cleaned = _is_cleaned(first_uncleanable)
    records, has_markers = _only_records(records, is_cleaned), CONTROL in records.columns
    stays = ~is_cleaned | sf.col(CONTROL).isNotNull() if has_markers else ~is_cleaned
    marked = _with_is_last(records, _keyed(records, is_cleaned))
    kept = marked.where(stays | sf.col("_is_last")).drop("_is_last")
    kept = kept if now_ms is None else _two_phases(kept, now_ms, delete_retention_ms, is_cleaned)
    return kept.drop(HAS_DATA)


@rule(_RECORDS, remedy=_AS_KAFKA_HAS_IT, needs_all=True)
def count_reasons(records: DataFrame, *, now_ms: int | None = None, first_uncleanable: Bound = None) -> DataFrame:
    """How many records a pass keeps and removes, and why: columns ``reason``, ``is_kept``, ``records``.

    Parameters are those of `compact`. The reasons are those of `kafkalearn.log.cleaner`; only of an overtaken record
    the offset that overtakes it is left out: ``overtaken``. It keeps what `compact` keeps.

    Examples
    --------
    >>> from kafkalearn.spark.data.datasets import customers
    >>> from kafkalearn.spark.session import get_spark
    >>> count_reasons(customers(get_spark(), "small")).orderBy("reason").collect()[0]
    Row(reason='last of its key', is_kept=True, records=9564)
    """
    _check(records, now_ms, DAY_MS)
    is_cleaned = _is_cleaned(first_uncleanable)
    records = _only_records(records, is_cleaned)
    horizon = _horizon(records)
    is_due = horizon <= now_ms if now_ms is not None else sf.lit(False)
    settled = sf.when(~is_cleaned, BEHIND_THE_MAP)
    if CONTROL in records.columns:
        is_gone = sf.coalesce(_is_without_data() & is_due, sf.lit(False))
        settled = settled.when(sf.col(CONTROL).isNotNull(), sf.when(is_gone, MARKER_GONE).otherwise(MARKER))
    settled = settled.when(~_counts(records), ABORTED).when(sf.col("key").isNull(), NO_KEY)
    if_last = (
        sf.when(sf.col("value").isNotNull(), LAST_OF_KEY)
        .when(horizon.isNull(), TOMBSTONE_NEW)
        .when(is_due, TOMBSTONE_GONE)
        .otherwise(TOMBSTONE_WAITS)
    )
    # Only what is counted is there to be shuffled: a place and two short texts, no key and no value.
    judged = records.select("partition", "offset", settled.alias("_settled"), if_last.alias("_if_last"))
    last_or_not = sf.when(sf.col("_is_last"), sf.col("_if_last")).otherwise(OVERTAKEN)
    reason = sf.coalesce("_settled", last_or_not).alias("reason")
    marked = _with_is_last(judged, _keyed(records, is_cleaned))
    counts = marked.groupBy(reason).agg(sf.count("*").alias("records"))
    is_kept = ~sf.col("reason").isin(NO_KEY, OVERTAKEN, TOMBSTONE_GONE, ABORTED, MARKER_GONE)
    return counts.select("reason", is_kept.alias("is_kept"), "records")


def _check(records: DataFrame, now_ms: int | None, delete_retention_ms: int) -> None:
    require_one_copy(records)
    if HORIZON in records.columns:
        require(records, HORIZON, ("bigint",), "it holds milliseconds, and null where no pass has set it")
    for column in (CONTROL, TRANSACTION):
        if column in records.columns:
            require(records, column, ("string",), "as segments_df has it: COMMIT or ABORT, and null where it is none")
    if CONTROL in records.columns:
        remedy = "it says of a marker whether it has data; without it leave markers out: .where('control IS NULL')"
        if HAS_DATA not in records.columns:
            raise KafkaLearnError(f"the rows have a column 'control' and none 'has_data': {remedy}, and drop 'control'")
        require(records, HAS_DATA, ("boolean",), remedy)
    if now_ms is not None:
        whole_number("now_ms", now_ms, at_least=0)
    whole_number("delete_retention_ms", delete_retention_ms, at_least=0)


def _is_cleaned(first_uncleanable: Bound) -> Column:
    """Whether a record lies in the part that this pass cleans."""
    match first_uncleanable:
        case None:
            return sf.lit(True)
        case Mapping():
            bound = sf.lit(0)
            for partition, offset in first_uncleanable.items():
                whole_number(f"first_uncleanable[{partition}]", offset, at_least=0)
                bound = sf.when(sf.col("partition") == partition, offset).otherwise(bound)
            return sf.col("offset") < bound
        case int():
            return sf.col("offset") < whole_number("first_uncleanable", first_uncleanable, at_least=0)
    raise KafkaLearnError(
        f"first_uncleanable must be an offset, or a dict from partition to offset, got {first_uncleanable!r}"
    )


def _only_records(records: DataFrame, is_cleaned: Column) -> DataFrame:
    """The rows that are records; an open transaction in the part that is cleaned ends the query."""
    for column in NO_RECORDS:
        if column in records.columns:
            records = records.where(sf.col(column).isNull())
    if TRANSACTION not in records.columns:
        return records
    place = sf.concat_ws("-", sf.lit("partition"), "partition"), sf.col("offset").cast("string")
    words = sf.format_string(
        "%s, offset %s is of an open transaction: a cleaner stops before it; give first_uncleanable", *place
    )
    is_open = is_cleaned & sf.coalesce(sf.col(TRANSACTION) == "OPEN", sf.lit(False))
    return records.where(sf.when(~is_open, True).otherwise(sf.raise_error(words)))


def _counts(records: DataFrame) -> Column:
    """Whether a record is data of no aborted transaction."""
    counts = sf.lit(True)
    if CONTROL in records.columns:
        counts = counts & sf.col(CONTROL).isNull()
    if TRANSACTION in records.columns:
        counts = counts & sf.coalesce(sf.col(TRANSACTION) != "ABORT", sf.lit(True))
    return counts


def _is_without_data() -> Column:
    """Whether a row is a marker that waits like a tombstone: no batch of its transaction is left."""
    return sf.col(CONTROL).isNotNull() & ~sf.coalesce(HAS_DATA, sf.lit(True))


def _horizon(records: DataFrame) -> Column:
    return sf.col(HORIZON) if HORIZON in records.columns else sf.lit(None).cast("bigint")


def _keyed(records: DataFrame, is_cleaned: Column) -> DataFrame:
    """The records that count for their keys: the cleaner's map is made of them."""
    return records.where(is_cleaned & sf.col("key").isNotNull() & _counts(records))


def _with_is_last(rows: DataFrame, keyed: DataFrame) -> DataFrame:
    """The rows, which need partition and offset, with ``_is_last``: whether each is the last of its key in `keyed`."""
    last_offsets = keyed.groupBy("partition", *_hashes(sf.col("key"))).agg(sf.max("offset").alias("offset"))
    words = last_offsets.groupBy(_word().alias("_word")).agg(sf.bit_or(_bit()).alias("_bits"))
    words = words.where("_word IS NOT NULL")  # which the join would look for, so that its words were others
    # One row without columns; its condition always holds. It is there to be waited for.
    once_counted = words.agg(sf.count("_bits").alias("_count")).where("_count >= 0").select()
    there = rows.crossJoin(sf.broadcast(once_counted)).join(words, _word() == sf.col("_word"), "left")
    is_set = sf.col("_bits").bitwiseAND(_bit()) != 0
    return there.withColumn("_is_last", sf.coalesce(is_set, sf.lit(False))).drop("_word", "_bits")


def _hashes(key: Column) -> tuple[Column, Column]:
    """Two hashes, and keys for which both agree are taken for one.

    The second begins from a hash of another kind: bytes that agree in the first whatever it begins from can be made.
    """
    return sf.xxhash64(key).alias("_hash"), sf.xxhash64(sf.hash(key), key).alias("_other_hash")


def _word() -> Column:
    """The number of the word that has a record's bit, partition and offset in one; what does not fit is an error."""
    partition, offset = sf.col("partition"), sf.col("offset")
    fits = (partition >= 0) & (partition < 1 << PARTITION_BITS) & (offset >= 0) & (offset < 1 << MOST_OFFSET_BITS)
    number = sf.shiftright(offset, WORD_BITS) * (1 << PARTITION_BITS) + partition
    return sf.when(fits, number).otherwise(sf.raise_error(sf.lit("a partition or an offset is out of range")))


def _bit() -> Column:
    """A record's bit in its word."""
    place = sf.col("offset").bitwiseAND((1 << WORD_BITS) - 1).cast("int")
    return sf.call_function("shiftleft", sf.lit(1).cast("bigint"), place)


def _two_phases(kept: DataFrame, now_ms: int, delete_retention_ms: int, is_cleaned: Column) -> DataFrame:
    horizon, waits = _horizon(kept), sf.col("value").isNull()
    if CONTROL in kept.columns:
        waits = waits | _is_without_data()
    is_met = waits & is_cleaned
    stays = kept
    if HORIZON in kept.columns:
        stays = kept.where(~(is_met & sf.coalesce(horizon <= now_ms, sf.lit(False))))
    new_horizon = sf.when(is_met, sf.coalesce(horizon, sf.lit(now_ms + delete_retention_ms))).otherwise(horizon)
    return stays.withColumn(HORIZON, new_horizon.cast("bigint"))


SEGMENT_SCHEMA = "partition INT, base_offset BIGINT, end_offset BIGINT, size_bytes BIGINT, largest_timestamp_ms BIGINT"
LOG_START, HIGH_WATERMARK = "log_start_offset", "high_watermark"


@rule(
    {"partition": ("int",)}
    | dict.fromkeys(("base_offset", "end_offset", "size_bytes", "largest_timestamp_ms"), ("bigint",)),
    remedy="cast it, as kafkalearn.spark.compaction.SEGMENT_SCHEMA has it",
    adds=("{output}",),
    needs_all=True,
)
def with_retention(
    segments: DataFrame, settings: Settings, now_ms: int, *, output: str = "deleted_because"
) -> DataFrame:
    """Which segments a broker deletes when it looks at `now_ms`: the string column `output`, null for those that stay.

    Nothing is kept whole: one worker has the segments of a log in order, about 130 bytes each, on disk if need be.

    Parameters
    ----------
    segments : DataFrame
        A row a segment, as `SEGMENT_SCHEMA` has it: ``end_offset`` is the one behind its last record, and the last
        segment of a partition is the active one. A column ``topic`` tells topics apart; ``log_start_offset`` and
        ``high_watermark`` (bigint, the same in all rows of a partition) count if they are there, else the log starts
        with its first segment and all of it is replicated.
    settings : kafkalearn.log.Settings
        The policy, ``retention.ms``, ``retention.bytes`` and the release, from 0.10.1 on.
    now_ms : int
        The broker's clock.
    output : str
        The column to add; it holds one of `kafkalearn.log.retention.REASONS`.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, `output` is there already, or the release is older than records'
        timestamps.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [(0, 0, 10, 500, 1_000), (0, 10, 20, 500, 9_000), (0, 20, 20, 0, 9_000)]
    >>> segments = get_spark().createDataFrame(rows, SEGMENT_SCHEMA)
    >>> kept = segments.transform(with_retention, Settings(retention_ms=5_000), now_ms=10_000)
    >>> [row.deleted_because for row in kept.orderBy("base_offset").collect()]
    ['older than retention.ms', None, None]

    References
    ----------
    Apache Kafka, ``UnifiedLog.deleteOldSegments``; the order of the rules is this since 3.0.
    """
    _retention_check(segments, settings, now_ms)
    names = [name for name in ("topic", "partition") if name in segments.columns]
    log = Window.partitionBy(*names).orderBy("base_offset")
    whole = Window.partitionBy(*names)
    next_base = sf.lead("base_offset").over(log)
    replicated = sf.col(HIGH_WATERMARK) if HIGH_WATERMARK in segments.columns else sf.max("end_offset").over(whole)
    log_start = sf.col(LOG_START) if LOG_START in segments.columns else sf.min("base_offset").over(whole)
    is_closed_or_filled = next_base.isNotNull() | (sf.col("size_bytes") > 0)
    may_go = (sf.col("end_offset") <= replicated) & is_closed_or_filled

    judged = segments.withColumn(output, sf.lit(None).cast("string"))
    for reason in rules_in_order(settings):
        left_bytes = sf.when(sf.col(output).isNull(), sf.col("size_bytes")).otherwise(0)
        spare_bytes = sf.sum(left_bytes).over(whole) - settings.retention_bytes
        takes: dict[str, Column] = {
            BELOW_LOG_START: sf.coalesce(next_base <= sf.least(log_start, replicated), sf.lit(False)),
            TOO_MANY_BYTES: may_go
            & sf.lit(settings.retention_bytes >= 0)
            & (sf.sum(left_bytes).over(log) <= spare_bytes),
            TOO_OLD: may_go
            & sf.lit(settings.retention_ms >= 0)
            & (sf.lit(now_ms) - sf.col("largest_timestamp_ms") > settings.retention_ms),
        }
        reaches = sf.min(sf.col(output).isNotNull() | takes[reason]).over(log)
        judged = judged.withColumn(output, sf.when(reaches, sf.coalesce(output, sf.lit(reason))))
    return judged


def _retention_check(segments: DataFrame, settings: Settings, now_ms: int) -> None:
    for column in (LOG_START, HIGH_WATERMARK):
        if column in segments.columns:
            require(segments, column, ("bigint",), f"cast it: .withColumn('{column}', col('{column}').cast('bigint'))")
    whole_number("now_ms", now_ms, at_least=0)
    if not settings.has("0.10.1"):
        raise KafkaLearnError(
            f"before Kafka 0.10.1 the age of a segment was that of its file, the release is {settings.release}: give a "
            "later release"
        )
