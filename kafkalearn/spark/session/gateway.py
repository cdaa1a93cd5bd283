"""PySpark's link to its Java side. PySpark has no public API to inspect or release it; it is done here only."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from py4j.clientserver import ClientServer
from pyspark import SparkContext
from pyspark.sql import SparkSession

from kafkalearn.base.errors import KafkaLearnError

STOP_TIMEOUT_S = 5


class JavaProcess(subprocess.Popen):
    """A Java side that Python starts, with what it prints: Java removes its folder as it leaves, its log with it."""

    _log: BinaryIO | None = None
    _log_path: Path | None = None

    def keep_log(self, path: Path) -> None:
        """Hold the log open, so that it can be read when its file is gone (on Windows, where it could not go, not)."""
        self._log_path = path
        if sys.platform != "win32":
            self._log = path.open("rb")

    def log_lines(self) -> list[str]:
        """What Java has printed so far; nothing where the log can no longer be read."""
        if self._log is not None and not self._log.closed:
            self._log.seek(0)
            data = self._log.read()
        else:
            data = self._log_path.read_bytes() if self._log_path is not None and self._log_path.is_file() else b""
        return data.decode(errors="replace").splitlines()

    def close_log(self) -> None:
        """Let the log go."""
        if self._log is not None:
            self._log.close()


def running_session() -> SparkSession | None:
    """The session of this Python process, classic or Spark Connect, or None."""
    if SparkContext._active_spark_context is not None:
        return SparkSession._instantiatedSession or SparkSession.builder.getOrCreate()
    return SparkSession.getActiveSession()


def is_connect(session: SparkSession) -> bool:
    """Whether a session is one of Spark Connect, a class of its own without a Java side in reach."""
    return not isinstance(session, SparkSession)


def is_linked() -> bool:
    """Whether PySpark is linked to a Java side, with a session or without."""
    return SparkContext._gateway is not None


def java_process() -> subprocess.Popen | None:
    """The Java process PySpark is linked to, or None if it has none, or one that was there before Python."""
    return getattr(SparkContext._gateway, "proc", None) if is_linked() else None


def set_java_process(process: subprocess.Popen) -> None:
    """Let PySpark know the process behind its link, as its own launcher does: it looks at its output and its end."""
    SparkContext._gateway.proc = process


def around_calls(wrapper: Callable[..., object]) -> None:
    """Wrap every call of PySpark to its Java side: ``wrapper(send, process, *arguments)``.

    `send` is py4j's own way, `process` the `java_process` of this link: of an old link, which old DataFrames keep,
    it stays the old one. A second time, nothing changes.
    """
    client = SparkContext._gateway._gateway_client
    wrappers = client.__dict__.setdefault("wrappers", [])
    if wrapper not in wrappers:
        wrappers.append(wrapper)
        client.send_command = partial(wrapper, client.send_command, java_process())


def around_accumulator_errors(wrapper: Callable[..., None]) -> None:
    """Let errors of the thread that gets Java's accumulators go to ``wrapper(handle, process, *arguments)``."""
    server = SparkContext._active_spark_context._accumulatorServer
    if not isinstance(server.handle_error, partial):
        server.handle_error = partial(wrapper, server.handle_error, java_process())


ASKED_FOR = ("PythonRDD", "PythonSQLUtils", "PythonUtils", "SerDeUtil", "functions", "java", "org", "scala")


def keep_names() -> None:
    """Let PySpark ask Java once for the names that each query uses: it seeks them in 280 files, package by package.

    On Spark Connect, where no Java is in reach, nothing changes.
    """
    if SparkContext._jvm is not None:
        for name in ASKED_FOR:
            vars(SparkContext._jvm).setdefault(name, getattr(SparkContext._jvm, name))


def running_context() -> SparkContext | None:
    """The classic context of this Python process, or None."""
    return SparkContext._active_spark_context


def has_threads_in_pairs() -> bool:
    """Whether each thread of Python has one of Java for itself, so that what is set for a job is set for a thread."""
    return isinstance(SparkContext._gateway, ClientServer)


def jobs_with_tag(context: SparkContext, tag: str) -> list[int]:
    """The numbers of a tag's jobs, those that are done too."""
    return list(context._jsc.sc().statusTracker().getJobIdsForTag(tag))


def forget() -> None:
    """End the link, and the Java process if Python started it; nothing of the old session works any more."""
    process, context = java_process(), SparkContext._active_spark_context
    with contextlib.suppress(Exception), warnings.catch_warnings(action="ignore"):  # Java may be gone already
        if context is not None:
            context.stop()
        SparkContext._gateway.shutdown()
    if context is not None and context._accumulatorServer is not None:  # where Java is gone, stop() did not get there
        context._accumulatorServer.shutdown()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    if process is not None:
        end_process(process)


def end_process(process: subprocess.Popen) -> None:
    """Close the pipe that keeps a Java side alive, and do not wait for long."""
    with contextlib.suppress(OSError):  # a broken pipe: it has ended
        process.stdin.close()
    try:
        process.wait(timeout=STOP_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextlib.contextmanager
def variables(values: Mapping[str, str | None]) -> Iterator[None]:
    """Set environment variables while the block runs, for PySpark's start alone; None unsets one."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


SHOWN_LINES, SHOWN_WIDTH = 5, 200


class SparkNotStarted(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """Spark could not be started; the message says why and what to do."""


NOISE = (
    " WARN ",
    " INFO ",
    "WARNING: Using incubator",
    "default log4j profile",
    "log level",
    "logging level",
    "An error occurred while",
)

# What Java or Spark write, and what to do then; the first that is found counts.
REMEDIES: tuple[tuple[str, str], ...] = (
    (
        "Module jdk.incubator.vector not found",
        "this Java lacks a module that Spark's own launcher asks for; set JAVA_HOME to a full JDK 21",
    ),
    (
        "Invalid maximum heap size",
        "this is not a size that Java can address; spark.driver.memory is like '4g'",
    ),
    (
        "Too small maximum heap",
        "Spark needs at least 450 MB; ask for more: get_spark(**{'spark.driver.memory': '1g'})",
    ),
    (
        "Could not reserve enough space",
        "there is not enough free memory; close other notebooks, or ask for less: "
        "get_spark(**{'spark.driver.memory': '1g'})",
    ),
    (
        "Cannot allocate memory",
        "there is not enough free memory; close other notebooks, or ask for less: "
        "get_spark(**{'spark.driver.memory': '1g'})",
    ),
    (
        "Initial heap size set to a larger value",
        "spark.driver.memory is smaller than the -Xms in your Java options; ask for more, or take -Xms out",
    ),
    (
        "INVALID_DRIVER_MEMORY",
        "Spark needs at least 450 MB; ask for more: get_spark(**{'spark.driver.memory': '1g'})",
    ),
    (
        "UnsupportedClassVersionError",
        "this Java is too old for Spark 4, which needs 17 or newer; set JAVA_HOME to another, or unset it",
    ),
    (
        "Unrecognized option",
        "an option in JAVA_TOOL_OPTIONS, JDK_JAVA_OPTIONS or spark.driver.extraJavaOptions is unknown to this Java",
    ),
    (
        "BindException",
        "leave spark.driver.port and spark.driver.bindAddress unset, so that any free port of the loopback address "
        "127.0.0.1 is taken; if they are, a firewall or sandbox forbids loopback: allow it",
    ),
    (
        "Network is unreachable",
        "Python could not reach Java over the loopback address 127.0.0.1; a firewall or sandbox forbids it: allow it",
    ),
    (
        "No space left on device",
        "the disk of the temporary folder is full; free some, or set TMPDIR to a folder with room",
    ),
    (
        "Could not parse Master URL",
        "the master must be like local[*], spark://host:7077, yarn or k8s://...; see SPARK_MASTER and spark.master",
    ),
    (
        "Master must either be",
        "the master must be like local[*], spark://host:7077, yarn or k8s://...; see SPARK_MASTER and spark.master",
    ),
    (
        "All masters are unresponsive",
        "no Spark master answers at that address; check it, or unset SPARK_MASTER to run on this machine",
    ),
    (
        "java.net.ConnectException",
        "nothing answers at the address given to Spark; check it, or unset it to run on this machine",
    ),
)
THROWN = re.compile(r"(?:Caused by: )?(?:[a-z][\w$]*\.){1,9}\w*(?:Error|Exception)\b")
"""A line of a log that begins with the class of what was thrown."""

NO_REMEDY = "the lines above are the end of Spark's log; a search for the last one usually helps"


def explain(what: str, log_lines: Sequence[str]) -> str:
    """One message: what happened, the last lines of the log that say why, and what to do.

    >>> print(explain("Java ended at its start", ["Error: Could not reserve enough space for object heap"]))
    Java ended at its start.
      | Error: Could not reserve enough space for object heap
    What to do: there is not enough free memory; close other notebooks, or ask for less:
    get_spark(**{'spark.driver.memory': '1g'})
    """
    lines = list(dict.fromkeys(line.strip(": \t")[:SHOWN_WIDTH] for line in log_lines if _says_why(line.strip())))
    known = [(line, remedy) for sign, remedy in REMEDIES for line in lines if sign in line]
    shown = lines[-SHOWN_LINES:]
    if known and known[0][0] not in shown:
        shown = [known[0][0], *shown[1:]]
    quoted = "".join(f"\n  | {line}" for line in shown)
    return f"{what}.{quoted}\nWhat to do: {known[0][1] if known else NO_REMEDY}"


def last_words(process: subprocess.Popen) -> str | None:
    """The last line of a Java side's log that says what was thrown, or None."""
    thrown = (
        [line.strip() for line in process.log_lines() if THROWN.match(line)] if isinstance(process, JavaProcess) else []
    )
    return thrown[-1][:SHOWN_WIDTH] if thrown else None


def error_lines(error: Exception) -> list[str]:
    """The first lines of an error from Java that say why: what was thrown, and what caused it."""
    return [line for line in str(error).splitlines() if _says_why(line.strip())][:SHOWN_LINES]


def _says_why(line: str) -> bool:
    return bool(line) and not any(sign in line for sign in NOISE) and not re.match(r"(at |\.\.\. |[\w.$/]+\()", line)
