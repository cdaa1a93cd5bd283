"""A cleaner's pass over the topic ``customers`` in Spark, beside DuckDB, Polars, pandas and the window-function query.

Run it with ``python benchmarks/compaction.py [--rows 50000000] [--customers 1000000] [--rounds 3] [--go-on]
[--without pandas]``.
All read the same Parquet files and return how many records stay, the sum of their offsets and of the lengths of their
values. A way that finds other numbers than the first has a line that says so, and the run ends with an error.

Measured, as CPU time beside DuckDB's for the whole query (12.5 million records of 250,000 customers, five turns of
each way in one run, medians): `compact` 3.15, what it was before (records sifted by a Bloom filter, then joined) 3.72,
reading all columns once 0.75. Making the plan is some 0.3 of the 3.15. In the trial from which it was written, on a
machine where DuckDB took 2.33 s of the processor in place of 1.67, the parts were these:

=======================================================  ====  =======================================================
records sifted by a Bloom filter, then joined            3.23  `compact` before; 4.8 where all values are shuffled
the places that stay as a bitmap, first pass by key      2.38  no record is shuffled any more
the bitmap, first pass by a hash                         1.82  one hash as key, a second beside it; now both are the key
  of that, the first pass                                1.28  by key 1.88
  the second scan, all values read                       0.66  Spark cannot read the values of chosen rows alone
=======================================================  ====  =======================================================

The limit is the first pass: Spark looks up each key in its table row by row. Keys as texts gave nothing (1.05 of that
pass with room for a million keys in the quicker table, which is a setting of the session), nor did smaller splits.

Tried and left: a branch for each way behind a row that says which, so that adaptive execution drops the other. Its plan
is ten times as long, and cost 1.2 s of the processor to make before anything ran, against 0.5 s.

Values that come along in one pass are the slow ways: ``max_by``, a window, ``dropDuplicates`` behind a sort.
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


def by_drop_duplicates(records: DataFrame) -> DataFrame:
    """What is shortest to write. Spark does not promise which row of a key it keeps, so only its price counts."""
    return records.orderBy(sf.desc("offset")).dropDuplicates(["partition", "key"])


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
        Way("Spark, a sort and dropDuplicates", lambda: totals(by_drop_duplicates(records)), is_slow=True),
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
