"""The recorded runs of clusters hold what they are for; tests/replay asks the simulator for them."""

from __future__ import annotations

from kafkalearn.replication.events import NONE
from tests.recorded import recorded

RUNS = recorded("replication")


def test_the_recorded_runs_are_all_there():
    answers = [entry["answer"]["error"] for case in RUNS["cases"] for entry in case["events"] if "answer" in entry]

    assert len(RUNS["cases"]) == 19
    assert set(answers) == {NONE, "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "no reachable leader"}


REASSIGNMENTS = recorded("reassignment")


def test_the_recorded_reassignments_are_all_there():
    errors = {
        step["answer"]
        for case in REASSIGNMENTS["cases"]
        for step in case["steps"]
        if step["op"] in ("reassign", "elect")
    }
    assert len(REASSIGNMENTS["cases"]) == 37
    assert errors >= {"NONE", "NO_REASSIGNMENT_IN_PROGRESS", "INVALID_REPLICA_ASSIGNMENT", "ELECTION_NOT_NEEDED"}
