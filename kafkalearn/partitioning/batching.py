"""The producer's batches, to the byte: how many bytes a record takes, and when a batch is full.

The producer keeps a queue of *batches* for each partition. A record goes into the last batch if it still has
room, else that batch is closed and a new one opened. Which partition a record without a key goes to depends on
this since 2.4 (`kafkalearn.partitioning.keyless`), so it is computed as the producer does it: record format version 2,
no compression, no headers, all records of a batch with the same timestamp.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

from kafkalearn.segments.sizes import BATCH_HEADER_BYTES, length_of, record_bytes
from kafkalearn.wire.varint import varint_bytes

MAX_RECORD_OVERHEAD_BYTES = 21  # what the producer reserves for a record beside key and value


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a partition's queue, waiting to be sent."""

    record_count: int
    byte_count: int  # header included
    limit_bytes: int  # of its buffer: batch.size, or more if the first record needs more
    is_closed: bool = False  # a record did not fit: nothing is appended any more

    @property
    def is_full(self) -> bool:
        """Whether the producer counts it as ready: closed, or filled up to its limit."""
        return self.is_closed or self.byte_count >= self.limit_bytes


Queue: TypeAlias = tuple[Batch, ...]


def has_room(queue: Queue, key: bytes | None, value_bytes: int) -> bool:
    """Whether the record fits into the last batch of the queue; an empty queue has no batch to fit into."""
    if not queue or queue[-1].is_closed:
        return False
    last = queue[-1]
    return last.byte_count + record_bytes(length_of(key), value_bytes, last.record_count) <= last.limit_bytes


def append(queue: Queue, key: bytes | None, value_bytes: int, batch_size: int) -> Queue:
    """The queue after one more record: in its last batch if it fits, else in a new one behind it.

    Parameters
    ----------
    queue : tuple of Batch
        The partition's queue, oldest first.
    key : bytes or None
        None is a record without a key.
    value_bytes : int
        Length of the value.
    batch_size : int
        ``batch.size``. A record larger than that gets a batch of its own.

    Examples
    --------
    >>> queue = append((), None, 100, batch_size=1000)
    >>> queue[-1].byte_count  # 61 of header, 109 of record
    170
    >>> for _ in range(8):
    ...     queue = append(queue, None, 100, batch_size=1000)
    >>> [batch.record_count for batch in queue]
    [8, 1]

    References
    ----------
    Apache Kafka, ``RecordAccumulator.append`` and ``MemoryRecordsBuilder.hasRoomFor``.
    """
    if has_room(queue, key, value_bytes):
        last = queue[-1]
        grown = replace(
            last,
            record_count=last.record_count + 1,
            byte_count=last.byte_count + record_bytes(length_of(key), value_bytes, last.record_count),
        )
        return (*queue[:-1], grown)
    return (*close_last(queue), _open_batch(key, value_bytes, batch_size))


def close_last(queue: Queue) -> Queue:
    """The queue with its last batch closed, as a record that did not fit leaves it."""
    return (*queue[:-1], replace(queue[-1], is_closed=True)) if queue else queue


def all_full(queue: Queue) -> bool:
    """Whether no batch is still filling up: only the last one can be, and an empty queue has none."""
    return not queue or queue[-1].is_full


def _open_batch(key: bytes | None, value_bytes: int, batch_size: int) -> Batch:
    key_part = 1 if key is None else varint_bytes(len(key)) + len(key)
    reserved = BATCH_HEADER_BYTES + MAX_RECORD_OVERHEAD_BYTES + key_part + varint_bytes(value_bytes) + value_bytes + 1
    used = BATCH_HEADER_BYTES + record_bytes(length_of(key), value_bytes)
    return Batch(record_count=1, byte_count=used, limit_bytes=max(batch_size, reserved))
