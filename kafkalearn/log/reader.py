"""A reader that crosses a log from its beginning and builds a table, while others write and the cleaner works.

For each key the table keeps the last value the reader has seen; a tombstone takes the key out. A reader that keeps
up sees every record. A slow one sees only what the cleaner has left, which is the last value of every key, so that
its table becomes right all the same, unless a tombstone goes before the reader comes to it. Then a key stays in the
table that nothing will ever take out: a *ghost*.

>>> from functools import partial
>>> from kafkalearn.log.events import Append, Clean, NewBatch, Roll
>>> from kafkalearn.log.settings import Settings
>>> from kafkalearn.trace import run
>>> def write(key, value, at_ms):
...     return Append((NewBatch(((key, value, at_ms),)),))
>>> events = [
...     write("anna", "1", 0), Read(1, now_ms=1000), write("anna", None, 2000), Roll(),
...     Clean(now_ms=3000), write("ben", "1", 4000), Roll(), Clean(now_ms=90_000_000), Read(now_ms=90_000_001),
... ]
>>> settings = Settings("compact", min_cleanable_dirty_ratio=0.1)
>>> trace = run(partial(cross, settings), Crossing(), events)
>>> trace[-1].state.reader.table, ghosts(trace[-1].state)
((('anna', '1'), ('ben', '1')), ('anna',))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kafkalearn.errors import IllegalEvent
from kafkalearn.log.events import EndTransaction, LogEvent
from kafkalearn.log.model import Log, Record
from kafkalearn.log.settings import Settings
from kafkalearn.log.simulator import check as check_log
from kafkalearn.log.simulator import step
from kafkalearn.log.sizes import Text

Table: TypeAlias = tuple[tuple[Text, Text], ...]  # key and value, in the order of the keys


@dataclass(frozen=True, slots=True)
class Reader:
    """Where a reader is, and what it has made of what it read."""

    position: int = 0  # the offset it asks for next
    table: Table = ()
    last_read: tuple[Record, ...] = ()  # what the last read brought


@dataclass(frozen=True, slots=True)
class Crossing:
    """A log, a reader on its way through it, and what a reader that missed nothing knows."""

    log: Log = field(default_factory=Log)
    reader: Reader = field(default_factory=Reader)
    truth: Table = ()
    now_ms: int = 0  # the latest time that any event told


@dataclass(frozen=True, slots=True)
class Read:
    """The reader takes the next records, all there are if no number is given; between two reads it sleeps."""

    record_count: int | None = None
    now_ms: int | None = None


CrossingEvent: TypeAlias = LogEvent | Read


def cross(settings: Settings, crossing: Crossing, event: CrossingEvent) -> Crossing:
    """The log and its reader after an event of either.

    The reader gets records below the high watermark, from its position on; what is not in the log any more is
    passed over in silence, as by every consumer.

    Raises
    ------
    IllegalEvent
        If the event makes no sense; transactions are not modelled here.

    References
    ----------
    Apache Kafka, the documentation of ``delete.retention.ms``.
    """
    now_ms = max([crossing.now_ms, *_times(event)])
    if isinstance(event, Read):
        return replace(crossing, reader=_read(crossing, event), now_ms=now_ms)
    if isinstance(event, EndTransaction):
        raise IllegalEvent(f"{event!r}: the reader knows no transactions; write without them")
    log = step(settings, crossing.log, event)
    written = [record for record in log.records if record.offset >= crossing.log.log_end_offset]
    return replace(crossing, log=log, truth=table_of(written, crossing.truth), now_ms=now_ms)


def _read(crossing: Crossing, event: Read) -> Reader:
    if event.record_count is not None and event.record_count < 1:
        raise IllegalEvent(f"{event!r}: a read takes at least one record, or leave the number out to take all")
    log, reader = crossing.log, crossing.reader
    ahead = [each for each in log.records if reader.position <= each.offset < log.high_watermark]
    taken = ahead[: event.record_count]
    position = taken[-1].offset + 1 if len(taken) < len(ahead) else max(reader.position, log.high_watermark)
    return Reader(position, table_of(taken, reader.table), tuple(taken))


def _times(event: CrossingEvent) -> Iterable[int]:
    """What an event tells of the time."""
    now_ms = getattr(event, "now_ms", None)
    if now_ms is not None:
        return [now_ms]
    return [timestamp_ms for batch in getattr(event, "batches", ()) for _, _, timestamp_ms in batch.records]


def table_of(records: Iterable[Record], table: Table = ()) -> Table:
    """The table after more records: the last value of each key, without those whose last value is null.

    >>> table_of([Record(0, "anna", "1", 0), Record(1, "ben", "1", 0), Record(2, "anna", None, 0)])
    (('ben', '1'),)
    """
    values = dict(table) | {record.key: record.value for record in records if record.key is not None}
    return tuple(sorted((key, value) for key, value in values.items() if value is not None))


def ghosts(crossing: Crossing) -> tuple[Text, ...]:
    """The keys in the reader's table that the topic has deleted, with nothing ahead that would tell the reader."""
    ahead = {record.key for record in crossing.log.records if record.offset >= crossing.reader.position}
    known = dict(crossing.truth)
    return tuple(key for key, _ in crossing.reader.table if key not in known and key not in ahead)


def check_crossing(crossing: Crossing) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one.

    Only while the policy is ``compact`` alone: retention takes last values away.
    """
    check_log(crossing.log)
    assert 0 <= crossing.reader.position <= crossing.log.high_watermark, "the reader is in the log"
    assert table_of(crossing.log.records) == crossing.truth, "the log tells the whole truth from its beginning"
    ahead = [record for record in crossing.log.records if record.offset >= crossing.reader.position]
    in_the_end = table_of(ahead, crossing.reader.table)
    wrong = set(in_the_end) ^ set(crossing.truth)
    assert {key for key, _ in wrong} == set(ghosts(crossing)), "a reader that reads on is wrong in its ghosts only"
