"""The Java processes of one cluster, seen from the Python that asked for them; a watcher keeps them.

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

from kafkalearn.live.errors import KafkaNotStarted
from kafkalearn.live.nodes import watcher

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
            "a real Kafka is started on Linux and macOS alone: this system cannot freeze, thaw and watch a process as "
            "kafkalearn.live does. In Windows, install the Linux subsystem (WSL) and work there, or start a broker in "
            "another way and read from it: connect('localhost:9092'). All else in kafkalearn works here"
        )


def end_watcher(process: subprocess.Popen) -> None:
    """Close the pipes of a watcher, which ends what it has started, and wait for that."""
    for pipe in (process.stdin, process.stdout):
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

    @property
    def is_open(self) -> bool:
        """Whether the watcher still answers."""
        return self._watcher.poll() is None

    def close(self) -> None:
        """End all processes and remove the folder; a second time does nothing."""
        self._end()

    def _ask(self, name: str, **words: object) -> dict:
        with self._lock:
            self._number += 1
            request = json.dumps({"number": self._number, "name": name, **words})
            try:
                self._watcher.stdin.write(request.encode() + b"\n")
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
            readable, _, _ = select.select([self._watcher.stdout], [], [], max(0.0, deadline - time.monotonic()))
            read = self._watcher.stdout.read(65536) if readable else b""
            if not read:
                raise OSError("the watcher has ended")
            self._rest += read
