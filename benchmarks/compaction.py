"""A cleaner's pass over the topic ``customers`` in Spark, beside DuckDB, Polars, pandas and the window-function query.

Run it with ``python benchmarks/compaction.py [--rows 50000000] [--customers 1000000] [--rounds 3] [--slow-rounds 1]
[--without pandas]``.
All read the same Parquet files and return how many records stay, the sum of their offsets and of the lengths of their
values: the same numbers, or the benchmark stops.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import duckdb
import pandas as pd
import polars as pl
from _measure import Way, compare, report
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.compaction import compact
from kafkalearn.spark.data.customers import customers
from kafkalearn.spark.session.spark_session import get_spark

NEEDED = ["partition", "offset", "key", "value"]


def totals(kept: DataFrame) -> tuple[int, int, int]:
    """What every way returns."""
    return tuple(kept.agg(sf.count("*"), sf.sum("offset"), sf.sum(sf.length("value"))).first())


def by_window(records: DataFrame) -> DataFrame:
    """What one finds when one looks for "latest record per key" in Spark."""
    newest_first = Window.partitionBy("partition", "key").orderBy(sf.desc("offset"))
    return records.withColumn("rank", sf.row_number().over(newest_first)).where("rank = 1")


def by_max_by(records: DataFrame) -> DataFrame:
    """The other answer one finds: the whole record of the highest offset."""
    newest = sf.max_by(sf.struct("offset", "value"), "offset").alias("newest")
    return records.groupBy("partition", "key").agg(newest).select("newest.*")


def by_duckdb(files: str, threads: int) -> Callable[[], tuple[int, int, int]]:
    """A semi join with the highest offset of each key."""
    connection = duckdb.connect()
    connection.execute(f"SET threads = {threads}")
    query = f"""
        WITH log AS (SELECT * FROM read_parquet('{files}')),
             newest AS (SELECT partition, max("offset") AS "offset" FROM log GROUP BY partition, key)
        SELECT count(*), sum("offset")::BIGINT, sum(octet_length(value))::BIGINT
        FROM log SEMI JOIN newest USING (partition, "offset")
    """
    return lambda: connection.execute(query).fetchone()


def by_polars(files: str) -> tuple[int, int, int]:
    """The same in Polars, streaming."""
    log = pl.scan_parquet(files).select(NEEDED)
    newest = log.group_by("partition", "key").agg(pl.col("offset").max()).select("partition", "offset")
    kept = log.join(newest, on=["partition", "offset"], how="semi")
    sums = kept.select(pl.len(), pl.col("offset").sum(), pl.col("value").bin.size().sum().alias("bytes"))
    return tuple(int(each) for each in sums.collect(engine="streaming").row(0))


def by_pandas(folder: str) -> tuple[int, int, int]:
    """The same in pandas, over Arrow's columns."""
    log = pd.read_parquet(folder, columns=NEEDED, dtype_backend="pyarrow")
    newest = log.groupby(["partition", "key"], sort=False, observed=True)["offset"].idxmax()
    kept = log.loc[newest]
    return len(kept), int(kept["offset"].sum()), int(kept["value"].dropna().map(len).sum())


def ways(records: DataFrame, folder: str, threads: int) -> list[Way]:
    """The ways, each checked against the first."""
    files = f"{folder}/*.parquet"
    in_duckdb = by_duckdb(files, threads)
    expected = in_duckdb()

    def checked(name: str, run: Callable[[], tuple[int, int, int]], is_slow: bool = False) -> Way:
        def run_and_check() -> None:
            if (found := run()) != expected:
                raise KafkaLearnError(f"{name} leaves {found}, DuckDB {expected}")

        return Way(name, run_and_check, is_slow)

    return [
        checked("DuckDB, semi join", in_duckdb),
        Way("Spark, reading everything", lambda: totals(records)),
        checked("Spark, compact", lambda: totals(records.transform(compact))),
        checked("Polars, semi join, streaming", lambda: by_polars(files)),
        checked("Spark, row_number over a window", lambda: totals(by_window(records)), is_slow=True),
        checked("Spark, max_by of the record", lambda: totals(by_max_by(records)), is_slow=True),
        checked("pandas, groupby and idxmax", lambda: by_pandas(folder), is_slow=True),
    ]


def main(argv: list[str]) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=50_000_000)
    parser.add_argument("--customers", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--slow-rounds", type=int, default=1)
    parser.add_argument("--warm-up", type=int, default=1)
    parser.add_argument("--without", nargs="*", default=[], help="ways to leave out, by a word of their names")
    options = parser.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    records = customers(spark, options.rows, customer_count=options.customers)
    folder = records.inputFiles()[0].removeprefix("file://").rpartition("/")[0]
    threads = spark.sparkContext.defaultParallelism
    several = [way for way in ways(records, folder, threads) if not any(word in way.name for word in options.without)]
    rows = compare(several, options.rounds, options.slow_rounds, options.warm_up)
    title = f"a pass over {options.rows:,} records of {options.customers:,} customers"
    report(f"{title}; duckdb {duckdb.__version__}, polars {pl.__version__}, pandas {pd.__version__}", spark, rows)


if __name__ == "__main__":
    main(sys.argv[1:])
