"""A reader that crosses a log from its beginning and builds a table, while others write and the cleaner works.

For each key the table keeps the last value the reader has seen; a tombstone takes the key out. A reader that keeps
up sees every record. A slow one sees only what the cleaner has left, which is the last value of every key, so that
its table becomes right all the same, unless a tombstone goes before the reader comes to it. Then a key stays in the
table that nothing will ever take out: a *ghost*.

>>> from kafkalearn.log import Append, Clean, NewBatch, Roll, Settings
>>> def write(key, value, at_ms):
...     return Append((NewBatch(((key, value, at_ms),)),))
>>> events = [
...     write("anna", "1", 0), Read(1, now_ms=1000), write("anna", None, 2000), Roll(),
...     Clean(now_ms=3000), write("ben", "1", 4000), Roll(), Clean(now_ms=90_000_000), Read(now_ms=90_000_001),
... ]
>>> settings = Settings("compact", min_cleanable_dirty_ratio=0.1)
>>> crossing = simulate(settings, events)[-1].state
>>> crossing.reader.table, ghosts(crossing), broken(settings, crossing)
((('anna', '1'), ('ben', '1')), ('anna',), ('the reader has no ghost',))
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kafkalearn.base import facts
from kafkalearn.base import simulator as contract
from kafkalearn.base.checks import Count, Millis
from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.promises import Promises, Since, of_inner
from kafkalearn.formats.records import Text, bytes_of
from kafkalearn.log import simulator
from kafkalearn.log.model import EndTransaction, Log, LogEffect, LogEvent, Record, Settings

__all__ = [
    "PROMISES",
    "Read",
    "Settings",
    "broken",
    "check",
    "ghosts",
    "simulate",
    "start",
    "step",
]


class RecordsRead(facts.Effect):
    """The reader got these records; none if there is nothing new."""

    records: tuple[Record, ...]


CrossingEffect: TypeAlias = LogEffect | RecordsRead


class Read(facts.Event):
    """The reader takes the next records, all there are if no number is given; between two reads it sleeps."""

    record_count: Count | None = None
    now_ms: Millis | None = None


CrossingEvent: TypeAlias = LogEvent | Read


Table: TypeAlias = tuple[tuple[Text, Text], ...]  # key and value, in the order of the keys


@dataclass(frozen=True, slots=True)
class Reader:
    """Where a reader is, and the table it has made of what it read."""

    position: int = 0  # the offset it asks for next
    table: Table = ()
    behind_since_ms: int | None = None  # when it was last at the end, or else began to read; None: it has read nothing


@dataclass(frozen=True, slots=True)
class Crossing:
    """A log, a reader on its way through it, and the table of a reader that has missed nothing."""

    log: Log = field(default_factory=Log)
    reader: Reader = field(default_factory=Reader)
    truth: Table = ()
    now_ms: int = 0  # the latest time of any event
    effects: tuple[CrossingEffect, ...] = field(default=(), compare=False)  # what the last event led to


def start(settings: Settings) -> Crossing:
    """An empty log, and a reader at its beginning."""
    return Crossing()


def table_of(records: Iterable[Record], table: Table = ()) -> Table:
    """The table after more records: the last value of each key, without those whose last value is null.

    >>> table_of([Record(0, "anna", "1", 0), Record(1, "ben", "1", 0), Record(2, "anna", None, 0)])
    (('ben', '1'),)
    """
    rows: dict[bytes, tuple[Text, Text | None]] = {bytes_of(key): (key, value) for key, value in table}
    rows |= {bytes_of(record.key): (record.key, record.value) for record in records if record.key is not None}
    return tuple((key, value) for _, (key, value) in sorted(rows.items()) if value is not None)


def ahead_of(crossing: Crossing) -> tuple[Record, ...]:
    """The records in the log that the reader has not reached."""
    return tuple(record for record in crossing.log.records if record.offset >= crossing.reader.position)


def ghosts(crossing: Crossing) -> tuple[Text, ...]:
    """The keys in the reader's table that the topic has deleted, with nothing ahead that removes them."""
    ahead = {bytes_of(record.key) for record in ahead_of(crossing) if record.key is not None}
    known = ahead | {bytes_of(key) for key, _ in crossing.truth}
    return tuple(key for key, _ in crossing.reader.table if bytes_of(key) not in known)


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
    log = simulator.step(settings, crossing.log, event)
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


def _position_in_the_log(settings: Settings, crossing: Crossing) -> bool:
    return 0 <= crossing.reader.position <= crossing.log.log_end_offset


def _reads_what_is_replicated(settings: Settings, before: Crossing, crossing: Crossing) -> bool:
    return before.reader.position <= crossing.reader.position <= max(before.reader.position, before.log.high_watermark)


def _log_has_the_truth(settings: Settings, crossing: Crossing) -> bool:
    return table_of(crossing.log.records) == crossing.truth


def _ends_up_right_but_for_ghosts(settings: Settings, crossing: Crossing) -> bool:
    in_the_end = table_of(ahead_of(crossing), crossing.reader.table)
    wrong = set(in_the_end) ^ set(crossing.truth)
    return {key for key, _ in wrong} == set(ghosts(crossing))


def _quick_reader_gets_no_ghost(settings: Settings, before: Crossing, crossing: Crossing) -> bool:
    since_ms = before.reader.behind_since_ms
    is_quick = since_ms is None or crossing.now_ms - since_ms < settings.delete_retention_ms
    return not is_quick or set(ghosts(crossing)) <= set(ghosts(before))


INVARIANTS: Promises = {
    **of_inner(simulator.INVARIANTS, lambda crossing: crossing.log),
    "the reader's position is in the log": _position_in_the_log,
    "the reader goes forward, and not beyond the high watermark": Since(_reads_what_is_replicated),
}
"""What holds in every state that an empty log and its reader can reach."""

PROMISES: Promises = {
    "the log holds the last value of every key": _log_has_the_truth,
    "a reader that reads on is wrong in its ghosts only": _ends_up_right_but_for_ghosts,
    "the reader has no ghost": lambda settings, crossing: not ghosts(crossing),
    "a reader that takes less than delete.retention.ms gets no ghost": Since(_quick_reader_gets_no_ghost),
}
"""What a user of a compacted topic hopes for.

The policy ``delete`` breaks the first two, a slow reader the third. An offset map that is full can break the fourth:
a tombstone's delete horizon is set when its segment is copied, though the map has not come to the tombstone yet.
"""

simulate, check, broken = contract.simulator(start, step, INVARIANTS, PROMISES)
