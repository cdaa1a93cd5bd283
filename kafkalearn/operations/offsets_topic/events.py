"""What may happen to a cluster and its offsets topic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.fields import Checked, Whole

BrokerNumber: TypeAlias = Annotated[int, Whole(0, LARGEST_INT)]


@dataclass(frozen=True, slots=True)
class BrokerStarted(Checked):
    """A broker comes up, on the disk that it left; it has caught up with all that it follows."""

    broker: BrokerNumber


@dataclass(frozen=True, slots=True)
class BrokerDied(Checked):
    """A broker is down, and the cluster has noticed."""

    broker: BrokerNumber


@dataclass(frozen=True, slots=True)
class FindCoordinator(Checked):
    """A client asks any live broker for the coordinator of a group."""

    group_id: str


@dataclass(frozen=True, slots=True)
class Reassigned(Checked):
    """A reassignment has run as far as it can: for each partition the replicas that the plan gives it.

    A partition without a leader stays where it is, since nobody can copy it.
    """

    replicas: tuple[tuple[BrokerNumber, ...], ...]


Event: TypeAlias = BrokerStarted | BrokerDied | FindCoordinator | Reassigned
