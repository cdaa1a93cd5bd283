import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.assignors import Member, assign, change, cooperative_rounds, random_rebalance, rebalance, rejoin
from kafkalearn.assignors.carrying_out import (
    AllGaveUp,
    Assigned,
    AssignedAnew,
    GroupChanged,
    MemberJoined,
    MemberLeft,
    RoundEnded,
    Settings,
    StartedReading,
    StoppedReading,
    SubscriptionChanged,
    broken,
    check,
    start,
    step,
)
from kafkalearn.assignors.judging import CHANGES
from kafkalearn.assignors.registry import CLIENT_ASSIGNORS
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError

NUMBERS = st.integers(0, 10_000)
TEN = [Member(f"m{number:02}", ["t"]) for number in range(10)]
NINE = [member for member in TEN if member.member_id != "m03"]


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
@given(number=NUMBERS)
def test_no_partition_ever_has_two_readers_and_in_the_end_all_have_one(assignor, number):
    drawn = random_rebalance(number)
    settings = Settings(assignor, drawn.partition_counts, drawn.before)
    trace = rebalance(assignor, drawn.partition_counts, drawn.before, drawn.after)
    before = None
    for frame in trace:
        check(settings, frame.state, before)
        before = frame.state
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


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
def test_each_assignment_is_one_generation_more(assignor):
    trace = rebalance(assignor, {"t": 9}, TEN, NINE)
    generations = [frame.state.generation for frame in trace]
    assert sorted({*generations}) == list(range(generations[0], generations[-1] + 1))
    assert generations[-1] > generations[0]


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
        for assignor in CLIENT_ASSIGNORS
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
    stopped, (round_ended, *started) = trace[2].state.effects[1:], trace[3].state.effects
    assert sum(len(each.partitions) for each in stopped) == 5
    assert {type(each) for each in stopped} == {StoppedReading}
    assert (round_ended, [type(each) for each in started]) == (RoundEnded(2), [StartedReading])
    assert change(trace[0].state.reading, trace[-1].state.reading).moved_count == 5


def test_a_server_side_assignor_has_no_such_moments():
    with pytest.raises(KafkaLearnError, match="unknown assignor of the client 'uniform'"):
        rebalance("uniform", {"t": 1}, TEN, NINE)


def test_a_group_that_gives_everything_up_gets_the_same_again():
    settings = Settings("range", {"t": 50}, TEN)
    first = start(settings)
    stopped = step(settings, first, AllGaveUp())
    again = step(settings, stopped, Assigned())
    assert again.reading == first.reading == assign("range", {"t": 50}, TEN)
    assert stopped.unread == first.partitions
    assert again.effects[0] == AssignedAnew()


def test_who_comes_and_goes_and_changes_its_subscription_is_an_effect():
    settings = Settings("sticky", {"t": 2, "u": 1}, [Member("a", ["t"]), Member("b", ["t"])])
    changed = step(settings, start(settings), GroupChanged([Member("b", ["u"]), Member("c", ["t"])]))
    left, joined, subscription, stopped = changed.effects
    assert (left, joined, subscription) == (MemberLeft("a"), MemberJoined("c"), SubscriptionChanged("b"))
    assert (stopped.member_id, len(stopped.partitions)) == ("a", 1)
    assert changed.partitions[-1] == ("u", 0)


@pytest.mark.parametrize(
    ("assignor", "event", "said"),
    [
        ("range", Assigned(), "give everything up first"),
        ("cooperative-sticky", AllGaveUp(), "a cooperative group keeps what it reads"),
        ("range", GroupChanged([TEN[0], TEN[0]]), "two members have the id 'm00'"),
    ],
)
def test_an_event_that_makes_no_sense_is_refused(assignor, event, said):
    settings = Settings(assignor, {"t": 50}, TEN)
    with pytest.raises(IllegalEvent, match=said):
        step(settings, start(settings), event)


def test_nothing_can_be_given_up_twice():
    settings = Settings("range", {"t": 50}, TEN)
    with pytest.raises(IllegalEvent, match="everybody has given everything up already"):
        step(settings, step(settings, start(settings), AllGaveUp()), AllGaveUp())


@pytest.mark.parametrize(
    ("assignor", "expected"),
    [
        (
            "sticky",
            {"every partition is read", "the group never stops as a whole", "nobody stops reading what it keeps"},
        ),
        ("cooperative-sticky", {"every partition is read"}),
    ],
)
def test_a_cooperative_group_keeps_promises_that_an_eager_one_breaks(assignor, expected):
    settings = Settings(assignor, {"t": 50}, NINE)
    trace = rebalance(assignor, {"t": 50}, NINE, TEN)
    pairs = zip((None, *(frame.state for frame in trace)), (frame.state for frame in trace), strict=False)
    assert {name for before, state in pairs for name in broken(settings, state, before)} == expected


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
    with pytest.raises(KafkaLearnError, match="alike_share must be a number of at least 0 and at most 1"):
        random_rebalance(0, alike_share=2)
