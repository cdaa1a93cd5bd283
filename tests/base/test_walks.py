"""Random walks: the same for a seed, what they find is really broken and cannot be shorter by leaving something out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.search import explore, whole
from kafkalearn.base.trace import run
from kafkalearn.base.walks import walk
from tests.base.test_liveness import REST, machines, step


@given(machines(), st.integers(0, 5))
def test_what_a_walk_finds_is_broken_and_all_of_it_is_needed(drawn, seed):
    machine, kept, _ = drawn
    model = whole(machine, step, {REST: lambda _, state: state in kept})
    events = range(len(machine))

    found = walk(model, 0, events, seed=seed, walk_count=5, length=12)

    assert found == walk(model, 0, events, seed=seed, walk_count=5, length=12)
    if not found.traces:
        return
    trace = found.traces[REST]
    assert trace[-1].state not in kept
    assert len(trace) >= len(explore(model, 0, events).trace)
    happened = [frame.event for frame in trace[1:]]
    for at in range(len(happened)):
        try:
            without = run(step, machine, 0, happened[:at] + happened[at + 1 :])
        except IllegalEvent:
            continue
        assert without[-1].state in kept


def test_what_was_not_seen_is_said():
    def on(limit: int, number: int, event: str) -> int:
        if event == "never":
            raise IllegalEvent("it makes no sense here")
        return (number + 1) % limit

    found = walk(whole(5, on, {"small": lambda _, number: number < 9}), 0, ["on", "never"], walk_count=2, length=7)

    assert (found.state_count, found.step_count, found.never, found.happened) == (5, 14, ("never",), {"on": 14})
    assert repr(found).splitlines() == [
        "2 walks of 14 events, 5 different states: no promise was broken",
        "never happened: 'never'",
        "this proves nothing: what was not drawn was not seen",
    ]


def test_a_walk_ends_where_nothing_is_possible_and_keeps_to_limits():
    class Once(str):
        """An event with a limit."""

    model = whole(None, lambda _, number, event: number + 1, {"small": lambda _, number: number < 3})

    assert walk(model, 0, [Once("on")], walk_count=4, at_most={Once: 2}).step_count == 8


@pytest.mark.parametrize("wrong", [{"seed": "x"}, {"walk_count": 0}, {"length": -1}])
def test_what_cannot_be_meant_is_refused(wrong):
    with pytest.raises(KafkaLearnError, match=next(iter(wrong))):
        walk(whole(None, lambda _, number, event: number, {}), 0, ["on"], **wrong)


def test_a_witness_that_no_walk_has_met_is_named():
    grow = whole(9, lambda limit, number, event: (number + event) % limit, {})
    witnesses = {"the end": lambda limit, number: number == limit - 1, "beyond": lambda limit, number: number >= limit}

    found = walk(grow, 0, [1], walk_count=2, length=8, witnesses=witnesses)

    assert found.met == {"the end": 2, "beyond": 0}
    assert "never met: beyond" in repr(found).splitlines()
    assert walk(grow, 0, [1], walk_count=1, length=1).met == {}
