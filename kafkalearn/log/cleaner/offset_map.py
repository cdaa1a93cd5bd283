"""The first pass of a cleaning: which offset of each key is the last one.

Kafka keeps 24 bytes for a key: a hash of it (MD5) and an offset. Keys are never compared, and when the map is full
the pass stops: what it has not seen is left for the next cleaning. Here the keys themselves are kept; two keys with
one hash are not modelled.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.errors import KafkaLearnError
from kafkalearn.log.cleaner.markers import CleanedTransactions
from kafkalearn.log.effects import Cleanable
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Log, Segment, ends_of
from kafkalearn.segments.sizes import bytes_of


class CleanerDied(KafkaLearnError):  # noqa: N818  (named for what happened, as in the cleaner's log)
    """An exception inside the cleaner, which ends its thread or makes it leave the partition out."""


@dataclass(frozen=True, slots=True)
class OffsetMap:
    """The last offset of each key in the dirty part, as far as the map went."""

    offsets: dict[bytes, int]
    latest_offset: int  # the map holds everything up to here
    is_full: bool


def offset_map(settings: Settings, log: Log, cleanable: Cleanable) -> OffsetMap:
    """The map of the dirty part, `cleanable.first_dirty_offset` up to the first uncleanable one.

    Raises
    ------
    CleanerDied
        Before 0.10.0, if one segment alone has more records than the map has room; in 0.8, at a record without key.

    References
    ----------
    Apache Kafka, ``Cleaner.buildOffsetMap``, ``SkimpyOffsetMap``.
    """
    dirty = _dirty_segments(log, cleanable)
    if not settings.has("0.10.0"):
        return _map_of_whole_segments(settings, dirty, cleanable)
    transactions = CleanedTransactions(log, dirty[0].base_offset, cleanable.first_uncleanable_offset)
    offsets: dict[bytes, int] = {}
    latest = cleanable.first_dirty_offset - 1
    for segment, end in zip(dirty, ends_of(dirty, cleanable.first_uncleanable_offset), strict=True):
        for batch in segment.batches:
            for record in () if transactions.read(batch) or batch.marker else batch.records:
                if record.key is None or record.offset < cleanable.first_dirty_offset:
                    continue
                if len(offsets) >= settings.usable_key_count:  # even if the key is known
                    return OffsetMap(offsets, latest, is_full=True)
                offsets[bytes_of(record.key)] = latest = record.offset
            latest = max(latest, batch.last_offset)
        latest = end - 1  # the gap behind the last batch counts as read
    return OffsetMap(offsets, latest, is_full=False)


def _dirty_segments(log: Log, cleanable: Cleanable) -> list[Segment]:
    """The segments from the one that holds the first dirty offset up to the first uncleanable one."""
    below = [each for each in log.segments if each.base_offset < cleanable.first_uncleanable_offset]
    ends = ends_of(below, cleanable.first_uncleanable_offset)
    return [each for each, end in zip(below, ends, strict=True) if end > cleanable.first_dirty_offset]


def _map_of_whole_segments(settings: Settings, dirty: list[Segment], cleanable: Cleanable) -> OffsetMap:
    """Before 0.10.0 a segment went into the map whole or not at all; one that could not ended the thread."""
    offsets: dict[bytes, int] = {}
    latest = cleanable.first_dirty_offset - 1
    for segment in dirty:
        if not segment.batches:
            continue
        count = segment.batches[-1].last_offset + 1 - segment.base_offset
        if count > settings.usable_key_count:
            raise CleanerDied(
                f"{count} messages in segment {segment.base_offset:020}.log but offset map can fit only "
                f"{settings.usable_key_count}; log.cleaner.dedupe.buffer.size must grow, or log.cleaner.threads shrink"
            )
        if len(offsets) + count > settings.usable_key_count:
            return OffsetMap(offsets, latest, is_full=True)
        for batch in segment.batches:
            for record in batch.records:
                if record.key is None and not settings.has("0.9.0"):
                    raise CleanerDied(f"the message at offset {record.offset} has no key; Kafka 0.8 required one")
                if record.key is not None:
                    offsets[bytes_of(record.key)] = record.offset
            latest = batch.last_offset
    return OffsetMap(offsets, latest, is_full=False)
