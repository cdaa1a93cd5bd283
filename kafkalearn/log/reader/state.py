"""The state: a log, a reader somewhere in it, and the table that the whole topic stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from kafkalearn.log.reader.effects import CrossingEffect
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Log, Record
from kafkalearn.segments.sizes import Text, bytes_of

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
