"""What happens during a rebalance."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from kafkalearn.arguments import iterable
from kafkalearn.assignor.members import Member
from kafkalearn.fields import check_fields


@dataclass(frozen=True, slots=True)
class GroupChanged:
    """The group has these members now: some have left or joined, or have changed their subscription."""

    members: tuple[Member, ...]

    if TYPE_CHECKING:

        def __init__(self, members: Iterable[Member]) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Make a tuple of any sequence of members, and refuse what is none."""
        object.__setattr__(self, "members", tuple(iterable("members", self.members, of="members")))
        check_fields(self)


@dataclass(frozen=True, slots=True)
class AllGaveUp:
    """Everybody stops reading everything, as an eager group does first."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The assignor has run, and everybody reads what it was assigned: one round of a cooperative group."""


Event: TypeAlias = GroupChanged | AllGaveUp | Assigned
