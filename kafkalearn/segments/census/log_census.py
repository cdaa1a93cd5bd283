"""What one log holds, in numbers: its files, batches, records, transactions, leader epochs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from kafkalearn.segments.log_dirs import SegmentFile
from kafkalearn.segments.walk import Unread


class Largest(NamedTuple):
    """A key or a value that is among the largest."""

    size_bytes: int
    offset: int


class Stamp(NamedTuple):
    """A timestamp, and the first offset of a batch that has it as its largest."""

    timestamp_ms: int
    offset: int


class EpochRun(NamedTuple):
    """Batches of one leader epoch that lie behind each other."""

    epoch: int
    first_offset: int  # of the first batch
    last_offset: int  # at which the last one begins


@dataclass(frozen=True, slots=True)
class OpenTransaction:
    """A transaction with data in the log and no marker behind it."""

    producer_id: int
    producer_epoch: int
    first_offset: int
    begun_ms: int  # the largest timestamp of its first batch
    batch_count: int
    size_bytes: int


@dataclass(frozen=True, slots=True)
class FileCensus:
    """What one file holds, without its records."""

    file: SegmentFile
    size_bytes: int
    modified_ms: int
    batch_count: int
    batch_bytes: int
    first_batch_ms: int  # the largest timestamp of the first batch; -1: none
    largest_ms: int
    last_offset: int  # the base offset less one if there is no batch
    unread: tuple[Unread, ...]  # what is damaged, or torn off
    older_bytes: int = 0  # in formats 0 and 1, which are counted and not read

    @property
    def readable_bytes(self) -> int:
        """Up to which byte it can be read without passing anything over."""
        return self.unread[0].position if self.unread else self.size_bytes


@dataclass(frozen=True, slots=True)
class LogCensus:
    """What one log holds: the files of a partition in one log dir."""

    files: tuple[FileCensus, ...]
    has_records: bool  # False: headers alone were read
    batch_count: int
    batches_by_codec: dict[str, int]
    bytes_by_codec: dict[str, int]
    transactional_batch_count: int
    controls: dict[str, int]  # by type
    record_count: int  # of applications; by headers alone what the headers say
    null_key_count: int | None  # None: not counted
    tombstone_count: int | None
    key_bytes: int | None
    value_bytes: int | None
    largest_keys: tuple[Largest, ...]
    largest_values: tuple[Largest, ...]
    first_offset: int | None  # None: there is no batch
    last_offset: int | None
    oldest: Stamp | None  # of the batches that have a timestamp
    newest: Stamp | None
    future_batch_count: int  # with a timestamp later than the moment given
    first_future: Stamp | None
    horizon_batch_count: int  # with a delete horizon
    earliest_horizon_ms: int | None
    latest_horizon_ms: int | None
    producer_count: int
    open_transactions: tuple[OpenTransaction, ...]  # by first offset
    gap_count: int  # places where offsets are missing, between batches or in one: a cleaner was there
    magic_counts: dict[int, int]  # by format: batches, of formats 0 and 1 the messages that lie in the file
    epochs: tuple[EpochRun, ...]  # leader epochs as the batches have them
    markers: dict[int, tuple[tuple[int, str], ...]]  # by producer id: offset and outcome; empty if not asked for

    @property
    def size_bytes(self) -> int:
        """Of all files."""
        return sum(each.size_bytes for each in self.files)

    @property
    def base_offset(self) -> int:
        """Where the first file begins."""
        return self.files[0].file.base_offset

    @property
    def end_offset(self) -> int:
        """The log end offset, as far as the files can be read."""
        return max(self.files[-1].last_offset, -1 if self.last_offset is None else self.last_offset) + 1

    @property
    def last_stable_offset(self) -> int:
        """Where the first open transaction begins, else the log end offset."""
        return self.open_transactions[0].first_offset if self.open_transactions else self.end_offset
