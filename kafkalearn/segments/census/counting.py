"""The counts of one log, taken block by block: the same rules whichever way its files are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import nsmallest

from kafkalearn.segments.batches import Header
from kafkalearn.segments.census.counted import Block, Sized
from kafkalearn.segments.census.log_census import EpochRun, FileCensus, Largest, LogCensus, OpenTransaction, Stamp
from kafkalearn.segments.compression import CODECS
from kafkalearn.segments.log_dirs import SegmentFile
from kafkalearn.segments.walk import Unread

LARGEST_SHOWN = 5  # keys, and values
MARKERS = ("COMMIT", "ABORT")
EMPTIED = "EMPTIED"  # a control batch without a record: the cleaner left its header


@dataclass(slots=True)
class _OfFile:
    """The counts of the file that is being read."""

    batch_count: int = 0
    batch_bytes: int = 0
    first_batch_ms: int = -1
    largest_ms: int = -1
    last_offset: int = -1
    unread: list[Unread] = field(default_factory=list)
    older_bytes: int = 0


class Counting:
    """Counts blocks, file by file; `census` says what was found."""

    def __init__(self, has_records: bool, future_ms: int, keeps_markers: bool = False) -> None:
        """Nothing counted yet.

        Parameters
        ----------
        has_records : bool
            Whether blocks have records.
        future_ms : int
            A timestamp beyond it is from the future.
        keeps_markers : bool
            Whether the markers of transactions are kept, each with its offset.
        """
        self.has_records, self.future_ms, self.keeps_markers = has_records, future_ms, keeps_markers
        self.files: list[FileCensus] = []
        self.here = _OfFile()
        self.batches_by_attributes: Counter[int] = Counter()
        self.bytes_by_attributes: Counter[int] = Counter()
        self.controls: Counter[str] = Counter()
        self.record_count = self.null_key_count = self.tombstone_count = self.key_bytes = self.value_bytes = 0
        self.largest_keys: list[Sized] = []
        self.largest_values: list[Sized] = []
        self.first_offset: int | None = None
        self.end_offset = 0  # behind the last batch
        self.last_offset: int | None = None
        self.oldest: Stamp | None = None
        self.newest: Stamp | None = None
        self.first_future: Stamp | None = None
        self.future_batch_count = 0
        self.horizons: Counter[int] = Counter()
        self.gap_count = 0
        self.older: Counter[int] = Counter()
        self.producers: set[int] = set()
        self.begun: dict[int, list[int]] = {}  # producer id -> epoch, first offset, time, batches, bytes
        self.epochs: list[list[int]] = []  # epoch, offsets of the first and of the last batch
        self.markers: dict[int, list[tuple[int, str]]] = {}

    def add(self, block: Block) -> None:
        """Count a block of the file that is being read."""
        for index, header in enumerate(block.headers):
            self._add_header(header)
            if header.attributes & 0x10 and not header.attributes & 0x20:
                self._add_transactional(header)
            elif index in block.controls:
                self._add_control(header, block.controls[index])
            elif not self.has_records:
                self.record_count += max(0, header.record_count)
        if self.has_records:
            self._add_records(block)

    def _add_header(self, header: Header) -> None:
        here, largest_ms = self.here, header.max_timestamp_ms
        is_whole = header.record_count == header.last_offset - header.base_offset + 1
        if not is_whole or (self.batches_by_attributes and header.base_offset != self.end_offset):
            self.gap_count += 1
        self.end_offset = header.last_offset + 1
        here.batch_count += 1
        here.batch_bytes += header.size_bytes
        here.last_offset = header.last_offset
        if here.batch_count == 1:
            here.first_batch_ms = largest_ms
            if self.first_offset is None:
                self.first_offset = header.base_offset
        self.batches_by_attributes[header.attributes] += 1
        self.bytes_by_attributes[header.attributes] += header.size_bytes
        if largest_ms >= 0:
            self._add_timestamp(here, largest_ms, header.base_offset)
        if header.attributes & 0x40:
            self.horizons[header.base_ms] += 1
        if header.producer_id >= 0:
            self.producers.add(header.producer_id)
        if not self.epochs or self.epochs[-1][0] != header.leader_epoch:
            self.epochs.append([header.leader_epoch, header.base_offset, header.base_offset])
        self.epochs[-1][2] = header.base_offset

    def _add_timestamp(self, here: _OfFile, largest_ms: int, offset: int) -> None:
        if largest_ms > here.largest_ms:
            here.largest_ms = largest_ms
        if self.newest is None or largest_ms > self.newest.timestamp_ms:
            self.newest = Stamp(largest_ms, offset)
        if self.oldest is None or largest_ms < self.oldest.timestamp_ms:
            self.oldest = Stamp(largest_ms, offset)
        if largest_ms > self.future_ms:
            self.future_batch_count += 1
            self.first_future = self.first_future or Stamp(largest_ms, offset)

    def _add_transactional(self, header: Header) -> None:
        if not self.has_records:
            self.record_count += max(0, header.record_count)
        begun = self.begun.setdefault(
            header.producer_id, [header.producer_epoch, header.base_offset, header.max_timestamp_ms, 0, 0]
        )
        begun[3] += 1
        begun[4] += header.size_bytes

    def _add_control(self, header: Header, control: str | None) -> None:
        self.controls[control or EMPTIED] += 1
        if control in MARKERS:
            self.begun.pop(header.producer_id, None)
            if self.keeps_markers:
                self.markers.setdefault(header.producer_id, []).append((header.base_offset, control))

    def _add_records(self, block: Block) -> None:
        self.record_count += block.record_count
        self.null_key_count += block.null_key_count
        self.tombstone_count += block.tombstone_count
        self.key_bytes += block.key_bytes
        self.value_bytes += block.value_bytes
        keys, values = block.largest(LARGEST_SHOWN)
        self.largest_keys = nsmallest(LARGEST_SHOWN, [*self.largest_keys, *keys])
        self.largest_values = nsmallest(LARGEST_SHOWN, [*self.largest_values, *values])

    def add_unread(self, unread: Unread) -> None:
        """Note bytes of the file that is being read which are no batch."""
        self.here.unread.append(unread)

    def add_older(self, magic: int, count: int, size_bytes: int) -> None:
        """Count messages of format 0 or 1 in the file that is being read."""
        self.older[magic] += count
        self.here.older_bytes += size_bytes

    def end_file(self, file: SegmentFile, size_bytes: int, modified_ms: int) -> None:
        """The file was read to its end."""
        here, self.here = self.here, _OfFile()
        if here.batch_count:
            self.last_offset = here.last_offset
        last_offset = here.last_offset if here.batch_count else file.base_offset - 1
        self.files.append(
            FileCensus(
                file, size_bytes, modified_ms, here.batch_count, here.batch_bytes, here.first_batch_ms,
                here.largest_ms, last_offset, tuple(here.unread), here.older_bytes,
            )
        )  # fmt: skip

    def census(self) -> LogCensus:
        """What was counted."""
        has_records = self.has_records
        transactions = (OpenTransaction(producer_id, *facts) for producer_id, facts in self.begun.items())
        return LogCensus(
            files=tuple(self.files),
            has_records=has_records,
            batch_count=sum(self.batches_by_attributes.values()),
            batches_by_codec=_by_codec(self.batches_by_attributes),
            bytes_by_codec=_by_codec(self.bytes_by_attributes),
            transactional_batch_count=sum(
                count for attributes, count in self.batches_by_attributes.items() if attributes & 0x30 == 0x10
            ),
            controls=dict(sorted(self.controls.items())),
            record_count=self.record_count,
            null_key_count=self.null_key_count if has_records else None,
            tombstone_count=self.tombstone_count if has_records else None,
            key_bytes=self.key_bytes if has_records else None,
            value_bytes=self.value_bytes if has_records else None,
            largest_keys=_largest(self.largest_keys),
            largest_values=_largest(self.largest_values),
            first_offset=self.first_offset,
            last_offset=self.last_offset,
            oldest=self.oldest,
            newest=self.newest,
            future_batch_count=self.future_batch_count,
            first_future=self.first_future,
            horizon_batch_count=sum(self.horizons.values()),
            earliest_horizon_ms=min(self.horizons, default=None),
            latest_horizon_ms=max(self.horizons, default=None),
            producer_count=len(self.producers),
            open_transactions=tuple(sorted(transactions, key=lambda each: each.first_offset)),
            gap_count=self.gap_count,
            magic_counts=dict(sorted((self.older + Counter({2: self.batches_by_attributes.total()})).items())),
            epochs=tuple(EpochRun(*each) for each in self.epochs),
            markers={producer_id: tuple(found) for producer_id, found in self.markers.items()},
        )


def _by_codec(by_attributes: Counter[int]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for attributes, count in by_attributes.items():
        number = attributes & 0x07
        found[CODECS[number] if number < len(CODECS) else f"unknown {number}"] += count
    return dict(sorted(found.items()))


def _largest(found: Iterable[Sized]) -> tuple[Largest, ...]:
    return tuple(Largest(-size, offset) for size, offset in found)
