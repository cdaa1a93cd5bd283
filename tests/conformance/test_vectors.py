"""What conform found on brokers, drew for them or was told by hand, asked of the simulator again; without a broker."""

import json
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import pytest

from conformance.mechanisms import MECHANISMS
from conformance.mechanisms import group_timers as timers
from conformance.search import compare, plain
from conformance.vectors import NAMED, OPEN, PUT_RIGHT, Vector, read_vector, vectors_in, write_vector
from kafkalearn.live.jars import releases
from kafkalearn.releases.ledger import ledger
from tests.recorded import recorded

FOLDER = Path(__file__).resolve().parents[1] / "vectors" / "conform"
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


FILE = Path(__file__).resolve().parents[1] / "vectors" / "conform" / "timers" / "timers-of-groups.json"
RECORDED = json.loads(FILE.read_text(encoding="utf-8"))
RELEASE = RECORDED["release"]
WRONG_MS = (-300, -200, -100, 100, 200, 300)
CLASSIC = {
    "session_ms": {"session after the join", "join phase", "unused id", "static member", "session after a heartbeat"},
    "rebalance_ms": {"no SyncGroup", "join phase"},
}
CONSUMER = {"one member silent", "both members silent"}
"""The groups of the recording on which a timer shows, by their names there."""


def differing(cases):
    """The groups to which the simulator gives another answer than the broker did."""
    found = set()
    for each in cases:
        ours = plain(timers.say(RELEASE, each["case"], each["seen"]))["groups"]
        found |= {
            name for name, said, seen in zip(each["names"], ours, each["seen"]["groups"], strict=True) if said != seen
        }
    return found


@pytest.mark.parametrize("each", RECORDED["cases"])
def test_the_simulators_timers_run_out_when_the_brokers_did(each):
    assert compare(timers.TIMERS, RELEASE, each["case"], each["seen"]) is None


@pytest.mark.parametrize("wrong_ms", WRONG_MS)
@pytest.mark.parametrize("name", CLASSIC)
def test_a_wrong_timeout_of_classic_members_is_found(name, wrong_ms):
    cases = deepcopy(RECORDED["cases"])
    for group in (group for each in cases for group in each["case"]["groups"] if group["kind"] == timers.CLASSIC):
        group[name] += wrong_ms
    assert differing(cases) >= CLASSIC[name]


@pytest.mark.parametrize("wrong_ms", WRONG_MS)
def test_a_wrong_initial_delay_is_found(monkeypatch, wrong_ms):
    monkeypatch.setattr(timers, "DELAY_MS", timers.DELAY_MS + wrong_ms)
    assert differing(RECORDED["cases"]) >= CLASSIC["session_ms"]  # each of these groups begins with the delay


@pytest.mark.parametrize("wrong_ms", WRONG_MS)
def test_a_wrong_session_of_kip_848_members_is_found(monkeypatch, wrong_ms):
    monkeypatch.setattr(timers, "SESSION_MS", timers.SESSION_MS + wrong_ms)
    assert differing(RECORDED["cases"]) == CONSUMER


@pytest.mark.parametrize("wrong_ms", WRONG_MS)
def test_a_wrong_rebalance_timeout_of_kip_848_members_is_found(wrong_ms):
    cases = deepcopy(RECORDED["cases"])
    for sent in (sent for each in cases for group in each["seen"]["groups"] for sent in group["sent"]):
        if "rebalance_ms" in sent["step"]:
            sent["step"]["rebalance_ms"] += wrong_ms
    assert differing(cases) == CONSUMER


# Cases that were drawn at random for real brokers, and some that were told them by hand.
DRAWN = [{**each, "seen": each["broker"]} for each in recorded("group-cases")["cases"]]
TOLD = recorded("told-cases")["cases"]


def difference(each):
    line = each["release"].rpartition(".")[0]
    return compare(MECHANISMS[each["mechanism"]], line, each["case"], each["seen"])


def test_every_mechanism_of_groups_has_cases_of_the_first_release_and_of_the_last():
    assert {(each["mechanism"], each["release"]) for each in DRAWN} >= {
        (name, release)
        for name in ("classic groups", "KIP-848 groups", "records of the offsets topic", "expiry of committed offsets")
        for release in ("4.0.2", "4.3.1")
    }


def test_the_comparison_sees_another_answer_and_another_release():
    (late,) = (each for each in TOLD if each["name"].startswith("TxnOffsetCommit 6"))
    changed = deepcopy(late)
    step = next(found for found, _ in changed["seen"]["steps"] if "STALE_MEMBER_EPOCH" in str(found))
    step["partitions"] = dict.fromkeys(step["partitions"], "ILLEGAL_GENERATION")
    assert difference(changed) is not None
    member = next(each for each in TOLD if each["name"] == "a member of KIP-848 commits" and each["release"] == "4.4.0")
    assert difference({**member, "release": "4.0.2"}) is not None  # its first member epoch is another
