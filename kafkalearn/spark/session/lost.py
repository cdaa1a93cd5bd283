"""When Java is gone, killed or out of memory, every question to Spark is answered with one sentence.

PySpark has no such answer: a call ends in a bare ConnectionRefusedError or a Py4JError without a text, py4j logs a
traceback, and so does the thread that waits for Java's accumulators. All calls go through one object of py4j, so
that is where the sentence is said.
"""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path
from typing import Any

import py4j
from py4j.protocol import ERROR, Py4JNetworkError

from kafkalearn.errors import KafkaLearnError
from kafkalearn.spark.session import gateway

ENDS_WITHIN_S = 5  # its sockets close a moment before the system says that a process has ended

KILLED = (-9, 137)  # by SIGKILL, as Popen and as a shell say it

PY4J_LOGS = (
    "KeyboardInterrupt while sending command.",
    "Exception while sending command.",
    "Exception occurred while shutting down connection",
)
"""What py4j logs with a traceback: two that are raised as well, and a connection that the other side closed first."""

LOGGERS = (None, "py4j.clientserver", "py4j.java_gateway")
"""Whom py4j logs as: in nobody's name, or in that of its module. A filter holds for its own logger only."""


class SparkLost(KafkaLearnError):  # noqa: N818  (named for what it is, as IllegalEvent is)
    """Spark's Java process has ended while it was needed; the message says what to do."""


def say_when_java_is_gone() -> None:
    """From now on calls to a Java side that has ended raise `SparkLost`, and nothing is logged beside it.

    For a Java side that Python started; of any other it is not known whether it has ended. To be called after each
    start; again, it changes nothing.
    """
    if gateway.java_process() is not None:
        gateway.around_calls(_send)
        gateway.around_accumulator_errors(_handle_error)
        for name in LOGGERS:
            logging.getLogger(name).addFilter(_is_wanted)


def _send(send: Any, process: subprocess.Popen, command: str, retry: bool = True, binary: bool = False) -> Any:
    """py4j's own way, but for what it raises or answers when nobody listens any more."""
    try:
        answer = send(command, retry, binary)
    except (OSError, Py4JNetworkError):
        if _has_ended(process):
            raise SparkLost(_message(process.returncode)) from None
        raise
    if answer == ERROR and _has_ended(process):
        raise SparkLost(_message(process.returncode))
    return answer


def _has_ended(process: subprocess.Popen) -> bool:
    try:
        process.wait(ENDS_WITHIN_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def _message(exit_code: int) -> str:
    how = f"ended with exit code {exit_code}" if exit_code >= 0 else f"killed by signal {-exit_code}"
    if exit_code in KILLED:
        how += ", often because the machine had no memory left"
    return (
        f"Spark's Java process is gone ({how}); call get_spark() again, which starts a new one: spark = get_spark(), "
        "and make your DataFrames again from it"
    )


def _handle_error(handle: Any, process: subprocess.Popen, *arguments: object) -> None:
    """Print what went wrong in the thread that Java sends its accumulators to, unless Java is just gone."""
    if not _has_ended(process):
        handle(*arguments)


def _is_wanted(record: logging.LogRecord) -> bool:
    return record.msg not in PY4J_LOGS or Path(py4j.__file__).parent not in Path(record.pathname).parents
