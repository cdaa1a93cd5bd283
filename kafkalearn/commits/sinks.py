"""Where the results go, in five ways: as they come, or with one of the four cures for duplicates."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import MappingProxyType

PLAIN, IDEMPOTENT, TRANSACTION, LOCK, CHECKPOINT = "plain", "idempotent", "transaction", "lock", "checkpoint"

SINKS: MappingProxyType[str, str] = MappingProxyType(
    {
        PLAIN: "every write takes effect",
        IDEMPOTENT: "a write is keyed by (topic, partition, offset); a key that is there already changes nothing",
        TRANSACTION: "result and next offset are stored in one transaction; a consumer starts from the stored offset",
        LOCK: "as transaction, and only if the stored offset is the record's: compare and set",
        CHECKPOINT: "results are held until a checkpoint makes them and the next offset count together",
    }
)
"""The kinds of sink by name. The three last ones keep the offset themselves: Kafka's committed one is ignored."""

KEEPS_THE_OFFSET = (TRANSACTION, LOCK, CHECKPOINT)

APPLIED, KNOWN, REFUSED, HELD = "applied", "known", "refused", "held"


@dataclass(frozen=True, slots=True)
class Write:
    """An attempt to store the result of a record, and what the sink answered."""

    offset: int
    by: str
    answer: str  # `APPLIED`; `KNOWN`: it was there, nothing changed; `REFUSED`: the lock was in the way; `HELD`


@dataclass(frozen=True, slots=True)
class Sink:
    """All writes, oldest first, and the offset that is stored beside the results."""

    writes: tuple[Write, ...] = ()
    stored: int | None = None  # next offset, where the kind of sink keeps one
    held: tuple[Write, ...] = ()  # results that count with the next checkpoint of their consumer, or never

    def times(self, offset: int) -> int:
        """How often the result of a record took effect."""
        return len(self.appliers(offset))

    def appliers(self, offset: int) -> tuple[str, ...]:
        """Whose writes of a record took effect."""
        return tuple(each.by for each in self.writes if each.offset == offset and each.answer == APPLIED)


def write(kind: str, sink: Sink, offset: int, by: str) -> Sink:
    """The sink after a consumer has tried to store the result of a record.

    >>> once = write("idempotent", Sink(), 7, "A")
    >>> write("idempotent", once, 7, "B").writes[-1]
    Write(offset=7, by='B', answer='known')
    >>> write("lock", Sink(stored=9), 7, "A").writes[-1].answer
    'refused'
    """
    if kind == CHECKPOINT:
        return replace(sink, held=(*sink.held, Write(offset, by, HELD)))
    answer = _answer(kind, sink, offset)
    stored = offset + 1 if answer == APPLIED and kind in KEEPS_THE_OFFSET else sink.stored
    return replace(sink, writes=(*sink.writes, Write(offset, by, answer)), stored=stored)


def checkpointed(sink: Sink, by: str, next_offset: int) -> Sink:
    """The sink after a checkpoint of a consumer: its results count from now on, and so does the offset.

    >>> checkpointed(write("checkpoint", Sink(), 7, "A"), "A", 8).writes
    (Write(offset=7, by='A', answer='applied'),)
    """
    own = tuple(replace(each, answer=APPLIED) for each in sink.held if each.by == by)
    return replace(dropped(sink, by), writes=(*sink.writes, *own), stored=next_offset)


def dropped(sink: Sink, by: str) -> Sink:
    """The sink without what it held for a consumer, which is gone."""
    return replace(sink, held=tuple(each for each in sink.held if each.by != by))


def _answer(kind: str, sink: Sink, offset: int) -> str:
    if kind == IDEMPOTENT and sink.times(offset):
        return KNOWN
    if kind == LOCK and sink.stored not in (None, offset):
        return REFUSED
    return APPLIED
