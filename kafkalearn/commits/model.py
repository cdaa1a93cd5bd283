"""The nouns of a group that reads one partition: its sink, settings, events, effects, and the state.

A *sink* is where the results go; beside it stand `lost` and `doubled`, what a run has come to.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import (
    LARGEST_INT,
    MOST_RECORDS,
    NOT_GIVEN,
    Checked,
    Count,
    FilledIn,
    Index,
    Millis,
    Offset,
    Whole,
    check_fields,
    fill_in,
    one_of,
)
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.events import TimePassed
from kafkalearn.releases import default

# Where the results go: as they come, or with one of the four cures for duplicates.

PLAIN, IDEMPOTENT, TRANSACTION, LOCK, CHECKPOINT = "plain", "idempotent", "transaction", "lock", "checkpoint"

SINKS: MappingProxyType[str, str] = MappingProxyType(
    {
        PLAIN: "every write takes effect",
        IDEMPOTENT: "a write is keyed by (topic, partition, offset); a key that is there already changes nothing",
        TRANSACTION: "result and next offset are stored in one transaction; a consumer starts from the stored offset",
        LOCK: "as transaction, and only if the stored offset is the record's: compare and set",
        CHECKPOINT: "results are held until a checkpoint makes them and the next offset count together",
    }
)
"""The kinds of sink by name. The three last ones keep the offset themselves: Kafka's committed one is ignored."""

KEEPS_THE_OFFSET = (TRANSACTION, LOCK, CHECKPOINT)

APPLIED, KNOWN, REFUSED, HELD = "applied", "known", "refused", "held"


@dataclass(frozen=True, slots=True)
class Write:
    """An attempt to store the result of a record, and what the sink answered."""

    offset: int
    by: str
    answer: str  # `APPLIED`; `KNOWN`: it was there, nothing changed; `REFUSED`: the lock was in the way; `HELD`


@dataclass(frozen=True, slots=True)
class Sink:
    """All writes, oldest first, and the offset that is stored beside the results."""

    writes: tuple[Write, ...] = ()
    stored: int | None = None  # next offset, where the kind of sink keeps one
    held: tuple[Write, ...] = ()  # results that count with the next checkpoint of their consumer, or never

    def times(self, offset: int) -> int:
        """How often the result of a record took effect."""
        return len(self.appliers(offset))

    def appliers(self, offset: int) -> tuple[str, ...]:
        """Whose writes of a record took effect."""
        return tuple(each.by for each in self.writes if each.offset == offset and each.answer == APPLIED)


def write(kind: str, sink: Sink, offset: int, by: str) -> Sink:
    """The sink after a consumer has tried to store the result of a record.

    >>> once = write("idempotent", Sink(), 7, "A")
    >>> write("idempotent", once, 7, "B").writes[-1]
    Write(offset=7, by='B', answer='known')
    >>> write("lock", Sink(stored=9), 7, "A").writes[-1].answer
    'refused'
    """
    if kind == CHECKPOINT:
        return replace(sink, held=(*sink.held, Write(offset, by, HELD)))
    answer = APPLIED
    if kind == IDEMPOTENT and sink.times(offset):
        answer = KNOWN
    if kind == LOCK and sink.stored not in (None, offset):
        answer = REFUSED
    stored = offset + 1 if answer == APPLIED and kind in KEEPS_THE_OFFSET else sink.stored
    return replace(sink, writes=(*sink.writes, Write(offset, by, answer)), stored=stored)


def checkpointed(sink: Sink, by: str, next_offset: int) -> Sink:
    """The sink after a checkpoint of a consumer: its results count from now on, and so does the offset.

    >>> checkpointed(write("checkpoint", Sink(), 7, "A"), "A", 8).writes
    (Write(offset=7, by='A', answer='applied'),)
    """
    own = tuple(replace(each, answer=APPLIED) for each in sink.held if each.by == by)
    return replace(dropped(sink, by), writes=(*sink.writes, *own), stored=next_offset)


def dropped(sink: Sink, by: str) -> Sink:
    """The sink without what it held for a consumer, which is gone."""
    return replace(sink, held=tuple(each for each in sink.held if each.by != by))


RESETS = ("earliest", "latest", "none")
"""Values of ``auto.offset.reset`` in this simulator; `kafkalearn.commits.start_offset` knows by_duration as well."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A partition with records, and how a group reads it.

    Parameters
    ----------
    record_count : int
        The records 0 to ``record_count - 1`` are in the partition at the start, at most `MOST_RECORDS`.
    committed : int or None
        The committed offset at the start; None: the group has never committed.
    is_auto : bool
        ``enable.auto.commit``. Off unless given, as nearly all strategies commit by themselves; Kafka's default is on.
    auto_commit_interval_ms : int
        ``auto.commit.interval.ms``; if not given, the default of the newest line.
    auto_offset_reset : str
        ``auto.offset.reset``, a name in `RESETS`; if not given, the default of the newest line.
    max_poll_records : int
        ``max.poll.records``: the most that one poll returns; if not given, the default of the newest line.
    sink : str
        How results are stored, a name in `kafkalearn.commits.model.SINKS`.
    metadata_max_bytes : int
        The broker's ``offset.metadata.max.bytes``, which counts characters of Java, not bytes; if not given, the
        default of the newest line.
    """

    record_count: Annotated[int, Whole(0, MOST_RECORDS)] = 0
    committed: Offset | None = 0
    is_auto: bool = False
    auto_commit_interval_ms: FilledIn[Annotated[int, Whole(0, LARGEST_INT)]] = NOT_GIVEN
    auto_offset_reset: FilledIn[str] = NOT_GIVEN
    max_poll_records: FilledIn[Count] = NOT_GIVEN
    sink: str = PLAIN
    metadata_max_bytes: FilledIn[Index] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse what no consumer can be configured to."""
        check_fields(self)
        fill_in(
            self,
            auto_commit_interval_ms=default("auto.commit.interval.ms", side="consumer"),
            auto_offset_reset=default("auto.offset.reset", side="consumer"),
            max_poll_records=default("max.poll.records", side="consumer"),
            metadata_max_bytes=default("offset.metadata.max.bytes", side="broker"),
        )
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        one_of("sink", self.sink, SINKS)
        if self.committed is not None and self.committed > self.record_count:
            raise KafkaLearnError(
                f"committed is {self.committed}, beyond the log end {self.record_count}; commit at most the log end"
            )


class Start(facts.Event):
    """A consumer starts and gets the partition; the consumer that had it before is out of the group.

    If that one still runs (it was paused for too long) it does not know that it is out: it goes on as a *zombie*.
    """

    by: str = "A"


class Assign(facts.Event):
    """A standalone consumer starts: it names its partition itself and is in no group."""

    by: str = "A"


class Rebalance(facts.Event):
    """The partition goes from its owner to another member, in a rebalance that both take part in."""

    to: str = "B"


class Poll(facts.Event):
    """A consumer calls poll: an auto commit if one is due, then the next records."""

    by: str = "A"
    at_most: Index | None = None  # records there are to get; None: as many as max.poll.records allows


class Process(facts.Event):
    """A record is processed and its result goes to the sink: the next unprocessed one, or the one named."""

    by: str = "A"
    offset: Offset | None = None
    took_ms: Millis = 0


class CommitSync(facts.Event):
    """commitSync: returns when the coordinator has answered. Without an offset it commits the position.

    Where the coordinator refuses it, Java's consumer throws CommitFailedException. `metadata` is a text of the
    application's own, stored with the offset and given back with it; the next commit without one wipes it out.
    """

    by: str = "A"
    offset: int | None = None
    metadata: str = ""


class CommitAsync(facts.Event):
    """commitAsync: returns at once; the answer comes later. Without an offset it commits the position.

    Nothing is thrown: the callback gets the error, CommitFailedException where the coordinator refuses the commit,
    RetriableCommitFailedException where a retry could succeed.
    """

    by: str = "A"
    offset: int | None = None


class Answered(facts.Event):
    """The oldest asynchronous commit of a consumer has reached the coordinator, and the callback has its answer.

    The requests of a consumer travel on one connection, so they arrive in order. `is_retriable` stands for an error
    of the coordinator after which a retry can succeed, such as COORDINATOR_LOAD_IN_PROGRESS.
    """

    by: str = "A"
    is_retriable: bool = False


class Checkpoint(facts.Event):
    """A stream processor stores results and offset of a consumer together, in its own checkpoint.

    With `is_committed` it then commits the offset to Kafka too, for the tools to see, as Flink does; Spark does not.
    """

    by: str = "A"
    is_committed: bool = True


class Close(facts.Event):
    """A consumer calls close: a last auto commit if that is on, then it leaves the group."""

    by: str = "A"


class Crash(facts.Event):
    """A consumer is gone, with its position, its unprocessed records and its requests on the way."""

    by: str = "A"


class Produce(facts.Event):
    """Producers write more records."""

    record_count: Annotated[int, Whole(0, MOST_RECORDS)] = 1


class Delete(facts.Event, says="retention deletes what is below {log_start}"):
    """Retention deletes all records below an offset."""

    log_start: Offset


CommitEvent: TypeAlias = (
    Start | Assign | Rebalance | Poll | Process | CommitSync | CommitAsync | Answered
    | Checkpoint | Close | Crash | Produce | Delete | TimePassed
)  # fmt: skip


class Started(facts.Effect):
    """A consumer begins at the committed offset, or at the one that is stored in the sink."""

    offset: int


class Reset(facts.Effect):
    """A consumer begins, or reads on, where auto.offset.reset says: its offset is missing or out of range."""

    offset: int


class Failed(facts.Effect):
    """A consumer has no offset to read from: its poll throws an exception, named as in the Java client."""

    exception: str


class Polled(facts.Effect):
    """A poll returned the records of these offsets, perhaps none."""

    offsets: tuple[int, ...]


class Processed(facts.Effect):
    """A record was processed, and the sink answered: `kafkalearn.commits.model.APPLIED`, `KNOWN` or `REFUSED`."""

    offset: int
    answer: str


class CommitSent(facts.Effect):
    """An asynchronous commit is on its way to the coordinator."""

    offset: int


class AutoCommitSent(facts.Effect):
    """The client itself commits the position; what the coordinator answers follows."""

    offset: int


class Committed(facts.Effect):
    """The coordinator has written a commit."""

    offset: int


class CommitRefused(facts.Effect):
    """The coordinator has refused a commit with an error of the protocol."""

    offset: int
    error: str


class Checkpointed(facts.Effect):
    """A checkpoint is complete: the results up to an offset count, and a restart begins there."""

    offset: int


class CheckpointRefused(facts.Effect):
    """Another consumer has gone on from the last checkpoint: this one is cancelled, and its results never count."""

    offset: int


class Revoked(facts.Effect):
    """The partition was taken from a consumer, which had polled these records and not processed them."""

    unprocessed: tuple[int, ...]


class Closed(facts.Effect):
    """A consumer has closed; it had polled these records and not processed them."""

    unprocessed: tuple[int, ...]


class Crashed(facts.Effect):
    """A consumer has crashed; it had polled these records and not processed them."""

    unprocessed: tuple[int, ...]


CommitEffect: TypeAlias = (
    Started | Reset | Failed | Polled | Processed | CommitSent | AutoCommitSent | Committed | CommitRefused
    | Checkpointed | CheckpointRefused | Revoked | Closed | Crashed
)  # fmt: skip


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


def lost(pipeline: Pipeline) -> tuple[int, ...]:
    """The records that the group has to process, has passed by, and will never have a result of.

    Passed by: below the position of the owner, or where nobody runs, below the offset that is stored or committed.
    Unprocessed records of a consumer that runs are not lost yet.
    """
    unprocessed = {offset for consumer in pipeline.consumers for offset in consumer.unprocessed}
    done = {each.offset for each in (*pipeline.sink.writes, *pipeline.sink.held)}
    passed = range(pipeline.first, _reached(pipeline))
    return tuple(offset for offset in passed if offset not in done and offset not in unprocessed)


def _reached(pipeline: Pipeline) -> int:
    """How far the group has come: the position of its reader, or what is stored or committed."""
    readers = [each for each in pipeline.consumers if each.name == pipeline.owner] or pipeline.consumers
    if readers:
        return max(each.position for each in readers)
    kept = pipeline.committed if pipeline.sink.stored is None else pipeline.sink.stored
    return pipeline.first if kept is None else min(kept, pipeline.log_end)


def doubled(pipeline: Pipeline) -> tuple[int, ...]:
    """The records whose result took effect more than once."""
    times = Counter(each.offset for each in pipeline.sink.writes if each.answer == APPLIED)
    return tuple(sorted(offset for offset, count in times.items() if count > 1))
