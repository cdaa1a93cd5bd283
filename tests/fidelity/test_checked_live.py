"""The ledger's live column says no more than what the live tests hold."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from pathlib import Path

import pytest

from kafkalearn.fidelity import ledger, rows
from kafkalearn.fidelity.live import FILE, live_checks, live_text
from kafkalearn.live.jars.pinned import releases
from kafkalearn.versions.releases import DEFAULT_RELEASE
from tools import checked_live

ROOT = Path(__file__).resolve().parents[2]
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
NEWEST = releases()[DEFAULT_RELEASE].version


@cache
def held() -> dict[str, set[str]]:
    """For each rule the live tests that say that they hold it."""
    found: dict[str, set[str]] = {}
    for path in sorted((ROOT / "tests" / "live").glob("test_*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {
            node.targets[0].id: ast.literal_eval(node.value)
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Tuple) and is_text(node.value)
        }
        for test in [node for node in tree.body if isinstance(node, ast.FunctionDef)]:
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "holds":
                    for rule in rules_of(mark, names):
                        found.setdefault(rule, set()).add(f"{path.relative_to(ROOT).as_posix()}::{test.name}")
    return found


def is_text(node: ast.Tuple) -> bool:
    return all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in node.elts)


def rules_of(mark: ast.Call, names: dict[str, tuple]) -> list[str]:
    rules = []
    for each in mark.args:
        rules += list(names[each.value.id]) if isinstance(each, ast.Starred) else [each.value]
    return rules


def test_every_rule_that_a_live_test_holds_is_in_the_ledger():
    assert set(held()) <= {rule.name for rule in ledger()}
    assert len(held()) >= 30


def test_the_column_of_the_newest_release_names_only_tests_that_hold_the_rule():
    written = {
        rule: set(check.tests) for rule in RECORDED["rules"] for check in live_checks(rule) if check.release == NEWEST
    }
    assert len(written) >= 30
    for rule, tests in written.items():
        assert tests <= held()[rule], "run: python3 run.py live check"


@pytest.mark.parametrize("rule", RECORDED["rules"])
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
