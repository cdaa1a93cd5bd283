"""A log made from records with their offsets, gaps included: a part of a real topic, to be cleaned here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from kafkalearn.arguments import iterable, mapping
from kafkalearn.errors import KafkaLearnError
from kafkalearn.log.appending import size_of
from kafkalearn.log.state import Batch, Log, Record, Segment


def log_from_records(records: Iterable[Record], horizons_ms: Mapping[int, int] | None = None) -> Log:
    """A log with the records in one closed segment, a batch for each, and an empty active segment behind them.

    Parameters
    ----------
    records : iterable of Record
        In the order of their offsets.
    horizons_ms : mapping of int to int, optional
        The delete horizon of the batch at an offset, where an earlier pass has set one.

    Raises
    ------
    KafkaLearnError
        If the offsets do not rise.

    Examples
    --------
    >>> log = log_from_records([Record(3, "anna", "Lyon", 1000), Record(7, "anna", None, 2000)])
    >>> log.log_end_offset, [segment.base_offset for segment in log.segments]
    (8, [0, 8])
    """
    horizons_ms = mapping("horizons_ms", {} if horizons_ms is None else horizons_ms, of="offset to milliseconds")
    batches: list[Batch] = []
    for record in iterable("records", records, of="records"):
        if batches and record.offset <= batches[-1].last_offset:
            raise KafkaLearnError(
                f"offset {record.offset} follows {batches[-1].last_offset}: give the records in the order of offsets"
            )
        size_bytes = size_of(record.offset, record.timestamp_ms, (record,))
        horizon_ms = horizons_ms.get(record.offset)
        at, since_ms = record.offset, record.timestamp_ms
        batches.append(Batch(at, at, (record,), size_bytes, since_ms, delete_horizon_ms=horizon_ms))
    if not batches:
        return Log()
    end, last_ms = batches[-1].last_offset + 1, max(batch.max_timestamp_ms for batch in batches)
    return Log((Segment(0, tuple(batches), last_ms), Segment(end, (), last_ms)), log_end_offset=end)
