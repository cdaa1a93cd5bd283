"""A consumer group as its coordinator knows it: epochs, members, targets; and the topics of the cluster."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias, TypeVar

from kafkalearn.assignors.members import topic_halves
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.java import FIRST_SLOTS, timeline_order, timeline_slots
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups import defaults as group_states
from kafkalearn.groups.consumer.events import OFFSET_COMMIT, Effect, Settings, Topic, TopicChanged, tombstone
from kafkalearn.groups.defaults import MOST_PARTITIONS

STABLE = "STABLE"
UNREVOKED_PARTITIONS = "UNREVOKED_PARTITIONS"
UNRELEASED_PARTITIONS = "UNRELEASED_PARTITIONS"
MEMBER_STATES = {
    STABLE: "it has what it was last assigned",
    UNREVOKED_PARTITIONS: "it has to give up partitions and has not confirmed it",
    UNRELEASED_PARTITIONS: "partitions of its target are still held by others",
}
"""The states of a member, with their meaning."""

JOIN, LEAVE, LEAVE_FOR_A_WHILE = 0, -1, -2
"""The member epochs that mean something else than an epoch."""

CONSUMER, CLASSIC = "Consumer", "Classic"
"""The types of a group, by Kafka's names."""


class Held(NamedTuple):
    """A partition that a member holds, and the epoch of the assignment that gave it."""

    topic: str
    partition: int
    epoch: int


class Matched(NamedTuple):
    """What a pattern has matched, for all members that have it."""

    pattern: str
    topics: tuple[str, ...]


class ClassicSide(NamedTuple):
    """What is known of a member that speaks the classic protocol in a group of this one."""

    client: str  # the label of the client that its answers go to
    session_timeout_ms: int
    protocols: tuple[tuple[str, Hashable], ...]  # (assignor, metadata), the preferred first


@dataclass(frozen=True, slots=True)
class Member:
    """One member, as its coordinator knows it."""

    member_id: str
    topics: tuple[str, ...] = ()
    instance_id: str | None = None  # of a static member
    assignor: str | None = None  # that it asks for
    rebalance_timeout_ms: int = -1
    epoch: int = JOIN  # the assignment epoch it has reached; -2: a static member that is away for a while
    previous_epoch: int = -1
    state: str = STABLE  # a name in MEMBER_STATES
    assigned: tuple[Held, ...] = ()  # what the coordinator has given it, by topic and partition
    pending_revocation: tuple[Held, ...] = ()  # what it has to give up and has not confirmed
    session_ends_at_ms: int | None = None
    revocation_ends_at_ms: int | None = None  # set while it is UNREVOKED_PARTITIONS
    classic: ClassicSide | None = None  # None: it speaks the protocol of the group, as all do that are not mixed
    join_ends_at_ms: int | None = None  # of a classic one: until then it has to send the JoinGroup it was asked for
    sync_ends_at_ms: int | None = None  # the same of its SyncGroup
    pattern: str = ""  # of topics that it subscribes to beside those it has named; empty: none

    @property
    def assigned_partitions(self) -> tuple[TopicPartition, ...]:
        """What the coordinator has given it."""
        return partitions_of(self.assigned)

    @property
    def pending_partitions(self) -> tuple[TopicPartition, ...]:
        """What it has to give up and has not confirmed."""
        return partitions_of(self.pending_revocation)

    def is_at(self, assignment_epoch: int) -> bool:
        """Whether it has reached the target of this epoch."""
        return self.state == STABLE and self.epoch == assignment_epoch


Target: TypeAlias = tuple[str, tuple[TopicPartition, ...]]


@dataclass(frozen=True, slots=True)
class Group:
    """The whole group at one moment."""

    group_epoch: int
    assignment_epoch: int
    assigned_at_ms: int | None = None  # when the last target was computed
    members: tuple[Member, ...] = ()  # in the order they joined
    slot_count: int = FIRST_SLOTS  # of the broker's map of members, see kafkalearn.base.java
    static_ids: tuple[tuple[str, str], ...] = ()  # (instance id, member id)
    targets: tuple[Target, ...] = ()  # (member id, partitions), in the broker's order
    topics: tuple[Topic, ...] = ()  # of the cluster, by name
    former_topics: tuple[Topic, ...] = ()  # that are gone
    topic_version: int = 0  # how many topics were created so far
    matched: tuple[Matched, ...] = ()  # what the patterns of its members have matched, where they have
    matched_at_ms: int | None = None  # when that was, of all of them
    matched_version: int = 0  # the topic version then
    seen_topics: tuple[Topic, ...] = ()  # those of the cluster it subscribes to, when it last looked
    look_at_ms: int = 0  # from then on, the next heartbeat of anybody looks at the topics again
    group_type: str | None = None  # CONSUMER; CLASSIC: a client without a group has committed; None: no such group
    is_deleted: bool = False  # there was a group
    committed: tuple[TopicPartition, ...] = ()  # the partitions that have a committed offset
    now_ms: int = 0
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # what the last event led to

    @property
    def state(self) -> str:
        """A name in `kafkalearn.groups.defaults.CONSUMER_STATES`."""
        if self.is_deleted:
            return group_states.DEAD
        if not self.members:
            return group_states.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return group_states.ASSIGNING
        for member in self.members:
            if not member.is_at(self.assignment_epoch):
                return group_states.RECONCILING
        return group_states.STABLE

    @property
    def must_look(self) -> bool:
        """Whether the next heartbeat looks at the topics of the cluster: they have changed, or 25 days have passed."""
        return self.now_ms >= self.look_at_ms

    @property
    def member_ids(self) -> tuple[str, ...]:
        """All members in the order they joined."""
        return tuple(member.member_id for member in self.members)

    @property
    def in_broker_order(self) -> tuple[Member, ...]:
        """All members as the coordinator walks its map of them."""
        by_id = {member.member_id: member for member in self.members}
        return tuple(by_id[member_id] for member_id in timeline_order(by_id, self.slot_count))

    @property
    def partition_counts(self) -> dict[str, int]:
        """The partitions of each topic of the cluster."""
        return {topic.name: topic.partition_count for topic in self.topics}

    def member(self, member_id: str) -> Member:
        """One member.

        Raises
        ------
        KafkaLearnError
            If nobody in the group is called so.
        """
        found = self.find(member_id)
        if found is None:
            raise KafkaLearnError(f"no member {member_id!r}; the group has {list(self.member_ids)}")
        return found

    def find(self, member_id: str | None) -> Member | None:
        """The member of this id, or None."""
        return next((member for member in self.members if member.member_id == member_id), None)

    def static_id(self, instance_id: str | None) -> str | None:
        """The member id that has this instance id, or None."""
        return None if instance_id is None else dict(self.static_ids).get(instance_id)

    def target(self, member_id: str) -> tuple[TopicPartition, ...]:
        """The partitions that a member is to have in the end; none if it is not in the target yet."""
        return dict(self.targets).get(member_id, ())

    @property
    def matched_names(self) -> set[str]:
        """The topics that a pattern has matched, whether they exist or not."""
        return {topic for each in self.matched for topic in each.topics}

    @property
    def subscribed_names(self) -> set[str]:
        """The topics that a member has named, and those that a pattern has matched, whether they exist or not."""
        return self.matched_names.union(*(member.topics for member in self.members))

    def names_of(self, member: Member) -> set[str]:
        """What a member subscribes to: the topics that it has named, and those that its pattern has matched so far."""
        return {*member.topics, *dict(self.matched).get(member.pattern, ())}

    @property
    def subscribed_topics(self) -> tuple[Topic, ...]:
        """The topics that exist and that some member subscribes to."""
        names = self.subscribed_names
        return tuple(topic for topic in self.topics if topic.name in names)

    @property
    def holders(self) -> dict[TopicPartition, str]:
        """The member that holds each partition: it is assigned, or its revocation is not confirmed yet."""
        return {
            partition: member.member_id
            for member in self.members
            for partition in member.assigned_partitions + member.pending_partitions
        }

    def with_member(self, member: Member) -> Group:
        """The group with a member put in its place, or added at the end; nothing is written of it."""
        if self.find(member.member_id) is None:
            return replace(self, members=(*self.members, member))
        same = member.member_id
        return replace(self, members=tuple(member if each.member_id == same else each for each in self.members))

    def with_written(self, member: Member) -> Group:
        """The same as a record of the member has it: the broker's maps of members and of instance ids change.

        References
        ----------
        Apache Kafka, ``ConsumerGroup.updateMember``.
        """
        group = replace(self.with_member(member), slot_count=timeline_slots(self.slot_count, len(self.members)))
        if member.instance_id is None:
            return group
        return replace(group, static_ids=tuple({**dict(self.static_ids), member.instance_id: member.member_id}.items()))

    def without_static_id(self, instance_id: str | None) -> Group:
        """The group in which nobody has this instance id."""
        return replace(self, static_ids=tuple(each for each in self.static_ids if each[0] != instance_id))

    def without_member(self, member_id: str) -> Group:
        """The group without a member and its target.

        References
        ----------
        Apache Kafka, ``ConsumerGroup.removeMember``.
        """
        gone = self.member(member_id)
        return replace(
            self,
            members=tuple(member for member in self.members if member is not gone),
            static_ids=tuple(each for each in self.static_ids if each[0] != gone.instance_id),
            targets=tuple(target for target in self.targets if target[0] != member_id),
        )

    def with_targets(self, targets: Iterable[Target]) -> Group:
        """The group with these targets put in the place of those before."""
        return replace(self, targets=tuple({**dict(self.targets), **dict(targets)}.items()))


def partitions_of(held: Iterable[Held]) -> tuple[TopicPartition, ...]:
    """The partitions alone, without their epochs.

    >>> partitions_of([Held("orders", 3, epoch=2)])
    (TopicPartition(topic='orders', partition=3),)
    """
    return tuple(TopicPartition(topic, partition) for topic, partition, _ in held)


def start(settings: Settings) -> Group:
    """A group that nobody has joined yet.

    >>> start(Settings()).group_epoch, start(Settings(release="4.2")).group_epoch
    (1, 0)
    """
    ids = dict(settings.topic_ids)
    topics = tuple(Topic(name, count, ids.get(name)) for name, count in settings.topics)
    return new_group(settings, topics)


def new_group(settings: Settings, topics: tuple[Topic, ...]) -> Group:
    """A group without members, whose epochs have not begun to count."""
    first = settings.rules.first_epoch
    return Group(group_epoch=first, assignment_epoch=first, topics=topics)


Place = TypeVar("Place", Held, TopicPartition)


def change_topic(settings: Settings, group: Group, event: TopicChanged) -> Group:
    """The group with the topic changed; its coordinator looks at topics only with the next heartbeat.

    Raises
    ------
    IllegalEvent
        If the topic is not there, loses partitions, or is given an id that it cannot have.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager.onMetadataUpdate``, ``OffsetMetadataManager.onPartitionsDeleted``.
    """
    topic = next((each for each in group.topics if each.name == event.topic), None)
    if event.partition_count is None:
        group = _delete(group, topic, event)
    elif topic is None:
        group = _create(settings, group, event, event.partition_count)
    else:
        group = _grow(group, topic, event, event.partition_count)
    total = sum(group.partition_counts.values())
    if total > MOST_PARTITIONS:
        raise IllegalEvent(f"{event!r}: the topics would have {total:,} partitions, {MOST_PARTITIONS:,} at most")
    return replace(group, look_at_ms=group.now_ms) if event.topic in group.subscribed_names else group


def _delete(group: Group, topic: Topic | None, event: TopicChanged) -> Group:
    if topic is None:
        raise IllegalEvent(f"{event!r}: there is no such topic; there are {list(group.partition_counts)}")
    left = tuple(each for each in group.committed if each.topic != topic.name)
    return replace(
        group,
        topics=tuple(each for each in group.topics if each is not topic),
        former_topics=(*group.former_topics, topic),
        committed=left,
        effects=(tombstone(OFFSET_COMMIT),) * (len(group.committed) - len(left)),
    )


def _create(settings: Settings, group: Group, event: TopicChanged, partition_count: int) -> Group:
    former = next((each for each in group.former_topics if each.name == event.topic), None)
    topic_id = event.topic_id
    if topic_id is None and former is None:
        topic_id = dict(settings.topic_ids).get(event.topic)
    _check_id(settings, group, event, topic_id)
    if former is not None:
        group = _renamed(group, former)
    number = 1 if former is None else former.number + 1
    topic = Topic(event.topic, partition_count, topic_id, number)
    topics = tuple(sorted((*group.topics, topic)))
    return replace(group, topics=topics, topic_version=group.topic_version + 1, effects=())


def _check_id(settings: Settings, group: Group, event: TopicChanged, topic_id: str | None) -> None:
    if topic_id is None and settings.topic_ids:
        raise IllegalEvent(f"{event!r}: the settings give the ids of topics, so a new topic needs one: topic_id=")
    if topic_id is not None and not settings.topic_ids:
        raise IllegalEvent(f"{event!r}: the settings give no ids of topics, so no topic can have one; leave it out")
    topics = (*group.topics, *group.former_topics)
    if topic_id is not None:
        topic_halves({event.topic: topic_id})
    if topic_id is not None and topic_id in {each.topic_id for each in topics}:
        raise IllegalEvent(f"{event!r}: another topic has this id; Kafka gives each topic its own, also one made anew")


def _grow(group: Group, topic: Topic, event: TopicChanged, partition_count: int) -> Group:
    if partition_count < topic.partition_count:
        raise IllegalEvent(f"{event!r}: the topic has {topic.partition_count} partitions, and Kafka takes none away")
    if event.topic_id not in (None, topic.topic_id):
        raise IllegalEvent(f"{event!r}: the topic has the id {topic.topic_id!r} until it is deleted")
    grown = topic._replace(partition_count=partition_count)
    return replace(group, topics=tuple(grown if each is topic else each for each in group.topics), effects=())


def _renamed(group: Group, former: Topic) -> Group:
    """The group with another name for all that it still holds of a topic whose name is taken again."""
    name = former.name_when_replaced

    def renamed(places: tuple[Place, ...]) -> tuple[Place, ...]:
        return tuple(each._replace(topic=name) if each.topic == former.name else each for each in places)

    return replace(
        group,
        members=tuple(
            replace(each, assigned=renamed(each.assigned), pending_revocation=renamed(each.pending_revocation))
            for each in group.members
        ),
        targets=tuple((member_id, renamed(target)) for member_id, target in group.targets),
        former_topics=tuple(each._replace(name=name) if each is former else each for each in group.former_topics),
    )
