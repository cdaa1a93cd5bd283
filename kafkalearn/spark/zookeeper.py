"""Groups of old consumers by the thousands: how long they take to agree when one more joins, and who gives up.

Everybody reads the same members and computes the same assignment, so all that counts is who is slower: a consumer that
wants a partition before its old owner has released it fails, waits ``rebalance.backoff.ms`` and tries again, four times
in all. When each releases, and when each tries, follows from its pause and from the number of its requests to
ZooKeeper. So a whole rebalance is one expression over the arrays of a row.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.arguments import whole_number
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.data.zipf import hash_of, uniform
from kafkalearn.zookeeper.eras.durations import LATENCY_MS, LONGEST_PAUSE_MS, MOST_MEMBERS

GROUP_SCHEMA = "group_id STRING, partition_count INT, pause_ms ARRAY<INT>, uncommitted ARRAY<INT>"
"""The columns of a group: for each member its pause, and the records it has read since its last commit."""

REQUEST_MS = 2 * LATENCY_MS
OWN_VIEW, REGISTERS, WHOLE_VIEW = 5, 7, 4
"""Requests: of step 1, with one broker; to register and to listen; of step 4, besides one for each member."""

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
        If a column is missing or has another type, or a number is too small.

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
    released = groups.withColumn("_released", sf.transform("pause_ms", _released_ms))
    # Each stage names what the next one needs more than once: Spark writes out an expression as often as it is used.
    places = sf.sequence(sf.lit(0), sf.size("pause_ms"))
    shares = sf.transform(places, _shares)
    times = sf.transform(shares, lambda share: _times(share, backoff_ms))
    needed = sf.transform(times, _needed_tries)
    ends = released.withColumn("_ends", sf.transform(needed, lambda each: _end(each, backoff_ms, max_retries)))
    return (
        ends.withColumn("agreement_ms", sf.array_max(sf.col("_ends.ms")).cast("bigint"))
        .withColumn("failed_attempts", _sum("_ends.failed").cast("int"))
        .withColumn("given_up", sf.size(sf.filter("_ends", lambda end: end["has_given_up"])))
        .withColumn("read_twice", _sum("uncommitted"))
        .drop("_released", "_ends")
    )


def _released_ms(pause_ms: Column) -> Column:
    """When a member releases its partitions: notified, or awake again, it does the first three steps."""
    return sf.greatest(pause_ms, sf.lit(LATENCY_MS)) + OWN_VIEW * REQUEST_MS


def _shares(at: Column) -> Column:
    """The place of a member, the newcomer last, and how many partitions it had and gets."""
    members = sf.size("pause_ms")
    return sf.struct(at.alias("at"), _share(at, members).alias("had"), _share(at, members + 1).alias("gets"))


def _times(share: Column, backoff_ms: int) -> Column:
    """When a member tries first, how much later again, and when what it is to get is free."""
    at, had, gets = share["at"], share["had"], share["gets"]
    members = sf.size("pause_ms")
    first_ms = sf.when(at == members, (REGISTERS + OWN_VIEW) * REQUEST_MS).otherwise(
        sf.get("_released", at) + had * REQUEST_MS
    )
    view_ms = (members + 1 + WHOLE_VIEW + gets) * REQUEST_MS
    return sf.struct(
        gets.alias("gets"),
        (first_ms + view_ms).alias("tries_ms"),
        (2 * gets * REQUEST_MS + backoff_ms + OWN_VIEW * REQUEST_MS + view_ms).alias("again_ms"),
        _free_ms(at, members, gets).alias("free_ms"),
    )


def _needed_tries(times: Column) -> Column:
    """The same, with how many tries fail if it may try for ever."""
    late_ms = sf.greatest(times["free_ms"] - times["tries_ms"], sf.lit(0))
    needed = sf.when(times["gets"] > 0, sf.ceil(late_ms / times["again_ms"])).otherwise(sf.lit(0)).cast("int")
    return sf.struct(*(times[name].alias(name) for name in ("gets", "tries_ms", "again_ms")), needed.alias("needed"))


def _end(times: Column, backoff_ms: int, max_retries: int) -> Column:
    """When a member is done; how often it failed; whether it gave up."""
    gets, tries_ms, again_ms = times["gets"], times["tries_ms"], times["again_ms"]
    has_given_up = times["needed"] >= max_retries
    failed = sf.least(times["needed"], sf.lit(max_retries))
    done_ms = tries_ms + failed * again_ms + gets * REQUEST_MS
    gave_up_ms = tries_ms + (max_retries - 1) * again_ms + 2 * gets * REQUEST_MS + backoff_ms
    return sf.struct(
        sf.when(has_given_up, gave_up_ms).otherwise(done_ms).cast("bigint").alias("ms"),
        failed.alias("failed"),
        has_given_up.alias("has_given_up"),
    )


def _share(at: Column, members: Column) -> Column:
    """How many partitions the member at a place gets by ``range``; none beyond the last."""
    count = sf.col("partition_count")
    share = sf.floor(count / members) + sf.when(at < count % members, 1).otherwise(0)
    return sf.when(at < members, share).otherwise(0).cast("int")


def _free_ms(at: Column, members: Column, gets: Column) -> Column:
    """When the last of the old owners has released what the member at a place is to get."""
    count = sf.col("partition_count")
    each, more = sf.floor(count / (members + 1)), count % (members + 1)
    first = each * at + sf.least(at, more)
    from_owner, to_owner = _old_owner(first, members), _old_owner(first + gets - 1, members)
    owners = sf.slice("_released", from_owner + 1, sf.greatest(to_owner - from_owner + 1, sf.lit(0)))
    return sf.when(gets > 0, sf.array_max(owners)).otherwise(sf.lit(0))


def _old_owner(partition: Column, members: Column) -> Column:
    """The place of the member that had a partition."""
    count = sf.col("partition_count")
    each, more = sf.floor(count / members), count % members
    larger = more * (each + 1)  # partitions of the first members, which have one more
    of_others = more + sf.floor((partition - larger) / sf.greatest(each, sf.lit(1)))
    return sf.when(partition < larger, sf.floor(partition / (each + 1))).otherwise(of_others).cast("int")


def _sum(column: str) -> Column:
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
