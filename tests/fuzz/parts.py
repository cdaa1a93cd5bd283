"""All that is fuzzed: the face of every package of the core, every simulator that keeps the contract, segment files."""

from __future__ import annotations

import subprocess
import sys

from tests.fuzz.calls import core_packages
from tests.fuzz.segments import SOURCES
from tests.fuzz.simulators import SIMULATORS
from tests.project.modules import ROOT

PARTS = (
    *(("functions", name) for name in core_packages()),
    *(("simulator", name) for name in SIMULATORS),
    *(("segments", kind) for kind in SOURCES),
)


def fuzz(kind: str, part: str, seed: int, rounds: int) -> tuple[bool, str]:
    """Fuzz one part in a process of its own; whether nothing was found, and what the process said."""
    command = [sys.executable, "-X", "utf8", "-m", "tests.fuzz.child", kind, part, str(seed), str(rounds)]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", cwd=ROOT)
    return run.returncode == 0, f"{run.stdout}{run.stderr}\nagain: python {' '.join(command[3:])}"
