"""Clients of Java in a process of their own, told what to do line by line; what happens to them, in order."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple

from kafkalearn.live.jars import start_source
from kafkalearn.live.processes import OPTIONS
from tools.kafka_jars import jars_of

PROGRAM = Path(__file__).resolve().parent / "ToldClients.java"
PATIENCE_S = 120.0
DONE, THREW = "done", "threw"


class Said(NamedTuple):
    """One line of a client: what happened to whom, and when it was read."""

    name: str
    what: str
    words: tuple[str, ...]
    at_s: float


class Threw(Exception):  # noqa: N818  (named for what it is)
    """A command ended with an exception of the client: its class, its message, and the classes of it and its causes."""

    def __init__(self, error: str, message: str, classes: str) -> None:
        """Keep all three; the classes as in ``"KafkaException < ProducerFencedException"``."""
        self.error, self.message, self.classes = error, message, classes
        super().__init__(f"{error}: {message}")


class Clients:
    """A process with clients; to be used in a ``with`` block.

    Parameters
    ----------
    bootstrap : str
        The brokers.
    version : str
        Of the clients, such as ``"4.4.0"``.
    """

    def __init__(self, bootstrap: str, version: str) -> None:
        """Start the process, and wait until it listens."""
        self._errors = tempfile.TemporaryFile("w+")  # noqa: SIM115  (as long as the process)
        options = (*OPTIONS, "-Dfile.encoding=UTF-8")
        self._process = start_source(PROGRAM, jars_of(version), bootstrap, options=options, errors=self._errors)
        self.said: list[Said] = []
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        self.wait(lambda: bool(self.said), "the clients do not start")

    def __enter__(self) -> Clients:
        """The clients themselves."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()
        self._errors.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            name, what, *words = line.rstrip("\n").split("\t")
            with self._changed:
                self.said.append(Said(name, what, tuple(words), time.monotonic()))
                self._changed.notify_all()

    def wait(self, is_so: Callable[[], bool], otherwise: str) -> None:
        """Wait until something is so; it is looked at again whenever a client has said something, or in a while."""
        end_s = time.monotonic() + PATIENCE_S
        with self._changed:
            while not is_so():
                if time.monotonic() > end_s or self._process.poll() is not None:
                    self._errors.seek(0)
                    raise TimeoutError(f"{otherwise}: {self.said[-5:]} {self._errors.read()[-2000:]}")
                self._changed.wait(0.2)

    def tell(self, name: str, command: str, *words: object) -> Callable[[], tuple[str, ...]]:
        """Tell a client something; the function that is returned waits for the result.

        Raises
        ------
        Threw
            By that function, if the command ended with an exception.
        """
        begin = len(self.said)
        assert self._process.stdin is not None
        self._process.stdin.write("\t".join([name, command, *(map(str, words) if words else [""])]) + "\n")
        self._process.stdin.flush()

        def ended() -> list[Said]:
            return [
                each
                for each in self.said[begin:]
                if each.name == name and each.what in (DONE, THREW) and each.words[0] == command
            ]

        def result() -> tuple[str, ...]:
            self.wait(lambda: bool(ended()), f"{name} {command} does not end")
            (end, *_) = ended()
            if end.what == THREW:
                raise Threw(*end.words[1:4])
            return end.words[1:]

        return result

    def ask(self, name: str, command: str, *words: object) -> tuple[str, ...]:
        """Tell a client something, and wait for its result."""
        return self.tell(name, command, *words)()

    def ask_all(self, names: Iterable[str], command: str, *words: object) -> dict[str, tuple[str, ...]]:
        """Tell several clients the same at once, and wait for all results."""
        waiting = {name: self.tell(name, command, *words) for name in names}
        return {name: result() for name, result in waiting.items()}

    def quiet_for(self, seconds: float, names: Iterable[str]) -> bool:
        """Whether these clients have said nothing for so long."""
        among = set(names)
        last_s = max((each.at_s for each in self.said if each.name in among), default=0.0)
        return time.monotonic() - last_s > seconds


def config_text(config: Mapping[str, object]) -> str:
    """Settings in the form of the commands ``consumer`` and ``producer``.

    >>> config_text({"group.id": "g", "enable.auto.commit": False})
    'group.id=g;enable.auto.commit=false'
    """
    return ";".join(f"{name}={str(each).lower() if isinstance(each, bool) else each}" for name, each in config.items())


def places_of(text: str) -> list[str]:
    """The partitions of a line, each as ``topic-number``.

    >>> places_of("t-0,t-1"), places_of("")
    (['t-0', 't-1'], [])
    """
    return text.split(",") if text else []
