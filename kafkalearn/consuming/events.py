"""What can happen to a topic and its groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import Checked, Count


@dataclass(frozen=True, slots=True)
class Produce(Checked):
    """A record is written: to the partition of its key; without a key, to the next partition in turn."""

    value: str = ""
    key: bytes | None = None


@dataclass(frozen=True, slots=True)
class Join(Checked):
    """A consumer joins a group, which exists from its first member on; the group rebalances."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class Leave(Checked):
    """A member leaves its group, which rebalances; what the group has committed stays."""

    group_id: str
    member_id: str


@dataclass(frozen=True, slots=True)
class Poll(Checked):
    """A member asks for records: up to `most` of *one* of its partitions, which take turns; it commits them at once."""

    group_id: str
    member_id: str
    most: Count = 1


ConsumingEvent: TypeAlias = Produce | Join | Leave | Poll
