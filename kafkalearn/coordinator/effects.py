"""What a step of a look-up computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class UnitHashed:
    """A code unit went into the hash."""

    unit: int
    hash_before: int
    exact: int  # 31 * hash_before + unit, before it wraps to 32 bits


@dataclass(frozen=True, slots=True)
class SignDropped:
    """The hash lost its sign."""

    absolute: int


@dataclass(frozen=True, slots=True)
class PartitionFound:
    """The partition of ``__consumer_offsets`` is known."""

    partition: int


@dataclass(frozen=True, slots=True)
class CoordinatorFound:
    """The answer to FindCoordinator: this broker."""

    broker_id: int


@dataclass(frozen=True, slots=True)
class CoordinatorNotAvailable:
    """The answer to FindCoordinator: the partition has no leader, the client asks again."""


Effect: TypeAlias = UnitHashed | SignDropped | PartitionFound | CoordinatorFound | CoordinatorNotAvailable
