"""The state: one partition, the group that reads it, its coordinator, and the sink for the results."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kafkalearn.commits.effects import CommitEffect
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.sinks import Sink, dropped

NO_GENERATION = -1  # of a standalone consumer, which belongs to no group


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer that runs, with all that it would lose in a crash."""

    name: str
    generation: int  # `NO_GENERATION`: standalone
    position: int  # offset of the next record that poll returns
    done: int  # one past the last record processed; at the start, the position
    requested: int  # the highest offset that it has asked to commit; at the start, the position
    unprocessed: tuple[int, ...] = ()  # polled, not processed
    requested_ms: int = 0  # when it last asked for a commit, or started
    auto_due_ms: int | None = None  # the first poll from then on commits; None: enable.auto.commit is false
    in_flight: tuple[int, ...] = ()  # offsets of asynchronous commits without an answer, oldest first
    failed: int | None = None  # offset of the commit whose callback has just got a retriable error
    restored: int = 0  # where it started, or made its last checkpoint


@dataclass(frozen=True, slots=True)
class Written:
    """A commit that the coordinator has written down: one record in ``__consumer_offsets``."""

    now_ms: int
    by: str
    offset: int
    metadata: str = ""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One partition of a topic, the group that reads it, its coordinator, and where the results go."""

    log_end: int  # records 0 to log_end - 1 have been written
    log_start: int = 0  # older ones have been deleted
    first: int = 0  # the group has to process every record from here on
    committed: int | None = None  # as the coordinator has it; None: nothing
    written: tuple[Written, ...] = ()
    generation: int = 0
    owner: str | None = None  # the member that the coordinator takes for the owner of the partition
    consumers: tuple[Consumer, ...] = ()  # those that run, by name
    sink: Sink = field(default_factory=Sink)
    answered: int = 0  # asynchronous commits that have been answered
    polled: int = 0  # one past the highest offset that a poll has returned
    now_ms: int = 0
    effects: tuple[CommitEffect, ...] = field(default=(), compare=False)  # of the last event

    @property
    def metadata(self) -> str:
        """The text that was committed with the offset; "" if none was."""
        return self.written[-1].metadata if self.written else ""

    def consumer(self, name: str) -> Consumer | None:
        """A consumer that runs; None: it does not."""
        return next((each for each in self.consumers if each.name == name), None)

    def running(self, name: str) -> Consumer:
        """A consumer that is known to run."""
        return next(each for each in self.consumers if each.name == name)

    def with_consumer(self, consumer: Consumer) -> Pipeline:
        """The pipeline with this consumer in place of the one of its name."""
        others = [each for each in self.consumers if each.name != consumer.name]
        return replace(self, consumers=tuple(sorted([*others, consumer], key=lambda each: each.name)))

    def without_consumer(self, name: str) -> Pipeline:
        """The pipeline without that consumer and what the sink held for it; if it was the owner, nobody is."""
        consumers = tuple(each for each in self.consumers if each.name != name)
        owner = None if self.owner == name else self.owner
        return replace(self, consumers=consumers, owner=owner, sink=dropped(self.sink, name))

    def with_effect(self, effect: CommitEffect) -> Pipeline:
        """The pipeline with one more effect of the event."""
        return replace(self, effects=(*self.effects, effect))


def start(settings: Settings) -> Pipeline:
    """The partition with its records, and a group of which no consumer runs.

    >>> start(Settings(6, committed=2)).first
    2
    """
    committed = settings.committed or 0
    return Pipeline(settings.record_count, first=committed, committed=settings.committed, polled=committed)
