"""The most memory that this process and those it has started had at one moment each, as Linux counts it."""

from __future__ import annotations

from contextlib import suppress

from _processes import PROCESSES, family

RESET_PEAK = "5"  # written to clear_refs: the peak begins anew at what is in use now


def reset_peak() -> None:
    """Let the peak begin anew, where the system can."""
    for pid in family():
        with suppress(OSError):
            (PROCESSES / pid / "clear_refs").write_text(RESET_PEAK)


def peak_mib() -> int | None:
    """The sum of the peaks of this process and all it has started, in MiB; None where the system does not say."""
    peaks_kib = [peak for pid in family() if (peak := _peak_kib(pid)) is not None]
    return sum(peaks_kib) // 1024 if peaks_kib else None


def _peak_kib(pid: str) -> int | None:
    with suppress(OSError):
        for line in (PROCESSES / pid / "status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1])
    return None
