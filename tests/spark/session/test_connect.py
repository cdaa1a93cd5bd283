"""The rules on Spark Connect, where no Java is in reach: a server is started and asked over the loopback address."""

import os
import socket
import subprocess
import sys
import time

import pytest

from kafkalearn.assignors import compare, random_rebalance
from kafkalearn.base.java_runtime import find_java
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.partitioning.keyed import PARTITIONERS, partition_for_key
from kafkalearn.spark.session.start import SPARK_JAVA_OPTIONS, spark_home
from tests.spark.processes import run_python

pytest.importorskip("grpc", reason="Spark Connect needs grpcio, grpcio-status, googleapis-common-protos, zstandard")

pytestmark = [pytest.mark.spark, pytest.mark.cluster, pytest.mark.long]

TEXTS = ["", "user-42", "test-group", "polygenelubricants", "ключ", "🔑-订单", None]

OVER_CONNECT = """
from kafkalearn.partitioning.keyed import PARTITIONERS
from kafkalearn.spark.columns import counts_by_partition
from kafkalearn.spark.coordinator import with_coordinator, with_offsets_partition
from kafkalearn.spark.data import datasets
from kafkalearn.spark.partitioning import moved_share, moves_by_key
from kafkalearn.spark.partitioning import with_partition
from kafkalearn.spark.rebalances import random_rebalances, rebalance_costs
from kafkalearn.spark.session import check_environment, get_spark, job_progress

spark = get_spark()
updates = []
rows = spark.createDataFrame([(text,) for text in %r], "group_id string")
rows = rows.transform(with_offsets_partition).transform(with_coordinator, [1, 2, 3], partition_count=3)
for name in PARTITIONERS:
    rows = rows.transform(with_partition, 37, name, key="group_id", output=name)
keys = datasets.keys(spark, 1000, key_count=100)
with job_progress(spark, lambda done, total: updates.append([done, total])):
    counts = counts_by_partition(keys.transform(with_partition, 6), 6)
costs = random_rebalances(spark, 4).transform(rebalance_costs, ["sticky"])
report({
    "kind": type(spark).__module__,
    "again": get_spark() is spark,
    "zone": spark.conf.get("spark.sql.session.timeZone"),
    "rows": [row.asDict() for row in rows.collect()],
    "counts": counts,
    "moved": moved_share(keys.transform(moves_by_key, 6, 7)).first().record_count,
    "updates": updates,
    "costs": [row.moved for row in costs.orderBy("rebalance").collect()],
    "stopped": spark.stop(),
    "anew": get_spark().range(3).count(),
    "failed": [check.name for check in check_environment() if not check.ok],
})
"""


@pytest.fixture
def address(tmp_path):
    """A Spark Connect server on a free port of this machine."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "spark.master": "local[2]",
        "spark.ui.enabled": "false",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.warehouse.dir": (tmp_path / "warehouse").as_uri(),
    }
    command = [
        *(str(find_java().executable), "-Xmx1g", "-XX:TieredStopAtLevel=1", f"-Djava.io.tmpdir={tmp_path}"),
        *(*SPARK_JAVA_OPTIONS, "-cp", str(spark_home() / "jars" / "*"), "org.apache.spark.deploy.SparkSubmit"),
        *(part for name, value in settings.items() for part in ("--conf", f"{name}={value}")),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"),
    ]
    variables = {
        **os.environ,
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (tmp_path / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env=variables, cwd=tmp_path, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 600
        while server.poll() is None and time.monotonic() < deadline and not answers(port):
            time.sleep(0.2)
        assert answers(port), (tmp_path / "server.log").read_text()[-2000:]
        yield f"sc://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


def answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_rules_over_spark_connect_give_what_the_scalar_functions_give(address):
    answer, printed = run_python(OVER_CONNECT % TEXTS, SPARK_REMOTE=address, MASTER="local[7]")

    assert printed == ""
    assert (answer["kind"], answer["again"], answer["zone"]) == ("pyspark.sql.connect.session", True, "UTC")
    drawn = [random_rebalance(number) for number in range(4)]
    here = [compare(["sticky"], each.partition_counts, each.before, each.after)[0]["moved"] for each in drawn]
    assert answer["costs"] == here
    for row in answer["rows"]:
        text = row["group_id"]
        assert row["offsets_partition"] == (None if text is None else offsets_partition(text))
        assert row["broker_id"] == (None if text is None else offsets_partition(text, 3) + 1)
        assert {name: row[name] for name in PARTITIONERS} == {
            name: None if text is None else partition_for_key(text.encode(), 37, name) for name in PARTITIONERS
        }
    assert len(answer["rows"]) == len(TEXTS)
    assert sum(answer["counts"]) == answer["moved"] == 1000
    assert answer["updates"][-1][0] == answer["updates"][-1][1]
    assert answer["anew"] == 3
    assert answer["failed"] == []


def test_a_server_that_does_not_answer_is_named():
    message, _ = run_python(
        """
        from kafkalearn.spark.session import get_spark
        try:
            get_spark(remote="sc://127.0.0.1:1")
        except Exception as error:
            report(f"{type(error).__name__}: {error}")
        """
    )
    assert message.startswith("SparkNotStarted: no Spark Connect server answers at sc://127.0.0.1:1 (")
    assert message.endswith("or unset SPARK_REMOTE to run on this machine")
