"""Division of whole numbers, for which columns have no operator."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as sf


def quotient(number: Column, by: Column | int) -> Column:
    """How many times `by` goes into `number`, as a bigint.

    >>> from kafkalearn.spark.session import get_spark
    >>> get_spark().range(7, 8).select(quotient(sf.col("id"), 2).alias("halves")).first().halves
    3
    """
    return sf.call_function("div", number, sf.lit(by) if isinstance(by, int) else by)
