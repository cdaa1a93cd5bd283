"""Every difference that conform has found on a broker, asked of the simulator again; no broker is needed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from conformance.mechanisms import MECHANISMS
from conformance.vectors import NAMED, OPEN, PUT_RIGHT, Vector, read_vector, vectors_in, write_vector
from kafkalearn.live.jars import releases
from kafkalearn.releases.ledger import ledger

FOLDER = Path(__file__).resolve().parents[2] / "vectors" / "conform"
FILES = sorted(FOLDER.glob("*.json"))
RULES = {rule.name: rule for rule in ledger()}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_simulator_answers_what_the_broker_did_or_the_ledger_names_the_difference(path):
    vector = read_vector(path)
    assert path.name == vector.file_name
    if vector.left_out:
        assert vector.status == NAMED  # if it is put right, nothing has to be named any more
        assert RULES[vector.left_out].left_out
    else:
        assert vector.status == PUT_RIGHT


@pytest.mark.parametrize("mechanism", MECHANISMS.values(), ids=lambda mechanism: mechanism.name)
def test_every_mechanism_names_rules_of_the_ledger_and_draws_cases_for_each_release(mechanism):
    assert mechanism.rules
    assert set(mechanism.rules) <= set(RULES)
    assert mechanism.tries >= 1
    for line in releases():
        mechanism.cases(line).validate()


def test_what_becomes_of_a_difference(tmp_path):
    asked = [["latest", "read_uncommitted"]]
    case = {"has_segments": False, "batches": [[5]], "asked": asked}
    found = Vector("list offsets", "4.3.1", "2026-11-22", 1, case, [["NONE", 1, -1]], [["NONE", 0, -1]])
    assert found.status == PUT_RIGHT
    differs = replace(found, broker=[["NONE", 9, -1]])
    assert differs.status == OPEN
    assert replace(differs, left_out="the offset for a time").status == NAMED
    path = write_vector(tmp_path, differs)
    assert read_vector(path) == differs
    assert write_vector(tmp_path, replace(differs, seed=2)) == path  # the same case: the first stays
    assert list(vectors_in(tmp_path)) == [differs]
