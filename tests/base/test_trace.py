import pickle
from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.trace import MOST_SHOWN, Frame, Trace, extend, run

numbers = st.lists(st.integers(), max_size=20)


@given(numbers)
def test_a_trace_keeps_the_start_and_one_frame_for_each_event(events):
    trace = run(add, None, 0, events)

    assert [frame.event for frame in trace] == [None, *events]
    assert [frame.index for frame in trace] == list(range(len(events) + 1))
    assert all(after.state == before.state + after.event for before, after in pairwise(trace))


@given(numbers, numbers)
def test_a_run_carried_on_is_the_run_of_all_its_events(first, second):
    assert extend(add, None, run(add, None, 0, first), second) == run(add, None, 0, first + second)


@given(numbers, st.integers(1, 5), numbers)
def test_a_branch_shares_its_frames_up_to_the_cut(events, cut, others):
    trace = run(add, None, 0, events)
    branch = extend(add, None, trace[:cut], others)

    assert branch[: len(trace[:cut])] == trace[:cut]
    assert branch[-1].state == trace[:cut][-1].state + sum(others)


def add(settings, number, event):
    return number + event


def test_frames_are_values():
    frame = Frame(0, None, 5)
    assert frame == Frame(0, None, 5)
    assert hash(frame) == hash(Frame(0, None, 5))
    with pytest.raises(AttributeError):
        frame.state = 6


def test_an_empty_trace_cannot_be_carried_on():
    with pytest.raises(ValueError, match="empty trace"):
        extend(add, None, (), [1])


def test_a_run_shows_itself_in_a_few_lines_however_long_it_is():
    trace = run(add, None, 0, range(100_000))

    lines = repr(trace).splitlines()
    assert lines[0] == "a run of 100,001 moments"
    assert len(lines) == MOST_SHOWN + 2
    assert lines[1:3] == ["  0  the start", "  1  0"]
    assert lines[-1] == "100000  99999"


def test_an_event_shows_what_differs_from_its_defaults():
    @dataclass(frozen=True)
    class Sent:
        value: str = "m"
        acks: int = 1

    lines = repr(run(lambda *_: None, None, 0, [Sent(), Sent(acks=0)])).splitlines()
    assert lines[2:] == ["  1  Sent()", "  2  Sent(acks=0)"]


def test_parts_and_sums_of_runs_are_runs():
    trace = run(add, None, 0, [1, 2, 3])

    assert type(trace[1:]) is type(trace + trace[1:]) is Trace
    assert trace == tuple(trace)
    assert hash(trace) == hash(tuple(trace))
    assert pickle.loads(pickle.dumps(trace)) == trace
    assert trace[-1].state == 6
