"""The nouns: settings of the group, a consumer's position and what it holds, the coordinator's record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from kafkalearn.arguments import whole_number
from kafkalearn.commits.sinks import PLAIN, SINKS, Sink
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.versions import default

NO_GENERATION = -1  # of a standalone consumer, which belongs to no group
RESETS = ("earliest", "latest", "none")
"""Values of ``auto.offset.reset`` in this simulator; `kafkalearn.commits.start_offset` knows by_duration as well."""


def _default(setting: str) -> Callable[[], object]:
    """The consumer's default in Kafka 4.3, looked up when first needed."""
    return partial(default, setting, side="consumer")


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same while a group reads one partition.

    Parameters
    ----------
    is_auto : bool
        ``enable.auto.commit``. Off here without a word, as nearly all strategies commit by themselves; Kafka's default
        is on.
    auto_commit_interval_ms : int
        ``auto.commit.interval.ms``; without one, the default of Kafka 4.3.
    auto_offset_reset : str
        ``auto.offset.reset``, a name in `RESETS`.
    max_poll_records : int
        ``max.poll.records``: the most that one poll returns.
    sink : str
        How results are stored, a name in `kafkalearn.commits.SINKS`.
    """

    is_auto: bool = False
    auto_commit_interval_ms: int = field(default_factory=_default("auto.commit.interval.ms"))
    auto_offset_reset: str = field(default_factory=_default("auto.offset.reset"))
    max_poll_records: int = field(default_factory=_default("max.poll.records"))
    sink: str = PLAIN

    def __post_init__(self) -> None:
        """Refuse what no consumer can be configured to."""
        whole_number("auto_commit_interval_ms", self.auto_commit_interval_ms, at_least=0)
        whole_number("max_poll_records", self.max_poll_records, at_least=1)
        if self.auto_offset_reset not in RESETS:
            raise unknown_name("auto_offset_reset", self.auto_offset_reset, RESETS)
        if self.sink not in SINKS:
            raise unknown_name("sink", self.sink, SINKS)


@dataclass(frozen=True, slots=True)
class Consumer:
    """A consumer that runs, with all that it would lose in a crash."""

    name: str
    generation: int  # `NO_GENERATION`: standalone
    position: int  # offset of the next record that poll returns
    done: int  # one past the last record processed; at the start, the position
    asked: int  # the highest offset that it has asked to commit; at the start, the position
    hand: tuple[int, ...] = ()  # polled, not processed
    asked_ms: int = 0  # when it last asked, or started
    auto_due_ms: int | None = None  # the first poll from then on commits; None: enable.auto.commit is false
    in_flight: tuple[int, ...] = ()  # offsets of asynchronous commits without an answer, oldest first
    failed: int | None = None  # offset of the commit whose callback has just got a retriable error


@dataclass(frozen=True, slots=True)
class Written:
    """A commit that the coordinator has written down: one record in ``__consumer_offsets``."""

    now_ms: int
    by: str
    offset: int


@dataclass(frozen=True, slots=True)
class Effect:
    """Something that an event brought about: what, to which offsets, and the error if there was one."""

    what: str  # "polled", "asked", "committed", "refused", "auto commit", "started", "reset", "applied", ...
    offsets: tuple[int, ...] = ()
    error: str = "NONE"


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One partition of a topic, the group that reads it, its coordinator, and where the results go."""

    log_end: int  # records 0 to log_end - 1 have been written
    log_start: int = 0  # older ones have been deleted
    first: int = 0  # the group owes every record from here on
    committed: int | None = None  # as the coordinator has it; None: nothing
    written: tuple[Written, ...] = ()
    generation: int = 0
    owner: str | None = None  # the member that the coordinator takes for the owner of the partition
    consumers: tuple[Consumer, ...] = ()  # those that run, by name
    sink: Sink = field(default_factory=Sink)
    answered: int = 0  # asynchronous commits that have been answered
    polled: int = 0  # one past the highest offset that a poll has returned
    now_ms: int = 0
    effects: tuple[Effect, ...] = ()  # of the last event

    def consumer(self, name: str) -> Consumer | None:
        """A consumer that runs; None: it does not."""
        return next((each for each in self.consumers if each.name == name), None)


def new_pipeline(record_count: int = 0, committed: int | None = 0, first: int | None = None) -> Pipeline:
    """A partition with so many records, and a group that has committed so far and is not running.

    Parameters
    ----------
    record_count : int
        The records 0 to ``record_count - 1`` are there.
    committed : int or None
        The committed offset; None: the group has never committed.
    first : int or None
        The first record that the group owes; None: the committed offset, or 0.

    Examples
    --------
    >>> new_pipeline(6, committed=2).first
    2
    """
    whole_number("record_count", record_count, at_least=0)
    if committed is not None and whole_number("committed", committed, at_least=0) > record_count:
        raise KafkaLearnError(
            f"committed is {committed}, beyond the log end {record_count}; commit at most the log end"
        )
    owed = (committed or 0) if first is None else whole_number("first", first, at_least=0)
    return Pipeline(log_end=record_count, committed=committed, first=owed, polled=committed or 0)
