from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.trace import Frame, extend, run

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
