import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.coordinator import lookup
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.rule import find_coordinator
from tests.recorded import recorded

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
LEADERS = round_robin_leaders([1, 2, 3])
SETTINGS = lookup.Settings("a", LEADERS)


@given(texts)
def test_a_look_up_ends_where_the_calculator_says_and_keeps_its_promises(group_id):
    settings = lookup.Settings(group_id, LEADERS)
    trace = lookup.look_up(group_id, LEADERS)
    for frame in trace:
        lookup.check(settings, frame.state)
        assert lookup.broken(settings, frame.state) == ()

    end, answer = trace[-1].state, find_coordinator(group_id, LEADERS)
    assert (end.group_hash, end.partition, end.broker_id) == (answer.group_hash, answer.partition, answer.broker_id)
    assert lookup.next_event(settings, end) is None


def test_a_look_up_on_a_real_cluster_ends_at_the_broker_that_answered():
    cluster = recorded("coordinator")
    ends = [lookup.look_up(case["group"], cluster["leaders"])[-1].state for case in cluster["cases"]]
    assert [end.broker_id for end in ends] == [case["coordinator"] for case in cluster["cases"]]


@pytest.mark.parametrize("known", [{"brokers": [7, 8, 9]}, {"brokers": 5}, {"brokers": 3, "partition_count": 7}])
def test_brokers_stand_for_the_same_leaders_as_for_the_calculator(known):
    end, answer = lookup.look_up("billing", **known)[-1].state, find_coordinator("billing", **known)
    assert (end.partition, end.broker_id) == (answer.partition, answer.broker_id)


def test_a_look_up_does_not_take_three_brokers_for_the_leaders_of_three_partitions():
    with pytest.raises(KafkaLearnError, match="leaders names 3 leaders, and __consumer_offsets has 50 partitions"):
        lookup.look_up("billing", [1, 2, 3])
    with pytest.raises(KafkaLearnError, match="leaders names 3 leaders"):
        lookup.Settings("billing", [1, 2, 3])


def test_a_character_above_ffff_is_read_as_two_units():
    assert [frame.state.read_count for frame in lookup.look_up("😀", LEADERS)] == [0, 1, 2, 2, 2, 2]


@pytest.mark.parametrize("event", [lookup.TakeAbsolute(), lookup.TakeRemainder(), lookup.AskLeader()])
def test_a_step_out_of_order_is_refused_and_says_what_is_possible(event):
    with pytest.raises(IllegalEvent, match=r"the next event is ReadUnit\(\)"):
        lookup.step(SETTINGS, lookup.start(SETTINGS), event)


def test_nothing_comes_after_the_answer():
    with pytest.raises(IllegalEvent, match="the look-up is answered"):
        lookup.step(SETTINGS, lookup.look_up("a", LEADERS)[-1].state, lookup.ReadUnit())


def test_each_step_says_what_it_computed():
    last = [frame.state.effects for frame in lookup.look_up("zzzzzz", LEADERS)][6]
    assert last == (lookup.UnitHashed(unit=122, hash_before=116_425_210, exact=3_609_181_632),)
    assert lookup.look_up("a", LEADERS)[-1].state.effects == (lookup.CoordinatorFound(broker_id=LEADERS[47]),)


def test_a_group_whose_partition_has_no_leader_has_no_coordinator_now():
    leaderless = lookup.Settings("a", (None,), partition_count=1)
    end = lookup.look_up("a", leaderless.leaders, 1)[-1].state
    assert end.effects == (lookup.CoordinatorNotAvailable(),)
    assert lookup.broken(leaderless, end) == ("the answer names a coordinator",)


def test_without_a_partition_count_the_topic_has_50():
    assert lookup.Settings("ok", [1] * 50, None) == lookup.Settings("ok", [1] * 50)
    with pytest.raises(KafkaLearnError, match="leaders names 2 leaders"):
        lookup.Settings("ok", [1, 2], None)
