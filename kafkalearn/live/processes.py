"""The Java processes of one cluster: the command that starts each, what a cut of power does to its log, their watcher.

Whatever happens here, they end: the watcher notices that its input has ended, be it by `close`, because the object is
no longer used, or because this process was killed.
"""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Sequence
from pathlib import Path

from kafkalearn.base.checks import whole_number
from kafkalearn.base.class_archive import ClassArchive, archive_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.java_runtime import Java
from kafkalearn.live import watcher
from kafkalearn.live.cluster import Disk
from kafkalearn.live.errors import KafkaNotStarted
from kafkalearn.live.jars import Release, class_path, jar_paths

# The command that runs a node: Java with little memory and little compiling, for a start in under a second.
#
# What takes longest in a start is loading some 6,000 classes; an archive of them (`kafkalearn.base.class_archive`)
# halves it.

OPTIONS = (
    "-Xmx128m",
    "-XX:TieredStopAtLevel=1",
    "-XX:+UseSerialGC",
    "-Xshare:auto",
    "-Xlog:disable",
    "-Xlog:all=error:stderr",
    "-Djava.awt.headless=true",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
)
ERRORS_ONLY, WHOLE_LOGS = "slf4j-simple", "log4j-slf4j-impl"
"""The two jars that may write a node's log; one of them is on the class path."""

LOG4J = """status = error
appender.file.type = File
appender.file.name = file
appender.file.fileName = {path}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d] %p %m (%c)%n
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""
"""What Kafka's own log4j2.yaml says about server.log: one line an event, in the same form."""


def node_class_path(release: Release, has_logs: bool) -> str:
    """The class path of a node for a command line."""
    return class_path(sorted(class_jars(release, has_logs)))


def class_jars(release: Release, has_logs: bool = False) -> list[Path]:
    """The jars of a release, with the one that writes whole logs or the one that writes only errors."""
    unwanted = ERRORS_ONLY if has_logs else WHOLE_LOGS
    return [path for path in jar_paths(release) if not path.name.startswith(unwanted)]


def node_archive(release: Release, java: Java, has_logs: bool) -> ClassArchive:
    """The archive of the classes of a node, for this Java."""
    return archive_of(java, node_class_path(release, has_logs), class_jars(release, has_logs))


def node_command(
    release: Release, java: Java, properties: Path, log4j: Path | None = None, training: Sequence[str] = ()
) -> Sequence[str]:
    """The command line that starts a node.

    Parameters
    ----------
    release : Release
        Whose jars.
    java : Java
        To run them.
    properties : Path
        The node's settings.
    log4j : Path or None
        How to write a whole log; None: only errors, to the screen.
    training : sequence of str
        Options that note which classes are loaded; empty: use the archive that there is.
    """
    has_logs = log4j is not None
    options = [f"-Dlog4j2.configurationFile={log4j.as_uri()}"] if has_logs else []
    options += training or node_archive(release, java, has_logs).options()
    return [
        str(java.executable),
        *OPTIONS,
        *options,
        "-cp",
        node_class_path(release, has_logs),
        "kafka.Kafka",
        str(properties),
    ]


# What a cut of power leaves of a log: imitated, by cutting the files of a broker that is down.
#
# A killed process loses nothing that it has written: the system still has it. A machine without power loses what was
# not flushed to its disk, and Kafka flushes nothing before it acknowledges. So the files are cut where the disk would
# end, between two batches or within one, as a torn file system leaves them.

FILES_OF_A_SEGMENT = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


def cut_log(disk: Disk, topic: str, partition: int, offset: int, torn_bytes: int = 0) -> None:
    """Cut the log of a replica so that it ends at an offset.

    Parameters
    ----------
    disk : Disk
        Of a broker that is down.
    topic, partition : str, int
        Which replica.
    offset : int
        Where its log shall end: the first offset of one of its batches, or its end.
    torn_bytes : int
        How many bytes of the batch behind it stay.

    Raises
    ------
    NotThere
        If there is no such replica.
    KafkaLearnError
        If no batch begins at the offset.
    """
    whole_number("offset", offset, at_least=0)
    whole_number("torn_bytes", torn_bytes, at_least=0)
    segments = disk.segments(topic, partition)
    end = disk.log_end_offset(topic, partition)
    starts = {batch.base_offset for segment in segments for batch in segment.batches} | {end, segments[0].base_offset}
    if offset not in starts:
        raise KafkaLearnError(
            f"the log of {topic}-{partition} cannot end at {offset}: batches begin at "
            f"{', '.join(map(str, sorted(starts)))}"
        )
    folder = disk.folder / f"{topic}-{partition}"
    for segment in segments:
        if segment.base_offset > offset:
            _remove(folder, segment.base_offset)
        else:
            position = next((each.position for each in segment.batches if each.base_offset >= offset), None)
            if position is not None:
                path = folder / f"{segment.base_offset:020}.log"
                with path.open("r+b") as file:
                    file.truncate(min(position + torn_bytes, path.stat().st_size))


def _remove(folder: Path, base_offset: int) -> None:
    for ending in FILES_OF_A_SEGMENT:
        (folder / f"{base_offset:020}{ending}").unlink(missing_ok=True)


# The processes themselves, seen from the Python that asked for them.

ANSWER_TIMEOUT_S = 10.0
END_TIMEOUT_S = 30.0

FREEZE, THAW, KILL, STOP = "SIGSTOP", "SIGCONT", "SIGKILL", "SIGTERM"


def require_signals() -> None:
    """Raise if this system cannot freeze and thaw a process.

    Raises
    ------
    KafkaNotStarted
        On Windows; the message says what can be done there.
    """
    if not hasattr(signal, FREEZE):
        raise KafkaNotStarted(
            "starting a broker is supported on Linux and macOS only (needs SIGSTOP/SIGCONT). In Windows, install the "
            "Linux subsystem (WSL) and work there, or start a broker in another way and read from it: "
            "connect('localhost:9092'). Everything else in kafkalearn works here"
        )


def end_watcher(process: subprocess.Popen) -> None:
    """Close the pipes of a watcher, which ends what it has started, and wait for that."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
    process.wait(END_TIMEOUT_S)


class Processes:
    """The processes of a cluster by name, and the folder that goes with them."""

    def __init__(self) -> None:
        """Make the folder and start the watcher.

        Raises
        ------
        KafkaNotStarted
            On a system without the signals.
        """
        require_signals()
        self.folder = Path(tempfile.mkdtemp(prefix="kafkalearn-kafka-"))
        self._lock = threading.Lock()
        self._number = 0
        self._rest = b""
        self._watcher = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(watcher.__file__)), str(self.folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            bufsize=0,
        )
        assert self._watcher.stdin is not None, "it is asked for"
        assert self._watcher.stdout is not None, "it is asked for"
        self._to_watcher, self._from_watcher = self._watcher.stdin, self._watcher.stdout
        # Popen itself would do the contrary: one that is dropped while its program runs is kept, with its pipes.
        self._end = weakref.finalize(self, end_watcher, self._watcher)

    def start(self, name: str, command: Sequence[str], log: Path) -> int:
        """Start a process; what it prints goes to the end of a file. Returns its process id."""
        return self._ask(name, command=list(command), log=str(log))["pid"]

    def send(self, name: str, which: str) -> None:
        """Send a signal to a process by its name, such as `FREEZE`; nothing if it has ended."""
        self._ask(name, signal=int(signal.Signals[which]))

    def process_id(self, name: str) -> int:
        """The id of a process, which stays its own until its end was seen."""
        return self._ask(name)["pid"]

    def exit_code(self, name: str) -> int | None:
        """How a process has ended, negative for a signal; None: it runs."""
        return self._ask(name)["code"]

    def wait(self, name: str, timeout_s: float) -> int | None:
        """How a process has ended; None: it still runs after this time."""
        deadline = time.monotonic() + timeout_s
        while (code := self.exit_code(name)) is None and time.monotonic() < deadline:
            time.sleep(0.01)
        return code

    def close(self) -> None:
        """End all processes and remove the folder; a second time does nothing."""
        self._end()

    def _ask(self, name: str, **words: object) -> dict:
        with self._lock:
            self._number += 1
            request = json.dumps({"number": self._number, "name": name, **words})
            try:
                self._to_watcher.write(request.encode() + b"\n")
                reply = self._reply(self._number)
            except (OSError, ValueError):
                raise KafkaNotStarted("the cluster was closed; start another: Kafka()") from None
        if "error" in reply:
            raise KafkaNotStarted(f"{name} could not be started: {reply['error']}")
        return reply

    def _reply(self, number: int) -> dict:
        """The reply to a request; one to an earlier request, whose caller was interrupted, is passed over."""
        deadline = time.monotonic() + ANSWER_TIMEOUT_S
        while True:
            while b"\n" in self._rest:
                line, self._rest = self._rest.split(b"\n", 1)
                reply = json.loads(line)
                if reply["number"] == number:
                    return reply
            readable, _, _ = select.select([self._from_watcher], [], [], max(0.0, deadline - time.monotonic()))
            read = self._from_watcher.read(65536) if readable else b""
            if not read:
                raise OSError("the watcher has ended")
            self._rest += read
