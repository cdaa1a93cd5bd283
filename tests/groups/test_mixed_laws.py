"""What holds of a group that changes its protocol, whatever its members of both protocols do."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups import consumer
from kafkalearn.groups.classic import Heartbeat, JoinGroup, LeaveGroup, SyncGroup
from kafkalearn.groups.classic import Settings as ClassicSettings
from kafkalearn.groups.classic.model import JoinAnswered, SyncAnswered
from kafkalearn.groups.consumer import Settings as ConsumerSettings
from kafkalearn.groups.consumer.events import HeartbeatAnswered
from kafkalearn.groups.mixed import POLICIES, Settings, Subscription, check, start, step
from kafkalearn.groups.mixed.model import assigned_of

OLD, NEW = ("c1", "c2", "c3"), ("n1", "n2")
STEPS = st.one_of(
    st.tuples(st.sampled_from(["join", "sync", "beat", "leave", "commit"]), st.sampled_from(OLD)),
    st.tuples(st.sampled_from(["join", "beat", "beat", "leave", "commit"]), st.sampled_from(NEW)),
    st.tuples(st.sampled_from(["time", "grow", "move"]), st.just("")),
)


class Clients:
    """What the members were answered; each sends what a client of its protocol would."""

    def __init__(self, policy, release, is_cooperative):
        self.settings = Settings(
            release,
            policy,
            ClassicSettings(release, group_initial_rebalance_delay_ms=0),
            ConsumerSettings(release, assignment_interval_ms=0, topics={"t": 4}),
        )
        self.group = start(self.settings)
        self.ids, self.epochs, self.owned, self.leaders = {}, {}, {}, {}
        self.is_cooperative, self.count = is_cooperative, 4

    def take(self, op, who):
        self.send(self.event(op, who))
        self.send(consumer.TimePassed(0))  # a join phase without a delay ends at once

    def send(self, event):
        before, self.group = self.group, step(self.settings, self.group, event)
        check(self.settings, self.group, before)
        for each in self.group.effects:
            match each:
                case JoinAnswered(client, "NONE" | "MEMBER_ID_REQUIRED"):
                    self.ids[client], self.epochs[client] = each.member_id, each.generation
                    self.leaders[client] = each.members
                case SyncAnswered(client, "NONE"):
                    self.owned[client] = assigned_of(each.assignment).partitions
                case HeartbeatAnswered(client, "NONE"):
                    self.epochs[client] = each.member_epoch
                    self.owned[client] = self.owned.get(client, ()) if each.assignment is None else each.assignment

    def event(self, op, who):
        epoch, owned = self.epochs.get(who, 1), self.owned.get(who, ())
        match op:
            case "time":
                return consumer.TimePassed(20_000)
            case "grow":
                self.count += 1
                return consumer.TopicChanged("t", self.count)
            case "move":
                return consumer.PartitionMoved()
            case "commit":
                return consumer.OffsetCommit(self.ids.get(who, who), epoch, (TopicPartition("t", len(who) % 4),))
        if who in NEW:
            topics = ("t",)
            match op:
                case "join":
                    return consumer.join(who, topics)
                case "beat":
                    return consumer.ConsumerGroupHeartbeat(who, max(epoch, 1), owned=owned)
            return consumer.leave(who)
        member_id = self.ids.get(who, "")
        match op:
            case "join":
                sent = Subscription(("t",), owned if self.is_cooperative else ())
                name = "cooperative-sticky" if self.is_cooperative else "range"
                return JoinGroup(who, member_id, protocols=((name, sent),))
            case "sync":
                members = [each for each, _, _ in self.leaders.get(who, ())]
                given_to = {each: [] for each in members}
                for number in range(4 if members else 0):
                    given_to[members[number % len(members)]].append(TopicPartition("t", number))
                return SyncGroup(who, member_id, epoch, tuple((each, tuple(all_)) for each, all_ in given_to.items()))
            case "beat":
                return Heartbeat(who, member_id, epoch)
        return LeaveGroup(who, member_id)


@given(
    st.lists(STEPS, min_size=10, max_size=60), st.sampled_from(list(POLICIES)), st.sampled_from(["4.0", "4.4"]),
    st.booleans(),
)  # fmt: skip
@settings(deadline=None, max_examples=60)
def test_one_owner_no_lost_offset_and_no_epoch_that_goes_back(steps, policy, release, is_cooperative):
    clients = Clients(policy, release, is_cooperative)
    for op, who in steps:
        clients.take(op, who)


def test_a_rolling_change_and_its_way_back_keep_the_offsets():
    clients = Clients("bidirectional", "4.4", is_cooperative=False)
    there = "c1 join, c1 join, c1 sync, c1 commit, n1 join, c1 beat, c1 join, c1 sync, n1 beat, n1 commit"
    story = f"{there}, n1 leave, c1 join"
    types = []
    for each in story.split(", "):
        who, op = each.split()
        clients.take(op, who)
        types.append(clients.group.group_type)
    assert list(dict.fromkeys(types)) == ["Classic", "Consumer"]
    assert types[-2:] == ["Classic", "Classic"]
    assert clients.group.committed == (TopicPartition("t", 2),)
    assert clients.group.epoch == clients.epochs["c1"] > 2


def test_a_new_coordinator_finds_the_generation_that_was_written_not_the_one_of_the_join_phase_that_just_ended():
    """What is written is the generation of the change back; the next one is written with its SyncGroup."""
    clients = Clients("bidirectional", "4.4", is_cooperative=False)
    generations = []
    for each in ["n1 join", "c1 join", "c1 join", "n1 leave", "c1 join", "n move"]:
        who, op = each.split()
        clients.take(op, who)
        generations.append((clients.group.group_type, clients.group.epoch))
    assert generations[-3:] == [("Classic", 3), ("Classic", 4), ("Classic", 3)]


ONLY = (("range", Subscription(("orders",))),)


def answered(*events):
    """The group after some events, and what the last one was answered."""
    of = Settings(consumer=ConsumerSettings(topics={"orders": 6}))
    group = start(of)
    for event in events:
        before, group = group, step(of, group, event)
        check(of, group, before)
    return group, group.effects[-1]


def test_a_join_phase_without_members_is_taken_over_at_its_generation():
    """Recorded on 4.4.0: the new member begins at epoch 1, where in a group of its own it would at 2."""
    events = [JoinGroup("c", protocols=ONLY), JoinGroup("c", "c-1", protocols=ONLY), LeaveGroup("c", "c-1")]
    group, answer = answered(*events, consumer.join("n", ("orders",)))
    assert (group.group_type, group.member_ids, answer.error, answer.member_epoch) == ("Consumer", ("n",), "NONE", 1)


def test_an_id_that_the_broker_draws_is_nobody_elses():
    """A member of a consumer group may come with any id; recorded on 4.4.0."""
    ghost = JoinGroup("ghost", "c-1", protocols=ONLY, version=3)
    group, answer = answered(consumer.join("n", ("orders",)), ghost, JoinGroup("c", protocols=ONLY, version=3))
    assert (group.member_ids, answer.member_id) == (("n", "c-1", "c-2"), "c-2")
    for taken in ([JoinGroup("c", protocols=ONLY, version=3)], [consumer.join("n", ("orders",)), ghost]):
        with pytest.raises(IllegalEvent, match="drawn_id 'c-1' is the id of a member"):
            answered(*taken, JoinGroup("d", protocols=ONLY, version=3, drawn_id="c-1"))


def test_an_epoch_below_0_is_no_generation_of_a_classic_group():
    events = [JoinGroup("c", protocols=ONLY, version=3), consumer.TimePassed(3000)]
    place = (TopicPartition("orders", 0),)
    _, answer = answered(*events, consumer.OffsetCommit("c-1", -(2**31) + 1, place))
    assert answer.errors == ((place[0], "ILLEGAL_GENERATION"),)


def test_a_topic_that_is_there_again_with_fewer_partitions_than_a_classic_member_holds_is_refused_in_words():
    of = Settings(consumer=ConsumerSettings(topics={"orders": 6}))
    held = tuple(TopicPartition("orders", number) for number in range(6))
    events = [JoinGroup("c", protocols=ONLY, version=3), consumer.TimePassed(3000)]
    events += [SyncGroup("c", "c-1", 1, (("c-1", held),))]
    events += [consumer.TopicChanged("orders", count) for count in (None, 5)]
    group = start(of)
    for event in events:
        group = step(of, group, event)
    with pytest.raises(IllegalEvent, match=r"'n'.* cannot be: member 'c-1' owns orders-5, but orders has 5 partitions"):
        step(of, group, consumer.join("n", ("orders",)))
