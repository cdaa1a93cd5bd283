"""Many consumers of one topic, pulled from its log or pushed to from queues: what the broker holds for each.

`kafkalearn.consuming.push` does the same record by record, for a few consumers; there a slow one can also make the
broker refuse the producer, which is not known here: queues that are full drop their oldest record.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.arguments import LARGEST_LONG, whole_number
from kafkalearn.spark.columns.checks import require

_WHOLE = ("int", "bigint")
_FIELDS = ("held", "most_held", "dropped", "pushed", "end", "position", "missed", "pulled")


def backlogs(
    consumers: DataFrame, arrivals: DataFrame, queue_limit: int = LARGEST_LONG, retention: int = LARGEST_LONG
) -> DataFrame:
    """How far each consumer has come, and what is held for it, after the last interval.

    In each interval the records arrive first, then each consumer processes as many as it can.

    Parameters
    ----------
    consumers : DataFrame
        ``consumer`` and ``rate``, the records that it can process in an interval.
    arrivals : DataFrame
        ``interval``, a number that rises, and ``record_count``. It is collected into one row: some ten thousand
        intervals at most.
    queue_limit, retention : int
        Records that the queue of a consumer and the log hold; by default, as many as come.

    Returns
    -------
    DataFrame
        The columns of `consumers`, and ``held``, ``most_held``, ``dropped``, ``pushed`` (processed) of the queue;
        ``lag`` (log end minus committed offset, as the tools count it), ``missed``, ``pulled`` (processed) of the log.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> arrivals = spark.range(5).selectExpr("id AS interval", "4 AS record_count")
    >>> consumers = spark.createDataFrame([("billing", 4), ("search", 1)], "consumer string, rate int")
    >>> found = backlogs(consumers, arrivals, queue_limit=10)
    >>> found.select("consumer", "held", "dropped", "pushed", "lag", "missed", "pulled").orderBy("consumer").show()
    +--------+----+-------+------+---+------+------+
    |consumer|held|dropped|pushed|lag|missed|pulled|
    +--------+----+-------+------+---+------+------+
    | billing|   0|      0|    20|  0|     0|    20|
    |  search|   9|      6|     5| 15|     0|     5|
    +--------+----+-------+------+---+------+------+
    """
    whole_number("queue_limit", queue_limit, at_least=1)
    whole_number("retention", retention, at_least=1)
    require(consumers, "consumer", ("string", *_WHOLE), "each consumer needs a name")
    require(consumers, "rate", _WHOLE, "records that it can process in an interval")
    require(arrivals, "interval", _WHOLE, "a number that rises with time")
    require(arrivals, "record_count", _WHOLE, "records that arrive in the interval")
    in_order = sf.array_sort(
        sf.collect_list(sf.struct("interval", sf.col("record_count").cast("bigint").alias("record_count")))
    )
    stream = arrivals.agg(sf.transform(in_order, lambda each: each["record_count"]).alias("arriving"))
    start = sf.struct(*(sf.lit(0).cast("bigint").alias(name) for name in _FIELDS))

    def after(state: Column, arriving: Column) -> Column:
        return _after_interval(state, arriving, sf.col("rate").cast("bigint"), queue_limit, retention)

    ended = consumers.crossJoin(sf.broadcast(stream)).withColumn("ended", sf.aggregate("arriving", start, after))
    unread = sf.col("ended.end") - sf.col("ended.position")
    deleted = sf.greatest(unread - sf.lit(retention), sf.lit(0))  # since it has read last
    return ended.select(
        *consumers.columns,
        *(f"ended.{name}" for name in ("held", "most_held", "dropped", "pushed")),
        unread.alias("lag"),
        (sf.col("ended.missed") + deleted).alias("missed"),
        "ended.pulled",
    )


def _after_interval(state: Column, arriving: Column, rate: Column, queue_limit: int, retention: int) -> Column:
    """Both ways after one more interval: records came, the consumer has done what it could."""
    come = state["held"] + arriving
    kept = sf.least(come, sf.lit(queue_limit))
    acknowledged = sf.least(kept, rate)
    end = state["end"] + arriving
    first = sf.greatest(state["position"], end - sf.lit(retention))
    read = sf.least(end - first, rate)
    values = {
        "held": kept - acknowledged,
        "most_held": sf.greatest(state["most_held"], kept),
        "dropped": state["dropped"] + come - kept,
        "pushed": state["pushed"] + acknowledged,
        "end": end,
        "position": sf.when(read > 0, first + read).otherwise(state["position"]),
        "missed": state["missed"] + sf.when(read > 0, first - state["position"]).otherwise(0),
        "pulled": state["pulled"] + read,
    }
    return sf.struct(*(values[name].cast("bigint").alias(name) for name in _FIELDS))
