"""What an administrator does with plans, and a copy that comes to its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_LONG
from kafkalearn.fields import Checked, Index, Whole, check_fields
from kafkalearn.operations.reassignment.plan import Target, targets_of


@dataclass(frozen=True, slots=True)
class Execute(Checked):
    """``--execute``: a plan begins, with a limit in bytes a second or without one."""

    plan: tuple[Target, ...]
    throttle: Annotated[int, Whole(0, LARGEST_LONG)] | None = None
    is_additional: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no plan."""
        object.__setattr__(self, "plan", targets_of(self.plan))
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Copied(Checked):
    """All new replicas of a partition are in sync: its reassignment ends."""

    topic: str
    partition: Index


@dataclass(frozen=True, slots=True)
class Verify(Checked):
    """``--verify``: clears throttles when nothing moves in the cluster, but with ``--preserve-throttles``."""

    plan: tuple[Target, ...]
    keeps_throttles: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no plan."""
        object.__setattr__(self, "plan", targets_of(self.plan))
        check_fields(self)


@dataclass(frozen=True, slots=True)
class Cancel(Checked):
    """``--cancel``: the plan's partitions go back, and throttles are cleared, but with ``--preserve-throttles``."""

    plan: tuple[Target, ...]
    keeps_throttles: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no plan."""
        object.__setattr__(self, "plan", targets_of(self.plan))
        check_fields(self)


Event: TypeAlias = Execute | Copied | Verify | Cancel
