"""Groups of old consumers by the thousands: how long they take to agree when one more joins, and who gives up.

Everybody reads the same members and computes the same assignment, so all that counts is who is slower: a consumer that
wants a partition before its old owner has released it fails, waits ``rebalance.backoff.ms`` and tries again, four times
in all. When each releases, and when each tries, follows from its pause and from the number of its requests to
ZooKeeper. So a whole rebalance is arithmetic, which NumPy does for many groups at once
(`kafkalearn.spark.rebalances.agreement`).
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_type

from kafkalearn.arguments import whole_number
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.data.zipf import hash_of, uniform
from kafkalearn.spark.rebalances.agreement import AGREEMENT, agreeing
from kafkalearn.spark.session.worker_code import for_workers
from kafkalearn.zookeeper.eras.durations import LONGEST_PAUSE_MS, MOST_MEMBERS

GROUP_SCHEMA = "group_id STRING, partition_count INT, pause_ms ARRAY<INT>, uncommitted ARRAY<INT>"
"""The columns of a group: for each member its pause, and the records it has read since its last commit."""

NO_PAUSES = "pause_ms is empty or has a null in it: a group has one member or more, each with a pause, and be it 0"
NO_PARTITIONS = "partition_count is below 1, or null: it counts the partitions of the one topic that the group reads"

SLOW_PER_THOUSAND = 20  # members that stand still, of random groups
LEAST_PARTITIONS, MOST_PARTITIONS = 1, 3  # for each member of random groups


def with_agreement(groups: DataFrame, backoff_ms: int = 2000, max_retries: int = 4) -> DataFrame:
    """Each group with what it costs that one more consumer joins.

    Parameters
    ----------
    groups : DataFrame
        With the columns of `GROUP_SCHEMA`, and any others. One broker, one topic, ``range``.
    backoff_ms, max_retries : int
        ``rebalance.backoff.ms`` and ``rebalance.max.retries``.

    Returns
    -------
    DataFrame
        With ``agreement_ms`` (bigint), ``failed_attempts`` and ``given_up`` (int): what
        `kafkalearn.zookeeper.eras.durations.newcomer` gives for each row; and ``read_twice`` (bigint), the records that
        are read again if nobody commits before it gives up its partitions (``auto.commit.enable=false``). At the very
        same millisecond the release comes first, which is so up to four partitions a member.

    Raises
    ------
    KafkaLearnError
        If a column is missing or has another type, or a number is too small. While it runs the query ends with an
        error if a group has no member, a pause is null, or there is no partition.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rows = [("a", 6, [0, 0, 0], [5, 0, 7]), ("b", 6, [0, 0, 3001], [0, 0, 0])]
    >>> groups = get_spark().createDataFrame(rows, GROUP_SCHEMA).transform(with_agreement)
    >>> groups.select("group_id", "agreement_ms", "failed_attempts", "given_up", "read_twice").show()
    +--------+------------+---------------+--------+----------+
    |group_id|agreement_ms|failed_attempts|given_up|read_twice|
    +--------+------------+---------------+--------+----------+
    |       a|          88|              0|       0|        12|
    |       b|        4216|              2|       0|         0|
    +--------+------------+---------------+--------+----------+
    """
    whole_number("backoff_ms", backoff_ms, at_least=0)
    whole_number("max_retries", max_retries, at_least=1)
    remedy = "groups have the columns of kafkalearn.spark.zookeeper.GROUP_SCHEMA"
    require(groups, "partition_count", ("int", "bigint"), remedy)
    for column in ("pause_ms", "uncommitted"):
        require(groups, column, ("array<int>", "array<bigint>"), remedy)
    pauses, count = sf.col("pause_ms"), sf.col("partition_count")
    has_members = (sf.size(pauses) > 0) & sf.forall(pauses, lambda pause: pause.isNotNull())
    pauses = sf.when(has_members, pauses).otherwise(sf.raise_error(sf.lit(NO_PAUSES)))
    count = sf.when(count > 0, count).otherwise(sf.raise_error(sf.lit(NO_PARTITIONS)))
    agreements = for_workers(groups.sparkSession, agreeing(backoff_ms, max_retries), needs_core=False)
    agreement = sf.arrow_udf(agreements, from_arrow_type(AGREEMENT))(pauses, count)
    added = {each.name: sf.col("_agreement")[each.name] for each in AGREEMENT}
    costs = groups.withColumn("_agreement", agreement).withColumns(added | {"read_twice": total("uncommitted")})
    return costs.drop("_agreement")


def total(column: str | Column) -> Column:
    """The sum of the numbers in an array, a bigint."""
    return sf.aggregate(column, sf.lit(0).cast("bigint"), lambda so_far, each: so_far + each)


def random_groups(spark: SparkSession, group_count: int, seed: int = 42) -> DataFrame:
    """Groups of all sizes up to 99, one member in fifty of which stands still at the wrong moment.

    Parameters
    ----------
    spark : SparkSession
        Where they are made; the same rows in every run.
    group_count : int
        How many.
    seed : int
        Another seed, other groups.

    Returns
    -------
    DataFrame
        With the columns of `GROUP_SCHEMA`, ``member_count`` and ``work_ms``, which is ``pause_ms`` by the name that
        `kafkalearn.spark.rebalances.durations` reads: the same groups with the classic protocol. Pauses last 0.2 to
        20 s.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> random_groups(get_spark(), 1000).where("member_count <= 10").count() > 400
    True
    """
    whole_number("group_count", group_count, at_least=1)
    row = sf.col("id")
    size = sf.least(sf.floor(2 / sf.pow(1 - uniform(seed, "members", row), sf.lit(0.8))), sf.lit(MOST_MEMBERS))
    spread = MOST_PARTITIONS - LEAST_PARTITIONS + 1
    per_member = LEAST_PARTITIONS + sf.pmod(hash_of(seed, "partitions", row), sf.lit(spread))
    sized = spark.range(group_count).select(
        sf.concat(sf.lit("group-"), row).alias("group_id"),
        row.alias("id"),
        size.cast("int").alias("member_count"),
        per_member.cast("int").alias("per_member"),
    )
    places = sf.sequence(sf.lit(0), sf.col("member_count") - 1)

    def pause(at: Column) -> Column:
        member = row * MOST_MEMBERS + at
        is_slow = sf.pmod(hash_of(seed, "slow", member), sf.lit(1000)) < SLOW_PER_THOUSAND
        share = uniform(seed, "pause", member)
        return sf.when(is_slow, (LONGEST_PAUSE_MS / 100 * sf.pow(sf.lit(100.0), share)).cast("int")).otherwise(0)

    def records(at: Column) -> Column:
        return sf.pmod(hash_of(seed, "records", row * MOST_MEMBERS + at), sf.lit(1000)).cast("int")

    return sized.select(
        "group_id",
        (sf.col("per_member") * sf.col("member_count")).alias("partition_count"),
        sf.transform(places, pause).alias("pause_ms"),
        sf.transform(places, records).alias("uncommitted"),
        "member_count",
        sf.transform(places, pause).alias("work_ms"),
    )


def size_range() -> tuple[Column, Column]:
    """The range of sizes that a group's ``member_count`` lies in, as a number to order by and in words."""
    size = sf.col("member_count")
    label = sf.when(size < 5, "2 to 4").when(size < 15, "5 to 14").otherwise("15 and more")
    return sf.when(size < 5, 0).when(size < 15, 1).otherwise(2), label


def by_member_count(groups: DataFrame) -> DataFrame:
    """Groups with what a newcomer costs them, by their size: a row for each range of sizes.

    Parameters
    ----------
    groups : DataFrame
        With ``member_count`` and the columns that `with_agreement` adds.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = random_groups(get_spark(), 500).transform(with_agreement)
    >>> [row["members"] for row in groups.transform(by_member_count).collect()]
    ['2 to 4', '5 to 14', '15 and more']
    """
    order, label = size_range()
    return (
        groups.groupBy(order.alias("order"), label.alias("members"))
        .agg(
            sf.count("*").alias("groups"),
            sf.round(sf.percentile("agreement_ms", sf.lit(0.5)) / 1000, 3).alias("median, s"),
            sf.round(sf.percentile("agreement_ms", sf.lit(0.99)) / 1000, 1).alias("99 %, s"),
            sf.round(100 * sf.avg((sf.col("failed_attempts") > 0).cast("int")), 1).alias("with a conflict, %"),
            sf.round(100 * sf.avg((sf.col("given_up") > 0).cast("int")), 1).alias("somebody gave up, %"),
            sf.round(sf.avg("read_twice")).cast("bigint").alias("read twice, without auto commit"),
        )
        .orderBy("order")
        .drop("order")
    )
