"""A cleaner's pass over the topic ``customers`` in Spark, beside DuckDB, Polars, pandas and the window-function query.

Run it with ``python benchmarks/compaction.py [--rows 50000000] [--customers 1000000] [--rounds 3] [--go-on]
[--without pandas]``.
All read the same Parquet files and return how many records stay, the sum of their offsets and of the lengths of their
values. A way that finds other numbers than the first has a line that says so, and the run ends with an error.

Where the time goes, as CPU time beside DuckDB's for the whole query (3 of the 12 files, 12.5 million records of 250,000
customers; two rounds, the shorter of each; other work ran beside them, so the clock says little):

=======================================================  ===  ========================================================
all records shuffled with their values                   4.8  the shuffle is more than a third of it
sifted by a filter first, as `compact` does              3.0  3.2 in a second run
  of that, the first pass: the last offset of each key   1.9  1.8 in the second run; a third of it is reading
  the second scan, all values read                       0.7  Spark cannot read the values of chosen rows alone
  what is left: the filter, a small shuffle, the join    0.4
=======================================================  ===  ========================================================

The limit is the first pass, which alone takes longer than DuckDB's whole query: Spark looks up each key in its table
row by row. What was tried, as CPU time beside that pass as it was:

- keys as texts, for which compiled code has a quicker table: 1.05 with room for a million keys, which is a setting of
  the session. With the 65,536 of the default the query as a whole took 3.4 x DuckDB, against 3.0.
- a 64-bit hash in place of the key: 0.6. Two keys of one hash would be one, and a record lost; nothing that is as quick
  finds them out. So keys stay what they are.
- the highest offset of a key in place of its highest place, whose number is worked out afterwards: 0.8, done;
  in the whole query that is less than what two runs differ by.

Values that come along in one pass are two of the slow ways: ``max_by``, and a window. A broadcast of all places, which
once was the way of `compact`, shuffles no values either, but ends the query where a worker has no room for it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import duckdb
import pandas as pd
import polars as pl
from _measure import Way, WrongAnswer, machine, measure, parser
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as sf

from kafkalearn.spark.compaction import compact
from kafkalearn.spark.data.datasets import customers
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
    """The ways, each checked against the first that has an answer."""
    files = f"{folder}/*.parquet"
    answers: dict[str, tuple[int, int, int]] = {}

    def checked(name: str, run: Callable[[], tuple[int, int, int]], is_slow: bool = False) -> Way:
        def run_and_check() -> None:
            found = run()
            first, expected = next(iter(answers.items()), (name, found))
            if found != expected:
                raise WrongAnswer(f"leaves {found}, {first}: {expected}")
            answers[name] = found

        return Way(name, run_and_check, is_slow)

    return [
        checked("DuckDB, semi join", by_duckdb(files, threads)),
        Way("Spark, reading everything", lambda: totals(records)),
        checked("Spark, compact", lambda: totals(records.transform(compact))),
        checked("Polars, semi join, streaming", lambda: by_polars(files)),
        checked("Spark, row_number over a window", lambda: totals(by_window(records)), is_slow=True),
        checked("Spark, max_by of the record", lambda: totals(by_max_by(records)), is_slow=True),
        checked("pandas, groupby and idxmax", lambda: by_pandas(folder), is_slow=True),
    ]


def main(argv: list[str]) -> None:
    """Measure and print."""
    arguments = parser(__doc__.splitlines()[0], rows=50_000_000, rounds=3, warm_up=1)
    arguments.add_argument("--customers", type=int, default=1_000_000)
    options = arguments.parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    records = customers(spark, options.rows, customer_count=options.customers)
    folder = records.inputFiles()[0].removeprefix("file://").rpartition("/")[0]
    threads = spark.sparkContext.defaultParallelism
    title = f"a pass over {options.rows:,} records of {options.customers:,} customers"
    versions = f"duckdb {duckdb.__version__}, polars {pl.__version__}, pandas {pd.__version__}"
    measure("compaction", f"{title}; {versions}", machine(spark), ways(records, folder, threads), options)


if __name__ == "__main__":
    main(sys.argv[1:])
