"""What an event leads to on the way from the producer to its partition, beside the effects of replication."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.replication.effects import NONE, Effect


@dataclass(frozen=True, slots=True)
class BatchAppended:
    """The leader has written a batch."""

    number: int | None  # None: of a request made by hand
    base_offset: int


@dataclass(frozen=True, slots=True)
class DuplicateRecognised:
    """The leader has this batch already: it writes nothing and answers the old offset."""

    number: int | None
    base_offset: int


@dataclass(frozen=True, slots=True)
class BatchRefused:
    """The leader has written nothing."""

    number: int | None
    error: str


@dataclass(frozen=True, slots=True)
class BatchWillBeRetried:
    """The producer has put a batch back to be sent again; no callback is called."""

    number: int
    error: str


@dataclass(frozen=True, slots=True)
class CallbackInvoked:
    """The producer has called the application's callback for a batch: with an error, or with ``"NONE"``."""

    number: int
    error: str = NONE


@dataclass(frozen=True, slots=True)
class BatchPutAside:
    """The application has stored a batch whose callback got an error, to send it again later."""

    number: int
    error: str


@dataclass(frozen=True, slots=True)
class EpochRaised:
    """The producer cannot know which numbers were used: it raises its epoch, and counts from 0 again."""

    producer_epoch: int


DeliveryEffect: TypeAlias = (
    BatchAppended
    | DuplicateRecognised
    | BatchRefused
    | BatchWillBeRetried
    | CallbackInvoked
    | BatchPutAside
    | EpochRaised
    | Effect
)
