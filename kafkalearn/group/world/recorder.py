"""What is kept of a run: its moments, and its rebalances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kafkalearn.group.world.consumers import CONSUMING
from kafkalearn.group.world.protocol import GroupView
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame


class MemberMoment(NamedTuple):
    """A consumer at one moment: what it does, and what it believes to own."""

    name: str
    doing: str
    owned: tuple[TopicPartition, ...]


class Moment(NamedTuple):
    """The group and its consumers at one moment; so they stay until the next."""

    time_ms: int
    state: str  # of the group, as its coordinator sees it
    generation: int
    leader: str | None
    members: tuple[MemberMoment, ...]
    topics: tuple[tuple[str, int], ...]

    def member(self, name: str) -> MemberMoment:
        """The consumer of that name."""
        return next(each for each in self.members if each.name == name)

    @property
    def partitions(self) -> tuple[TopicPartition, ...]:
        """All partitions there are."""
        return tuple(TopicPartition(topic, number) for topic, count in self.topics for number in range(count))

    def owners(self) -> dict[TopicPartition, tuple[MemberMoment, ...]]:
        """Who believes to own each partition."""
        owners: dict[TopicPartition, tuple[MemberMoment, ...]] = {}
        for member in self.members:
            for partition in member.owned:
                owners[partition] = (*owners.get(partition, ()), member)
        return owners

    def readers(self) -> dict[TopicPartition, int]:
        """How many consumers read each partition; who reads none is not in it."""
        readers: dict[TopicPartition, int] = {}
        for member in self.members:
            if member.doing == CONSUMING:
                for partition in member.owned:
                    readers[partition] = readers.get(partition, 0) + 1
        return readers


class Rebalance(NamedTuple):
    """One time in which the group agreed anew."""

    from_ms: int
    to_ms: int | None  # None: still at it when the scenario ended
    causes: tuple[str, ...]
    generation: int | None  # that came of it


class Recorder:
    """Takes the moments of a run as they come."""

    def __init__(self) -> None:
        """Nothing has happened."""
        self.trace: list[Frame[Moment, str]] = []
        self.rebalances: list[Rebalance] = []

    def snap(
        self,
        now_ms: int,
        view: GroupView,
        members: Sequence[tuple],
        topics: Mapping[str, int],
        causes: Sequence[str],
    ) -> None:
        """Keep the present moment, if something is worth it."""
        seen = tuple(MemberMoment(*each) for each in members)
        moment = Moment(now_ms, view.state, view.generation, view.leader, seen, tuple(topics.items()))
        cause = "; ".join(dict.fromkeys(each for each in causes if each))
        if self.trace and not cause and moment[1:] == self.trace[-1].state[1:]:
            return
        self.trace.append(Frame(len(self.trace), cause if self.trace else None, moment))

    def rebalance_starts(self, now_ms: int, cause: str) -> None:
        """A rebalance begins, or one that is going on has a further cause."""
        if self.rebalances and self.rebalances[-1].to_ms is None:
            last = self.rebalances[-1]
            if cause not in last.causes:
                self.rebalances[-1] = last._replace(causes=(*last.causes, cause))
        else:
            self.rebalances.append(Rebalance(now_ms, None, (cause,), None))

    def rebalance_ends(self, now_ms: int, generation: int) -> None:
        """The rebalance that is going on is over."""
        if self.rebalances and self.rebalances[-1].to_ms is None:
            self.rebalances[-1] = self.rebalances[-1]._replace(to_ms=now_ms, generation=generation)

    def end(self, end_ms: int) -> None:
        """The scenario is over: the last moment lasts until here."""
        last = self.trace[-1].state
        self.trace.append(Frame(len(self.trace), "the end", last._replace(time_ms=end_ms)))
