import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.assignor import Member, assign, change, cooperative_rounds, random_rebalance, rebalance, rejoin
from kafkalearn.assignor.carrying_out import IN_CLIENTS, AllGaveUp, Assigned, Moment, step
from kafkalearn.assignor.judging.random_rebalances import CHANGES
from kafkalearn.errors import IllegalEvent, KafkaLearnError

NUMBERS = st.integers(0, 10_000)
TEN = [Member(f"m{number:02}", ["t"]) for number in range(10)]
NINE = [member for member in TEN if member.member_id != "m03"]


@pytest.mark.parametrize("assignor", IN_CLIENTS)
@given(number=NUMBERS)
def test_no_partition_ever_has_two_readers_and_in_the_end_all_have_one(assignor, number):
    drawn = random_rebalance(number)
    trace = rebalance(assignor, drawn.partition_counts, drawn.before, drawn.after)
    for frame in trace:
        read = [partition for owned in frame.state.reading.values() for partition in owned]
        assert len(set(read)) == len(read)
        assert sorted([*read, *frame.state.unread]) == sorted(frame.state.partitions)
    subscribed = {topic for member in drawn.after for topic in member.topics}
    assert all(partition.topic not in subscribed for partition in trace[-1].state.unread)


@pytest.mark.parametrize("assignor", ["range", "roundrobin", "sticky"])
@given(number=NUMBERS)
def test_an_eager_group_stops_as_a_whole_and_then_reads_what_the_assignor_says(assignor, number):
    drawn = random_rebalance(number)
    settled, _, stopped, last = rebalance(assignor, drawn.partition_counts, drawn.before, drawn.after)
    assert stopped.state.unread == stopped.state.partitions
    asking = rejoin(assignor, drawn.after, settled.state.reading, generation=1)
    assert last.state.reading == assign(assignor, drawn.partition_counts, asking)


@given(number=NUMBERS)
def test_a_cooperative_group_comes_to_the_last_of_its_rounds(number):
    drawn = random_rebalance(number)
    trace = rebalance("cooperative-sticky", drawn.partition_counts, drawn.before, drawn.after)
    asking = rejoin("cooperative-sticky", drawn.after, trace[0].state.reading, generation=1)
    rounds = cooperative_rounds(drawn.partition_counts, asking)
    assert [frame.state.reading for frame in trace[2:]] == [each.assignment for each in rounds]


@given(number=NUMBERS)
def test_if_all_subscribe_alike_a_cooperative_group_reads_throughout_what_does_not_move(number):
    drawn = random_rebalance(number, alike_share=1.0)
    trace = rebalance("cooperative-sticky", drawn.partition_counts, drawn.before, drawn.after)
    first, last = trace[0].state.reading.owners(), trace[-1].state.reading.owners()
    stays = {each for each, owner in first.items() if last.get(each) == owner}
    for frame in trace:
        owners = frame.state.reading.owners()
        assert all(owners.get(partition) == first[partition] for partition in stays)


def test_one_of_ten_leaves():
    unread = {
        assignor: [len(frame.state.unread) for frame in rebalance(assignor, {"t": 50}, TEN, NINE)]
        for assignor in IN_CLIENTS
    }
    assert unread == {
        "range": [0, 5, 50, 0],
        "roundrobin": [0, 5, 50, 0],
        "sticky": [0, 5, 50, 0],
        "cooperative-sticky": [0, 5, 0],
    }


def test_one_joins_a_cooperative_group_in_two_rounds():
    trace = rebalance("cooperative-sticky", {"t": 50}, NINE, TEN)
    assert [len(frame.state.unread) for frame in trace] == [0, 0, 5, 0]
    assert len(trace[2].event.gave_up) == 5
    assert change(trace[0].state.reading, trace[-1].state.reading).moved_count == 5


def test_a_server_side_assignor_has_no_such_moments():
    with pytest.raises(KafkaLearnError, match="unknown assignor of a client 'uniform'"):
        rebalance("uniform", {"t": 1}, TEN, NINE)


def test_the_step_itself():
    first = assign("range", {"t": 50}, TEN)
    moment = Moment(first, first, tuple(first.owners()))
    stopped = step(moment, AllGaveUp(moment.partitions))
    assert step(stopped, Assigned(first)) == moment
    with pytest.raises(IllegalEvent, match="it knows GroupChanged, AllGaveUp, Assigned"):
        step(moment, "leave")


@given(number=NUMBERS)
def test_a_drawn_rebalance_is_one_member_doing_one_thing(number):
    drawn = random_rebalance(number, most_members=5, most_partitions=4)
    assert drawn == random_rebalance(number, most_members=5, most_partitions=4)
    before, after = ({member.member_id: member.topics for member in each} for each in (drawn.before, drawn.after))
    changed = {name for name in {*before, *after} if before.get(name) != after.get(name)}
    assert drawn.what in CHANGES
    assert changed in ({drawn.who}, set())  # nothing changes where one subscribes to the only other choice: itself
    assert 2 <= len(before) <= 5
    assert all(1 <= count <= 4 for count in drawn.partition_counts.values())


def test_the_share_of_groups_that_subscribe_alike_can_be_chosen():
    assert all(random_rebalance(number, alike_share=1.0).is_alike for number in range(50))
    assert sum(random_rebalance(number, alike_share=0.0).is_alike for number in range(50)) < 30  # one topic is alike
    with pytest.raises(KafkaLearnError, match="alike_share must be from 0 to 1"):
        random_rebalance(0, alike_share=2)
