"""Runs the live tests against a release and writes what they held: kafkalearn/releases/checked_live.json.

    python3 run.py live check               the newest release
    python3 run.py live check 4.0 4.1       these, one after the other
    python3 run.py live check tests/live/test_groups.py     the tests of one file; one that is gone is forgotten

For each rule that a live test says it holds (``@holds``) the file gets the release, the day, and the tests. A run in
which a test fails or is skipped writes nothing. What it says of other releases stays.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from kafkalearn.live.jars import find_release
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, parse_release
from tests.live.checked import PROPERTY, RELEASE_VARIABLE

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "kafkalearn" / "releases" / "checked_live.json"
LEDGER = ROOT / "kafkalearn" / "releases" / "ledger.toml"
SPOKEN_FOR = re.compile(
    r'(name = "(?P<name>[^"]*)"\nfunction = "[^"]*"\nversions = "[\d.]+ to )(?P<last>\d+(?:\.\d+)+)(?![.\d])'
)
WORKERS = ["-n", "2", "--dist", "loadfile"]
ABOUT = (
    "For each rule of the ledger the releases of a real broker that it was held to: the day, and the tests that did "
    "it; for each mechanism of conform what random questions it was asked. Written by python3 run.py live check and "
    "python3 run.py conform."
)


class Held:
    """A pytest plugin that notes which rules each live test has held."""

    def __init__(self) -> None:
        """Nothing is noted yet."""
        self.tests: dict[str, set[str]] = defaultdict(set)
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that has passed, and one that has not; one that asks for what a release has not is neither."""
        if report.failed or (report.skipped and report.when == "setup"):  # there was no Kafka to ask
            self.failed.append(report.nodeid)
        if report.when == "call" and report.passed:
            for name, rule in report.user_properties:
                if name == PROPERTY:
                    self.tests[rule].add(report.nodeid.partition("[")[0])


def main(words: list[str]) -> int:
    """Ask the releases named, or the newest; the exit code is 1 if one of them answers otherwise than we say."""
    files = [word for word in words if word.endswith(".py")]
    lines = [find_release(word).line for word in words if word not in files] or [DEFAULT_RELEASE]
    return max(check(line, files) for line in lines)


def check(line: str, files: Sequence[str] = ()) -> int:
    """Run the live tests, or those of these files, against one release line and write what they held."""
    version, held = find_release(line).version, Held()
    places = [str(ROOT / each) for each in files if (ROOT / each).exists()] or [str(ROOT / "tests" / "live")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(RELEASE_VARIABLE, line)
        pytest.main(["-q", "-m", "holds", *WORKERS, "-p", "no:cacheprovider", *places], [held])
    if held.failed or not held.tests:
        print(f"Kafka {version}: nothing is written; not all tests have passed:", *held.failed, sep="\n  ")
        return 1
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    if files:
        recorded = with_files(recorded, version, today, held.tests, files)
    else:
        recorded = with_release(recorded, version, today, held.tests)
    RECORDED.write_text(text_of(recorded), encoding="utf-8")
    LEDGER.write_text(spoken_for(LEDGER.read_text(encoding="utf-8"), held.tests, line), encoding="utf-8")
    print(f"Kafka {version}: {len(held.tests)} rules held")
    return 0


def spoken_for(ledger: str, rules: Collection[str], line: str) -> str:
    """The text of the ledger, in which rules that spoke as far as the line before this one speak for it, too.

    >>> rule = 'name = "lag"\\nfunction = "a.lag"\\nversions = "0.9 to 4.2; standalone since 4.0"'
    >>> spoken_for(rule, {"lag"}, "4.3").splitlines()[-1], spoken_for(rule, {"another"}, "4.3") == rule
    ('versions = "0.9 to 4.3; standalone since 4.0"', True)
    """
    before = RELEASES[RELEASES.index(line) - 1]

    def spoken(rule: re.Match[str]) -> str:
        return f"{rule[1]}{line}" if rule["name"] in rules and rule["last"] == before else rule[0]

    return SPOKEN_FOR.sub(spoken, ledger)


def with_release(recorded: Mapping[str, Any], version: str, date: str, tests: Mapping[str, set[str]]) -> dict[str, Any]:
    """The file with what was held on one release; what it said of that release line before is gone.

    >>> old = {"rules": {"lag": {"4.0.2": {"date": "2026-11-01", "tests": ["a"]}, "4.3.0": {"date": "", "tests": []}}}}
    >>> with_release(old, "4.3.1", "2026-11-22", {"lag": {"b"}})["rules"]["lag"]["4.3.1"]
    {'date': '2026-11-22', 'tests': ['b']}
    """
    line = version.rpartition(".")[0]
    rules: dict[str, dict[str, Any]] = {
        rule: {each: facts for each, facts in checks.items() if each.rpartition(".")[0] != line}
        for rule, checks in recorded["rules"].items()
    }
    for rule, names in tests.items():
        rules.setdefault(rule, {})[version] = {"date": date, "tests": sorted(names)}
    return {**recorded, "about": ABOUT, "rules": _in_order(rules)}


def with_files(
    recorded: Mapping[str, Any], version: str, date: str, tests: Mapping[str, set[str]], files: Sequence[str]
) -> dict[str, Any]:
    """The file with what some files' tests held on one release; what other files held on it stays as it was.

    >>> old = {"rules": {"lag": {"4.3.1": {"date": "2026-11-01", "tests": ["a.py::test_a", "b.py::test_b"]}}}}
    >>> with_files(old, "4.3.1", "2026-11-22", {"lag": {"a.py::test_c"}}, ["a.py"])["rules"]["lag"]["4.3.1"]
    {'date': '2026-11-22', 'tests': ['a.py::test_c', 'b.py::test_b']}
    """
    rules: dict[str, dict[str, Any]] = {rule: dict(checks) for rule, checks in recorded["rules"].items()}
    for rule in {*rules, *tests}:
        known = rules.setdefault(rule, {}).pop(version, {"date": date, "tests": []})
        others = {each for each in known["tests"] if each.partition("::")[0] not in files}
        names = sorted(others | tests.get(rule, set()))
        if names:
            rules[rule][version] = {"date": date if rule in tests else known["date"], "tests": names}
    return {**recorded, "about": ABOUT, "rules": _in_order(rules)}


def _in_order(rules: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Rules by name, each with its releases from the first on; a rule without any is left out."""
    return {
        rule: {each: rules[rule][each] for each in sorted(rules[rule], key=parse_release)}
        for rule in sorted(rules)
        if rules[rule]
    }


def with_conform(recorded: Mapping[str, Any], mechanism: str, version: str, entry: Mapping[str, Any]) -> dict[str, Any]:
    """The file with what conform has asked of one release; what it said of that release line before is gone.

    >>> sorted(with_conform({"rules": {}}, "list offsets", "4.3.1", {"seed": 1})["conform"]["list offsets"])
    ['4.3.1']
    """
    line = version.rpartition(".")[0]
    known = {name: dict(releases) for name, releases in recorded.get("conform", {}).items()}
    own = {each: facts for each, facts in known.get(mechanism, {}).items() if each.rpartition(".")[0] != line}
    own[version] = entry
    known[mechanism] = {each: own[each] for each in sorted(own, key=parse_release)}
    return {**recorded, "about": ABOUT, "conform": {name: known[name] for name in sorted(known)}}


def text_of(recorded: Mapping[str, Any]) -> str:
    """The file, with a line for each release of a rule, or of a mechanism of conform."""
    parts = [f' "about": {json.dumps(recorded["about"])}']
    for part in ("rules", "conform"):
        entries = []
        for name, releases in recorded.get(part, {}).items():
            lines = ",\n".join(f"   {json.dumps(each)}: {json.dumps(facts)}" for each, facts in releases.items())
            entries.append(f"  {json.dumps(name)}: {{\n{lines}\n  }}")
        if entries:
            parts.append(f' "{part}": {{\n' + ",\n".join(entries) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
