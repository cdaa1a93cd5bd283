"""Kafka's two placements as functions of columns, for those who write Spark's expressions or SQL.

The rules on DataFrames, `kafkalearn.spark.coordinator.with_offsets_partition` and
`kafkalearn.spark.partitioning.with_partition`, look at the columns first and say what is wrong with them; these here
only build the expression, so a column of another type is Spark's to refuse, when the query is made or runs.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType

from kafkalearn.base.checks import LARGEST_INT, one_of, whole_number
from kafkalearn.base.errors import unknown_name
from kafkalearn.coordinator.leaders import OFFSETS_PARTITION_COUNT
from kafkalearn.spark.coordinator import FORMULAS, hash_of_group
from kafkalearn.spark.partitioning import NUMBERS, partitions_of
from kafkalearn.spark.session.worker_code import arrow_function, for_workers


def offsets_partition(
    group_id: str | Column, partition_count: int = OFFSETS_PARTITION_COUNT, formula: str = "kafka"
) -> Column:
    """The partition of ``__consumer_offsets`` that holds a group, int; null for null.

    Parameters are those of `kafkalearn.spark.coordinator.with_offsets_partition`; a session must be there.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> groups = get_spark().createDataFrame([("test-group",), (None,)], "group_id string")
    >>> groups.select(offsets_partition("group_id", 50).alias("partition")).collect()
    [Row(partition=12), Row(partition=None)]
    """
    whole_number("partition_count", partition_count, 1, LARGEST_INT)
    rule = FORMULAS[one_of("formula", formula, FORMULAS)]
    return rule(hash_of_group(_rows(), _column(group_id)).cast("bigint"), partition_count).cast("int")


def kafka_partition(key: str | Column, partition_count: int, partitioner: str = "murmur2") -> Column:
    """The partition that a producer picks for a key, int; null for null.

    Parameters are those of `kafkalearn.spark.partitioning.with_partition`; a session must be there.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> records = get_spark().createDataFrame([("user-42",), ("user-43",)], "key string")
    >>> records.select(kafka_partition("key", 6).alias("partition")).collect()
    [Row(partition=4), Row(partition=2)]
    """
    whole_number("partition_count", partition_count, 1, LARGEST_INT)
    if partitioner not in NUMBERS:
        raise unknown_name("partitioner", partitioner, NUMBERS)
    data = _column(key).cast("binary")
    number = NUMBERS[partitioner](_rows(), data)
    return sf.when(data.isNotNull(), sf.pmod(number, sf.lit(partition_count)).cast("int"))


def register(spark: SparkSession) -> None:
    """Let SQL of a session call ``offsets_partition(group_id, partitions)`` and ``kafka_partition(key, partitions)``.

    The first is SQL's own function of Java's hash, called by reflection. The second, the Java producer's rule, runs in
    Python on the workers, which need PyArrow and NumPy; its key is binary, or text that is its bytes in UTF-8. Both are
    several times slower than the functions above, which SQL cannot name: Spark has no public way to give it such an
    expression. They are the session's own; a second call replaces them.

    Examples
    --------
    >>> from kafkalearn.spark.session import get_spark
    >>> spark = get_spark()
    >>> register(spark)
    >>> spark.sql("SELECT offsets_partition('test-group', 50) AS a, kafka_partition('user-42', 6) AS b").first()
    Row(a=12, b=4)
    """
    spark.sql(
        "CREATE OR REPLACE TEMPORARY FUNCTION offsets_partition(group_id STRING, partitions INT) RETURNS INT RETURN "
        "if(partitions < 1, raise_error('partitions must be at least 1'), if(group_id IS NULL, NULL, CAST((abs(CAST("
        "reflect('java.util.Objects', 'hashCode', group_id) AS BIGINT)) & 2147483647) % partitions AS INT)))"
    )
    spark.udf.register(
        "kafka_partition", arrow_function(for_workers(spark, partitions_of, needs_core=False), IntegerType())
    )


def _rows() -> DataFrame:
    """Rows of the session that runs: what the rules learn from it is which Spark this is."""
    return SparkSession.active().range(0)


def _column(given: str | Column) -> Column:
    return sf.col(given) if isinstance(given, str) else given
