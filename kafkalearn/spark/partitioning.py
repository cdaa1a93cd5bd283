"""Key -> partition on Spark, and what happens to keys when a topic gets more partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError, unknown_name
from kafkalearn.base.hashing import MASK_32
from kafkalearn.spark.columns import WHOLE_NUMBERS, rule, static_call
from kafkalearn.spark.session.worker_code import arrow_function, for_workers

__all__ = [
    "moved_share_by_count",
    "moves_by_key",
    "with_partition",
]


# Hashes of byte strings, a whole Arrow column at a time, with NumPy.
#
# A hash reads its key from the first byte to the last, so the loop here runs over *positions*, and each turn of it
# handles that position of all keys at once. Arrow keeps the bytes of a column in one buffer with the offsets where
# each key begins, so nothing is copied per key.
#
# Spark's workers run these functions. They need NumPy and PyArrow there, but not kafkalearn: they use nothing else of
# it, and go there with the query (`kafkalearn.spark.session.worker_code`).

MURMUR2_SEED = np.uint32(0x9747B28C)
MURMUR2_M = np.uint32(0x5BD1E995)
FNV1A_OFFSET_BASIS = np.uint32(0x811C9DC5)
FNV1A_PRIME = np.uint32(0x01000193)


def murmur2(keys: pa.Array) -> np.ndarray:
    """The murmur2 of each key as uint32, as `kafkalearn.base.hashing.murmur2` computes it; any number for a null.

    >>> murmur2(pa.array([b"21", b""])).astype("int32").tolist()
    [-973932308, 275646681]
    """
    data, starts, lengths = _bytes_of(keys)
    words = np.ndarray((len(data) - 3,), "<u4", data, 0, (1,))  # the 4 bytes from each position on, as one number
    block_counts = lengths >> 2
    hashes = MURMUR2_SEED ^ lengths.astype(np.uint32)
    for index in range(int(block_counts.max(initial=0))):
        (live,) = np.nonzero(block_counts > index)
        block = words[starts[live] + 4 * index] * MURMUR2_M
        block = (block ^ block >> np.uint32(24)) * MURMUR2_M
        hashes[live] = hashes[live] * MURMUR2_M ^ block
    rest = (lengths & 3).astype(np.uint32)
    tail = words[starts + 4 * block_counts] & ((np.uint32(1) << np.uint32(8) * rest) - np.uint32(1))
    hashes = np.where(rest > 0, (hashes ^ tail) * MURMUR2_M, hashes)
    hashes = (hashes ^ hashes >> np.uint32(13)) * MURMUR2_M
    return hashes ^ hashes >> np.uint32(15)


def fnv1a(keys: pa.Array) -> np.ndarray:
    """The 32-bit FNV-1a of each key as uint32, as `kafkalearn.base.hashing.fnv1a` computes it; any number for a null.

    >>> fnv1a(pa.array([b"a"])).tolist()
    [3826002220]
    """
    data, starts, lengths = _bytes_of(keys)
    hashes = np.full(len(keys), FNV1A_OFFSET_BASIS)
    for index in range(int(lengths.max(initial=0))):
        (live,) = np.nonzero(lengths > index)
        hashes[live] = (hashes[live] ^ data[starts[live] + index]) * FNV1A_PRIME
    return hashes


def hashing(name: str) -> Callable[[pa.Array], pa.Array]:
    """From keys to their hashes as Spark's bigint, null for a null key; `name` is one of the functions above."""
    hashes_of = {"murmur2": murmur2, "fnv1a": fnv1a}[name]

    def hash_column(keys: pa.Array) -> pa.Array:
        return pa.array(hashes_of(keys).astype(np.int64), mask=keys.is_null().to_numpy(zero_copy_only=False))

    return hash_column


def partitions_of(keys: pa.Array, partition_counts: pa.Array) -> pa.Array:
    """The Java producer's partition of each key, which is binary or text; a column each, null where one is null.

    >>> partitions_of(pa.array(["user-42", None]), pa.array([6, 6], pa.int32())).to_pylist()
    [4, None]
    """
    counts = partition_counts.fill_null(1).to_numpy(zero_copy_only=False)
    if (counts < 1).any():
        raise ValueError("partitions must be at least 1")
    mask = pc.or_(keys.is_null(), partition_counts.is_null()).to_numpy(zero_copy_only=False)
    return pa.array((murmur2(keys) & np.uint32(0x7FFFFFFF)).astype(np.int64) % counts, pa.int32(), mask=mask)


def _bytes_of(keys: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All bytes of a column with four more at the end, and where each key starts, and how long it is."""
    _, offsets_buffer, data_buffer = keys.buffers()
    offset_type = np.int64 if pa.types.is_large_binary(keys.type) else np.int32
    offsets = np.frombuffer(offsets_buffer, offset_type)[keys.offset : keys.offset + len(keys) + 1].astype(np.int64)
    used = np.frombuffer(data_buffer or b"", np.uint8)[: offsets[-1]]
    return np.concatenate([used, np.zeros(4, np.uint8)]), offsets[:-1], np.diff(offsets)


# Key -> partition for whole columns, by the rule of each client.
#
# The rules of `kafkalearn.partitioning.keyed`. Each is one number for the key, and its positive remainder:
#
#     partition = pmod(number, partition_count)
#
# so the number is computed once however many partition counts are asked. Spark has CRC-32 and its own hash itself;
# murmur2 is called in a Java library that Spark brings along (Apache Commons Codec, whose 32-bit MurmurHash2 has the
# seed and the arithmetic of Kafka's); FNV-1a, and murmur2 where that call is not possible, run in Python on Arrow.


def _murmur2(df: DataFrame, key: Column) -> Column:
    return _murmur2_hash(df, key).bitwiseAND(0x7FFFFFFF)


def _murmur2_unmasked(df: DataFrame, key: Column) -> Column:
    return _murmur2_hash(df, key).bitwiseAND(MASK_32)


def _crc32(df: DataFrame, key: Column) -> Column:
    return sf.crc32(key)


def _fnv1a(df: DataFrame, key: Column) -> Column:
    # As a signed int, then without its sign: what abs(hash % count) in Java comes to.
    signed = sf.shiftright(sf.shiftleft(_in_python(df, "fnv1a", key), 32), 32)
    return sf.abs(signed)


def _spark(df: DataFrame, key: Column) -> Column:
    return sf.hash(key).cast("bigint")


NUMBERS: MappingProxyType[str, Callable[[DataFrame, Column], Column]] = MappingProxyType(
    {
        "murmur2": _murmur2,
        "crc32": _crc32,
        "fnv1a": _fnv1a,
        "murmur2-unmasked": _murmur2_unmasked,
        "spark": _spark,
    }
)
"""For each name in `kafkalearn.partitioning.keyed.PARTITIONERS` the number of a key, a bigint."""


_KEY = {"{key}": ("binary", "string")}
_REMEDY = "Kafka hashes bytes: serialise the key as your producer does"


@rule(_KEY, remedy=_REMEDY, adds=("{output}",))
def with_partition(
    df: DataFrame, partition_count: int, partitioner: str = "murmur2", key: str = "key", output: str = "partition"
) -> DataFrame:
    """The same rows with the partition that a producer picks for each row's key.

    Parameters
    ----------
    df : DataFrame
        Has the serialised key in a binary column, or in a string column, whose bytes are UTF-8 then. Null gives
        null: a record without a key goes where the producer likes.
    partition_count : int
        Partitions of the topic, at least 1.
    partitioner : str
        A name in `kafkalearn.partitioning.keyed.PARTITIONERS`; without one, the Java producer's.
    key : str
        The column of keys.
    output : str
        The int column that is added.

    Returns
    -------
    DataFrame
        For ``df.transform(with_partition, 12)``. Python runs on the workers only for ``"fnv1a"`` (and for murmur2 on
        Spark Connect), and needs NumPy and PyArrow there, not kafkalearn. Row by row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If an argument or a column is not as described, or there is a column `output` already: what Spark reads
        from Kafka has the partition each record really went to.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([("user-42",), ("user-43",)], "key string")
    >>> records.transform(with_partition, 6).transform(with_partition, 7, output="of_seven").show()
    +-------+---------+--------+
    |    key|partition|of_seven|
    +-------+---------+--------+
    |user-42|        4|       1|
    |user-43|        2|       3|
    +-------+---------+--------+

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``BuiltInPartitioner.partitionForKey``; librdkafka 2.16, ``rdkafka_partitioner``.
    """
    whole_number("partition_count", partition_count, at_least=1)
    return df.withColumn(output, sf.pmod(key_number(df, partitioner, key), sf.lit(partition_count)).cast("int"))


@rule(_KEY, remedy=_REMEDY)
def key_number(df: DataFrame, partitioner: str = "murmur2", key: str = "key") -> Column:
    """The column of numbers, bigint, whose positive remainder is the partition; null for a null key."""
    if partitioner not in NUMBERS:
        raise unknown_name("partitioner", partitioner, NUMBERS)
    number = NUMBERS[partitioner](df, sf.col(key).cast("binary"))
    return sf.when(sf.col(key).isNotNull(), number) if partitioner == "spark" else number  # hash(null) is a number


def _murmur2_hash(df: DataFrame, key: Column) -> Column:
    native = static_call(df, "org.apache.commons.codec.digest.MurmurHash2", "hash32", "int", key, sf.octet_length(key))
    return _in_python(df, "murmur2", key) if native is None else native.cast("bigint")


def _in_python(df: DataFrame, name: str, key: Column) -> Column:
    hashes = for_workers(df.sparkSession, hashing(name), needs_core=False)
    return arrow_function(hashes, LongType())(key)


# What happens to keys when a topic gets more partitions: who moves, and whose order breaks.
#
# The partition of a key is a remainder, so another partition count sends most keys elsewhere. Records that were
# written before stay where they are: a key that moves has its older records in one partition and its newer ones in
# another, read by two consumers, and their order is gone.


@rule(_KEY, remedy=_REMEDY)
def moves_by_key(df: DataFrame, before: int, after: int, partitioner: str = "murmur2", key: str = "key") -> DataFrame:
    """One row for each key: how many records it has, its partition before and after, and whether it moves.

    Parameters
    ----------
    df : DataFrame
        Records with a key column as in `kafkalearn.spark.partitioning.with_partition`; null keys are left out.
    before, after : int
        The topic's partition counts, each at least 1.
    partitioner : str
        A name in `kafkalearn.partitioning.keyed.PARTITIONERS`.
    key : str
        The column of keys.

    Returns
    -------
    DataFrame
        ``key``, ``record_count``, ``partition_before``, ``partition_after``, ``moves``. Nothing is kept whole: a key
        takes about 130 bytes in one worker, 20 of its own among them, on disk if need be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([("user-42",), ("user-42",), ("user-7",)], "key string")
    >>> records.transform(moves_by_key, 6, 7).orderBy("key").show()
    +-------+------------+----------------+---------------+-----+
    |    key|record_count|partition_before|partition_after|moves|
    +-------+------------+----------------+---------------+-----+
    |user-42|           2|               4|              1| true|
    | user-7|           1|               2|              2|false|
    +-------+------------+----------------+---------------+-----+
    """
    whole_number("before", before, at_least=1)
    whole_number("after", after, at_least=1)
    number = key_number(df, partitioner, key)
    keys = df.where(sf.col(key).isNotNull()).groupBy(key).agg(sf.count("*").alias("record_count"))
    return keys.select(
        key,
        "record_count",
        sf.pmod(number, sf.lit(before)).cast("int").alias("partition_before"),
        sf.pmod(number, sf.lit(after)).cast("int").alias("partition_after"),
    ).withColumn("moves", sf.col("partition_before") != sf.col("partition_after"))


@rule({"moves": ("boolean",), "record_count": WHOLE_NUMBERS}, remedy="give what moves_by_key returns")
def moved_share(moves: DataFrame) -> DataFrame:
    """One row that sums up `moves_by_key`: keys and records, and the shares of them that a move concerns.

    Returns
    -------
    DataFrame
        ``key_count``, ``moved_key_count``, ``moved_key_share``, and for the records of these keys ``record_count``,
        ``moved_record_count``, ``moved_record_share``: the records whose order against later ones of their key is no
        longer kept. All of it ends in one row.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([("user-42",), ("user-42",), ("user-7",)], "key string")
    >>> moved_share(records.transform(moves_by_key, 6, 7)).first().asDict()
    {'key_count': 2, 'moved_key_count': 1, 'moved_key_share': 0.5,
     'record_count': 3, 'moved_record_count': 2, 'moved_record_share': 0.6666666666666666}
    """
    moved = sf.col("moves").cast("bigint")
    counts = moves.agg(
        sf.count("*").alias("key_count"),
        sf.coalesce(sf.sum(moved), sf.lit(0)).alias("moved_key_count"),
        sf.coalesce(sf.sum("record_count"), sf.lit(0)).alias("record_count"),
        sf.coalesce(sf.sum(moved * sf.col("record_count")), sf.lit(0)).alias("moved_record_count"),
    )
    return counts.select(
        "key_count",
        "moved_key_count",
        sf.try_divide("moved_key_count", "key_count").alias("moved_key_share"),
        "record_count",
        "moved_record_count",
        sf.try_divide("moved_record_count", "record_count").alias("moved_record_share"),
    )


@rule(_KEY, remedy=_REMEDY)
def moved_share_by_count(
    df: DataFrame, partition_counts: Iterable[int], partitioner: str = "murmur2", key: str = "key"
) -> DataFrame:
    """For each partition count the share of keys that move when one partition is added, in one pass.

    Parameters
    ----------
    df : DataFrame
        As in `moves_by_key`; each distinct key counts once.
    partition_counts : iterable of int
        The counts before, each at least 1: ``range(1, 31)``.

    Returns
    -------
    DataFrame
        ``partition_count``, ``key_count``, ``moved_key_count``, ``moved_key_share``, by rising count. For a fair hash
        the share is near ``n / (n + 1)``: nearly all. Nothing is kept whole: a key takes about 110 bytes in one worker,
        20 of its own among them, on disk if need be.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> from pyspark.sql import functions as sf
    >>> users = get_spark().range(1000).select(sf.concat(sf.lit("user-"), "id").alias("key"))
    >>> users.transform(moved_share_by_count, [1, 6, 50]).show()
    +---------------+---------+---------------+---------------+
    |partition_count|key_count|moved_key_count|moved_key_share|
    +---------------+---------+---------------+---------------+
    |              1|     1000|            507|          0.507|
    |              6|     1000|            860|           0.86|
    |             50|     1000|            983|          0.983|
    +---------------+---------+---------------+---------------+
    """
    counts = [whole_number("partition_count", count, at_least=1) for count in partition_counts]
    if not counts:
        raise KafkaLearnError("partition_counts is empty: name the partition counts before, for example range(1, 31)")
    number = key_number(df, partitioner, key).alias("number")
    numbers = df.where(sf.col(key).isNotNull()).select(key).distinct().select(number)
    n = sf.col("partition_count")
    moves = sf.pmod("number", n) != sf.pmod("number", n + 1)
    return (
        numbers.select("number", sf.explode(sf.array(*map(sf.lit, counts))).alias("partition_count"))
        .groupBy("partition_count")
        .agg(sf.count("*").alias("key_count"), sf.sum(moves.cast("bigint")).alias("moved_key_count"))
        .withColumn("moved_key_share", sf.col("moved_key_count") / sf.col("key_count"))
        .orderBy("partition_count")
    )
