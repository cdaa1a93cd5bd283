"""The nouns of consuming: the topic and its groups, what was read, and the events."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kafkalearn.arguments import text, whole_number
from kafkalearn.assignor import ASSIGNORS, Assignment
from kafkalearn.errors import unknown_name

RESETS = ("earliest", "latest")
"""Where a group begins in a partition for which it has committed nothing (``auto.offset.reset``)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same in a run.

    Parameters
    ----------
    partition_count : int
        Partitions of the topic, at least 1.
    topic : str
        Its name.
    assignor : str
        How every group shares the partitions: a name in `kafkalearn.assignor.ASSIGNORS` that runs in a client.
    auto_offset_reset : str
        A name in `RESETS`. (The default of a real consumer is ``latest``.)
    """

    partition_count: int
    topic: str = "orders"
    assignor: str = "range"
    auto_offset_reset: str = "earliest"

    def __post_init__(self) -> None:
        """Refuse what no topic and no consumer can be."""
        whole_number("partition_count", self.partition_count, at_least=1)
        text("topic", self.topic)
        in_clients = [name for name, assignor in ASSIGNORS.items() if assignor.runs_in == "leader"]
        if self.assignor not in in_clients:
            raise unknown_name("assignor of a client", self.assignor, in_clients)
        if self.auto_offset_reset not in RESETS:
            raise unknown_name("auto_offset_reset", self.auto_offset_reset, RESETS)


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
class Group:
    """One group: who is in it, who owns what, how far it has read."""

    group_id: str
    member_ids: tuple[str, ...] = ()  # in the order in which they joined
    generation: int = 0  # one more with each rebalance
    assignment: Assignment = field(default_factory=lambda: Assignment({}))
    positions: tuple[int | None, ...] = ()  # of each partition the next offset to read; None: never owned
    committed: tuple[int | None, ...] = ()  # of each partition what is committed; None: nothing yet
    readings: tuple[Reading, ...] = ()  # in the order in which they were read

    @property
    def idle_member_ids(self) -> tuple[str, ...]:
        """The members that own nothing."""
        return tuple(member_id for member_id in self.member_ids if not self.assignment[member_id])

    def owned(self, member_id: str) -> tuple[int, ...]:
        """The partitions of a member, ascending."""
        return tuple(sorted(partition.partition for partition in self.assignment.get(member_id, ())))

    def owner(self, partition: int) -> str | None:
        """The member that owns a partition; None: there is none."""
        return next((member_id for member_id in self.member_ids if partition in self.owned(member_id)), None)


@dataclass(frozen=True, slots=True)
class State:
    """A topic and all its groups."""

    logs: tuple[tuple[Record, ...], ...]  # of each partition its records
    groups: tuple[Group, ...] = ()
    keyless_count: int = 0  # records without a key so far, which are dealt out in turn

    def group(self, group_id: str) -> Group | None:
        """The group of that id; None: nobody has ever joined it."""
        return next((group for group in self.groups if group.group_id == group_id), None)

    @property
    def record_count(self) -> int:
        """How many records the topic holds."""
        return sum(map(len, self.logs))


@dataclass(frozen=True, slots=True)
class Produce:
    """A record is written: to the partition of its key; without a key, to the next partition in turn."""

    value: str = ""
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """A consumer joins a group, which is there from its first member on; the group rebalances."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class Leave:
    """A member leaves its group, which rebalances; what the group has committed stays."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class Poll:
    """A member asks for records: up to `most` of *one* of its partitions, which take turns; it commits them at once."""

    group_id: str
    member_id: str
    most: int = 1


ConsumingEvent: TypeAlias = Produce | Join | Leave | Poll


def start(settings: Settings) -> State:
    """An empty topic that nobody reads."""
    return State(logs=((),) * settings.partition_count)
