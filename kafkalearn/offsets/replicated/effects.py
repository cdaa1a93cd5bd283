"""What an event led to, beside the effects of replication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.events import StoreEvent
from kafkalearn.replication.effects import Effect


@dataclass(frozen=True, slots=True)
class Appended:
    """A leader has written entries at these offsets of its log."""

    broker_id: int
    offsets: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Deferred:
    """The answer to a request waits until the high watermark has reached an offset."""

    broker_id: int
    request: StoreEvent
    end_offset: int


@dataclass(frozen=True, slots=True)
class Answered:
    """The client of a request has its answer."""

    broker_id: int
    request: StoreEvent
    answer: Answer


@dataclass(frozen=True, slots=True)
class NotReached:
    """A request, or the answer to it, was lost: the broker is not running, or nobody leads (None)."""

    broker_id: int | None
    request: StoreEvent


@dataclass(frozen=True, slots=True)
class Elected:
    """A broker has become coordinator, and has so many entries to load."""

    broker_id: int
    entry_count: int


@dataclass(frozen=True, slots=True)
class Loaded:
    """A broker has read so many entries of the log; then it is ``loading``, ``owned`` or ``failed``."""

    broker_id: int
    read_count: int
    status: str


@dataclass(frozen=True, slots=True)
class Resigned:
    """A broker no longer leads, and has forgotten what it had in memory."""

    broker_id: int


ReplicatedEffect: TypeAlias = Appended | Deferred | Answered | NotReached | Elected | Loaded | Resigned | Effect
