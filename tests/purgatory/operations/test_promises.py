"""What a purgatory promises: broken by events that nobody looked at, and by lists that nobody walked."""

from dataclasses import replace

import pytest

from kafkalearn.purgatory.operations import (
    BY_EVENT,
    COMPLETED_WHEN_TRUE,
    LISTS_HOLD_WAITING,
    CheckAndComplete,
    Completed,
    FactChanged,
    ForceComplete,
    Settings,
    TimePassed,
    broken,
    check,
)
from tests.purgatory.operations.purgatories import SETTINGS, after, waits


def test_an_operation_whose_condition_came_true_waits_until_somebody_checks_its_key():
    changed = after(waits("r1", "k1"), FactChanged("r1", 1))
    assert broken(SETTINGS, changed) == (COMPLETED_WHEN_TRUE,)
    assert broken(SETTINGS, after(CheckAndComplete("k1"), purgatory=changed)) == ()


def test_completed_operations_stay_listed_until_a_purge():
    for purge_interval, expected in ((1, (LISTS_HOLD_WAITING,)), (0, ())):
        settings = Settings(purge_interval)
        done = after(waits("r1", "k1"), ForceComplete("r1"), TimePassed(0), settings=settings)
        assert broken(settings, done) == expected


WAITING = after(waits("r1", "k1"))
DONE = after(ForceComplete("r1"), purgatory=WAITING)


@pytest.mark.parametrize(
    ("state", "before", "words"),
    [
        (replace(WAITING, lists=()), None, "on the list of each of its keys"),
        (replace(WAITING, waiting=WAITING.waiting * 2), None, "an operation waits once"),
        (replace(WAITING, waiting=()), None, "what waits is in the timer"),
        (replace(WAITING, wheels=replace(WAITING.wheels, now_ms=-1)), None, "the invariants of wheels"),
        (replace(DONE, effects=DONE.effects * 2), WAITING, "completed once"),
        (replace(DONE, effects=()), WAITING, "completed once"),
        (replace(DONE, effects=(Completed("r9", BY_EVENT),)), WAITING, "completed once"),
        (replace(WAITING, effects=(Completed("r1", BY_EVENT),)), WAITING, "completed once"),
    ],
)
def test_a_state_that_cannot_be_is_found(state, before, words):
    with pytest.raises(AssertionError, match=words):
        check(SETTINGS, state, before)
