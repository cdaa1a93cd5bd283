"""What is written to a log, and what a fetch reads from it: whole batches, as many as the bytes allow.

Source: `DefaultRecordBatch`, `UnifiedLog.read`, `ReplicaManager.readFromLog` of 4.4.0, read.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.sharing.model import BATCH_OVERHEAD, Batch, DeadLetter, Log


def _varint_size(number: int) -> int:
    """The bytes of a number as records have it."""
    zigzag = number << 1 if number >= 0 else (-number << 1) - 1
    size = 1
    while zigzag >= 128:
        zigzag >>= 7
        size += 1
    return size


def _record_size(place: int, key: str | None, value_bytes: int) -> int:
    key_bytes = 0 if key is None else len(key.encode())
    inner = 1 + 1 + _varint_size(place) + _varint_size(-1 if key is None else key_bytes) + key_bytes
    inner += _varint_size(value_bytes) + value_bytes + 1
    return _varint_size(inner) + inner


def appended(
    log: Log, record_count: int, timestamp_ms: int, *, values: tuple[str, ...] = (), value_bytes: int = 0,
    keys: tuple[str, ...] = (), transaction: str = "", kind: str = "data", dead_letters: tuple[DeadLetter, ...] = (),
) -> Log:  # fmt: skip
    """The log with a batch more."""
    base = log.end_offset
    sizes = (
        _record_size(place, keys[place] if keys else None, max(value_bytes, len(values[place]) if values else 0))
        for place in range(record_count)
    )
    batch = Batch(
        base, base + record_count - 1, tuple(range(base, base + record_count)), BATCH_OVERHEAD + sum(sizes),
        timestamp_ms, transaction, kind, values, keys, dead_letters,
    )  # fmt: skip
    return replace(log, batches=(*log.batches, batch))


def compacted(log: Log, offsets: frozenset[int]) -> Log:
    """The log without some records; a batch without records goes, but for the last."""
    kept = []
    for batch in log.batches:
        left = tuple(each for each in batch.offsets if each not in offsets)
        if left or batch is log.batches[-1] or batch.is_control:
            places = [batch.offsets.index(each) for each in left]
            kept.append(
                replace(
                    batch, offsets=left,
                    values=tuple(batch.values[place] for place in places) if batch.values else (),
                    keys=tuple(batch.keys[place] for place in places) if batch.keys else (),
                )
            )  # fmt: skip
    return replace(log, batches=tuple(kept))


def is_out_of_range(log: Log, offset: int) -> bool:
    """Whether there is nothing at an offset and never will be: below the start, or beyond the end."""
    return not log.start_offset <= offset <= log.end_offset


def from_offset(log: Log, offset: int, upper_bound: int) -> tuple[Batch, ...]:
    """The batches from the one that has an offset, or the next one, up to a bound."""
    if offset >= upper_bound:
        return ()
    return tuple(each for each in log.batches if each.last_offset >= offset and each.base_offset < upper_bound)


def bytes_from(log: Log, offset: int, upper_bound: int) -> int:
    """The bytes of these batches."""
    return sum(each.size for each in from_offset(log, offset, upper_bound))


def read(log: Log, offset: int, upper_bound: int, max_bytes: int, is_one_given: bool) -> tuple[Batch, ...]:
    """The batches that fit into so many bytes; `is_one_given`: the first one comes even if it does not."""
    found: list[Batch] = []
    size = 0
    for batch in from_offset(log, offset, upper_bound):
        size += batch.size
        if size > max_bytes and (found or not is_one_given):
            break
        found.append(batch)
    return tuple(found)


def offset_for_time(log: Log, timestamp_ms: int) -> int | None:
    """The offset of the first record that is not older; None: there is none."""
    for batch in log.batches:
        if batch.timestamp_ms >= timestamp_ms and batch.last_offset >= log.start_offset:
            return max(batch.base_offset, log.start_offset)
    return None
