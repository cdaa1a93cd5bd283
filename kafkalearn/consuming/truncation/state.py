"""The state: a partition on its brokers, the consumers of a group, what the group has committed and read."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkalearn.consuming.truncation.effects import Effect
from kafkalearn.consuming.truncation.settings import Settings
from kafkalearn.replication.state import UNKNOWN, Partition
from kafkalearn.replication.state import start as start_partition

FETCHING, VALIDATING, RESETTING, FAILED = "fetching", "validating", "resetting", "failed"
"""What the next poll does with a position; FAILED: the application got an exception, and nothing goes on."""


class Position(NamedTuple):
    """The next offset, and the leader epoch of the record before it."""

    offset: int  # -1: not looked up yet
    epoch: int | None = None  # None: not known


class Reading(NamedTuple):
    """One record that the application was given."""

    consumer: str
    offset: int
    value: str
    was_committed: bool = False  # the group had committed an offset behind it already


@dataclass(frozen=True, slots=True)
class Consumer:
    """One consumer: whom it takes for the leader, and, while the partition is its own, where it stands."""

    name: str
    leader: int | None
    leader_epoch: int  # of that leader
    newest_epoch: int  # it has heard of, from metadata or a commit; metadata of an older one it does not use
    position: Position | None = None  # None: the partition is not its own
    doing: str = FETCHING

    @property
    def knows_leader(self) -> bool:
        """Whether it has a leader to ask; not after it has heard of a newer epoch than that leader's."""
        return self.leader is not None and self.leader_epoch >= self.newest_epoch

    @property
    def own_position(self) -> Position:
        """The position of the consumer that has the partition: no other is asked for it."""
        assert self.position is not None
        return self.position


@dataclass(frozen=True, slots=True)
class GroupRead:
    """A partition and the group that reads it."""

    partition: Partition
    consumers: tuple[Consumer, ...]
    committed: Position | None = None
    readings: tuple[Reading, ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # of the last event

    @property
    def owner(self) -> Consumer | None:
        """The consumer that has the partition; None: nobody yet."""
        return next((each for each in self.consumers if each.position is not None), None)

    def with_consumer(self, consumer: Consumer) -> GroupRead:
        """The state with this consumer in place of the one of its name."""
        consumers = tuple(consumer if each.name == consumer.name else each for each in self.consumers)
        return replace(self, consumers=consumers)


def start(settings: Settings) -> GroupRead:
    """A new partition of which nobody has read anything; every consumer knows its leader.

    >>> start(Settings()).consumers[0].leader
    1
    """
    partition = start_partition(settings.topic)
    epoch = partition.controller.leader_epoch if settings.has_epochs else UNKNOWN
    leader = partition.controller.leader
    return GroupRead(partition, tuple(Consumer(name, leader, epoch, epoch) for name in settings.consumers))
