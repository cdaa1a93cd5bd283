"""What a step led to: whom the controller has elected, and what it answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class LeaderChanged:
    """A partition is led by another broker, or by none."""

    topic: str
    partition: int
    leader: int | None
    leader_epoch: int


@dataclass(frozen=True, slots=True)
class ImbalanceFound:
    """The share of the partitions that a broker is to lead and does not; the controller looks at each broker."""

    broker_id: int
    preferred_count: int
    not_led_count: int
    is_over: bool  # over the percentage: there are elections; KRaft asks for no percentage

    @property
    def ratio(self) -> float:
        """0.0 to 1.0."""
        return self.not_led_count / self.preferred_count


@dataclass(frozen=True, slots=True)
class ElectionAnswered:
    """The answer of ElectLeaders for one partition."""

    topic: str
    partition: int
    error: str


Effect: TypeAlias = LeaderChanged | ImbalanceFound | ElectionAnswered
