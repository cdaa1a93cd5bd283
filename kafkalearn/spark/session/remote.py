"""Spark that runs elsewhere: a Spark Connect server, or a master that Spark's own launcher connects to."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from urllib.parse import urlsplit
from urllib.request import getproxies

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kafkalearn.errors import KafkaLearnError
from kafkalearn.java_runtime import find_java
from kafkalearn.spark.session import gateway
from kafkalearn.spark.session.folders import remove_folder, temporary_folder
from kafkalearn.spark.session.jvm import locale_variables
from kafkalearn.spark.session.start_errors import SparkNotStarted, error_lines, explain

CONNECT_PORT = 15002
STARTED_FOR_US = ("PYSPARK_GATEWAY_PORT", "PYSPARK_SUBMIT_ARGS")  # what spark-submit and notebook images set


def connect(remote: str, settings: Mapping[str, str]) -> SparkSession:
    """A session on a Spark Connect server; settings the server does not let us change are left as it has them."""
    if not remote.startswith("sc://"):
        raise KafkaLearnError(f"a Spark Connect address begins with sc://, got {remote!r}; see SPARK_REMOTE")
    _require_listener(remote)
    try:
        with gateway.variables({"MASTER": None}):  # PySpark refuses to take both
            session = SparkSession.builder.remote(remote).getOrCreate()
        for name, value in settings.items():
            if session.conf.isModifiable(name):
                session.conf.set(name, value)
        return session
    except ImportError as error:
        raise SparkNotStarted(f"Spark Connect needs more packages: pip install 'pyspark[connect]' ({error})") from None
    except PySparkException as error:
        lines = error_lines(error)
        raise SparkNotStarted(explain(f"no Spark Connect server answers at {remote}", lines)) from None


def _require_listener(remote: str) -> None:
    """Raise if no server listens there: PySpark itself tries for ten minutes. Behind a proxy it cannot be known."""
    address = urlsplit(remote)
    host, port = address.hostname or "localhost", address.port or CONNECT_PORT
    if getproxies():
        return
    try:
        socket.create_connection((host, port), timeout=10).close()
    except OSError as error:
        raise SparkNotStarted(
            f"no Spark Connect server answers at {remote} ({error}); start one there, correct the address, "
            "or unset SPARK_REMOTE to run on this machine"
        ) from None


def launch(settings: Mapping[str, str]) -> SparkSession:
    """A session on a master, by Spark's own launcher: it knows YARN, Kubernetes and spark-env.sh.

    What the launcher prints goes to a file, and is read only if it fails.
    """
    folder = temporary_folder("spark")
    log_path = folder / "launcher.log"
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    try:
        with log_path.open("wb") as log, gateway.variables(_variables(settings)):
            link = SparkContext._gateway or launch_gateway(conf, {"stdout": log, "stderr": log})
            return SparkSession(SparkContext(conf=conf, gateway=link))
    except (PySparkException, Py4JError) as error:
        lines = log_path.read_text(errors="replace").splitlines() + error_lines(error)
        gateway.forget()
        raise SparkNotStarted(explain("Spark did not start", lines)) from None
    finally:
        remove_folder(folder)  # Java goes on writing into the file it holds open


def _variables(settings: Mapping[str, str]) -> dict[str, str]:
    if "PYSPARK_GATEWAY_PORT" in os.environ:
        return {}
    variables = {"JAVA_HOME": str(find_java(bundled=False).home)}
    if settings.get("spark.master", "").startswith("local"):  # local-cluster: its workers are on this machine
        variables |= {
            "PYSPARK_PYTHON": os.environ.get("PYSPARK_PYTHON", sys.executable),
            "SPARK_LOCAL_IP": "127.0.0.1",
            **locale_variables(),
        }
    return variables
