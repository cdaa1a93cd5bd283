"""An archive of Spark's classes nearly halves what a start costs: ``python -m kafkalearn.spark.session.archive``.

The archive (`kafkalearn.base.class_archive`) has what a session loads that starts and answers the kinds of queries that
the chapters ask. It is made once for each Java and each Spark, takes 200 MB and about a minute of one core, and
every start on this machine finds it (`kafkalearn.spark.session.start`). A start does not wait for it and does not make
it.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

from pyspark.sql import SparkSession, Window
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType

from kafkalearn.base.class_archive import ClassArchive
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import find_java
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.session.start import class_archive, spark_home, stop
from kafkalearn.spark.session.worker_code import arrow_function

SMALL = {"spark.master": "local[1]", "spark.driver.memory": "1g"}  # whoever works here meanwhile has the rest


def make_archive() -> bool:
    """Make the archive for this Java and this Spark, if there is none; whether starts here use one from now on.

    To be called in a process of its own: it starts a session, asks it, and ends it.

    Raises
    ------
    ArchiveNotMade
        If the disk has less than 1 GB free, or the folder cannot be written.
    JavaNotFound, SparkNotStarted
        As `get_spark`.
    """
    return class_archive(find_java(), spark_home()).make(_train)


def _train(class_list: Path) -> None:
    option = shlex.quote(ClassArchive.training_option(class_list))
    spark = get_spark(**SMALL, **{"spark.driver.extraJavaOptions": option})
    try:
        with tempfile.TemporaryDirectory(prefix="kafkalearn-archive-") as place:
            _ask(spark, Path(place) / "rows.parquet")
    finally:
        stop()


def _ask(spark: SparkSession, path: Path) -> None:
    """Queries of the kinds that the chapters ask, on few rows."""
    rows = spark.range(0, 10_000, 1, 4).withColumn("group", sf.concat(sf.lit("g"), sf.col("id") % 7))
    rows.write.parquet(path.as_uri())
    read = spark.read.parquet(path.as_uri()).withColumn("at", sf.timestamp_seconds("id"))
    latest = Window.partitionBy("group").orderBy(sf.desc("id"))
    read.withColumn("place", sf.row_number().over(latest)).where("place <= 2").toPandas()
    by_group = read.groupBy("group").agg(sf.count("*").alias("count"), sf.max("at"), sf.collect_list("id"))
    read.join(by_group, "group").orderBy("id").limit(3).toPandas()
    read.join(sf.broadcast(by_group), "group").selectExpr("sum(count)", "approx_count_distinct(id)").collect()
    same = arrow_function(lambda numbers: numbers, LongType())
    read.groupBy(same("id") % 3).count().toPandas()
    read.groupBy("group").applyInPandas(lambda some: some.head(1)[["id"]], "id long").collect()
    spark.createDataFrame(by_group.toPandas()[["group", "count"]]).count()


if __name__ == "__main__":
    try:
        print("Spark starts with an archive here" if make_archive() else "no archive can be used here")
    except KafkaLearnError as error:
        sys.exit(f"kafkalearn: {error}")
