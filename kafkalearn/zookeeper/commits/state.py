"""A group of old consumers with both stores of offsets: nodes in ZooKeeper, and a partition of the offsets topic."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.replicated import state as topic_state
from kafkalearn.offsets.replicated.state import ReplicatedStore
from kafkalearn.phrases import listed
from kafkalearn.zookeeper.commits.effects import CommittingEffect
from kafkalearn.zookeeper.commits.settings import Settings

Value = TypeVar("Value")
Offsets = tuple[tuple[int, int], ...]
"""Pairs of a partition and an offset."""

FETCHING, RUNNING, CLOSING = "fetching offsets", "running", "closing"


class PendingCommit(NamedTuple):
    """A commit to the topic that has not ended."""

    offsets: Offsets
    tries_left: int  # this one included
    errors: tuple[tuple[int, str], ...] = ()  # what was answered so far, by partition
    is_waiting: bool = False  # it failed, and is tried again after the backoff


class Consumer(NamedTuple):
    """A consumer of the group."""

    name: str
    offsets_storage: str
    dual_commit_enabled: bool
    partitions: tuple[int, ...]
    status: str = FETCHING
    consumed: Offsets = ()
    checkpointed: Offsets = ()  # what it believes ZooKeeper has: checkpointedZkOffsets
    channel: int | None = None  # the broker that it takes for the coordinator
    commit: PendingCommit | None = None


@dataclass(frozen=True, slots=True)
class OldGroup:
    """A group, what it reads and what it has committed, at one moment."""

    log_ends: tuple[int, ...]
    zookeeper: tuple[int | None, ...]  # the content of each partition's node; None: there is none
    topic: ReplicatedStore
    consumers: tuple[Consumer, ...] = ()
    first: tuple[int | None, ...] = ()  # where the group began to read each partition
    reads: tuple[tuple[int, ...], ...] = ()  # how often each record of each partition was read
    effects: tuple[CommittingEffect, ...] = field(default=(), compare=False)

    def consumer(self, name: str) -> Consumer:
        """A consumer that is there; IllegalEvent if there is none of that name."""
        found = next((each for each in self.consumers if each.name == name), None)
        if found is None:
            there = listed((each.name for each in self.consumers), nothing="nobody")
            raise IllegalEvent(f"there is no consumer {name}: Start it first; there is {there}")
        return found

    def in_topic(self, settings: Settings) -> tuple[int | None, ...]:
        """What the coordinator would answer for each partition, once a leader has loaded the topic; None: nothing."""
        leader = self.topic.partition.controller.leader
        coordinator = None if leader is None else self.topic.coordinator(leader)
        groups: tuple[Group, ...] = () if coordinator is None else coordinator.confirmed.groups
        known = {
            offset.partition: offset.offset
            for group in groups
            if group.group_id == settings.group
            for offset in group.offsets
            if offset.topic == settings.topic
        }
        return tuple(known.get(partition) for partition in range(settings.partition_count))


def start(settings: Settings) -> OldGroup:
    """Empty partitions, empty stores, nobody in the group.

    >>> start(Settings(partition_count=2)).zookeeper
    (None, None)
    """
    none = (None,) * settings.partition_count
    topic = topic_state.start(settings.coordinator)
    return OldGroup((0,) * settings.partition_count, none, topic, (), none, ((),) * settings.partition_count)


def with_effect(state: OldGroup, *effects: CommittingEffect) -> OldGroup:
    """The same state, with effects more."""
    return replace(state, effects=(*state.effects, *effects))


def with_consumer(state: OldGroup, consumer: Consumer) -> OldGroup:
    """The same state with another consumer of that name."""
    others = tuple(consumer if each.name == consumer.name else each for each in state.consumers)
    return replace(state, consumers=others)


def without_consumer(state: OldGroup, name: str) -> OldGroup:
    """The same state without a consumer."""
    return replace(state, consumers=tuple(each for each in state.consumers if each.name != name))


def replaced(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    """The values with another one in a place."""
    return (*values[:place], value, *values[place + 1 :])
