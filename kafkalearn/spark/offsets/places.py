"""What each place where offsets could live would cost, over many groups: `kafkalearn.coordinator.places` on Spark."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as sf

from kafkalearn.coordinator.leaders import leaders_of
from kafkalearn.coordinator.places import PLACES
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.coordinator import with_offsets_partition

_TEXTS = ("group_id", "topic", "member_before", "member_after")


def place_costs(df: DataFrame, *, brokers: Sequence[int] | int) -> DataFrame:
    """For each place the connections, reads and offsets left behind of all groups together.

    Parameters
    ----------
    df : DataFrame
        A row for each partition of each group that has rebalanced once: the strings ``group_id``, ``topic``,
        ``member_before``, ``member_after``, and ``partition``, an int.
    brokers : sequence of int, or int
        As in `kafkalearn.coordinator.places.place_cost`.

    Returns
    -------
    DataFrame
        A row for each of `kafkalearn.coordinator.places.PLACES`, in their order: ``place``, and the columns
        ``connections``, ``reads`` and ``left_behind``, the sums of what `place_cost` gives for each group. No Python
        runs on the workers.

    Raises
    ------
    KafkaLearnError
        If a column is missing or of another type, or the brokers are none.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("billing", "orders", n, "c1" if n < 2 else "c2", "c2") for n in range(4)]
    >>> columns = "group_id string, topic string, partition int, member_before string, member_after string"
    >>> get_spark().createDataFrame(rows, columns).transform(place_costs, brokers=3).show()
    +---------+-----------+-----+-----------+
    |    place|connections|reads|left_behind|
    +---------+-----------+-----+-----------+
    |partition|          2|    2|          0|
    |    topic|          1|    1|          0|
    | consumer|          1|    2|          2|
    |    group|          1|    1|          0|
    +---------+-----------+-----+-----------+

    """
    for name in _TEXTS:
        require(df, name, ("string",), "names are text")
    require(df, "partition", ("int", "bigint"), "a partition is a whole number")
    leaders = leaders_of(brokers=brokers)
    nodes = sorted(set(leaders))
    names = {
        ("partition", "after"): sf.concat_ws("-", "topic", sf.col("partition").cast("string")),
        ("topic", "after"): sf.col("topic"),
        ("consumer", "before"): sf.col("member_before"),
        ("consumer", "after"): sf.col("member_after"),
        ("group", "after"): sf.col("group_id"),
    }
    bits = [1 << nodes.index(leader) for leader in leaders]  # a set of nodes is one number: 50 partitions have 50
    placed = df.select("group_id", "member_after", *(text.alias("_".join(key)) for key, text in names.items()))
    for key in map("_".join, names):
        placed = placed.transform(with_offsets_partition, len(leaders), key, f"{key}_at").withColumn(
            key, _bit(key, bits)
        )
    each = placed.groupBy("group_id", "member_after").agg(
        *(sf.bit_count(sf.bit_or(key)).alias(key) for key in map("_".join, names)),
        sf.sum((sf.col("consumer_before") != sf.col("consumer_after")).cast("int")).alias("left_behind"),
    )
    sums = each.agg(
        *(sf.sum(key).alias(key) for key in map("_".join, names)), sf.sum("left_behind").alias("left_behind")
    )
    return sums.select(sf.inline(sf.array(*(sf.struct(*_row(place)) for place in PLACES))))


def _bit(key: str, bits: Sequence[int]) -> Column:
    """The node of a name as a number with one bit set."""
    return sf.get(sf.array(*(sf.lit(bit).cast("bigint") for bit in bits)), sf.col(f"{key}_at"))


def _row(place: str) -> tuple[Column, ...]:
    """The sums of one place; only a consumer's changes with the rebalance."""
    is_consumer = place == "consumer"
    return (
        sf.lit(place).alias("place"),
        sf.col(f"{place}_after").alias("connections"),
        sf.col("consumer_before" if is_consumer else f"{place}_after").alias("reads"),
        (sf.col("left_behind") if is_consumer else sf.lit(0).cast("bigint")).alias("left_behind"),
    )
