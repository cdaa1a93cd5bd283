"""A consumer group as its coordinator knows it: epochs, members, targets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from kafkalearn import group_states
from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.consumer.effects import Effect
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.topic_partition import TopicPartition

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


class Held(NamedTuple):
    """A partition that a member holds, and the epoch of the assignment that gave it."""

    topic: str
    partition: int
    epoch: int


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
    assignment_epoch: int = 0
    assigned_at_ms: int | None = None  # when the last target was computed
    members: tuple[Member, ...] = ()  # in the order they joined
    targets: tuple[Target, ...] = ()  # (member id, partitions), in the broker's order
    topics: tuple[tuple[str, int], ...] = ()  # the cluster's topics and their partition counts
    seen_topics: tuple[tuple[str, int], ...] = ()  # those of them it subscribes to, when it last looked
    must_look: bool = False  # the cluster's topics have changed since
    now_ms: int = 0
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # what the last event led to

    @property
    def state(self) -> str:
        """A name in `kafkalearn.group_states.CONSUMER_STATES`."""
        if not self.members:
            return group_states.EMPTY
        if self.group_epoch > self.assignment_epoch:
            return group_states.ASSIGNING
        have_all_reached_it = all(member.is_at(self.assignment_epoch) for member in self.members)
        return group_states.STABLE if have_all_reached_it else group_states.RECONCILING

    @property
    def member_ids(self) -> tuple[str, ...]:
        """All members in the order they joined."""
        return tuple(member.member_id for member in self.members)

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

    def find(self, member_id: str) -> Member | None:
        """The member of this id, or None."""
        return next((member for member in self.members if member.member_id == member_id), None)

    def find_static(self, instance_id: str | None) -> Member | None:
        """The member with this instance id, or None."""
        if instance_id is None:
            return None
        return next((member for member in self.members if member.instance_id == instance_id), None)

    def target(self, member_id: str) -> tuple[TopicPartition, ...]:
        """The partitions that a member is to have in the end; none if it is not in the target yet."""
        return dict(self.targets).get(member_id, ())

    @property
    def subscribed_topics(self) -> tuple[tuple[str, int], ...]:
        """The topics that exist and that some member subscribes to, with their partition counts."""
        names = {topic for member in self.members for topic in member.topics}
        return tuple((name, count) for name, count in self.topics if name in names)

    @property
    def holders(self) -> dict[TopicPartition, str]:
        """The member that holds each partition: it is assigned, or its revocation is not confirmed yet."""
        return {
            partition: member.member_id
            for member in self.members
            for partition in member.assigned_partitions + member.pending_partitions
        }

    def with_member(self, member: Member) -> Group:
        """The group with a member put in its place, or added at the end."""
        if self.find(member.member_id) is None:
            return replace(self, members=(*self.members, member))
        same = member.member_id
        return replace(self, members=tuple(member if each.member_id == same else each for each in self.members))

    def without_member(self, member_id: str) -> Group:
        """The group without a member and its target."""
        return replace(
            self,
            members=tuple(member for member in self.members if member.member_id != member_id),
            targets=tuple(target for target in self.targets if target[0] != member_id),
        )


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
    return Group(group_epoch=settings.rules.first_group_epoch, topics=settings.topics)
