"""What Kafka's console tools print of each committed offset, as a column: `kafkalearn.offsets.formatter_line` on Spark.

The lines are expressions over what `kafkalearn.spark.offsets.decode_offsets` has read; JSON is written by the generator
that Kafka's tools use, which is also Spark's.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.offsets.formatter import FORGOTTEN_TYPE, newest_offset_value
from kafkalearn.offsets.records import GROUP_TYPE, OFFSET_TYPES, RECORD_TYPES
from kafkalearn.offsets.replay import NO_KEY
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least
from kafkalearn.spark.columns import BYTES, require_all_read, require_one_copy, rule
from kafkalearn.spark.offsets.decode import of_decoded
from kafkalearn.spark.offsets.state import STATE, latest_state

LINE, ERROR = "formatter_line", "formatter_error"


@rule(
    of_decoded(
        "group_id", "committed_topic", "committed_partition", "committed_offset", "metadata", "topic_id", "error"
    )
    | of_decoded("record_type", "value_version", "leader_epoch", "commit_ms", "expire_ms", "is_tombstone"),
    remedy="records decoded by decode_offsets",
    adds=(LINE, ERROR),
)
def with_formatter_line(df: DataFrame, release: str = DEFAULT_RELEASE) -> DataFrame:
    """The same rows with the line that the console consumer of a release prints for each, by the formatter of offsets.

    Parameters
    ----------
    df : DataFrame
        Decoded records of the offsets topic: what `decode_offsets` returns.
    release : str
        Of the tool: 0.9.0 to 3.8, or since 4.0. (3.9 also prints what it does not know; for it and for 0.8.2 there is
        `kafkalearn.offsets.formatter_line`.)

    Returns
    -------
    DataFrame
        For ``records.transform(decode_offsets).transform(with_formatter_line)``: the columns of `df`, the string column
        ``formatter_line`` (null: nothing is printed), and ``formatter_error``, where the tool stops, why. No Python
        runs on the workers. A record with more bytes than its layout has is an error here; the tool passes over the
        rest. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If a column of `decode_offsets` is missing, there is one already that would be added, or the release is another.

    Examples
    --------
    >>> from kafkalearn.spark.offsets import decode_offsets
    >>> from kafkalearn.spark.session import get_spark
    >>> key = "0001000a746573742d67726f757000047465737400000000"
    >>> value = "0001000000000000006400016d000001610db7ba000000016112de1600"
    >>> rows = get_spark().createDataFrame([(key, value)], "key string, value string").selectExpr(
    ...     "unhex(key) AS key", "unhex(value) AS value"
    ... )
    >>> print(rows.transform(decode_offsets).transform(with_formatter_line, "2.0").first().formatter_line)
    [test-group,test,0]::[OffsetMetadata[100,m],CommitTime 1516353600000,ExpirationTime 1516440000000]

    References
    ----------
    As `kafkalearn.offsets.formatter_line`.
    """
    if not at_least("0.9.0", release) or (at_least("3.9", release) and not at_least("4.0", release)):
        raise KafkaLearnError(f"the lines on Spark are those of 0.9.0 to 3.8 and since 4.0, got release {release!s}")
    require_all_read(df)
    line = _json(release) if at_least("4.0", release) else _text(release)
    is_printed = sf.col("record_type").isin(*OFFSET_TYPES) & sf.col(ERROR).isNull()
    return df.withColumn(ERROR, _error(release)).withColumn(LINE, sf.when(is_printed, line))


def _error(release: str) -> Column:
    """Why the tool stops at a record."""
    number, version = sf.col("record_type"), sf.col("value_version")
    has_no_type = number.isNull() & (sf.col("error") != NO_KEY)
    reason = sf.when(has_no_type | (number.isin(*OFFSET_TYPES) & sf.col("error").isNotNull()), sf.col("error"))
    if at_least("4.1", release):  # it reads every record that it knows before it passes over any
        known = [each for each in RECORD_TYPES if each != FORGOTTEN_TYPE]
        reason = reason.when(number.isin(*known), sf.col("error"))
        of_type_0 = sf.format_string("OffsetCommitValue: version %d at byte 0 is unknown under record type 0", version)
        return sf.coalesce(reason, sf.when((number == OFFSET_TYPES[0]) & (version > 0), of_type_0))
    if not at_least("3.4.1", release):
        unknown = sf.format_string(f"key: record type %d at byte 0 is unknown to Kafka {release}", number)
        reason = reason.when(~number.isin(*OFFSET_TYPES, GROUP_TYPE), unknown)
    too_new = sf.format_string(f"OffsetCommitValue: version %d at byte 0 is unknown to Kafka {release}", version)
    is_too_new = number.isin(*OFFSET_TYPES) & (version > newest_offset_value(release))
    return sf.coalesce(reason, sf.when(is_too_new, too_new))


def _json(release: str) -> Column:
    """Since 4.0."""
    version = sf.col("value_version")
    key = sf.struct(
        sf.col("record_type").alias("type"),
        sf.struct(
            sf.col("group_id").alias("group"),
            sf.col("committed_topic").alias("topic"),
            sf.col("committed_partition").alias("partition"),
        ).alias("data"),
    )
    fields = [  # a null field is left out
        sf.col("committed_offset").alias("offset"),
        sf.when(version >= 3, sf.coalesce("leader_epoch", sf.lit(-1))).alias("leaderEpoch"),
        sf.col("metadata"),
        sf.col("commit_ms").alias("commitTimestamp"),
        sf.when(version == 1, sf.coalesce("expire_ms", sf.lit(-1))).alias("expireTimestamp"),
    ]
    if at_least("4.1", release):
        fields.append(sf.col("topic_id").alias("topicId"))
    value = sf.struct(version.alias("version"), sf.struct(*fields).alias("data"))
    return sf.concat(
        sf.lit('{"key":'),
        sf.to_json(key),
        sf.lit(',"value":'),
        sf.when(sf.col("is_tombstone"), "null").otherwise(sf.to_json(value)),
        sf.lit("}"),
    )


def _text(release: str) -> Column:
    """Up to 3.8."""
    key = sf.format_string("[%s,%s,%d]::", "group_id", "committed_topic", "committed_partition")
    expires, is_version_1 = sf.coalesce("expire_ms", sf.lit(-1)), sf.col("value_version") == 1
    if at_least("2.1", release):
        has_expiry = sf.col("expire_ms").isNotNull()
        if not at_least("2.2", release):
            has_expiry = has_expiry | is_version_1  # -1 was not nothing yet
        value = sf.concat(
            sf.format_string("OffsetAndMetadata(offset=%d, leaderEpoch=", "committed_offset"),
            sf.when(sf.col("leader_epoch") >= 0, sf.format_string("Optional[%d]", "leader_epoch")).otherwise(
                "Optional.empty"
            ),
            sf.format_string(", metadata=%s, commitTimestamp=%d, expireTimestamp=", "metadata", "commit_ms"),
            sf.when(has_expiry, sf.format_string("Some(%d)", expires)).otherwise("None"),
            sf.lit(")"),
        )
    else:
        value = sf.format_string(
            "[OffsetMetadata[%d,%s],CommitTime %d,ExpirationTime %d]",
            "committed_offset",
            sf.when(sf.col("metadata") == "", "NO_METADATA").otherwise(sf.col("metadata")),
            "commit_ms",
            expires,
        )
    return sf.concat(key, sf.when(sf.col("is_tombstone"), "NULL").otherwise(value))


# What fills the offsets topic, in words: who commits how often, who is dead but kept, what is left of those long gone.
#
# The same counts as `kafkalearn.oncall.xray` makes of files, for topics that one machine does not read.

MEMBER_TYPES = tuple(number for number, each in RECORD_TYPES.items() if each.name.endswith("_GROUP_MEMBER_METADATA"))
"""Record types of the newer protocols that say by being there that a group has a member."""

HOUR_MS, SHORTEST_MS = 3_600_000, 60_000  # a shorter time gives no rate


@rule({**STATE, "value": BYTES, **of_decoded("error")}, remedy="records decoded by decode_offsets")
def group_findings(decoded: DataFrame) -> DataFrame:
    """A row for every group that has records in the topic, those with most bytes first to be asked for.

    Parameters
    ----------
    decoded : DataFrame
        From `kafkalearn.spark.offsets.decode.decode_offsets`, with ``key``, ``value`` and ``offset``. Leave out what
        aborted transactions wrote. Records that cannot be read do not count.

    Returns
    -------
    DataFrame
        ``group_id``, ``record_count``, ``size_bytes`` (of keys and values), ``share`` (of all such bytes),
        ``commit_count`` (records: one for each partition of a commit), ``commits_an_hour`` (null: too few, or too short
        a time), ``last_commit_ms``, ``has_members``, ``offset_count``, ``is_dead_but_kept`` (nobody is in it, its
        offsets are there), ``is_gone`` (nothing of it counts any more, and the cleaner has not been), ``words``. It
        keeps what `latest_state` keeps, and a row for each group.

    Notes
    -----
    Rates are those of the records that are there: where the cleaner has been, only the last commits are left.

    References
    ----------
    `kafkalearn.oncall.xray`, of files.
    """
    require_one_copy(decoded)
    require_all_read(decoded)
    size = sf.length("key") + sf.coalesce(sf.length("value"), sf.lit(0))
    counted = (
        decoded.where("error IS NULL AND group_id IS NOT NULL")
        .groupBy("group_id")
        .agg(
            sf.count("*").alias("record_count"),
            sf.sum(size).alias("size_bytes"),
            sf.count("commit_ms").alias("commit_count"),
            sf.min("commit_ms").alias("first_ms"),
            sf.max("commit_ms").alias("last_commit_ms"),
        )
    )
    total = counted.agg(sf.sum("size_bytes").alias("total"))
    is_member = sf.col("record_type").isin(*MEMBER_TYPES) | (sf.coalesce("member_count", sf.lit(0)) > 0)
    living = (
        decoded.transform(latest_state)
        .where("NOT is_tombstone")
        .groupBy("group_id")
        .agg(sf.bool_or(is_member).alias("has_members"), sf.count("committed_offset").alias("offset_count"))
    )
    found = counted.join(living, "group_id", "left").crossJoin(sf.broadcast(total))
    span_ms = sf.col("last_commit_ms") - sf.col("first_ms")
    rate = sf.when(span_ms >= SHORTEST_MS, HOUR_MS * (sf.col("commit_count") - 1) / span_ms)
    found = found.select(
        "group_id",
        "record_count",
        "size_bytes",
        (sf.col("size_bytes") / sf.col("total")).alias("share"),
        "commit_count",
        rate.alias("commits_an_hour"),
        "last_commit_ms",
        sf.coalesce("has_members", sf.lit(False)).alias("has_members"),
        sf.coalesce("offset_count", sf.lit(0)).alias("offset_count"),
        sf.coalesce(~sf.col("has_members") & (sf.col("offset_count") > 0), sf.lit(False)).alias("is_dead_but_kept"),
        sf.isnull("has_members").alias("is_gone"),
    )
    return found.withColumn("words", _words())


def _words() -> Column:
    """A sentence about a group: what it is to the topic first, then what is to be known of it."""
    of_all = sf.format_string("%s: %.1f %% of all bytes, %d commits", "group_id", sf.col("share") * 100, "commit_count")
    an_hour = sf.when(sf.isnotnull("commits_an_hour"), sf.format_string(", %.0f an hour", "commits_an_hour"))
    dead = sf.when(
        sf.col("is_dead_but_kept"),
        sf.format_string("; nobody is in it, and its offsets of %d partitions are kept", "offset_count"),
    )
    gone = sf.when(sf.col("is_gone"), sf.lit("; nothing of it counts any more: the cleaner takes all of it"))
    return sf.concat(of_all, *(sf.coalesce(part, sf.lit("")) for part in (an_hour, dead, gone)))
