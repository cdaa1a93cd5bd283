"""Spark on this machine: all cores, a quarter of the memory, loopback only, no Java to install."""

from __future__ import annotations

import atexit
import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from kafkalearn.java_runtime import find_java
from kafkalearn.spark.session import gateway
from kafkalearn.spark.session.jvm import Jvm, Launch, start_jvm, stop_jvm
from kafkalearn.spark.session.memory import default_heap_bytes, heap_option, machine_memory_bytes
from kafkalearn.spark.session.start_errors import SparkNotStarted, error_lines, explain

# Set to 1 it compiles Java code once and simply: Spark is ready sooner, and half as fast on millions of rows.
FAST_START = "KAFKALEARN_SPARK_FAST_START"

_jvm: Jvm | None = None


def start(settings: Mapping[str, str], defaults: Mapping[str, str]) -> SparkSession:
    """A session on this machine.

    Parameters
    ----------
    settings : mapping
        Spark settings that were asked for.
    defaults : mapping
        What spark-defaults.conf says; Spark reads it itself, but memory and Java options are ours to pass on.
    """
    launch = _launch({**defaults, **settings}, settings)
    jvm, is_new = _jvm_for(launch)
    variables = {"PYSPARK_PYTHON": sys.executable}  # any other Python may lack what this one has
    if is_new:
        variables |= {"PYSPARK_GATEWAY_PORT": str(jvm.port), "PYSPARK_GATEWAY_SECRET": jvm.secret}
    ours = {name: value for name, value in _settings(jvm).items() if name not in defaults}
    try:
        with gateway.variables(variables):
            session = SparkSession.builder.config(map={**ours, **settings}).getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        lines = jvm.log_path.read_text(errors="replace").splitlines() + error_lines(error)
        stop()
        raise SparkNotStarted(explain(f"Spark did not start ({launch.java})", lines)) from None
    if is_new:
        gateway.set_java_process(jvm.process)
        _clean_up_after(jvm)
    return session


def stop() -> None:
    """End the Java side, if one was started here, and PySpark's link to it."""
    global _jvm
    gateway.forget()
    if _jvm is not None:
        stop_jvm(_jvm)
    _jvm = None


def _jvm_for(launch: Launch) -> tuple[Jvm, bool]:
    """The Java side for a launch, and whether it is new: one whose session was stopped is used again."""
    global _jvm
    if _jvm is not None and _jvm.is_alive and _jvm.launch == launch and gateway.is_linked():
        return _jvm, False
    stop()  # it is of another launch, or a start was interrupted halfway
    _jvm = start_jvm(launch)
    atexit.register(_stop_in, os.getpid())
    return _jvm, True


def _stop_in(process_id: int) -> None:
    """At the end of Python; not in a forked child, whose parent still needs the session."""
    atexit.unregister(_stop_in)
    if os.getpid() == process_id:
        stop()


def _launch(all_settings: Mapping[str, str], settings: Mapping[str, str]) -> Launch:
    return Launch(
        java=find_java(),
        spark_home=spark_home(),
        java_options=tuple(_java_options(all_settings)),
        settings=tuple((name, value) for name, value in settings.items() if name != "spark.app.name"),
        class_path=all_settings.get("spark.driver.extraClassPath", ""),
    )


def _java_options(settings: Mapping[str, str]) -> list[str]:
    options = [heap_option(settings.get("spark.driver.memory", f"{_default_heap_mib()}m"))]
    if _core_count() <= 2:
        options.append("-XX:+UseSerialGC")  # other collectors would take a core of their own
    if os.environ.get(FAST_START) == "1":
        options.append("-XX:TieredStopAtLevel=1")
    for name in ("spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"):
        options += shlex.split(settings.get(name, ""))
    return options


def _settings(jvm: Jvm) -> dict[str, str]:
    return {
        "spark.master": "local[*]",
        "spark.driver.memory": f"{_default_heap_mib()}m",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(max(4, 2 * _core_count())),  # 200, the default, is for a cluster
        "spark.sql.warehouse.dir": (jvm.folder / "warehouse").as_uri(),
    }


def _default_heap_mib() -> int:
    return default_heap_bytes(machine_memory_bytes()) // 2**20


def _core_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def spark_home() -> Path:
    """The folder of Spark's own files: beside PySpark, or where SPARK_HOME says."""
    beside = Path(pyspark.__file__).parent
    for home in (beside, Path(os.environ.get("SPARK_HOME", beside))):
        if (home / "jars").is_dir():
            return home
    raise SparkNotStarted(
        f"the PySpark in {beside} has no Java side (is it pyspark-client?); "
        "pip install 'pyspark>=4.3,<4.4', or name a Spark Connect server in SPARK_REMOTE"
    )


def _clean_up_after(jvm: Jvm) -> None:
    """Let Java remove its folder when it leaves, also where Python was killed and cannot."""
    java = SparkContext._jvm
    java.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(java.java.io.File(str(jvm.folder)))
