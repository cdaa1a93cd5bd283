"""The ledger's live column says what the live tests hold."""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import import_module
from pathlib import Path

from kafkalearn.live.jars import releases
from kafkalearn.releases.ledger import FILE, ledger, live_checks, live_text, rows
from kafkalearn.releases.lines import DEFAULT_RELEASE
from tests.every import every_case
from tools import checked_live

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
FEWEST = 45  # rules that live tests hold
NEWEST = releases()[DEFAULT_RELEASE].version


@cache
def held() -> dict[str, set[str]]:
    """For each rule the live tests that say that they hold it."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests" / "live").rglob("test_*.py")):
        file = path.relative_to(ROOT).as_posix()
        module = import_module(file.removesuffix(".py").replace("/", "."))
        for name, test in vars(module).items():
            for mark in getattr(test, "pytestmark", ()) if name.startswith("test_") else ():
                for rule in mark.args if mark.name == "holds" else ():
                    found.setdefault(rule, set()).add(f"{file}::{name}")
    return found


def test_every_rule_that_a_live_test_holds_is_in_the_ledger():
    assert set(held()) <= {rule.name for rule in ledger()}
    assert len(held()) >= FEWEST


def test_the_column_of_the_newest_release_names_exactly_the_tests_that_hold_the_rule():
    written = {
        rule: set(check.tests) for rule in RECORDED["rules"] for check in live_checks(rule) if check.release == NEWEST
    }
    assert written == held(), "run: python3 run.py live check"


@every_case("rule", RECORDED["rules"])
def test_an_entry_names_a_release_that_can_be_started_and_a_day(rule):
    for check in live_checks(rule):
        assert check.release in {release.version for release in releases().values()}
        assert re.fullmatch(r"20\d\d-\d\d-\d\d", check.date)


def test_a_rule_shows_the_releases_it_was_held_to_the_newest_first():
    name = "group id to offsets partition"
    (row,) = [row for row in rows(ledger("coordinator")) if row["name"] == name]
    assert row["checked_live"] == live_text(name)
    assert row["checked_live"].startswith(f"{NEWEST} on 20")
    assert live_text("timing wheels") == ""


def test_the_file_is_written_as_it_stands_byte_for_byte():
    text = FILE.read_text(encoding="utf-8")
    assert checked_live.text_of(json.loads(text)) == text
    assert RECORDED["about"] == checked_live.ABOUT
