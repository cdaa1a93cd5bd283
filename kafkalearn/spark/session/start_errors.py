"""What to do when Spark does not start: its log is long, the sentence that helps is short."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kafkalearn.errors import KafkaLearnError

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
        "this is no size that Java can address; spark.driver.memory is like '4g'",
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
        "this Java is too old for Spark 4.3, which needs 17 to 25; set JAVA_HOME to another, or unset it",
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


def error_lines(error: Exception) -> list[str]:
    """The first lines of an error from Java that say why: what was thrown, and what caused it."""
    return [line for line in str(error).splitlines() if _says_why(line.strip())][:SHOWN_LINES]


def _says_why(line: str) -> bool:
    return bool(line) and not any(sign in line for sign in NOISE) and not re.match(r"(at |\.\.\. |[\w.$/]+\()", line)
