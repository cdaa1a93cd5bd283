"""The state: a topic and the groups that read it."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.consuming.effects import ConsumingEffect
from kafkalearn.consuming.settings import Settings
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the topic. Its offset is its place in its partition."""

    number: int  # in the order in which all records of the topic were produced
    key: bytes | None
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One record, read by one member of a group."""

    member_id: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class OwnOffset:
    """What one member has committed in a partition, where each member keeps its own offsets."""

    member_id: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Group:
    """One group: its members, what each of them owns, and how far the group has read."""

    group_id: str
    member_ids: tuple[str, ...] = ()  # in the order in which they joined
    generation: int = 0  # one more with each rebalance
    assignment: Assignment = field(default_factory=lambda: Assignment({}))
    positions: tuple[int | None, ...] = ()  # of each partition the next offset to read; None: never owned
    committed: tuple[int | None, ...] = ()  # of each partition what counts as committed; None: nothing yet
    own_offsets: tuple[OwnOffset, ...] = ()  # of each member, in order; none where the group keeps them
    readings: tuple[Reading, ...] = ()  # in the order in which they were read

    @property
    def idle_member_ids(self) -> tuple[str, ...]:
        """The members that own nothing."""
        return tuple(member_id for member_id in self.member_ids if not self.assignment[member_id])

    def owned(self, member_id: str) -> tuple[int, ...]:
        """The partitions of a member, ascending."""
        return tuple(sorted(partition.partition for partition in self.assignment.get(member_id, ())))

    def position(self, partition: int) -> int:
        """The next offset to read in a partition; 0 where nobody has ever owned it."""
        return self.positions[partition] or 0

    def owner(self, partition: int) -> str | None:
        """The member that owns a partition; None: there is none."""
        return next((member_id for member_id in self.member_ids if partition in self.owned(member_id)), None)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and all the groups that read it."""

    name: str
    logs: tuple[tuple[Record, ...], ...]  # of each partition its records
    groups: tuple[Group, ...] = ()  # in the order in which their first members joined
    keyless_count: int = 0  # records without a key so far: each goes to the next partition in turn
    effects: tuple[ConsumingEffect, ...] = field(default=(), compare=False)  # of the last event

    def group(self, group_id: str) -> Group | None:
        """The group of that id; None: nobody has ever joined it."""
        return next((group for group in self.groups if group.group_id == group_id), None)

    def existing_group(self, group_id: str) -> Group:
        """The group of that id; KafkaLearnError if nobody has ever joined it."""
        group = self.group(group_id)
        if group is None:
            known = ", ".join(repr(each.group_id) for each in self.groups) or "none"
            raise KafkaLearnError(f"there is no group {shown(group_id)}; there are {known}")
        return group

    @property
    def record_count(self) -> int:
        """How many records the topic holds."""
        return sum(map(len, self.logs))


def start(settings: Settings) -> Topic:
    """An empty topic that nobody reads."""
    return Topic(settings.topic, logs=((),) * settings.partition_count)
