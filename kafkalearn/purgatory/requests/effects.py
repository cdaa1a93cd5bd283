"""What an event led to: the effects of replication, and consumers that wait or are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.replication.effects import NONE, Effect


@dataclass(frozen=True, slots=True)
class ConsumerParked:
    """A consumer's fetch waits: its first read has found too little."""

    name: str
    found_bytes: int = 0  # committed, by that read


@dataclass(frozen=True, slots=True)
class ConsumerAnswered:
    """A consumer has its answer; if it waited, the log was read a second time for it."""

    name: str
    high_watermark: int | None
    records: tuple[tuple[int, str], ...] = ()  # (offset, value)
    error: str = NONE


@dataclass(frozen=True, slots=True)
class DeleteParked:
    """The leader has deleted, and the request waits for the other live replicas."""

    request: int  # numbered from 1, as they came


@dataclass(frozen=True, slots=True)
class DeleteAnswered:
    """An administrator has the answer, with the low watermark: the smallest log start of all live replicas."""

    request: int
    low_watermark: int | None
    error: str = NONE


RequestEffect: TypeAlias = ConsumerParked | ConsumerAnswered | DeleteParked | DeleteAnswered | Effect
