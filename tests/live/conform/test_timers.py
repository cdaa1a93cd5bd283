"""A timer that is wrong by a tenth of a second is found; what a broker did is recorded, so that none is needed here."""

from __future__ import annotations

import json
from copy import deepcopy
from pathlib import Path

import pytest

from conformance.mechanisms import group_timers as timers
from conformance.search import compare, plain

FILE = Path(__file__).resolve().parents[2] / "vectors" / "conform" / "timers" / "timers-of-groups.json"
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
