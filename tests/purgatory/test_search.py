"""What a purgatory may keep for ever: both ends of a wait are needed, and either is enough for its own promise."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.purgatory.operations import COMPLETED_WHEN_TRUE, delayed_fetch, delayed_produce
from kafkalearn.purgatory.search import NOBODY_WAITS, PROGRESS, find_stuck

PRODUCES = [delayed_produce("p1", {"orders-0": 5}), delayed_produce("p2", {"orders-0": 6, "orders-1": 0})]
FETCH = delayed_fetch("f1", {"orders-0": 0}, min_bytes=2)
FACTS = {"HW orders-0": [6, 7], "HW orders-1": [1]}


@pytest.mark.parametrize("promise", PROGRESS)
@pytest.mark.parametrize("operations", [PRODUCES, [FETCH]], ids=["produces", "fetch"])
def test_with_checks_and_timers_nobody_waits_for_ever(operations, promise):
    facts = FACTS if operations is PRODUCES else {name: [1, 2] for name, _ in FETCH.condition.counted}
    assert find_stuck(operations, facts, promise).outcome == "nothing left"


@pytest.mark.parametrize(
    ("checks", "timers", "promise", "outcome"),
    [
        (False, True, NOBODY_WAITS, "nothing left"),
        (False, True, COMPLETED_WHEN_TRUE, "nothing left"),
        (True, False, COMPLETED_WHEN_TRUE, "nothing left"),
        (True, False, NOBODY_WAITS, "found"),  # what it waits for need not come
        (False, False, COMPLETED_WHEN_TRUE, "found"),  # it has come, and nobody looks
    ],
)
def test_each_end_of_a_wait_is_there_for_one_promise(checks, timers, promise, outcome):
    found = find_stuck(PRODUCES, FACTS, promise, checks=checks, timers=timers)

    assert found.outcome == outcome
    if found.trace is not None:
        waiting = found.trace[-1].state
        assert found.is_dead_end
        assert any(each.condition.holds(waiting.facts) for each in waiting.waiting) == (promise == COMPLETED_WHEN_TRUE)


def test_what_is_not_there_is_refused():
    with pytest.raises(KafkaLearnError, match="no end"):
        find_stuck(PRODUCES, FACTS, "no end")
    with pytest.raises(KafkaLearnError, match="at least one operation"):
        find_stuck([], FACTS)
