"""Spark's Java side, started by ourselves: on any Java, silent, and gone when Python is gone.

PySpark talks to a Java process. Its own launcher asks Java for a module (``jdk.incubator.vector``) that small
runtimes like the bundled one do not have, though Spark runs without it, and prints into the notebook. So we start
the same main class with the same options but that one, let it log into a file, and hand PySpark the port.

The process reads its standard input, which we hold open: when Python ends, however it ends, the pipe closes and
Java leaves too. All that it writes lies in one temporary folder, which it removes on leaving.

Started this way on Linux; written for macOS and Windows too, but not tried there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from pyspark.serializers import UTF8Deserializer, read_int

from kafkalearn.java_runtime import Java
from kafkalearn.spark.session.folders import remove_folder, temporary_folder
from kafkalearn.spark.session.gateway import end_process
from kafkalearn.spark.session.start_errors import SparkNotStarted, explain

START_TIMEOUT_S = 120
LOG_NAME = "java.log"
OPENED_PACKAGES = [
    "java.lang",
    "java.lang.invoke",
    "java.lang.reflect",
    "java.io",
    "java.net",
    "java.nio",
    "java.util",
    "java.util.concurrent",
    "java.util.concurrent.atomic",
    "jdk.internal.ref",
    "sun.nio.ch",
    "sun.nio.cs",
    "sun.security.action",
    "sun.util.calendar",
]
# Spark 4.3's list, org.apache.spark.launcher.JavaModuleOptions, without --add-modules=jdk.incubator.vector.
SPARK_JAVA_OPTIONS = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in OPENED_PACKAGES),
    "--add-opens=java.security.jgss/sun.security.krb5=ALL-UNNAMED",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Dio.netty.allocator.type=pooled",
    "-Dio.netty.handler.ssl.defaultEndpointVerificationAlgorithm=NONE",
    "--sun-misc-unsafe-memory-access=allow",
    "--enable-native-access=ALL-UNNAMED",
)


@dataclass(frozen=True, slots=True)
class Launch:
    """All that decides how the Java side starts; two equal launches can share one process."""

    java: Java
    spark_home: Path
    java_options: tuple[str, ...]
    settings: tuple[tuple[str, str], ...]  # spark.* names and values
    class_path: str = ""  # put before Spark's own jars


@dataclass(frozen=True, slots=True)
class Jvm:
    """A running Java side: where PySpark finds it, and what we need to end it."""

    launch: Launch
    process: subprocess.Popen
    folder: Path
    port: int
    secret: str

    @property
    def log_path(self) -> Path:
        """Where all that Java prints goes."""
        return self.folder / LOG_NAME

    @property
    def is_alive(self) -> bool:
        """Whether the Java process still runs."""
        return self.process.poll() is None


def start_jvm(launch: Launch, timeout_s: float = START_TIMEOUT_S) -> Jvm:
    """A running Java side for PySpark to connect to.

    Raises
    ------
    SparkNotStarted
        If Java ends at once or says nothing for `timeout_s`; the message has the end of its log and what to do.
    """
    folder = temporary_folder("spark")
    address = folder / "address"
    with (folder / LOG_NAME).open("wb") as log:
        process = subprocess.Popen(
            _command(launch, folder),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=_environment(launch, address),
            **_own_process_group(),
        )
    try:
        _wait_for(address, process, timeout_s)
        with address.open("rb") as connection:
            port, secret = read_int(connection), UTF8Deserializer().loads(connection)
        address.unlink()  # whoever reads the secret may run code here
    except BaseException as error:
        log_lines = (folder / LOG_NAME).read_text(errors="replace").splitlines()
        _end(process, folder)
        if isinstance(error, SparkNotStarted):
            raise SparkNotStarted(explain(f"{error} ({launch.java})", log_lines)) from None
        raise
    return Jvm(launch, process, folder, port, secret)


def locale_variables() -> dict[str, str]:
    """The variables that let Java find files whose names have other letters than A to Z, where the locale is C.

    Python takes names for UTF-8 then, Java for ASCII.
    """
    given = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_CTYPE", "LANG"))), "C")
    return {"LC_ALL": "C.UTF-8"} if given in ("C", "POSIX") else {}


def stop_jvm(jvm: Jvm) -> None:
    """End the Java side and remove its folder."""
    _end(jvm.process, jvm.folder)


def _command(launch: Launch, folder: Path) -> list[str]:
    jars = os.pathsep.join(filter(None, [launch.class_path, str(launch.spark_home / "jars" / "*")]))
    settings = [part for name, value in launch.settings for part in ("--conf", f"{name}={value}")]
    return [
        str(launch.java.executable),
        *SPARK_JAVA_OPTIONS,
        *launch.java_options,
        f"-Djava.io.tmpdir={folder}",
        "-cp",
        jars,
        "org.apache.spark.deploy.SparkSubmit",
        *settings,
        "pyspark-shell",
    ]


def _environment(launch: Launch, address: Path) -> dict[str, str]:
    return {
        **os.environ,
        **locale_variables(),
        "SPARK_HOME": str(launch.spark_home),
        "SPARK_LOCAL_IP": "127.0.0.1",  # no other machine takes part, and a laptop's host name may lead nowhere
        "SPARK_CONNECT_MODE": "0",
        "_PYSPARK_DRIVER_CONN_INFO_PATH": str(address),
    }


def _own_process_group() -> dict:
    """Popen's arguments that keep an interrupt of the notebook from reaching Java: it is Spark that cancels jobs."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def _wait_for(address: Path, process: subprocess.Popen, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not address.exists():
        if process.poll() is not None:
            raise SparkNotStarted(f"Java ended at its start with exit code {process.returncode}")
        if time.monotonic() > deadline:
            raise SparkNotStarted(f"Java has not answered for {timeout_s:.0f} s")
        time.sleep(0.02)


def _end(process: subprocess.Popen, folder: Path) -> None:
    end_process(process)
    remove_folder(folder)
