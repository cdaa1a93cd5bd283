"""What may happen to a cluster whose groups are watched second by second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import BrokerId, Checked


@dataclass(frozen=True, slots=True)
class BrokerDied(Checked):
    """A broker's process ends without a word: connections break at once, the cluster notices later."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerStopped(Checked):
    """A broker is shut down in order: its leadership has moved when it ends."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class BrokerStarted(Checked):
    """A broker is up again and has caught up."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class SecondPassed(Checked):
    """The next second: what is due happens, then each client does what it has to do."""


Event: TypeAlias = BrokerDied | BrokerStopped | BrokerStarted | SecondPassed
