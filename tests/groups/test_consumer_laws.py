"""What must hold of every run, tried on generated schedules of joins, heartbeats, leaves, silence, time and change."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.groups.consumer import (
    ConsumerGroupHeartbeat,
    GroupDeleted,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    Settings,
    TimePassed,
    TopicChanged,
    check,
    join,
    leave,
    start,
    step,
)
from kafkalearn.groups.consumer.state import LEAVE_FOR_A_WHILE

NAMES = "ABCD"
RELEASES = ("4.0", "4.1", "4.2", "4.3", "4.4")
SUBSCRIPTIONS = (("orders",), ("orders", "clicks"), ("clicks",))


class Clients:
    """Members that do what a client does: remember their epoch, follow their assignment, or do not."""

    def __init__(self, release):
        self.settings = Settings(release=release, topics={"orders": 5, "clicks": 2})
        self.groups = [start(self.settings)]
        self.epochs, self.owned = {}, {}

    @property
    def group(self):
        return self.groups[-1]

    def happen(self, event):
        self.groups.append(step(self.settings, self.group, event))
        return self.group.effects[-1] if self.group.effects else None

    def join(self, name, topics, instance_id=None):
        if self.epochs.get(name, 0) > 0:
            return
        self.owned[name] = ()
        self.hear(name, self.happen(join(name, topics, instance_id, rebalance_timeout_ms=8_000)))

    def heartbeat(self, name, topics=None):
        if self.epochs.get(name, 0) > 0:
            event = ConsumerGroupHeartbeat(name, self.epochs[name], topics=topics, owned=self.owned[name])
            self.hear(name, self.happen(event))

    def hear(self, name, answer):
        if answer.error != "NONE":
            self.epochs[name], self.owned[name] = 0, ()
            return
        self.epochs[name] = answer.member_epoch
        if answer.assignment is not None:
            self.owned[name] = answer.assignment

    def commit(self, name):
        if self.epochs.get(name, 0) > 0 and self.owned[name]:
            self.happen(OffsetCommit(name, self.epochs[name], self.owned[name][:2]))

    def make_anew(self, topic, count):
        """A topic is deleted and created: what a client owns of the old one is named apart, by its id."""
        former = next(each for each in self.group.topics if each.name == topic)
        self.happen(TopicChanged(topic, None))
        self.happen(TopicChanged(topic, count))
        self.owned = {
            name: tuple(each._replace(topic=former.name_when_replaced) if each.topic == topic else each for each in its)
            for name, its in self.owned.items()
        }

    def leave(self, name, instance_id=None):
        answer = self.happen(leave(name, instance_id, comes_back=instance_id is not None))
        if answer.error == "NONE":
            self.epochs[name], self.owned[name] = 0, ()


ACTIONS = st.one_of(
    st.tuples(st.just("join"), st.sampled_from(NAMES), st.sampled_from(SUBSCRIPTIONS)),
    st.tuples(st.just("join static"), st.sampled_from(NAMES), st.sampled_from(SUBSCRIPTIONS)),
    st.tuples(st.just("heartbeat"), st.sampled_from(NAMES)),
    st.tuples(st.just("heartbeat"), st.sampled_from(NAMES)),
    st.tuples(st.just("subscribe"), st.sampled_from(NAMES), st.sampled_from(SUBSCRIPTIONS)),
    st.tuples(st.just("leave"), st.sampled_from(NAMES)),
    st.tuples(st.just("leave for a while"), st.sampled_from(NAMES)),
    st.tuples(st.just("pass"), st.sampled_from([1, 500, 1000, 5000, 9000, 46_000])),
    st.tuples(st.just("grow"), st.integers(1, 2)),
    st.tuples(st.just("make anew"), st.integers(1, 3)),
    st.tuples(st.just("commit"), st.sampled_from(NAMES)),
    st.tuples(st.sampled_from([GroupDeleted(), OffsetsExpired(), PartitionMoved()])),
)


def act(clients, action):
    match action:
        case ("join", name, topics):
            clients.join(name, topics)
        case ("join static", name, topics):
            clients.join(f"{name}{len(clients.groups)}", topics, instance_id=f"pod-{name}")
        case ("heartbeat", name):
            for member_id in [each for each in clients.group.member_ids if each.startswith(name)]:
                clients.heartbeat(member_id)
        case ("subscribe", name, topics):
            clients.heartbeat(name, topics)
        case ("leave", name):
            clients.leave(name)
        case ("leave for a while", name):
            clients.leave(name, instance_id=f"pod-{name}")
            for member in clients.group.members:
                if member.instance_id == f"pod-{name}" and member.epoch != LEAVE_FOR_A_WHILE:
                    clients.leave(member.member_id, instance_id=f"pod-{name}")
        case ("pass", ms):
            clients.happen(TimePassed(ms))
        case ("grow", count):
            clients.happen(TopicChanged("orders", clients.group.partition_counts["orders"] + count))
        case ("make anew", count):
            clients.make_anew("clicks", count)
        case ("commit", name):
            clients.commit(name)
        case (event,):
            clients.happen(event)


def live(clients):
    """Everybody sends heartbeats every second, and follows its assignment, until nothing moves; at most a minute."""
    for _ in range(60):
        clients.happen(TimePassed(1_000))
        for member_id in clients.group.member_ids:
            clients.heartbeat(member_id)
        if clients.group.state in ("Stable", "Empty", "Dead") and not clients.group.must_look:
            return


@pytest.mark.parametrize("release", RELEASES)
@settings(max_examples=60)
@given(actions=st.lists(ACTIONS, max_size=25))
def test_a_run_keeps_the_promises_and_a_group_that_goes_on_beating_becomes_stable(release, actions):
    clients = Clients(release)
    for action in actions:
        act(clients, action)
        assert_nothing_is_owned_twice(clients)
    live(clients)

    for group in clients.groups:
        check(clients.settings, group)
    for before, after in pairwise(clients.groups):
        assert_no_epoch_falls(before, after)
        assert_what_is_committed_has_a_group(after)
    assert_all_is_assigned(clients.group)


def assert_nothing_is_owned_twice(clients):
    """Not only in the coordinator's books: what the clients themselves believe, as long as they are members."""
    believed = [part for name in clients.group.member_ids for part in clients.owned.get(name, ())]
    assert len(believed) == len(set(believed))


def assert_no_epoch_falls(before, after):
    if after.is_deleted:
        return  # the next one begins anew
    assert after.group_epoch >= before.group_epoch
    assert after.assignment_epoch >= before.assignment_epoch
    for member in after.members:
        known = before.find(member.member_id)
        if known is not None and LEAVE_FOR_A_WHILE not in (member.epoch, known.epoch):
            assert member.epoch >= known.epoch


def assert_what_is_committed_has_a_group(group):
    assert not group.committed or group.group_type is not None
    assert not group.members or group.group_type == "Consumer"
    assert group.is_deleted == (group.state == "Dead")


def assert_all_is_assigned(group):
    if group.state in ("Empty", "Dead"):
        return
    assert group.state == "Stable"
    assert {member.epoch for member in group.members} == {group.group_epoch}
    subscribed = {topic for member in group.members for topic in member.topics}
    counts = group.partition_counts
    expected = {(topic, number) for topic in subscribed & counts.keys() for number in range(counts[topic])}
    assert set(group.holders) == expected
