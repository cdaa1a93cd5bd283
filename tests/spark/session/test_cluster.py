"""The rules on a cluster of separate worker processes, whose Python has never heard of kafkalearn."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pyspark
import pytest

from kafkalearn.assignors import compare, random_rebalance
from kafkalearn.coordinator.rule import FORMULAS, offsets_partition
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from tests.spark.processes import run_python

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.long]

TEXTS = ["", "user-42", "test-group", "polygenelubricants", "ключ", "🔑-订单", "x" * 255]

ON_A_CLUSTER = """
from pyspark.sql import functions as sf
from kafkalearn.coordinator.rule import FORMULAS
from kafkalearn.partitioning.keyed import PARTITIONERS
from kafkalearn.spark.coordinator import with_coordinator, with_offsets_partition
from kafkalearn.spark.data import datasets
from kafkalearn.spark import partitioning as keyed
from kafkalearn.spark.rebalances import random_rebalances, rebalance_costs
from kafkalearn.spark.session import get_spark

simple = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # little is computed here, and much is started
spark = get_spark(**{
    "spark.driver.extraJavaOptions": simple,
    "spark.executor.extraJavaOptions": simple,
    "spark.sql.shuffle.partitions": 4,
    "spark.ui.enabled": False,
})

@sf.udf("string")
def worker(text):
    import os, sys
    try:
        import kafkalearn
        return "kafkalearn is here: " + kafkalearn.__file__
    except ModuleNotFoundError as error:
        return f"{error}; {sys.prefix}"

texts = %r
rows = spark.createDataFrame([(text, text.encode()) for text in texts], "group_id string, key binary").repartition(4)
for name in FORMULAS:
    rows = rows.transform(with_offsets_partition, 50, formula=name, output=name)
rows = rows.transform(with_coordinator, [1, 2, 3], partition_count=3)
for name in PARTITIONERS:
    rows = rows.transform(keyed.with_partition, 37, name, output=name)
keyed.static_call = lambda *arguments: None
rows = rows.transform(keyed.with_partition, 37, output="in Python").withColumn("worker", worker("group_id"))
moved = lambda costs: sorted([row.rebalance, row.assignor, row.moved] for row in costs.collect())
report({
    "master": spark.sparkContext.master,
    "rows": [row.asDict() | {"key": None} for row in rows.collect()],
    "orders": datasets.orders(spark, 1000, customer_count=500).groupBy("partition").count().count(),
    # Last: it sends the workers what they have not heard of until now.
    "moved": moved(random_rebalances(spark, 8, most_partitions=4).transform(rebalance_costs, ["range", "sticky"])),
})
spark.stop()
"""


@pytest.fixture
def worker_python(tmp_path) -> Path:
    """A virtual environment with every package of this one but kafkalearn."""
    folder = tmp_path / "worker"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if "kafkalearn" not in entry.name and entry.suffix != ".pth":  # an editable install is a .pth file
            (packages / entry.name).symlink_to(entry)
    return folder / "bin" / "python"


@pytest.fixture
def spark_home(tmp_path) -> Path:
    """Spark's own files, linked into a folder where its workers may write."""
    home = tmp_path / "spark"
    home.mkdir()
    for entry in Path(pyspark.__file__).parent.iterdir():
        (home / entry.name).symlink_to(entry)
    return home


@pytest.mark.nightly
def test_workers_without_kafkalearn_give_what_the_scalar_functions_give(worker_python, spark_home, launcher_java_home):
    answer, printed = run_python(
        ON_A_CLUSTER % TEXTS,
        SPARK_MASTER="local-cluster[2,1,1024]",
        PYSPARK_PYTHON=str(worker_python),
        SPARK_HOME=str(spark_home),
        JAVA_HOME=str(launcher_java_home),
    )
    assert printed == ""
    assert answer["master"] == "local-cluster[2,1,1024]"
    assert answer["orders"] == 12  # made in the query: the workers could not read a file of ours
    assert answer["moved"] == [
        [number, row["assignor"], row["moved"]]
        for number in range(8)
        for drawn in [random_rebalance(number, most_partitions=4)]
        for row in compare(["range", "sticky"], drawn.partition_counts, drawn.before, drawn.after)
    ]
    assert len(answer["rows"]) == len(TEXTS)
    for row in answer["rows"]:
        text = row["group_id"]
        assert row["worker"] == f"No module named 'kafkalearn'; {worker_python.parents[1]}"
        assert {name: row[name] for name in FORMULAS} == {name: offsets_partition(text, 50, name) for name in FORMULAS}
        assert row["broker_id"] == offsets_partition(text, 3) + 1
        by_rule = {name: partition_for_key(text.encode(), 37, name) for name in PARTITIONERS}
        assert {name: row[name] for name in PARTITIONERS} == by_rule
        assert row["in Python"] == by_rule["murmur2"]
