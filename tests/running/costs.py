"""A pytest plugin: how many seconds each file's tests took, set-up and all, for the table in docs/testing.md.

    pytest --costs data/generated/costs/tests.json

Beside several workers the seconds are a worker's: two of them take half as many of the clock.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from pathlib import Path

import pytest

OPTION = "--costs"


class Costs:
    """The sums by file, written when the run ends; of a run with workers only the one that leads them writes."""

    def __init__(self, path: Path) -> None:
        """Nothing has run yet."""
        self.path, self.began = path, time.monotonic()
        self.seconds: dict[str, dict[str, float]] = defaultdict(lambda: {"tests": 0, "setup": 0, "all": 0})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add a phase of a test to its file."""
        file = self.seconds[report.nodeid.partition("::")[0]]
        file["all"] += report.duration
        file["setup"] += report.duration if report.when != "call" else 0
        file["tests"] += report.when == "call"

    def pytest_sessionfinish(self) -> None:
        """Write what is known, of a run that was stopped too."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        files = {name: {kind: round(each, 1) for kind, each in sums.items()} for name, sums in self.seconds.items()}
        whole = {"clock": round(time.monotonic() - self.began), "files": files}
        self.path.write_text(json.dumps(whole, indent=1, sort_keys=True) + "\n", encoding="utf-8")
