"""The simulator of a log with a reader: `step` sends an event to the log or to the reader, `simulate` runs many."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.log.events import EndTransaction
from kafkalearn.log.reader.effects import RecordsRead
from kafkalearn.log.reader.events import CrossingEvent, Read
from kafkalearn.log.reader.state import Crossing, Reader, ahead_of, start, table_of
from kafkalearn.log.settings import Settings
from kafkalearn.log.simulator import step as step_log
from kafkalearn.trace import Trace, run


def simulate(
    settings: Settings, events: Iterable[CrossingEvent], initial: Crossing | None = None
) -> Trace[Crossing, CrossingEvent]:
    """A run from an empty log with a reader at its beginning, or from `initial`."""
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, crossing: Crossing, event: CrossingEvent) -> Crossing:
    """The log and its reader after an event of either.

    The reader gets records below the high watermark, from its position on. It passes over offsets that are not in
    the log any more without noticing, as every consumer does.

    Raises
    ------
    IllegalEvent
        If the event makes no sense; transactions are not modelled here.

    References
    ----------
    Apache Kafka, the documentation of ``delete.retention.ms``.
    """
    crossing = replace(crossing, now_ms=max([crossing.now_ms, *_times_of(event)]))
    if isinstance(event, Read):
        return _read(crossing, event)
    if isinstance(event, EndTransaction):
        raise IllegalEvent(f"{event!r}: the reader knows no transactions; write without them")
    log = step_log(settings, crossing.log, event)
    written = [record for record in log.records if record.offset >= crossing.log.log_end_offset]
    return replace(crossing, log=log, truth=table_of(written, crossing.truth), effects=log.effects)


def _read(crossing: Crossing, event: Read) -> Crossing:
    high_watermark, reader = crossing.log.high_watermark, crossing.reader
    readable = [record for record in ahead_of(crossing) if record.offset < high_watermark]
    taken = tuple(readable[: event.record_count])
    is_at_end = len(taken) == len(readable)
    position = max(reader.position, high_watermark) if is_at_end else taken[-1].offset + 1
    is_first = reader.behind_since_ms is None
    behind_since_ms = crossing.now_ms if is_at_end or is_first else reader.behind_since_ms
    reader = Reader(position, table_of(taken, reader.table), behind_since_ms)
    return replace(crossing, reader=reader, effects=(RecordsRead(taken),))


def _times_of(event: CrossingEvent) -> Iterable[int]:
    """The times that an event holds: its clock, or else the timestamps of its records."""
    now_ms = getattr(event, "now_ms", None)
    if now_ms is not None:
        return [now_ms]
    return [timestamp_ms for batch in getattr(event, "batches", ()) for _, _, timestamp_ms in batch.records]
