"""What may never come: held to every set of states, on small machines, and to what a run that was found must be."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.liveness import find_stuck
from kafkalearn.base.search import whole
from kafkalearn.base.trace import Trace

# A machine: by event and state the next state; the state itself is no change, -1 makes no sense there.
Machine = list[list[int]]
REST = "it rests"


@st.composite
def machines(draw) -> tuple[Machine, set[int], list[int]]:
    """A machine, the states in which the promise is so, and the events that are fair."""
    count = draw(st.integers(1, 6))
    targets = st.lists(st.integers(-1, count - 1), min_size=count, max_size=count)
    machine = draw(st.lists(targets, min_size=1, max_size=4))
    kept = draw(st.sets(st.integers(0, count - 1), max_size=count))
    fair = draw(st.lists(st.sampled_from(range(len(machine))), unique=True))
    return machine, kept, fair


def step(machine: Machine, state: int, event: int) -> int:
    after = machine[event][state]
    if after < 0:
        raise IllegalEvent(f"{event} makes no sense in {state}")
    return after


def moves(machine: Machine, state: int) -> dict[int, int]:
    """What each event that changes something leads to."""
    return {event: row[state] for event, row in enumerate(machine) if row[state] not in (-1, state)}


def distances(machine: Machine) -> dict[int, int]:
    """How many events lead to each state that can be reached."""
    far, level = {0: 0}, [0]
    while level:
        level = [new for state in level for new in moves(machine, state).values() if new not in far]
        far |= dict.fromkeys(level, max(far.values()) + 1)
    return far


def reach(machine: Machine, start: int, inside: frozenset[int]) -> set[int]:
    seen, todo = {start}, [start]
    while todo:
        for new in moves(machine, todo.pop()).values():
            if new in inside and new not in seen:
                seen.add(new)
                todo.append(new)
    return seen


def traps(machine: Machine, kept: set[int], fair: list[int]) -> Iterator[frozenset[int]]:
    """By definition: every set of states in which a fair run can go on for ever, the promise never so."""
    owing = [state for state in distances(machine) if state not in kept]
    for chosen in chain.from_iterable(combinations(owing, size) for size in range(1, len(owing) + 1)):
        inside = frozenset(chosen)
        if any(reach(machine, state, inside) != inside for state in inside):
            continue
        if all(any(moves(machine, each).get(event, each) in inside for each in inside) for event in fair):
            yield inside


@given(machines())
@settings(max_examples=max(2000, settings.default.max_examples))
def test_a_trap_is_found_just_where_there_is_one_and_the_nearest(drawn):
    machine, kept, fair = drawn
    far = distances(machine)
    nearest = min((far[state] for each in traps(machine, kept, fair) for state in each), default=None)

    found = find_stuck(whole(machine, step, {REST: lambda _, state: state in kept}), 0, range(len(machine)), fair=fair)

    assert found.outcome == ("nothing left" if nearest is None else "found")
    if nearest is None:
        assert found.trace is None
        return
    start = len(found.trace) - 1 if found.loop_start is None else found.loop_start
    assert start == nearest
    assert found.is_dead_end == (found.loop_start is None)
    round_it = found.trace[start:]
    assert round_it[0].state == round_it[-1].state
    assert not {frame.state for frame in round_it} & kept
    happened = {frame.event for frame in round_it[1:]}
    for event in fair:
        assert event in happened or any(event not in moves(machine, frame.state) for frame in round_it)


def counter(limit: int, number: int, event: str) -> int:
    return (number + 1) % limit if event == "on" else 0


WHOLE = whole(5, counter, {"it is 4": lambda _, number: number == 4, "it is 0": lambda _, number: number == 0})


class On(str):
    """An event with a limit."""


def test_a_limited_event_need_not_happen_and_cannot_go_on():
    assert find_stuck(WHOLE, 0, ["on"], "it is 4").outcome == "nothing left"
    found = find_stuck(WHOLE, 0, [On("on")], "it is 4", at_most={On: 2})
    assert (found.is_dead_end, len(found.trace)) == (True, 1)


def test_a_limited_event_that_is_fair_happens_as_often_as_it_may():
    limited = {"fair": [On("on")], "at_most": {On: 4}}

    assert find_stuck(WHOLE, 0, [On("on"), "stay"], "it is 4", **limited).trace is not None  # and 0 comes after 4
    kept = whole(5, lambda limit, number, event: min(number + 1, 4), {"it is 4": lambda _, number: number == 4})
    assert find_stuck(kept, 0, [On("on")], **limited).outcome == "nothing left"
    assert find_stuck(kept, 0, [On("on")], fair=[On], at_most={On: 3}).is_dead_end


def test_an_event_that_is_not_fair_may_keep_it_away_for_ever():
    found = find_stuck(WHOLE, 0, ["on", "back"], "it is 4", fair=["on"])

    assert [frame.event for frame in found.trace] == [None, "on", "back"]
    assert found.loop_start == 0
    assert repr(found).startswith("found: after 0 events the run goes round and round, from frame 0, and it never")


def test_what_was_not_looked_at_is_said():
    assert find_stuck(WHOLE, 0, ["on"], "it is 4", depth=2).outcome == "depth"
    assert repr(find_stuck(WHOLE, 0, ["on"], "it is 4", budget=2)) == "not found, too many states: it is 4"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "say which promise: the model has it is 0 and it is 4"),
        ({"promise": "it is 5"}, "it is 4"),
        ({"promise": "it is 4", "fair": ["off"]}, "'off' is to be fair, and is none of the events of the search"),
        ({"promise": "it is 4", "budget": 0}, "budget"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, said):
    with pytest.raises(KafkaLearnError, match=said):
        find_stuck(WHOLE, 0, ["on"], **given)


def test_a_run_into_a_trap_knows_where_its_loop_begins_and_its_parts_are_runs_as_any():
    found = find_stuck(WHOLE, 0, ["on", "back"], "it is 4", fair=["on"]).trace
    again = pickle.loads(pickle.dumps(found))

    assert (again, again.loop_start, repr(again)) == (found, 0, repr(found))
    assert repr(found).startswith("a run of 3 moments, from 0 on round and round\n")
    assert type(found[1:]) is type(found + found) is Trace
