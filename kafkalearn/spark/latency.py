"""How long millions of records wait for their acknowledgement, by acks and number of replicas.

The rule is that of `kafkalearn.delivery.cost`, as columns. Times are in microseconds.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.delivery.cost import MOST_REPLICAS
from kafkalearn.replication.events import refuse_unknown_acks
from kafkalearn.spark.columns.checks import refuse_overwrite, require
from kafkalearn.spark.data.datasets import SEED, rows_of
from kafkalearn.spark.data.zipf import hash_of

FOLLOWERS = tuple(f"follower_{number}_us" for number in range(1, MOST_REPLICAS))
BUCKET_US = 100
CASES = ((1, 3), *(("all", replicas) for replicas in range(1, MOST_REPLICAS + 1)))
_WHOLE = ("int", "bigint")


def round_trips(spark: SparkSession, size: str | int = "class", *, seed: int = SEED) -> DataFrame:
    """How long each part of each record's way took, in a cluster that works; one time in 2,000 a part is held up.

    Parameters
    ----------
    spark, size, seed
        As in `kafkalearn.spark.data.datasets.group_ids`; nothing is kept, the rows are made when they are read.

    Returns
    -------
    DataFrame
        ``there_us`` and ``back_us``, and of each of four followers the time until the leader has its next fetch.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> round_trips(get_spark(), 1000).columns[:3]
    ['there_us', 'back_us', 'follower_1_us']
    """
    names = {"there_us": 150, "back_us": 100, **dict.fromkeys(FOLLOWERS, 400)}
    return spark.range(rows_of(size)).select(*(_part(seed, name, least).alias(name) for name, least in names.items()))


def _part(seed: int, name: str, least_us: int) -> Column:
    """At least so long, as a rule little more; one time in 2,000 a disk or the garbage collector stops it for long."""
    random = sf.pmod(hash_of(seed, name, sf.col("id")), sf.lit(2_000_000))
    usual = least_us + sf.floor(-sf.log((random % 1000 + 0.5) / 1000) * least_us / 2)
    held_up = sf.when(random < 1000, 10_000 + random * 50).otherwise(0)
    return (usual + held_up).cast("bigint")


def with_latency(df: DataFrame, acks: int | str = "all", replica_count: int = 3, name: str = "latency_us") -> DataFrame:
    """The rows with the time from the send to the callback.

    Parameters
    ----------
    df : DataFrame
        The columns of `round_trips`.
    acks : 0, 1 or "all"
        The producer's setting.
    replica_count : int
        From 1 to 5; all of them are in the ISR.
    name : str
        Of the new column.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or an argument is not as described.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> columns = "there_us long, back_us long, " + ", ".join(f"{name} long" for name in FOLLOWERS)
    >>> one = get_spark().createDataFrame([(200, 100, 400, 900, 500, 600)], columns)
    >>> [one.transform(with_latency, "all", replicas).first().latency_us for replicas in (1, 2, 3)]
    [300, 700, 1200]
    """
    refuse_overwrite(df, name)
    return df.withColumn(name, _latency(df, acks, replica_count))


def _latency(df: DataFrame, acks: int | str, replica_count: int) -> Column:
    refuse_unknown_acks(acks)
    followers = FOLLOWERS[: whole_number("replica_count", replica_count, 1, MOST_REPLICAS) - 1]
    for column in ("there_us", "back_us", *followers):
        require(df, column, _WHOLE, "times are whole microseconds, as round_trips() has them")
    if acks == 0:
        return sf.lit(0).cast("bigint")
    own = sf.col("there_us") + sf.col("back_us")
    if acks == 1 or not followers:
        return own
    return own + (sf.greatest(*followers) if len(followers) > 1 else sf.col(followers[0]))


def latency_counts(df: DataFrame) -> DataFrame:
    """How many records waited how long: acks=1 of three replicas, acks=all of one to five.

    Returns
    -------
    DataFrame
        ``acks``, ``replicas``, ``latency_us`` rounded down to 100, ``records``; all cases in one pass.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = latency_counts(round_trips(get_spark(), 1000)).groupBy("acks", "replicas").sum("records").collect()
    >>> len(rows), {row["sum(records)"] for row in rows}
    (6, {1000})
    """
    cases = [
        sf.struct(
            sf.lit(str(acks)).alias("acks"),
            sf.lit(replicas).alias("replicas"),
            (sf.floor(_latency(df, acks, replicas) / BUCKET_US) * BUCKET_US).alias("latency_us"),
        )
        for acks, replicas in CASES
    ]
    each = df.select(sf.explode(sf.array(*cases)).alias("case")).select("case.*")
    return each.groupBy("acks", "replicas", "latency_us").agg(sf.count("*").alias("records"))


def latency_table(df: DataFrame, shares: tuple[float, ...] = (0.5, 0.99, 0.999)) -> list[dict[str, object]]:
    """Rows for a table: after how many milliseconds a share of the records had their callback; runs the query.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = latency_table(round_trips(get_spark(), 1000))
    >>> [(row["acks"], row["replicas"]) for row in rows][:3]
    [('1', 3), ('all', 1), ('all', 2)]
    """
    counted: dict[tuple[str, int], list[tuple[int, int]]] = {}
    for row in latency_counts(df).orderBy("acks", "replicas", "latency_us").collect():
        counted.setdefault((row.acks, row.replicas), []).append((row.latency_us, row.records))
    return [
        {"acks": acks, "replicas": replicas}
        | {f"{100 * share:g} % within, ms": _within(counts, share) / 1000 for share in shares}
        for (acks, replicas), counts in counted.items()
    ]


def _within(counts: list[tuple[int, int]], share: float) -> int:
    """The end of the first bucket with which so large a share is reached."""
    total, seen = sum(records for _, records in counts), 0
    for latency_us, records in counts:
        seen += records
        if seen >= share * total:
            return latency_us + BUCKET_US
    return 0
