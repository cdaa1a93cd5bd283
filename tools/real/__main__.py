"""Makes the recordings that are named, or all, of the newest line, and prints what has changed in each."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from kafkalearn.live.jars import find_release
from kafkalearn.releases.lines import RELEASES
from tools.kafka_jars import HERE
from tools.recordings import differences, text_of

VECTORS = HERE.parent / "tests" / "vectors"
NAMES = (
    "readers", "rebalances", "reads", "stories", "commits", "calls", "connections", "leaders", "registrations",
    "loads", "timers", "plans", "znodes", "errors", "producers", "delayed", "uncleanable",
)  # fmt: skip
SHOWN = 300  # characters of a difference


def main(names: Sequence[str]) -> int:
    """Make each of them."""
    unknown = [each for each in names if each not in NAMES]
    if unknown:
        sys.exit(f"kafkalearn: there is no recording {unknown[0]!r}; there are {', '.join(NAMES)}")
    release = find_release(RELEASES[-1])
    for name in names or NAMES:
        made = import_module(f"tools.real.{name}")
        path = VECTORS / made.FILE
        old = json.loads(path.read_text(encoding="utf-8"))["cases"] if path.exists() else []
        head = {"about": made.ABOUT, "source": "brokers and clients of that release", "release": release.version}
        cases: list[dict[str, Any]] = []
        try:
            for each in made.recorded(release.version, release.line):
                cases.append(each)  # what was recorded before a failure is kept
        finally:
            new = {**head, "obtained": time.strftime("%Y-%m-%d"), "cases": cases}
            path.write_text(text_of(new, "cases"), encoding="utf-8")
        before, after = ({each["name"]: each for each in some} for some in (old, cases))
        print("\n".join(line[:SHOWN] for line in differences(before, after)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
