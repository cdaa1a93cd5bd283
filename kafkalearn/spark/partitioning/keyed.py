"""Key -> partition for whole columns, by the rule of each client.

The rules of `kafkalearn.partitioning.keyed`. Each is one number for the key, and its positive remainder:

    partition = pmod(number, partition_count)

so the number is computed once however many partition counts are asked. Spark has CRC-32 and its own hash itself;
murmur2 is called in a Java library that Spark brings along (Apache Commons Codec, whose 32-bit MurmurHash2 has the
seed and the arithmetic of Kafka's); FNV-1a, and murmur2 where that call is not possible, run in Python on Arrow.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.errors import unknown_name
from kafkalearn.hashing import MASK_32
from kafkalearn.spark.columns.checks import refuse_overwrite, require
from kafkalearn.spark.columns.native import static_call
from kafkalearn.spark.partitioning import bytehash
from kafkalearn.spark.session.worker_code import for_workers


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
        For ``df.transform(with_partition, 12)``. Python runs on the workers only for ``"fnv1a"`` (and for murmur2
        on Spark Connect), and needs NumPy and PyArrow there, not kafkalearn.

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
    refuse_overwrite(df, output)
    return df.withColumn(output, sf.pmod(key_number(df, partitioner, key), sf.lit(partition_count)).cast("int"))


def key_number(df: DataFrame, partitioner: str = "murmur2", key: str = "key") -> Column:
    """The column of numbers, bigint, whose positive remainder is the partition; null for a null key."""
    if partitioner not in NUMBERS:
        raise unknown_name("partitioner", partitioner, NUMBERS)
    require(df, key, ("binary", "string"), "Kafka hashes bytes: serialise the key as your producer does")
    number = NUMBERS[partitioner](df, sf.col(key).cast("binary"))
    return sf.when(sf.col(key).isNotNull(), number) if partitioner == "spark" else number  # hash(null) is a number


def _murmur2_hash(df: DataFrame, key: Column) -> Column:
    native = static_call(df, "org.apache.commons.codec.digest.MurmurHash2", "hash32", "int", key, sf.octet_length(key))
    return _in_python(df, "murmur2", key) if native is None else native.cast("bigint")


def _in_python(df: DataFrame, name: str, key: Column) -> Column:
    hashes = for_workers(df.sparkSession, bytehash.hashing(name), needs_core=False)
    return sf.arrow_udf(hashes, "bigint")(key)
