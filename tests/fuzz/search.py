"""The long form of the fuzz test: other seeds until the time is over. ``make fuzz ARGS=10`` for ten minutes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence

from tests.fuzz.calls import public_parts
from tests.fuzz.segments import SOURCES
from tests.fuzz.simulators import SIMULATORS
from tests.project.modules import ROOT

PARTS = {"functions": public_parts(), "simulator": list(SIMULATORS), "segments": list(SOURCES)}
"""What is fuzzed: what is public in the core's packages and some modules, every simulator of the contract, segments."""


def fuzz(kind: str, parts: Sequence[str], seed: int, rounds: int) -> tuple[bool, str]:
    """Fuzz parts of a kind in a process of their own; whether nothing was found, and what the process said."""
    command = [sys.executable, "-X", "utf8", "-m", "tests.fuzz.child", str(seed), str(rounds), kind, *parts]
    run = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", cwd=ROOT)
    return run.returncode == 0, f"{run.stdout}{run.stderr}\nagain: python {' '.join(command[3:])}"


MINUTES = 5
ROUNDS = 60


def main(words: list[str]) -> int:
    """Fuzz all parts in turn, again and again with another seed; the exit code says whether anything was found."""
    try:
        minutes = float(words[0]) if words else MINUTES
    except ValueError:
        sys.exit(f"kafkalearn: for how many minutes? got {words[0]!r}; for ten: make fuzz ARGS=10")
    each_part = [(kind, part) for kind, parts in PARTS.items() for part in parts]
    until, seed, found = time.monotonic() + 60 * minutes, int(time.time()), 0
    while time.monotonic() < until:
        for kind, part in each_part:
            if time.monotonic() >= until:
                break
            is_clean, said = fuzz(kind, [part], seed, ROUNDS)
            print(f"{'ok ' if is_clean else 'BAD'} {kind} {part}, seed {seed}", flush=True)
            if not is_clean:
                found += 1
                print(said, flush=True)
        seed += 1
    print("nothing was found" if not found else f"{found} times something was found; each has its line to run again")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
