"""PySpark's link to its Java side. PySpark has no public way to look at it or to let go of it; it is done here only."""

from __future__ import annotations

import contextlib
import os
import subprocess
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from py4j.clientserver import ClientServer
from pyspark import SparkContext
from pyspark.sql import SparkSession

STOP_TIMEOUT_S = 5


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
    """Let every call of PySpark to its Java side go through ``wrapper(send, process, *arguments)``.

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
    """Environment variables for a while: PySpark reads them when it starts, and nothing else should; None hides one."""
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
