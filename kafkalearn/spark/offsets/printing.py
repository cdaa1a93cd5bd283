"""What Kafka's console tools print of each committed offset, as a column: `kafkalearn.offsets.formatter_line` on Spark.

The lines are expressions over what `kafkalearn.spark.offsets.decode_offsets` has read; JSON is written by the generator
that Kafka's tools use, which is also Spark's.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets.records.formatter import FORGOTTEN_TYPE, newest_offset_value
from kafkalearn.offsets.records.record_types import GROUP_TYPE, OFFSET_TYPES, RECORD_TYPES
from kafkalearn.offsets.replay import NO_KEY
from kafkalearn.spark.columns.checks import refuse_overwrite, require, require_all_read
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least

LINE, ERROR = "formatter_line", "formatter_error"
_READ = {
    "string": ("group_id", "committed_topic", "metadata", "topic_id", "error"),
    "int": ("record_type", "committed_partition", "value_version", "leader_epoch"),
    "bigint": ("committed_offset", "commit_ms", "expire_ms"),
    "boolean": ("is_tombstone",),
}


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
        For ``records.transform(decode_offsets).transform(with_formatter_line)``: the columns of `df`, the string
        column ``formatter_line`` (null: nothing is printed), and ``formatter_error``, where the tool stops, why. No
        Python runs on the workers. A record with more bytes than its layout has is an error here; the tool passes
        over the rest.

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
    for kind, names in _READ.items():
        for name in names:
            require(df, name, (kind,), "records decoded by decode_offsets")
    require_all_read(df)
    for name in (LINE, ERROR):
        refuse_overwrite(df, name)
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
