"""What happens in many simulators: one class for one happening, which all of them import.

What it leads to is for each simulator to say: a broker that crashes is fenced by one controller, and missed by its
clients in another run. A class of a simulator's own is for what happens in it alone.
"""

from __future__ import annotations

from kafkalearn.base.checks import BrokerId, Millis
from kafkalearn.base.facts import Event


class TimePassed(Event, says="{ms:,} ms pass"):
    """The clock moves on; every timer that is due meanwhile fires at its own moment."""

    ms: Millis


class BrokerCrashed(Event, says="broker {broker_id} crashes"):
    """The process of a broker is killed: it answers no more, and its disk keeps what it has. Nobody is told."""

    broker_id: BrokerId
