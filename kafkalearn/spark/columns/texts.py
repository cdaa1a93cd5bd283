"""Text in bytes."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.spark.columns.native import static_call

CHECKER = "com.google.common.base.Utf8"  # Guava's, in Spark's own jars: it looks at the bytes where they lie


def is_utf8(df: DataFrame, data: Column, start: Column, size: Column) -> Column:
    """Whether `size` bytes of a binary column from a place on, which must be within it, are UTF-8; null for null."""
    checked = static_call(df, CHECKER, "isWellFormed", "boolean", data, start, size)
    if checked is None:  # Spark Connect: the public way copies them first
        return sf.is_valid_utf8(sf.substring(data, start + 1, size).cast("string"))
    return checked
