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
    """A plan is given to ``kafka-reassign-partitions``: for each partition the replicas that it is to have.

    What can be copied is copied at once; a partition without a leader waits for one. The tool refuses a plan that names
    a broker that is down, and every plan while another one runs.
    """

    replicas: tuple[tuple[BrokerNumber, ...], ...]


Event: TypeAlias = BrokerStarted | BrokerDied | FindCoordinator | Reassigned
