"""A broker dies and its groups move: what each kind of client asks, hears and does, second by second.

A simulator: `Failover` is the state, the coordinator's life (`kafkalearn.operations.coordinator_life`) and a client of
each kind; `SecondPassed` is the clock. What clients heard is in the effects, and as rows in `timeline`.

>>> trace = simulate(Settings(load_s=2), [BrokerDied(1), *[SecondPassed()] * 20])
>>> [(second, error) for second, client, _, _, error, _ in timeline(trace) if client == "classic member"][-3:]
[(12, 'NONE'), (15, 'NONE'), (18, 'NONE')]
"""

from kafkalearn.operations.failover.events import BrokerDied, BrokerStarted, BrokerStopped, SecondPassed
from kafkalearn.operations.failover.promises import INVARIANTS, PROMISES, broken, check
from kafkalearn.operations.failover.settings import Settings
from kafkalearn.operations.failover.simulator import simulate, step
from kafkalearn.operations.failover.state import Failover, start
from kafkalearn.operations.failover.timeline import timeline, unserved_seconds

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerDied",
    "BrokerStarted",
    "BrokerStopped",
    "Failover",
    "SecondPassed",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
    "timeline",
    "unserved_seconds",
]
