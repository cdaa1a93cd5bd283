"""Parts of one kind, fuzzed in a process of their own: ``python -m tests.fuzz.child 1 20 functions kafkalearn.log``.

Prints what was found, a line for each fault, and ends with 1 if there was any.
"""

from __future__ import annotations

import sys

from tests.fuzz.calls import fuzz_functions
from tests.fuzz.faults import Faults, limit_memory
from tests.fuzz.segments import fuzz_segments
from tests.fuzz.simulators import fuzz_simulator

FUZZERS = {"functions": fuzz_functions, "simulator": fuzz_simulator, "segments": fuzz_segments}


def report(faults: Faults) -> list[str]:
    """What was found, and what was done to find it."""
    found = [f"{what}\n    in {call}" for what, call in sorted(faults.found.items())]
    return [*found, f"{len(found)} faults in {faults.tried} attempts, of which {faults.refused} were refused"]


def main(seed: str, rounds: str, kind: str, *parts: str) -> int:
    """Fuzz parts of a kind; the exit code says whether they kept all that they should."""
    limit_memory()
    found = 0
    for part in parts:
        faults = FUZZERS[kind](part, int(seed), int(rounds))
        print(f"{kind} {part}:", *report(faults), sep="\n", flush=True)
        found += len(faults.found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
