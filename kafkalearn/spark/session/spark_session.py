"""A Spark session: the one you are in, the one you name, or one on this machine that needs nothing installed.

`get_spark` looks in this order, and takes what is there first:

1. a session of this Python process, as in a cluster's notebook;
2. a Spark Connect address: the argument `remote`, or SPARK_REMOTE;
3. a Spark that was started for you: PYSPARK_GATEWAY_PORT (spark-submit) or PYSPARK_SUBMIT_ARGS;
4. a master: the argument `master`, SPARK_MASTER, MASTER, or ``spark.master`` in spark-defaults.conf;
5. this machine, with the Java that `kafkalearn.base.java_runtime.find_java` finds.

The masters ``local`` and ``local[...]`` are this machine (5), any other is reached through Spark's own launcher.
Nothing is printed in either case.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import getproxies

from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import find_java
from kafkalearn.spark.session import gateway
from kafkalearn.spark.session import start as embedded
from kafkalearn.spark.session.gateway import SparkNotStarted, error_lines, explain
from kafkalearn.spark.session.interrupts import cancel_when_interrupted, say_when_java_is_gone
from kafkalearn.spark.session.start import locale_variables, remove_folder, temporary_folder

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


# In every session that is started here: times are shown alike, and tables go between Java and Python as Arrow.
SESSION_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.showConsoleProgress": "false",
}
# Else PySpark asks Java more than twice as often, to tell at an error in which line a function of a column was called:
# to build `decode_offsets` and `latest_state` 4,820 times in place of 2,192.
BUILT_SOONER = {"spark.python.sql.dataFrameDebugging.enabled": "false"}


def get_spark(
    app_name: str = "kafkalearn",
    *,
    master: str | None = None,
    remote: str | None = None,
    leave_alone: bool = False,
    **conf: object,
) -> SparkSession:
    """The Spark session to work in; a second call returns the same one.

    Parameters
    ----------
    app_name : str
        Shown in a cluster's lists.
    master : str, optional
        ``"local[2]"``, ``"spark://host:7077"``, ``"yarn"``, ...; without it see the order above.
    remote : str, optional
        A Spark Connect address, ``"sc://host:15002"``.
    leave_alone : bool
        True: a session that runs already is left as it is. Else, where Python started its Java, an interrupt cancels
        the jobs of its cell and a Java that is gone is one sentence; for that py4j's way of sending is wrapped, the
        handler of SIGINT replaced and py4j's log filtered.
    **conf
        Spark settings by name: ``get_spark(**{"spark.driver.memory": "4g"})``. In a session that runs already
        they are set where Spark allows it.

    Returns
    -------
    SparkSession
        On this machine: all cores, a quarter of the memory for Java (1 to 8 GiB), time zone UTC, no web page,
        everything on the loopback address, temporary files removed at the end. An interrupt (the stop button,
        Ctrl-C) cancels the Spark jobs of the cell that it stops.

    Raises
    ------
    SparkNotStarted
        If Spark does not start; the message has the end of its log and what to do.
    JavaNotFound
        If there is no suitable Java.
    KafkaLearnError
        If an argument makes no sense, or a setting cannot be changed in the session that runs.
    """
    settings = _checked(conf, master)
    process = gateway.java_process()
    if process is not None and process.poll() is not None:
        embedded.stop()  # Java is gone, out of memory or killed: its session is of no use, start anew
    if (found := _running(settings, remote)) and leave_alone:
        return found
    session = found or _started(app_name, settings, remote)
    say_when_java_is_gone()
    cancel_when_interrupted()
    gateway.keep_names()
    return session


def _running(settings: Mapping[str, str], remote: str | None) -> SparkSession | None:
    if session := gateway.running_session():
        _refuse_to_move(session, remote)
        _set(session, settings)
    return session


def _started(app_name: str, settings: Mapping[str, str], remote: str | None) -> SparkSession:
    named = {**SESSION_SETTINGS, **BUILT_SOONER, "spark.app.name": app_name, **settings}
    if remote := remote or os.environ.get("SPARK_REMOTE"):
        return connect(remote, {**SESSION_SETTINGS, **settings})
    if any(name in os.environ for name in STARTED_FOR_US):
        return launch(named)
    defaults = _spark_defaults()
    master = settings.get("spark.master") or _given_master(defaults)
    if master is None or is_this_machine(master):
        return embedded.start({**named, "spark.master": master} if master else named, defaults)
    embedded.stop()  # a Java side of an earlier session here was not started for that master
    return launch({**named, "spark.master": master})


def is_this_machine(master: str) -> bool:
    """Whether a master means this machine alone: all else, ``local-cluster[...]`` too, has workers of its own.

    >>> is_this_machine("local[*]"), is_this_machine("local-cluster[2,1,1024]")
    (True, False)
    """
    return re.fullmatch(r"local(\[.*\])?", master) is not None


def _checked(conf: Mapping[str, object], master: str | None) -> dict[str, str]:
    for name in conf:
        if not name.startswith("spark."):
            raise KafkaLearnError(
                f"{name!r} is not a Spark setting; their names begin with 'spark.': "
                "get_spark(**{'spark.driver.memory': '4g'})"
            )
    settings = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in conf.items()}
    return {**settings, "spark.master": master} if master else settings


def _refuse_to_move(session: SparkSession, remote: str | None) -> None:
    if remote and not gateway.is_connect(session):
        raise KafkaLearnError(
            f"a Spark session runs already in this process, so none can be opened on {remote!r}; "
            "end it with spark.stop(), or restart the kernel, and ask again"
        )


def _set(session: SparkSession, settings: Mapping[str, str]) -> None:
    for name, value in settings.items():
        present = session.conf.get(name, None)
        if present != value and not session.conf.isModifiable(name):
            raise KafkaLearnError(
                f"{name} is {present!r} in the Spark session that runs and cannot be changed to {value!r} there; "
                "end it with spark.stop() and ask again"
            )
        if present != value:
            session.conf.set(name, value)


def _given_master(defaults: Mapping[str, str]) -> str | None:
    return os.environ.get("SPARK_MASTER") or os.environ.get("MASTER") or defaults.get("spark.master")


def _spark_defaults() -> dict[str, str]:
    """What spark-defaults.conf says, where there is one."""
    folder = os.environ.get("SPARK_CONF_DIR") or Path(os.environ.get("SPARK_HOME", "")) / "conf"
    path = Path(folder) / "spark-defaults.conf"
    text = path.read_text() if path.is_file() else ""
    return dict(re.findall(r"^\s*(spark\.[\w.]+)[\s=:]+(.*?)\s*$", text, re.MULTILINE))
