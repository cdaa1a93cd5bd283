"""The rules of chapter 12 in Spark: fetcher ids, commits second by second, and what a newcomer costs old consumers.

Run it with ``python benchmarks/zookeeper_era.py [--rows 10000000] [--groups 1000] [--slow-changes 60] [--rounds 5]
[--go-on]``. Each is beside what it cannot be quicker than, and beside the same rule called row by row in Python.
"""

from __future__ import annotations

import sys

from _measure import Way, machine, measure, parser
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.spark.agreement import with_agreement
from kafkalearn.spark.data.month import changes
from kafkalearn.spark.rebalances import with_classic_cost
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.zookeeper import offset_commits, with_fetcher, writes_per_second
from kafkalearn.zookeeper.eras import newcomer
from kafkalearn.zookeeper.fetching import fetcher_id

FETCHERS = 4
COMMITS_EACH, PARTITIONS_EACH = 101, 50
LARGEST_PLAYED = 12  # members of a group that is played


def total(rows: DataFrame, column: str):
    """A query that needs a column of every row and hands back one number."""
    return lambda: rows.agg(sf.sum(column)).collect()


def fetcher_ways(partitions: DataFrame) -> list[Way]:
    """Ways to the fetcher of each partition."""
    by_row, by_arrow = (
        partitions.withColumn(
            "fetcher_id",
            sf.udf(lambda topic, number: fetcher_id(topic, number, FETCHERS), "int", useArrow=arrow)(
                "topic", "partition"
            ),
        )
        for arrow in (False, True)
    )
    return [
        Way(
            "read the columns, sum lengths",
            lambda: partitions.agg(sf.sum(sf.length("topic") + sf.col("partition"))).collect(),
        ),
        Way("with_fetcher", total(partitions.transform(with_fetcher, FETCHERS), "fetcher_id")),
        Way("Python UDF", total(by_row, "fetcher_id"), is_slow=True),
        Way("Python UDF with Arrow", total(by_arrow, "fetcher_id"), is_slow=True),
    ]


def commit_ways(spark: SparkSession, row_count: int) -> list[Way]:
    """The load of both stores, beside making the commits and sorting them by partition, which it begins with."""
    group_count = max(1, row_count // (PARTITIONS_EACH * COMMITS_EACH))

    def commits() -> DataFrame:
        return offset_commits(spark, group_count, PARTITIONS_EACH, COMMITS_EACH)

    return [
        Way("make the commits, sum their offsets", lambda: total(commits(), "offset")()),
        Way("writes_per_second", lambda: total(commits().transform(writes_per_second), "znode_writes")()),
    ]


def newcomer_ways(month: DataFrame) -> list[Way]:
    """What each newcomer of a month costs its group, in both eras."""
    return [
        Way("read the pauses, sum them", lambda: month.agg(sf.sum(sf.size("pause_ms"))).collect()),
        Way("with_agreement", total(month.transform(with_agreement), "agreement_ms")),
        Way("with_classic_cost", total(month.transform(with_classic_cost), "rebalance_ms")),
    ]


def main(argv: list[str]) -> None:
    """Measure and print."""
    arguments = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=5, warm_up=2)
    arguments.add_argument("--groups", type=int, default=1_000)
    arguments.add_argument("--slow-changes", type=int, default=60)
    options = arguments.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    on = machine(spark)
    partitions = spark.range(options.rows).selectExpr(
        "concat('topic-', id div 12) AS topic", "cast(id % 12 AS int) AS partition"
    )
    measure("fetcher_ids", f"the fetcher of {options.rows:,} partitions", on, fetcher_ways(partitions), options)
    print()
    ways = commit_ways(spark, options.rows)
    measure("offset_stores", f"{options.rows:,} commits, second by second", on, ways, options)
    print()
    month = changes(spark, options.groups)
    what = f"what the newcomers of a month cost {options.groups:,} groups"
    measure("newcomers", what, on, newcomer_ways(month), options)
    few = month.where(f"member_count <= {LARGEST_PLAYED}")
    rows = few.limit(options.slow_changes).collect()
    few = spark.createDataFrame(rows, few.schema)
    played = [
        Way("with_agreement", total(few.transform(with_agreement), "agreement_ms")),
        Way("each played by the simulator", lambda: [newcomer(row.pause_ms, row.partition_count) for row in rows]),
    ]
    print()
    measure("newcomers_played", f"the same with {len(rows)} newcomers to small groups", on, played, options)


if __name__ == "__main__":
    main(sys.argv[1:])
