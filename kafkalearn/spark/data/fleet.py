"""The groups of a company, with what they read, when one member in a hundred leaves; made up, none kept on disk.

Most groups are small, a few have hundreds of members, as in `kafkalearn.spark.rebalances.random_groups`. The rows are
those that `kafkalearn.spark.rebalances.rebalance_costs` takes: ten thousand groups have about a million partitions.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.base.checks import whole_number
from kafkalearn.spark.data.datasets import SEED
from kafkalearn.spark.data.generate import hash_of, uniform

MOST_MEMBERS = 1000
TOPICS = ("clicks", "orders", "payments")
PER_MEMBER = (6, 18)  # partitions for each member, at least and at most
LEAVE_PER_THOUSAND = 10
PIECE_COUNT = 16  # groups are unequal work: small pieces end at about the same time


def fleet(spark: SparkSession, group_count: int, *, seed: int = SEED) -> DataFrame:
    """Groups before and after one member in a hundred has left.

    Parameters
    ----------
    spark : SparkSession
        Where they are made; the same rows in every run.
    group_count : int
        How many, at least 1.
    seed : int
        Another seed, other groups.

    Returns
    -------
    DataFrame
        ``rebalance`` (the number of the group), ``topics`` (one to three, each with its number of partitions), the
        members ``before`` and ``after``, all of which read all of the group's topics; and how many there are of each:
        ``member_count`` (before), ``left_count``, ``partition_count``. Of most groups nobody leaves; of none everybody
        does.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> counts = fleet(get_spark(), 1000).groupBy().sum("member_count", "left_count", "partition_count")
    >>> counts.toDF("members", "left", "partitions").show()
    +-------+----+----------+
    |members|left|partitions|
    +-------+----+----------+
    |   9586| 112|    104168|
    +-------+----+----------+
    """
    whole_number("group_count", group_count, at_least=1)
    group = sf.col("id")
    # By Pareto's law: the number of members that a share u of all groups exceeds is 2 / u ** 0.8.
    size = sf.least(sf.floor(2 / sf.pow(1 - uniform(seed, "members", group), sf.lit(0.8))), sf.lit(MOST_MEMBERS))
    low, high = PER_MEMBER
    per_member = low + sf.pmod(hash_of(seed, "partitions", group), sf.lit(high - low + 1))
    topic_count = (sf.pmod(hash_of(seed, "topics", group), sf.lit(len(TOPICS))) + 1).cast("int")
    groups = (
        spark.range(0, group_count, 1, PIECE_COUNT)
        .withColumn("member_count", size.cast("int"))
        .withColumn("names", sf.slice(sf.array(*map(sf.lit, TOPICS)), 1, topic_count))
        .withColumn("partitions", sf.ceil(sf.col("member_count") * per_member / topic_count).cast("int"))
    )
    members = groups.withColumn("before", sf.transform(_places(), _member)).withColumn("after", _after(seed, group))
    return members.select(
        group.alias("rebalance"),
        sf.transform("names", _topic).alias("topics"),
        "before",
        "after",
        "member_count",
        (sf.col("member_count") - sf.size("after")).alias("left_count"),
        (sf.col("partitions") * topic_count).alias("partition_count"),
    )


def _places() -> Column:
    return sf.sequence(sf.lit(0), sf.col("member_count") - 1)


def _topic(name: Column) -> Column:
    return sf.struct(name.alias("topic"), sf.col("partitions").alias("partitions"))


def _member(place: Column) -> Column:
    member = sf.concat(sf.lit("m"), sf.lpad(place.cast("string"), 3, "0"))
    return sf.struct(member.alias("member"), sf.col("names").alias("topics"))


def _after(seed: int, group: Column) -> Column:
    def stays(_: Column, place: Column) -> Column:
        chance = sf.pmod(hash_of(seed, "leaves", group * MOST_MEMBERS + place), sf.lit(1000))
        return chance >= LEAVE_PER_THOUSAND

    left = sf.filter("before", stays)
    return sf.when(sf.size(left) > 0, left).otherwise(sf.col("before"))
