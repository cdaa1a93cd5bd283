"""This process and all it has started, Spark's Java and Python's workers: their processor time, their memory.

As Linux counts them; elsewhere there is nothing to be had, and the figures are None.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROCESSES = Path("/proc")
SAMPLE_S = 0.2
MIB = 2**20


def family(pid: str = "self") -> Iterator[str]:
    """A process, its children and theirs."""
    yield pid
    with suppress(OSError):
        for task in (PROCESSES / pid / "task").iterdir():
            for child in (task / "children").read_text().split():
                yield from family(child)


@dataclass(frozen=True, slots=True)
class Memory:
    """What is in use at a moment, in MiB; pages that two processes share count twice."""

    java_mib: int = 0
    python_mib: int = 0


def memory_now() -> Memory:
    """What Java has, and what all others have, which are Python."""
    java = python = 0
    for pid in family():
        with suppress(OSError, ValueError):
            resident = int((PROCESSES / pid / "statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            if (PROCESSES / pid / "comm").read_text().strip() == "java":
                java += resident
            else:
                python += resident
    return Memory(java // MIB, python // MIB)


class Watch:
    """What the family takes while a ``with`` block runs, looked at five times a second.

    A process that ends is counted as it was looked at last: the system passes its time on only to a parent that waits
    for it, and Spark does not wait for all of Python's workers.

    Attributes
    ----------
    processor_seconds : float or None
        In all, once the block has ended.
    peak : Memory
        The most at one moment, of Java and of Python.
    """

    def __init__(self) -> None:
        self.peak = Memory()
        self.processor_seconds: float | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Watch:
        self._before = _ticks()
        self._last = dict(self._before)
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()
        if self._last:
            self.processor_seconds = (sum(self._last.values()) - sum(self._before.values())) / os.sysconf("SC_CLK_TCK")

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLE_S):
            self._look()

    def _look(self) -> None:
        self._last.update(_ticks())
        now = memory_now()
        self.peak = Memory(max(self.peak.java_mib, now.java_mib), max(self.peak.python_mib, now.python_mib))


def _ticks() -> dict[tuple[str, str], int]:
    """The processor time of each member of the family, by its number and its start: numbers are given again."""
    found = {}
    for pid in family():
        with suppress(OSError):
            number, _, rest = (PROCESSES / pid / "stat").read_text().partition(" ")
            fields = rest.rpartition(")")[2].split()
            found[number, fields[19]] = int(fields[11]) + int(fields[12])  # in its own code, and in the system's
    return found
