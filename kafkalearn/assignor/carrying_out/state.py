"""The state of a rebalance: the group, with who reads what just now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.carrying_out.effects import Effect
from kafkalearn.assignor.carrying_out.settings import Settings
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.rebalancing import settled
from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class Group:
    """A group, before, during and after a rebalance."""

    members: tuple[Member, ...]
    reading: Assignment  # who reads what just now
    assigned: Assignment  # what each member was assigned last, which it will report
    first: Assignment  # who read what before it all began
    partitions: tuple[TopicPartition, ...]  # of all topics that somebody subscribes to or did
    generation: int = 1
    round_number: int = 0  # rounds since the group changed
    has_stopped: bool = False  # everybody has given everything up
    left: tuple[str, ...] = ()  # members that are gone
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def unread(self) -> tuple[TopicPartition, ...]:
        """The partitions that nobody reads."""
        read = self.reading.owners()
        return tuple(partition for partition in self.partitions if partition not in read)


def start(settings: Settings) -> Group:
    """The group when it has settled: everybody reads what it was assigned."""
    first = settled(settings.assignor, settings.counts, settings.members)
    return Group(settings.members, first, first, first, partitions_of(settings, settings.members))


def partitions_of(settings: Settings, members: Iterable[Member]) -> tuple[TopicPartition, ...]:
    """The partitions of all topics that these members subscribe to."""
    counts = settings.counts
    topics = dict.fromkeys(topic for member in members for topic in member.topics if topic in counts)
    return tuple(TopicPartition(topic, number) for topic in topics for number in range(counts[topic]))
