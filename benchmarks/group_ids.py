"""Group id -> partition of ``__consumer_offsets`` in Spark, beside reading the column and summing its lengths.

Run it with ``python benchmarks/group_ids.py [--rows 10000000] [--rounds 9] [--go-on]``.
"""

from __future__ import annotations

import sys
from unittest import mock

from _measure import Way, machine, measure, parser
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.spark import coordinator
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.data.datasets import group_ids
from kafkalearn.spark.session.spark_session import get_spark


def ways(groups: DataFrame) -> list[Way]:
    """The ways, each a query over all group ids."""
    compiled = groups.transform(with_offsets_partition)
    with mock.patch.object(coordinator, "static_call", return_value=None):
        reflected = groups.transform(with_offsets_partition)
    in_python = sf.udf(lambda group_id: offsets_partition(group_id), "int", useArrow=False)
    in_python_by_arrow = sf.udf(lambda group_id: offsets_partition(group_id), "int", useArrow=True)
    return [
        Way("read the column, sum its lengths", lambda: groups.agg(sf.sum(sf.length("group_id"))).collect()),
        Way("with_offsets_partition", total(compiled)),
        Way("the same by java_method (Spark Connect)", total(reflected)),
        Way("Python UDF", total(groups.withColumn("offsets_partition", in_python("group_id"))), is_slow=True),
        Way(
            "Python UDF with Arrow",
            total(groups.withColumn("offsets_partition", in_python_by_arrow("group_id"))),
            is_slow=True,
        ),
    ]


def total(rows: DataFrame):
    """A query that needs every row's partition and hands back one number."""
    return lambda: rows.agg(sf.sum("offsets_partition")).collect()


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=9, warm_up=3).parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    title = f"group id -> offsets partition, {options.rows:,} distinct group ids"
    measure("group_ids", title, machine(spark), ways(group_ids(spark, options.rows)), options)


if __name__ == "__main__":
    main(sys.argv[1:])
