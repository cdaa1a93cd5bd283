"""Numbers out of bytes: Kafka writes the highest byte first."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.spark.columns.native import static_call

READER = "org.apache.hadoop.io.WritableComparator"  # Hadoop's reader of big-endian numbers, in Spark's own jars


def int16_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The signed number in two bytes of a binary column, or null where they would reach beyond its `length`.

    `df` are the rows it is meant for, as for `kafkalearn.spark.columns.native.static_call`; so in the other functions.
    """
    return sf.shiftright(sf.shiftleft(uint16_at(df, data, at, length), 16), 16)


def uint16_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The unsigned number in two bytes, or null."""
    return _number(df, "readUnsignedShort", 2, data, at, length)


def int32_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The signed number in four bytes, or null."""
    return _number(df, "readInt", 4, data, at, length)


def int64_at(df: DataFrame, data: Column, at: Column | int, length: Column) -> Column:
    """The signed number in eight bytes, or null."""
    return _number(df, "readLong", 8, data, at, length)


def _number(df: DataFrame, method: str, width: int, data: Column, at: Column | int, length: Column) -> Column:
    position, returns = sf.lit(at) if isinstance(at, int) else at, "bigint" if width == 8 else "int"
    number = static_call(df, READER, method, returns, data, position)
    if number is None:  # Spark Connect: the public way, several times slower
        digits = sf.hex(sf.substring(data, position + 1, sf.lit(width)))
        number = sf.conv(digits, 16, -10 if width == 8 else 10).cast("bigint")
        if width == 4:
            number = sf.pmod(number + 2**31, sf.lit(2**32)) - 2**31
        number = number.cast(returns)
    return sf.when(position + width <= length, number)
