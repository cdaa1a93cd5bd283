"""What is kept of a run: its moments and its rebalances."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafkalearn.group.world.clock import Clock
from kafkalearn.group.world.consumers import CONSUMING, Consumer
from kafkalearn.group.world.protocol import GroupView
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame


class MemberMoment(NamedTuple):
    """A consumer at one moment: what it does, and what it believes to own."""

    name: str
    doing: str
    owned: tuple[TopicPartition, ...]


class Moment(NamedTuple):
    """The group and its consumers at one moment; they stay so until the next."""

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
        """How many consumers read each partition; a partition without readers is not in it."""
        readers: dict[TopicPartition, int] = {}
        for member in self.members:
            if member.doing == CONSUMING:
                for partition in member.owned:
                    readers[partition] = readers.get(partition, 0) + 1
        return readers


class Rebalance(NamedTuple):
    """One time in which the group agreed anew."""

    from_ms: int
    to_ms: int | None  # None: it was not over when the scenario ended
    causes: tuple[str, ...]
    generation: int | None  # the one it led to


class Recorder:
    """Keeps the moments of a run and its rebalances, as they come."""

    def __init__(self, clock: Clock) -> None:
        """Nothing has happened yet."""
        self._clock = clock
        self._notes: list[str] = []
        self.trace: list[Frame[Moment, str]] = []
        self.rebalances: list[Rebalance] = []

    @property
    def has_notes(self) -> bool:
        """Whether something was noted since the last moment was kept."""
        return bool(self._notes)

    def note(self, what: str) -> None:
        """Something has happened that is worth a frame; all that happens in one ms shares it. "" needs no words."""
        self._notes.append(what)

    def keep(self, view: GroupView, consumers: Iterable[Consumer], topics: Mapping[str, int]) -> None:
        """Keep the present moment, unless it looks like the last and no note has words."""
        now_ms = self._clock.now_ms
        members = tuple(MemberMoment(each.name, each.doing(now_ms), each.owned) for each in consumers)
        moment = Moment(now_ms, view.state, view.generation, view.leader, members, tuple(topics.items()))
        cause = "; ".join(dict.fromkeys(each for each in self._notes if each))
        self._notes = []
        if self.trace and not cause and moment[1:] == self.trace[-1].state[1:]:
            return
        self.trace.append(Frame(len(self.trace), cause if self.trace else None, moment))

    def rebalance_starts(self, cause: str) -> None:
        """A rebalance begins, or one that is going on has a further cause."""
        if self.rebalances and self.rebalances[-1].to_ms is None:
            last = self.rebalances[-1]
            if cause not in last.causes:
                self.rebalances[-1] = last._replace(causes=(*last.causes, cause))
        else:
            self.rebalances.append(Rebalance(self._clock.now_ms, None, (cause,), None))

    def rebalance_ends(self, generation: int) -> None:
        """The rebalance that is going on, if any, is over."""
        if self.rebalances and self.rebalances[-1].to_ms is None:
            self.rebalances[-1] = self.rebalances[-1]._replace(to_ms=self._clock.now_ms, generation=generation)

    def end(self, end_ms: int) -> None:
        """The scenario is over: the last moment lasts until here."""
        last = self.trace[-1].state
        self.trace.append(Frame(len(self.trace), "the end", last._replace(time_ms=end_ms)))
