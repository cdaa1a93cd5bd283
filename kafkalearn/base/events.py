"""What happens in many simulators: one class for one happening, which all of them import.

What it leads to is for each simulator to say: a broker that crashes is fenced by one controller, and missed by its
clients in another run. A class of a simulator's own is for what happens in it alone.
"""

from __future__ import annotations

from kafkalearn.base.checks import Millis, NodeId
from kafkalearn.base.facts import Event


class TimePassed(Event, says="{ms:,} ms pass"):
    """The clock moves on; every timer that is due meanwhile fires at its own moment."""

    ms: Millis


class BrokerCrashed(Event, says="broker {broker_id} crashes"):
    """The process of a broker is killed: it answers no more, and its disk keeps what it has."""

    broker_id: NodeId


class BrokerStopped(Event, says="broker {broker_id} is stopped cleanly"):
    """A broker is shut down in order: what it leads has moved, and what it knows is on its disk, when it ends."""

    broker_id: NodeId


class BrokerStarted(Event, says="broker {broker_id} starts"):
    """The process of a broker starts, with what its disk kept; it catches up, and counts as alive."""

    broker_id: NodeId


class BrokerRestarted(Event, says="the broker is restarted"):
    """A broker stops and comes back. ``is_clean``: it was asked to; else it was killed."""

    is_clean: bool = True


class BrokerFenced(Event, says="broker {broker_id} no longer counts as alive"):
    """The controller has not heard of a broker for too long, or is told so: it leads nothing any more."""

    broker_id: NodeId


class BrokerUnfenced(Event, says="broker {broker_id} has caught up with the metadata, and counts as alive"):
    """A broker that was fenced lives and has caught up: it counts as alive again."""

    broker_id: NodeId
