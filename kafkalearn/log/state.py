"""The state of a log: records in batches, batches in segments, and what the broker keeps beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kafkalearn.log.effects import LogEffect
from kafkalearn.log.sequences import BatchMetadata, ProducerStateEntry
from kafkalearn.log.settings import Settings
from kafkalearn.segments.sizes import NO_HEADERS_BYTES, Text

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
    codec: str = "none"  # of `kafkalearn.segments.compression.CODECS`; size_bytes is the compressed size


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
