"""Thousands of rebalances by each assignor: what moves, what is revoked, how even the group ends.

The assignors run in Python, a batch of groups at a time: Spark hands the groups over as Arrow and gets numbers
back, and its workers get the rules themselves with the query (`kafkalearn.spark.session.worker_code`).
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from kafkalearn.arguments import whole_number
from kafkalearn.assignor.judging.random_rebalances import random_rebalance
from kafkalearn.assignor.registry import find_assignor
from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.columns.checks import require
from kafkalearn.spark.rebalances.batches import COST, REBALANCE, costs, drawing
from kafkalearn.spark.session.worker_code import for_workers

REBALANCE_SCHEMA = from_arrow_schema(REBALANCE)
COST_SCHEMA = from_arrow_schema(COST)

COMPARED = ("range", "roundrobin", "sticky", "cooperative-sticky", "uniform")
PIECE_COUNT = 16  # groups are unequal work: small pieces end at about the same time


def random_rebalances(spark: SparkSession, rebalance_count: int, seed: int = 0, **limits: float) -> DataFrame:
    """Random rebalances, one a row.

    Parameters
    ----------
    spark : SparkSession
        Where they are made.
    rebalance_count : int
        How many; number n is ``random_rebalance(n, seed=seed, **limits)`` of
        `kafkalearn.assignor.judging.random_rebalances`.
    seed, **limits
        As there.

    Returns
    -------
    DataFrame
        ``rebalance`` (its number), ``what`` happened and ``who`` did it, ``is_alike``, ``topics``, and the members
        ``before`` and ``after``.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> rebalances = random_rebalances(get_spark(), 3).orderBy("rebalance")
    >>> rebalances.selectExpr("rebalance", "what", "who", "size(before) AS before", "size(after) AS after").show()
    +---------+------+---+------+-----+
    |rebalance|  what|who|before|after|
    +---------+------+---+------+-----+
    |        0|leaves|m02|     9|    8|
    |        1|leaves|m04|    12|   11|
    |        2|leaves|m05|     9|    8|
    +---------+------+---+------+-----+
    """
    whole_number("rebalance_count", rebalance_count, at_least=0)
    random_rebalance(0, seed=seed, **limits)  # what it refuses is refused here, not in a worker
    draw = for_workers(spark, drawing({"seed": seed, **limits}))
    return spark.range(0, rebalance_count, 1, PIECE_COUNT).mapInArrow(draw, REBALANCE_SCHEMA)


def rebalance_costs(df: DataFrame, assignors: Sequence[str] = COMPARED) -> DataFrame:
    """What each rebalance costs by each assignor: a row for each pair.

    Parameters
    ----------
    df : DataFrame
        Has the columns ``rebalance``, ``topics``, ``before`` and ``after`` of `random_rebalances`; they may as well
        be those of a real cluster.
    assignors : sequence of str
        Names of assignors as `kafkalearn.assignor.assign` takes them.

    Returns
    -------
    DataFrame
        ``rebalance``, ``assignor``; of the group afterwards ``member_count`` and ``partition_count``; ``moved``,
        ``fewest`` (that must move for the best balance), ``revoked_eager``, ``revoked_cooperative``, ``spread``: the
        numbers of `kafkalearn.assignor.compare`.

    Raises
    ------
    KafkaLearnError
        If an assignor is not known, or a column is missing or of another type.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> costs = random_rebalances(get_spark(), 1).transform(rebalance_costs, ["range", "sticky"])
    >>> costs.select("assignor", "partition_count", "moved", "fewest", "spread").orderBy("assignor").show()
    +--------+---------------+-----+------+------+
    |assignor|partition_count|moved|fewest|spread|
    +--------+---------------+-----+------+------+
    |   range|             42|   21|     7|     2|
    |  sticky|             42|    5|     5|     1|
    +--------+---------------+-----+------+------+
    """
    for name in assignors:
        find_assignor(name)  # what it refuses is refused here, not in a worker
    if not assignors:
        raise KafkaLearnError("assignors is empty: name at least one")
    columns = ["rebalance", "topics", "before", "after"]
    for column in columns:
        wanted = REBALANCE_SCHEMA[column].dataType.simpleString()
        require(df, column, (wanted,), "see kafkalearn.spark.rebalances.costs.random_rebalances")
    judge = for_workers(df.sparkSession, costs(list(assignors)))
    return df.select(*columns).mapInArrow(judge, COST_SCHEMA)
