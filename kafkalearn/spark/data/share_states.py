"""Raw records of ``__share_group_state``, ten million of them, and the log ends that their lag is taken from.

A thousand share-partitions of forty groups write in turn: a snapshot, 499 updates, a snapshot. Each time somebody holds
the record at the start offset, and some behind it are done. Keys and values are Kafka's bytes: parts that
`kafkalearn.formats.share_state_log` has encoded, with the numbers that differ put in by Spark.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.formats.share_state_log import (
    SNAPSHOT,
    UPDATE,
    SharePartition,
    StateBatch,
    batch_fields,
    encode_key,
    encode_value,
)
from kafkalearn.spark.columns import quotient
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.generate import hash_of

TOPIC_ID = "A6AUkuaxQAm4bUDDQCKT_A"
SHARE_PARTITION_COUNT, GROUP_COUNT = 1000, 40
PER_SNAPSHOT = 500
STEP, MOST_DONE, MOST_LATE = 60, 50, 10  # a start is so many offsets after the one before it, or a few more or fewer

ACKNOWLEDGED = 2
BATCHES = [StateBatch(0, 0, ACKNOWLEDGED, 1)]
EPOCHS = {"snapshotEpoch": 0, "leaderEpoch": 0, "startOffset": 0, "stateBatches": batch_fields(BATCHES)}
VALUES = {
    SNAPSHOT: (EPOCHS | {"stateEpoch": 2, "createTimestamp": 1, "writeTimestamp": 1, "deliveryCompleteCount": 0}, 14),
    UPDATE: (EPOCHS | {"deliveryCompleteCount": 0}, 10),
}
"""For each type of record a value with zeros, and where its start offset stands."""


def share_state_records(spark: SparkSession, size: str | int = "class", *, seed: int = SEED) -> DataFrame:
    """Records of ``__share_group_state`` as Spark's Kafka source gives them; made when they are read.

    Parameters
    ----------
    spark, size, seed
        As in `kafkalearn.spark.data.datasets.group_ids`.

    Returns
    -------
    DataFrame
        ``offset``, ``key`` and ``value``, binary, for `kafkalearn.spark.share_states.decode_share_states`.

    Examples
    --------
    >>> from kafkalearn.formats.share_state_log import replay
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = share_state_records(get_spark(), 3000).orderBy("offset").collect()
    >>> state = replay((bytes(row.key), bytes(row.value)) for row in rows).of("group-7")[0]
    >>> state.start_offset, state.complete_count, state.batches
    (122, 30, (StateBatch(first=123, last=152, state=2, count=1),))

    References
    ----------
    Apache Kafka 4.2 to 4.4, ``ShareCoordinatorRecordHelpers``, ``ShareSnapshotValue``, ``ShareUpdateValue``.
    """
    places = [
        SharePartition(f"group-{number % GROUP_COUNT}", TOPIC_ID, number) for number in range(SHARE_PARTITION_COUNT)
    ]
    keys = sf.array(*(sf.lit(encode_key(UPDATE, each)[2:]) for each in places))
    number = sf.col("id")
    turn = quotient(number, SHARE_PARTITION_COUNT)
    start = turn * STEP + sf.pmod(hash_of(seed, "start", number), sf.lit(MOST_LATE))
    done = sf.pmod(hash_of(seed, "done", number), sf.lit(MOST_DONE)) + 1
    is_snapshot = turn % PER_SNAPSHOT == 0
    kind = sf.when(is_snapshot, sf.lit(b"\x00\x00")).otherwise(sf.lit(b"\x00\x01"))
    return spark.range(rows_of(size)).select(
        number.alias("offset"),
        sf.concat(kind, sf.get(keys, (number % SHARE_PARTITION_COUNT).cast("int"))).alias("key"),
        sf.when(is_snapshot, _value(SNAPSHOT, start, done)).otherwise(_value(UPDATE, start, done)).alias("value"),
    )


def share_log_ends(spark: SparkSession, size: str | int = "class") -> DataFrame:
    """Where the partitions of `share_state_records` end: as `kafkalearn.spark.share_states.share_lag_of` takes them.

    Returns
    -------
    DataFrame
        ``topic_id``, ``share_partition`` and ``log_end``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> share_log_ends(get_spark(), 3000).first().log_end
    180
    """
    turns = -(-rows_of(size) // SHARE_PARTITION_COUNT)
    return spark.range(SHARE_PARTITION_COUNT).select(
        sf.lit(TOPIC_ID).alias("topic_id"),
        sf.col("id").cast("int").alias("share_partition"),
        sf.lit(turns * STEP).cast("bigint").alias("log_end"),
    )


def _value(kind: int, start: Column, done: Column) -> Column:
    """A value of this type whose start is held, and whose `done` records behind it are acknowledged."""
    fields, at = VALUES[kind]
    zeros = encode_value(kind, fields)
    batch_at = len(zeros) - 7 - 20  # the tagged count is the last, before it one batch
    return sf.concat(
        sf.lit(zeros[:at]),
        _bytes(start, 8),
        sf.lit(zeros[at + 8 : batch_at]),
        _bytes(start + 1, 8),
        _bytes(start + done, 8),
        sf.lit(zeros[batch_at + 16 : -4]),
        _bytes(done, 4),
    )


def _bytes(number: Column, size: int) -> Column:
    """A number that is not negative, as so many bytes, the greatest first."""
    return sf.unhex(sf.lpad(sf.hex(number), 2 * size, "0"))
