"""Does it all work here? Each thing a chapter needs, what was found, and what to do where it does not suffice."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from time import perf_counter

from pyspark.sql import SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import LongType

from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.base.java_runtime import NEWEST_JAVA, OLDEST_JAVA, find_java
from kafkalearn.spark import SUPPORTED
from kafkalearn.spark.session.spark_session import get_spark
from kafkalearn.spark.session.start import GIB, default_heap_bytes, machine_memory_bytes
from kafkalearn.spark.session.worker_code import arrow_function

LEAST_MEMORY_GIB = 4
OLDEST_PYTHON = (3, 11)
PACKAGES = {"pyspark": SUPPORTED, "pandas": ("2",), "pyarrow": (), "numpy": ()}  # each with how its version begins


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the check."""

    name: str
    found: str
    wanted: str
    ok: bool
    remedy: str = ""  # what to do; empty where all is well


def check_environment() -> tuple[Check, ...]:
    """One line for each thing that is needed, Spark started and asked a question included.

    Returns
    -------
    tuple of Check
        Nothing is raised: what fails is a line that is not ``ok``, and its ``remedy`` says what to do.

    Examples
    --------
    >>> [check.name for check in check_environment() if not check.ok]
    []
    """
    checks = [_python(), *map(_package, PACKAGES), _memory(), _java()]
    return (*checks, *_spark())


def _python() -> Check:
    wanted = f"{'.'.join(map(str, OLDEST_PYTHON))} or newer"
    ok = sys.version_info >= OLDEST_PYTHON
    remedy = "" if ok else "install a newer Python, then `make lab`"
    return Check("Python", platform.python_version(), wanted, ok, remedy)


def _package(name: str) -> Check:
    lines = PACKAGES[name]
    wanted = f"{listed(lines, last='or')}.x" if lines else "any"
    remedy = f"pip install '{name}=={lines[-1]}.*'" if lines else f"pip install {name}"
    try:
        found = version(name)
    except PackageNotFoundError:
        return Check(name, "none", wanted, False, remedy)
    ok = not lines or found.startswith(tuple(f"{line}." for line in lines))
    return Check(name, found, wanted, ok, "" if ok else remedy)


def _memory() -> Check:
    memory = machine_memory_bytes()
    ok = memory >= 0.9 * LEAST_MEMORY_GIB * GIB  # a machine sold with 4 GiB shows a little less
    found = f"{memory / GIB:.1f} GiB, of which Spark takes up to {default_heap_bytes(memory) / GIB:.1f}"
    remedy = "close other programs, and take size='small' where a chapter says 'class'"
    return Check("Memory", found, f"{LEAST_MEMORY_GIB} GiB", ok, "" if ok else remedy)


def _java() -> Check:
    wanted = f"{OLDEST_JAVA} to {NEWEST_JAVA}"
    try:
        java = find_java()
    except KafkaLearnError as error:
        return Check("Java", "none that fits", wanted, False, str(error))
    return Check("Java", f"{java.version}, {java.source}", wanted, True)


def _spark() -> tuple[Check, ...]:
    begin = perf_counter()
    try:
        spark = get_spark()
    except KafkaLearnError as error:
        return (Check("Spark starts", "no", "yes", False, str(error)),)
    seconds = perf_counter() - begin
    where = spark.conf.get("spark.master", "Spark Connect")
    workers = "set PYSPARK_PYTHON on the workers to a Python of this version that has NumPy and PyArrow"
    return (
        Check("Spark starts", f"{spark.version} on {where} in {seconds:.1f} s", "yes", True),
        _answers("Spark answers", lambda: _count(spark), "restart the kernel; what was found is Spark's own message"),
        _answers("Python on Spark's workers", lambda: _through_python(spark), workers),
    )


def _answers(name: str, ask: Callable[[], object], remedy: str) -> Check:
    """Whether a small query gives the right answer; if not, what it gave or its error is what was found."""
    begin = perf_counter()
    try:
        ok, found = ask() == 499_500, "wrong answer"
    except Exception as error:  # whatever it is, the reader of the table is to see it
        ok, found = False, str(error).splitlines()[0]
    return Check(name, f"in {perf_counter() - begin:.1f} s" if ok else found, "yes", ok, "" if ok else remedy)


def _count(spark: SparkSession) -> int:
    ((total,),) = spark.range(1000).agg(sf.sum("id")).collect()
    return total


def _through_python(spark: SparkSession) -> int:
    same = arrow_function(lambda numbers: numbers, LongType())
    ((total,),) = spark.range(1000).agg(sf.sum(same("id"))).collect()
    return total
