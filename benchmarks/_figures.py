"""The figures of a benchmark, each written to a file as soon as it is there: a run that is killed has lost none.

The file, ``benchmarks/NAME.jsonl`` in the folder of generated data, is a line of JSON for everything that happened;
the first says what is measured, and on what. A run with ``--go-on`` takes over the figures of the one before, if that
measured the same, and goes on behind them. The way in which that run was killed is not tried again: it cannot.
"""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from kafkalearn.base.files import data_folder

KILLED = "the run was killed while it worked"


class Figures:
    """What each way has taken so far, and why others cannot."""

    def __init__(self, path: Path, measured: dict[str, Any], go_on: bool = False) -> None:
        """Begin the file anew, or, if `go_on`, with the figures of a run that measured the same."""
        self.path = path
        self.seconds: dict[str, list[float]] = {}
        self.processor_seconds: dict[str, list[float]] = {}
        self.peak_mib: dict[str, int] = {}
        self.reasons: dict[str, str] = {}
        # As it is read back: what is a tuple here is a list there.
        measured = json.loads(json.dumps(measured))
        lines = lines_of(path) if go_on else []
        if lines[:1] == [measured]:
            self._take_over(lines[1:])
            note(f"going on from {path}: {sum(map(len, self.seconds.values()))} figures are there")
            return
        if go_on:
            note(f"nothing to go on from: no run of just this is in {path}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(measured) + "\n", encoding="utf-8")

    def begin(self, way: str) -> None:
        """A way begins a turn."""
        self._write(way=way)

    def took(self, way: str, seconds: float, processor_seconds: float | None, peak_mib: int | None) -> None:
        """A turn has ended; what the system does not say is None."""
        self._keep(way, seconds, processor_seconds, peak_mib)
        self._write(way=way, seconds=seconds, processor_seconds=processor_seconds, peak_mib=peak_mib)

    def stopped(self, way: str) -> None:
        """The user has stopped the run: the way is tried again when it goes on."""
        self._write(way=way, stopped=True)

    def cannot(self, way: str, reason: str) -> None:
        """A way has failed, and is not tried again."""
        self.reasons[way] = reason
        self._write(way=way, cannot=reason)

    def _keep(self, way: str, seconds: float, processor_seconds: float | None, peak_mib: int | None) -> None:
        self.seconds.setdefault(way, []).append(seconds)
        if processor_seconds is not None:
            self.processor_seconds.setdefault(way, []).append(processor_seconds)
        if peak_mib is not None:
            self.peak_mib[way] = max(peak_mib, self.peak_mib.get(way, 0))

    def _take_over(self, lines: list[dict[str, Any]]) -> None:
        running = None
        for line in lines:
            way, running = line["way"], line["way"]
            if "seconds" in line:
                self._keep(way, line["seconds"], line.get("processor_seconds"), line["peak_mib"])
                running = None
            elif "cannot" in line:
                self.reasons[way] = line["cannot"]
                running = None
            elif "stopped" in line:
                running = None
        if running is not None:
            self.cannot(running, KILLED)

    def _write(self, **line: object) -> None:
        append_line(self.path, line)


def figures_path(name: str) -> Path:
    """Where the figures of a benchmark are."""
    return data_folder() / "benchmarks" / f"{name}.jsonl"


def append_line(path: Path, line: dict[str, Any]) -> None:
    """Write a line behind the others, also behind one that was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab+") as file:
        file.seek(max(file.seek(0, 2) - 1, 0))
        is_cut_off = file.read(1) not in (b"", b"\n")
        file.write(b"\n" * is_cut_off + json.dumps(line).encode() + b"\n")


def lines_of(path: Path) -> list[dict[str, Any]]:
    """The lines of a file, none where there is no file; those that were cut off are left out."""
    lines = []
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        with suppress(json.JSONDecodeError):
            lines.append(json.loads(text))
    return lines


def note(text: str) -> None:
    """Show how far a benchmark is; beside its table, not in it."""
    print(text, file=sys.stderr, flush=True)
