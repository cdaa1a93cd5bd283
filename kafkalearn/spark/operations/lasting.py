"""What has been so at every sample up to the last: since when."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.operations.faults.rules import LASTING_MS
from kafkalearn.operations.faults.topology import SAMPLE_MS


def sample_of(at_ms: str) -> Column:
    """The sample, every five minutes, that a moment belongs to."""
    return sf.col(at_ms) - sf.pmod(sf.col(at_ms), sf.lit(SAMPLE_MS))


def lasting(rows: DataFrame, keys: Sequence[str], until: DataFrame) -> DataFrame:
    """Of rows that say that something is so the run of samples that reaches the end, where it is an hour long.

    Parameters
    ----------
    rows : DataFrame
        The keys and ``at_ms``, a row for each sample at which it is so; what else they have is kept.
    keys : sequence of str
        What is said of.
    until : DataFrame
        One row with the last sample: ``until_ms``.

    Returns
    -------
    DataFrame
        The rows of these runs, with ``since_ms`` and ``until_ms``.
    """
    backwards = Window.partitionBy(*keys).orderBy(sf.desc("at_ms"))
    step = (sf.row_number().over(backwards) - 1) * sf.lit(SAMPLE_MS)
    since = sf.min("at_ms").over(Window.partitionBy(*keys))
    return (
        rows.crossJoin(sf.broadcast(until))
        .withColumn("step_ms", step)
        .where(sf.col("at_ms") == sf.col("until_ms") - sf.col("step_ms"))
        .withColumn("since_ms", since)
        .where(sf.col("until_ms") - sf.col("since_ms") >= LASTING_MS)
        .drop("step_ms")
    )
