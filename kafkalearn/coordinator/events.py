"""The steps of a look-up, in the only order that makes sense."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ReadUnit:
    """The next UTF-16 code unit goes into the hash."""


@dataclass(frozen=True, slots=True)
class TakeAbsolute:
    """The sign goes; the smallest int, which has no absolute value, becomes 0."""


@dataclass(frozen=True, slots=True)
class TakeRemainder:
    """The absolute hash modulo the partition count is the partition."""


@dataclass(frozen=True, slots=True)
class AskLeader:
    """The leader of that partition is the coordinator."""


Event: TypeAlias = ReadUnit | TakeAbsolute | TakeRemainder | AskLeader
