"""What an event led to: the effects of replication, and consumers that wait or are answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.replication.effects import NONE, Effect


@dataclass(frozen=True, slots=True)
class ConsumerParked:
    """A consumer's fetch waits."""

    name: str


@dataclass(frozen=True, slots=True)
class ConsumerAnswered:
    """A consumer has its answer."""

    name: str
    high_watermark: int | None
    records: tuple[tuple[int, str], ...] = ()  # (offset, value)
    error: str = NONE


RequestEffect: TypeAlias = ConsumerParked | ConsumerAnswered | Effect
