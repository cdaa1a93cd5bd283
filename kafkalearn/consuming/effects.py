"""What a step led to: where a record was written, what a rebalance assigned, what a poll read and committed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Appended:
    """A record was written at the end of a partition."""

    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Assigned:
    """A rebalance assigned a member all that it owns from now on, perhaps nothing. There is one for each member."""

    group_id: str
    member_id: str
    partitions: tuple[int, ...]  # ascending


@dataclass(frozen=True, slots=True)
class Polled:
    """A poll returned records, all of one partition. A poll that returns none has no effect."""

    group_id: str
    member_id: str
    partition: int
    offsets: tuple[int, ...]  # ascending, at least one


@dataclass(frozen=True, slots=True)
class Committed:
    """A group committed the next offset to read in a partition."""

    group_id: str
    partition: int
    offset: int


ConsumingEffect: TypeAlias = Appended | Assigned | Polled | Committed
