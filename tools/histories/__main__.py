"""Asks the histories of a line again, prints what came of each file, and writes what has changed."""

from __future__ import annotations

import sys

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import RELEASES
from tools.histories.clusters import COMMITS, LISTED, MOVES
from tools.histories.groups import CASES, CLASSIC, CONSUMER, PATTERNS
from tools.histories.recording import LEDGER, counted, taken_in

RECORDINGS = {each.file.partition("/")[2].removesuffix(".json"): each for each in (
    LISTED, CASES, CLASSIC, CONSUMER, PATTERNS, COMMITS, MOVES,
)}  # fmt: skip


def main(words: list[str]) -> int:
    """Ask what is named, or all, of the line named, or the newest."""
    lines = [word for word in words if word in RELEASES]
    names = [word for word in words if word not in lines] or list(RECORDINGS)
    unknown = [name for name in names if name not in RECORDINGS]
    if unknown:
        sys.exit(f"kafkalearn: there are no histories {unknown[0]!r}; there are {', '.join(RECORDINGS)}")
    for line in lines or RELEASES[-1:]:
        for name in names:
            print(f"{RECORDINGS[name].file}, Kafka {line}", flush=True)
            print("\n".join(f"  {each}" for each in taken_in(RECORDINGS[name], line)), flush=True)
    ledger = LEDGER.read_text(encoding="utf-8")
    LEDGER.write_text(counted(ledger), encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KafkaLearnError as reason:
        sys.exit(f"kafkalearn: {reason}")
