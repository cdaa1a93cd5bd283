"""Key -> partition in Spark, beside reading the column and summing its lengths.

Run it with ``python benchmarks/keys.py [--rows 10000000] [--rounds 9] [--go-on]``.
"""

from __future__ import annotations

import sys
from unittest import mock

from _measure import Way, machine, measure, parser
from kafka.partitioner.default import murmur2 as kafka_python_murmur2
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.spark import partitioning as keyed
from kafkalearn.spark.data.datasets import keys
from kafkalearn.spark.partitioning import with_partition
from kafkalearn.spark.session.spark_session import get_spark

PARTITION_COUNT = 12


def ours(key: bytes) -> int:
    """The scalar function of this package."""
    return partition_for_key(bytes(key), PARTITION_COUNT)


def kafka_python(key: bytes) -> int:
    """What a program that uses kafka-python would call."""
    return (kafka_python_murmur2(bytes(key)) & 0x7FFFFFFF) % PARTITION_COUNT


def ways(records: DataFrame) -> list[Way]:
    """The ways, each a query over all keys."""
    by_rule = {name: records.transform(with_partition, PARTITION_COUNT, name) for name in PARTITIONERS}
    with mock.patch.object(keyed, "static_call", return_value=None):
        in_numpy = records.transform(with_partition, PARTITION_COUNT)
    return [
        Way("read the column, sum its lengths", lambda: records.agg(sf.sum(sf.length("key"))).collect()),
        *(Way(f"with_partition, {name}", total(rows)) for name, rows in by_rule.items()),
        Way("murmur2 by Arrow and NumPy (Spark Connect)", total(in_numpy)),
        Way("Python UDF, kafkalearn's murmur2", total(in_python(records, ours)), is_slow=True),
        Way("Python UDF, kafka-python's murmur2", total(in_python(records, kafka_python)), is_slow=True),
    ]


def in_python(records: DataFrame, function) -> DataFrame:
    """The partition by a function called once for each row."""
    return records.withColumn("partition", sf.udf(lambda key: function(key), "int")("key"))


def total(rows: DataFrame):
    """A query that needs every row's partition and hands back one number."""
    return lambda: rows.agg(sf.sum("partition")).collect()


def main(argv: list[str]) -> None:
    """Measure and print."""
    options = parser(__doc__.splitlines()[0], rows=10_000_000, rounds=9, warm_up=3).parse_args(argv)
    spark = get_spark("kafkalearn benchmark")
    records = keys(spark, options.rows, key_count=options.rows)  # nearly all distinct: no dictionary helps
    title = f"key -> partition of {PARTITION_COUNT}, {options.rows:,} keys of users"
    measure("keys", title, machine(spark), ways(records), options)


if __name__ == "__main__":
    main(sys.argv[1:])
