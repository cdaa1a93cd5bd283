"""What is compared of a log, in one form, be it read from a disk or simulated; times count from a script's begin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kafkalearn.log.list_offsets import ISOLATION_LEVELS, FoundOffset
from kafkalearn.log.state import NO_TIMESTAMP, Batch, Segment
from kafkalearn.segments import batches as real
from kafkalearn.segments.files import Segment as ReadSegment

UNKNOWN = None


def shown_batch(batch: Batch | real.Batch, began_ms: int) -> dict[str, Any]:
    """A batch: its header, and what is left in it.

    The size of a compressed one is left out: what less data takes only the codec knows.
    """
    is_real = isinstance(batch, real.Batch)
    codec = batch.compression if is_real else batch.codec
    is_control = batch.is_control if is_real else batch.marker is not None
    horizon_ms = batch.delete_horizon_ms
    return {
        "offsets": [batch.base_offset, batch.last_offset],
        "records": [
            [each.offset, *_content(each, batch, is_control), each.timestamp_ms - began_ms] for each in batch.records
        ],
        "producer": [batch.producer_id, batch.producer_epoch, batch.base_sequence],
        "is_transactional": batch.is_transactional,
        "is_control": is_control,
        "horizon_ms": None if horizon_ms is None else horizon_ms - began_ms,
        "newest_ms": batch.max_timestamp_ms - began_ms if batch.records else UNKNOWN,
        "codec": codec,
        "size_bytes": batch.size_bytes if codec == "none" else UNKNOWN,
    }


def _content(record: Any, batch: Any, is_control: bool) -> tuple[str | None, ...]:
    if is_control:
        return (record.control if isinstance(batch, real.Batch) else batch.marker,)
    return _text(record.key), _text(record.value)


def _text(data: bytes | str | None) -> str | None:
    return data.decode() if isinstance(data, bytes) else data


def shown_log(
    checkpoint: int | None, start: int, segments: Sequence[Segment] | Sequence[ReadSegment], began_ms: int
) -> dict[str, Any]:
    """The cleaner's checkpoint, where the log and its segments begin, and every batch."""
    return {
        "checkpoint": checkpoint,
        "start": start,
        "segments": [each.base_offset for each in segments],
        "batches": [shown_batch(batch, began_ms) for each in segments for batch in each.batches],
    }


def questions(times_ms: Sequence[int]) -> list[tuple[int | str, str]]:
    """What is asked of ListOffsets: the ends and the largest timestamp, times, each as both kinds of readers do."""
    asked: list[int | str] = ["earliest", "latest", "max timestamp", *times_ms]
    return [(each, level) for each in asked for level in ISOLATION_LEVELS]


def answer_of(found: FoundOffset, began_ms: int) -> list[int | None]:
    """What ListOffsets answers: an offset, and the timestamp that lies there, if it is given."""
    return [found.offset, None if found.timestamp_ms == NO_TIMESTAMP else found.timestamp_ms - began_ms]
