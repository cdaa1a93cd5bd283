import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.coordinator.lookup import (
    AskLeader,
    ReadUnit,
    TakeAbsolute,
    TakeRemainder,
    check,
    lookup,
    possible_event,
    start,
    step,
)
from kafkalearn.coordinator.rule import find_coordinator, round_robin_leaders
from kafkalearn.errors import IllegalEvent
from tests.recorded import recorded

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
LEADERS = round_robin_leaders([1, 2, 3])


@given(texts)
def test_a_look_up_ends_where_the_calculator_says_and_keeps_its_promises(group_id):
    trace = lookup(group_id, LEADERS)
    for frame in trace:
        check(frame.state)

    end, answer = trace[-1].state, find_coordinator(group_id, LEADERS)
    assert (end.group_hash, end.partition, end.broker_id) == (answer.group_hash, answer.partition, answer.broker_id)
    assert possible_event(end) is None


def test_a_look_up_on_a_real_cluster_ends_at_the_broker_that_answered():
    cluster = recorded("coordinator")
    ends = [lookup(case["group"], cluster["leaders"])[-1].state for case in cluster["cases"]]
    assert [end.broker_id for end in ends] == [case["coordinator"] for case in cluster["cases"]]


def test_a_character_above_ffff_is_read_as_two_units():
    assert [frame.state.read_count for frame in lookup("😀", LEADERS)] == [0, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("event", [TakeAbsolute(), TakeRemainder(), AskLeader()])
def test_a_step_out_of_order_is_refused_and_says_what_is_possible(event):
    with pytest.raises(IllegalEvent, match=r"the next event is ReadUnit\(\)"):
        step(start("a", LEADERS), event)


def test_nothing_comes_after_the_answer():
    with pytest.raises(IllegalEvent, match="the look-up is answered"):
        step(lookup("a", LEADERS)[-1].state, ReadUnit())
