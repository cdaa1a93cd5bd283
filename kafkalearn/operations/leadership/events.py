"""What happens to the brokers of a cluster, and what its controller does about leaders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import BrokerId, Checked, Index, Millis


@dataclass(frozen=True, slots=True)
class BrokerLost(Checked):
    """A broker has been silent too long: it is fenced, leaves every ISR, and others lead."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerBack(Checked):
    """A broker lives again and has caught up: it is in the ISR of all its partitions, and leads what nobody led."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class TimePassed(Checked):
    """The clock moves on; at each end of the interval the controller looks at its leaders, if that is on."""

    ms: Millis


@dataclass(frozen=True, slots=True)
class LeaderImbalanceChecked(Checked):
    """The controller looks at its leaders now, as it does by itself every 300 s."""


@dataclass(frozen=True, slots=True)
class ElectLeaders(Checked):
    """An administrator has the preferred leaders elected: of one partition, or, without one, of all."""

    topic: str | None = None
    partition: Index | None = None


Event: TypeAlias = BrokerLost | BrokerBack | TimePassed | LeaderImbalanceChecked | ElectLeaders
