"""Runs recorded on a cluster of Kafka 4.3.0: a controller and three brokers, killed, frozen and started again."""

import pytest

from conformance.mechanisms.replication import begun, carried_on, producer_answer, settings_of, shown
from kafkalearn.replication.events import NONE
from tests.recorded import recorded

RECORDED = recorded("replication")
RELEASE = "4.3"


@pytest.mark.parametrize("case", RECORDED["cases"], ids=lambda case: f"{case['id']}-{case['name']}")
def test_a_recorded_run_comes_to_the_recorded_states_and_tells_the_producer_the_same(case):
    settings = settings_of(case, RELEASE)
    trace = begun(settings)
    for entry in case["events"]:
        since, leader = len(trace), trace[-1].state.controller.leader
        trace = carried_on(case, settings, trace, entry)

        if entry.get("state") is not None:
            assert shown(trace[-1].state) == entry["state"], entry
        if "answer" in entry:
            recorded_answer = {key: value for key, value in entry["answer"].items() if key != "values"}
            assert producer_answer(trace[since:], leader) == recorded_answer, entry


def test_the_recorded_runs_are_all_there():
    answers = [entry["answer"]["error"] for case in RECORDED["cases"] for entry in case["events"] if "answer" in entry]

    assert len(RECORDED["cases"]) == 19
    assert set(answers) == {NONE, "REQUEST_TIMED_OUT", "NOT_ENOUGH_REPLICAS", "no reachable leader"}
