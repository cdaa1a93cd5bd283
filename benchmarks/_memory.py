"""The most memory that this process and those it has started had at one moment each, as Linux counts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROCESSES = Path("/proc")
RESET_PEAK = "5"  # written to clear_refs: the peak begins anew at what is in use now


def reset_peak() -> None:
    """Let the peak begin anew, where the system can."""
    for pid in _family("self"):
        with suppress(OSError):
            (PROCESSES / pid / "clear_refs").write_text(RESET_PEAK)


def peak_mib() -> int | None:
    """The sum of the peaks of this process and all it has started, in MiB; None where the system does not say."""
    peaks_kib = [peak for pid in _family("self") if (peak := _peak_kib(pid)) is not None]
    return sum(peaks_kib) // 1024 if peaks_kib else None


def _family(pid: str) -> Iterator[str]:
    """A process, its children and theirs: Spark's Java and Python's workers."""
    yield pid
    with suppress(OSError):
        for task in (PROCESSES / pid / "task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(child)


def _peak_kib(pid: str) -> int | None:
    with suppress(OSError):
        for line in (PROCESSES / pid / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None
