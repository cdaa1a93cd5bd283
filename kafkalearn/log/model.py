"""The parts of a log: its settings, what may happen to it, what an event led to, and its state.

Records lie in batches, batches in segments; beside them a broker keeps how far the cleaner came, transactions, and what
it remembers of producers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Annotated, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import Checked, Count, Index, Millis, Whole, check_fields, number, one_of
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.events import BrokerRestarted
from kafkalearn.formats.compression import CODECS
from kafkalearn.formats.records import BATCH_HEADER_BYTES, NO_HEADERS_BYTES, Text, batch_bytes
from kafkalearn.log.sequences import LAST_SEQUENCE, NO_PRODUCER, BatchMetadata, ProducerStateEntry
from kafkalearn.releases.defaults import default, whole_default
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, AnswersFor, at_least

POLICIES = ("delete", "compact", "compact,delete", "delete,compact", "")
"""The cleanup policies; both together came with 0.10.1 (KIP-71), the empty one, no clean-up at all, with 4.2."""

_POLICY_SINCE = {"compact,delete": "0.10.1", "delete,compact": "0.10.1", "": "4.2"}

LONG_MAX = 2**63 - 1

TIMESTAMP_LIMITS = (
    "message_timestamp_before_max_ms",
    "message_timestamp_after_max_ms",
    "message_timestamp_difference_max_ms",
)
"""How far a record's timestamp may be from the broker's clock; the third one is from 0.10.0 to 3.9, for both sides."""


ANSWERS_FOR = AnswersFor("log", RELEASES[0])


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The topic's settings, and those of the broker's cleaner; defaults are Kafka's.

    Parameters
    ----------
    cleanup_policy : str
        A name in `POLICIES`.
    release : str
        Of the broker; without one, the newest line.
    segment_bytes, segment_ms, segment_jitter_ms, index_interval_bytes, segment_index_bytes : int
        When a segment is full, and how dense its indexes are.
    retention_ms, retention_bytes : int
        -1: no limit.
    min_cleanable_dirty_ratio : float
        From 0 to 1.
    min_compaction_lag_ms, max_compaction_lag_ms, delete_retention_ms : int
        How long records, dirty segments and tombstones are left alone.
    max_message_bytes : int
        The largest batch.
    message_timestamp_before_max_ms, message_timestamp_after_max_ms, message_timestamp_difference_max_ms : int or None
        How much older or newer than the broker's clock a record may be; None: the default of the release. Only the
        limit into the future has one: an hour, since 4.0 (KIP-1030).
    offset_map_slots, load_factor : int, float
        Room of one cleaner thread: ``log.cleaner.dedupe.buffer.size`` over threads over 24, and how full it may be.
    """

    cleanup_policy: str = "delete"
    release: str = DEFAULT_RELEASE
    segment_bytes: Count = 1073741824
    segment_ms: Annotated[int, Whole(1)] = 604800000
    segment_jitter_ms: Millis = 0
    index_interval_bytes: Index = 4096
    segment_index_bytes: Count = 10485760
    retention_ms: Annotated[int, Whole(-1)] = 604800000
    retention_bytes: Annotated[int, Whole(-1)] = -1
    min_cleanable_dirty_ratio: Annotated[float, partial(number, at_least=0, at_most=1)] = 0.5
    min_compaction_lag_ms: Millis = 0
    max_compaction_lag_ms: Annotated[int, Whole(1)] = LONG_MAX
    delete_retention_ms: Millis = 86400000
    max_message_bytes: Index = 1048588
    offset_map_slots: Count = 5592405
    load_factor: Annotated[float, partial(number, at_least=0, at_most=1)] = 0.9
    message_timestamp_before_max_ms: Millis | None = None
    message_timestamp_after_max_ms: Millis | None = None
    message_timestamp_difference_max_ms: Millis | None = None

    def __post_init__(self) -> None:
        """Refuse what no broker can be configured to."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        one_of("cleanup policy", self.cleanup_policy, POLICIES)
        since = _POLICY_SINCE.get(self.cleanup_policy, RELEASES[0])
        if not self.has(since):
            raise KafkaLearnError(
                f"cleanup policy {self.cleanup_policy!r} came with Kafka {since}, the release is {self.release}"
            )
        for name in TIMESTAMP_LIMITS:
            if getattr(self, name) is not None:
                default(name.replace("_", "."), self.release, "topic")  # refuses what the release does not have
        if self.usable_key_count < 1:
            raise KafkaLearnError(
                f"an offset map of {self.offset_map_slots} slots, {self.load_factor} full, holds no key at all: a "
                "cleaner with such a buffer does not start; give it more slots"
            )

    @property
    def is_compacted(self) -> bool:
        """Whether the cleaner cleans the topic."""
        return "compact" in self.cleanup_policy

    @property
    def is_deleted(self) -> bool:
        """Whether old segments are deleted by time and size."""
        return "delete" in self.cleanup_policy

    @property
    def usable_key_count(self) -> int:
        """How many keys the offset map takes before it counts as full."""
        return int(self.offset_map_slots * self.load_factor)

    @property
    def roll_ms(self) -> int:
        """How long a segment stays open: a compacted one no longer than max.compaction.lag.ms."""
        has_lag = self.is_compacted and self.has("2.3")
        return min(self.segment_ms, self.max_compaction_lag_ms) if has_lag else self.segment_ms

    @property
    def timestamp_limits_ms(self) -> tuple[int, int]:
        """How much older, and how much newer than the broker's clock a record may be.

        >>> Settings().timestamp_limits_ms[1], Settings(release="3.9").timestamp_limits_ms[1] == LONG_MAX
        (3600000, True)
        """
        either_ms = self.message_timestamp_difference_max_ms
        before_ms, after_ms = self.message_timestamp_before_max_ms, self.message_timestamp_after_max_ms
        if either_ms is None:
            either_ms = LONG_MAX
        if after_ms is None:
            after_ms = min(either_ms, _default_after_max_ms(self.release))
        return (either_ms if before_ms is None else before_ms), after_ms

    def has(self, since: str) -> bool:
        """Whether the broker's release has what came with `since`."""
        return at_least(since, self.release)


@cache
def _default_after_max_ms(release: str) -> int:
    return whole_default("message.timestamp.after.max.ms", release, "topic") if at_least("3.6", release) else LONG_MAX


# What may happen to a log.

ProducerId: TypeAlias = Annotated[int, Whole(NO_PRODUCER)]
ProducerEpoch: TypeAlias = Annotated[int, Whole(-1, 2**15 - 1)]
Stamped: TypeAlias = Annotated[int, Whole(-1)]  # milliseconds in a record; -1: it has none


@dataclass(frozen=True, slots=True)
class NewBatch(Checked):
    """A batch as a producer sends it: records are key, value and timestamp in milliseconds.

    A compressed batch has a `codec` and the size it really has: segments, the dirty ratio, retention and
    ``max.message.bytes`` all count compressed bytes. The broker keeps it as it came (``compression.type=producer``).
    The cleaner compresses what is left of a batch again. How many bytes that takes only the codec knows: the size here
    is in proportion to the uncompressed bytes that are left. A batch that is not rewritten keeps its exact size.

    Parameters
    ----------
    records : tuple of (key, value, timestamp in milliseconds)
        At least one.
    size_bytes : int or None
        None: what such a batch takes without compression. More than that: with headers of records.
    producer_id, producer_epoch, base_sequence : int or None
        Of an idempotent producer. An epoch of None is the one that the log knows, or 0; a sequence of None the next.
    is_transactional : bool
        Whether it is part of the producer's transaction.
    codec : str
        A name in `kafkalearn.formats.compression.CODECS`.

    Raises
    ------
    KafkaLearnError
        If no producer sends such a batch, or no batch has that size.
    """

    records: tuple[tuple[Text | None, Text | None, Stamped], ...]
    size_bytes: Count | None = None
    producer_id: ProducerId = NO_PRODUCER
    producer_epoch: ProducerEpoch | None = None
    base_sequence: Annotated[int, Whole(-1, LAST_SEQUENCE)] | None = None
    is_transactional: bool = False
    codec: str = "none"

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        check_fields(self)
        if not self.records:
            raise KafkaLearnError("a batch has at least one record; give (key, value, timestamp_ms) for each")
        self._refuse_stamp()
        self._refuse_size()

    def _refuse_stamp(self) -> None:
        stamp = {"producer_epoch": self.producer_epoch, "base_sequence": self.base_sequence}
        if self.producer_id < 0:
            if self.is_transactional:
                raise KafkaLearnError("a transaction has a producer id; give producer_id")
            if not {*stamp.values()} <= {None, -1}:
                raise KafkaLearnError("without a producer id a batch has no epoch and no sequence; give producer_id")
            return
        for name, value in stamp.items():
            if value == -1:
                raise KafkaLearnError(f"{name} must be at least 0, got -1; leave it out for the next one")

    def _refuse_size(self) -> None:
        one_of("codec", self.codec, CODECS)
        if self.codec != "none":
            if self.size_bytes is None:
                raise KafkaLearnError(f"how well {self.codec} packs these records is not known here: give size_bytes")
            Whole(BATCH_HEADER_BYTES + 1)("size_bytes", self.size_bytes)
        elif self.size_bytes is not None and self.size_bytes < self.uncompressed_bytes:
            raise KafkaLearnError(
                f"these records take {self.uncompressed_bytes} bytes uncompressed, got size_bytes={self.size_bytes}; "
                "if they are compressed, name the codec"
            )

    @property
    def uncompressed_bytes(self) -> int:
        """What the batch takes without compression, and without headers of records."""
        rows = ((index, at_ms, key, value) for index, (key, value, at_ms) in enumerate(self.records))
        return batch_bytes(0, self.records[0][2], rows)


class Append(facts.Event):
    """Produce requests, each with one batch; the broker's clock decides which records are from the future."""

    batches: tuple[NewBatch, ...]
    now_ms: Millis | None = None  # None: the largest timestamp of each batch, so that none is from the future

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        check_fields(self)
        if not self.batches:
            raise KafkaLearnError("an append has at least one batch; give it as Append((NewBatch(...),))")

    @classmethod
    def of(cls, *records: tuple[str | None, str | None], timestamp_ms: int = 0) -> Append:
        """Records as (key, value), each in a batch of its own; the value None makes a tombstone.

        >>> [batch.records for batch in Append.of(("anna", "Lyon"), ("anna", None)).batches]
        [(('anna', 'Lyon', 0),), (('anna', None, 0),)]
        """
        return cls(tuple(NewBatch(((key, value, timestamp_ms),)) for key, value in records))


class EndTransaction(facts.Event):
    """The transaction coordinator writes the marker that ends a producer's transaction."""

    producer_id: ProducerId
    is_commit: bool
    timestamp_ms: Stamped
    producer_epoch: ProducerEpoch = 0


class ProducerExpired(facts.Event, says="the broker forgets producer {producer_id}"):
    """The broker forgets a producer that has not written for ``producer.id.expiration.ms``."""

    producer_id: ProducerId


class Roll(facts.Event):
    """The active segment is closed and a new one opened."""

    now_ms: Millis | None = None


class SetHighWatermark(facts.Event):
    """The high watermark stays at this offset until it is set again; None: it follows the log end offset again."""

    offset: int | None


class MoveLogStart(facts.Event):
    """The log start offset moves up, as after a DeleteRecords request, but not beyond the high watermark."""

    offset: int  # -1: the high watermark


class Clean(facts.Event):
    """A cleaner thread looks at the log; if forced, the dirty ratio and the policy do not matter."""

    now_ms: Millis
    is_forced: bool = False


class Retain(facts.Event):
    """The broker looks for old segments and deletes them."""

    now_ms: Millis


class CleanerRound(facts.Event):
    """A cleaner thread's whole round: clean if the log is eligible, then look for old segments."""

    now_ms: Millis


class CleanerFailed(facts.Event):
    """The cleaner met an exception that it did not expect."""

    reason: str = "corrupt batch"
    is_java_error: bool = False  # out of memory, for example: it ends the thread in every release


class ReplaceCleanerThreads(facts.Event, says="new cleaner threads begin"):
    """``log.cleaner.threads`` is changed while the broker runs (1.1)."""


LogEvent: TypeAlias = (
    Append | EndTransaction | ProducerExpired | Roll | SetHighWatermark | MoveLogStart
    | Clean | Retain | CleanerRound | CleanerFailed | BrokerRestarted | ReplaceCleanerThreads
)  # fmt: skip


# What an event led to.


class SegmentRolled(facts.Effect, says="the active segment is closed; a new one begins at offset {base_offset}"):
    base_offset: int  # of the new one


class Appended(facts.Effect):
    """A batch, or a marker, was written."""

    first_offset: int
    last_offset: int


class AppendRefused(facts.Effect, says="the broker refuses the batch: {error}"):
    """The broker refused a batch, or a marker; it did not look at the batches behind it."""

    error: str  # Kafka's name of the error


class DuplicateRecognised(
    facts.Effect, says="the log has the batch already at offset {first_offset}, and does not write it again"
):
    """The log has this batch already: it was not written again, and its old offsets were answered."""

    first_offset: int
    last_offset: int


class DeleteRecordsRefused(facts.Effect):
    """The broker refused to move the log start offset; nothing has changed."""

    error: str  # Kafka's name of the error


class SegmentsDeleted(facts.Effect):
    """Old segments were deleted."""

    segment_count: int
    reasons: tuple[str, ...] = ()  # of each, the oldest first: one of `kafkalearn.log.retention`


@dataclass(frozen=True, slots=True)
class Cleanable:
    """What the cleaner may take of a log, and whether it will."""

    first_dirty_offset: int
    first_uncleanable_offset: int  # rounded down to the base of a segment
    clean_bytes: int
    cleanable_bytes: int
    must_clean: bool  # max.compaction.lag.ms has passed, and there is something to clean
    is_eligible: bool

    @property
    def ratio(self) -> float:
        """The dirty ratio: cleanable bytes to all that count; 0 for a log without any."""
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the cleaner kept a record, and why."""

    offset: int
    is_kept: bool
    reason: str  # one of `kafkalearn.log.cleaner`


class Cleaned(facts.Effect):
    """The cleaner went over the log."""

    cleanable: Cleanable
    latest_offset: int  # the last offset that went into the offset map
    is_map_full: bool
    legacy_horizon_ms: int | None  # up to 3.0: tombstones of segments not younger than this went
    decisions: tuple[Decision, ...]  # on every record of the segments that it copied


class NotCleaned(facts.Effect):
    """The cleaner looked at the log and left it as it was."""

    cleanable: Cleanable


class CleanerStopped(facts.Effect):
    """An exception ended the cleaner thread, or made it leave this partition out; nothing was cleaned."""

    reason: str


LogEffect: TypeAlias = (
    SegmentRolled | Appended | AppendRefused | DuplicateRecognised | DeleteRecordsRefused
    | SegmentsDeleted | Cleaned | NotCleaned | CleanerStopped
)  # fmt: skip


# The state.

NO_TIMESTAMP = -1

RUNNING, DEAD, UNCLEANABLE = CLEANER_STATES = ("running", "dead", "uncleanable")
"""``dead``: the thread ended. ``uncleanable``: the thread lives, this partition is left out (since 2.1, KIP-346)."""


@dataclass(frozen=True, slots=True)
class Record:
    """One record; a null value is a tombstone, an empty one is not."""

    offset: int
    key: Text | None
    value: Text | None
    timestamp_ms: int
    header_bytes: int = NO_HEADERS_BYTES  # its headers themselves are not kept


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that were written together; it keeps its range of offsets when records are removed."""

    base_offset: int
    last_offset: int
    records: tuple[Record, ...]
    size_bytes: int
    max_timestamp_ms: int
    delete_horizon_ms: int | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    marker: str | None = None  # COMMIT or ABORT: a control batch; its record has neither key nor value here
    padding_bytes: int = 0  # what it is longer than its records need, not compressed
    codec: str = "none"  # of `kafkalearn.formats.compression.CODECS`; size_bytes is the compressed size


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of the log."""

    base_offset: int
    batches: tuple[Batch, ...] = ()
    modified_ms: int = 0  # of the file
    created_ms: int = 0

    @property
    def size_bytes(self) -> int:
        """The length of the file."""
        return sum(batch.size_bytes for batch in self.batches)

    @property
    def max_timestamp_ms(self) -> int:
        """The largest timestamp of its records; -1 if none has any."""
        return max((batch.max_timestamp_ms for batch in self.batches), default=NO_TIMESTAMP)

    @property
    def largest_timestamp_ms(self) -> int:
        """The largest timestamp, or when the file was modified if no record has any."""
        return self.max_timestamp_ms if self.max_timestamp_ms >= 0 else self.modified_ms

    @property
    def first_timestamp_ms(self) -> int:
        """The largest timestamp of the first batch: what rolling by time counts from; -1 if there is none."""
        return self.batches[0].max_timestamp_ms if self.batches else NO_TIMESTAMP


def ends_of(segments: Sequence[Segment], end: int) -> tuple[int, ...]:
    """Where each of these segments ends: at the base of the next one, and the last at `end`; exclusive.

    >>> ends_of((Segment(0), Segment(3)), 5)
    (3, 5)
    """
    return (*(each.base_offset for each in segments[1:]), end) if segments else ()


@dataclass(frozen=True, slots=True)
class Transaction:
    """A producer's transaction in this partition."""

    producer_id: int
    first_offset: int
    last_offset: int | None = None  # of the marker; None: it has not ended
    is_aborted: bool = False


@dataclass(frozen=True, slots=True)
class Producer:
    """What the broker remembers of an idempotent producer: it judges the next batch, and the cleaner keeps the last."""

    producer_id: int
    epoch: int
    last_data_offset: int | None  # None: since its epoch was raised only a marker was written
    batches: tuple[BatchMetadata, ...] = ()  # the last five of its epoch, the oldest first

    @property
    def entry(self) -> ProducerStateEntry:
        """The same, as the rule of sequence numbers has it."""
        return ProducerStateEntry(self.epoch, self.batches)


@dataclass(frozen=True, slots=True)
class Log:
    """A partition's log on one broker, and what the broker keeps beside it."""

    segments: tuple[Segment, ...] = (Segment(0),)  # the last one is active
    log_start_offset: int = 0
    log_end_offset: int = 0
    unstable_floor: int | None = None  # what is unstable begins here at the lowest; None: at the log start offset
    fixed_high_watermark: int | None = None  # None: it follows the log end offset
    checkpoint: int | None = None  # the line of cleaner-offset-checkpoint; None: never cleaned
    transactions: tuple[Transaction, ...] = ()  # open ones, and those that still have something in the log
    producers: tuple[Producer, ...] = ()
    cleaner: str = RUNNING  # a name in `CLEANER_STATES`
    last_round_ms: int | None = None  # when a cleaner thread last looked
    effects: tuple[LogEffect, ...] = field(default=(), compare=False)  # what the last event led to

    @property
    def high_watermark(self) -> int:
        """Offsets below it are on all in-sync replicas."""
        return self.log_end_offset if self.fixed_high_watermark is None else self.fixed_high_watermark

    @property
    def active(self) -> Segment:
        """The segment that is written to."""
        return self.segments[-1]

    @property
    def batches(self) -> tuple[Batch, ...]:
        """All batches, in order."""
        return tuple(batch for segment in self.segments for batch in segment.batches)

    @property
    def records(self) -> tuple[Record, ...]:
        """All data records, in order; markers are none."""
        return tuple(record for batch in self.batches if batch.marker is None for record in batch.records)

    def producer(self, producer_id: int) -> Producer | None:
        """What the broker remembers of a producer; None: nothing."""
        return next((each for each in self.producers if each.producer_id == producer_id), None)

    @property
    def last_stable_offset(self) -> int:
        """Below it every transaction is decided; never above the high watermark."""
        unstable = self.first_unstable_offset
        return self.high_watermark if unstable is None else min(unstable, self.high_watermark)

    @property
    def first_unstable_offset(self) -> int | None:
        """Where the first transaction begins that is open, or whose end is not replicated; None: there is none."""
        unstable = (
            each.first_offset
            for each in self.transactions
            if each.last_offset is None or each.last_offset >= self.high_watermark
        )
        first = min(unstable, default=None)
        floor = self.log_start_offset if self.unstable_floor is None else self.unstable_floor
        return None if first is None else max(first, floor)


def start(settings: Settings) -> Log:
    """An empty log: one active segment, nothing cleaned yet."""
    return Log()
