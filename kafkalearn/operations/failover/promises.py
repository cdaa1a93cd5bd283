"""What always holds while groups move, and what those hope for who belong to them.

>>> from kafkalearn.operations.failover.simulator import simulate
>>> from kafkalearn.operations.failover.events import BrokerDied, SecondPassed
>>> alone = Settings(replicas=(1,))  # a factor of 1
>>> broken(alone, simulate(alone, [BrokerDied(1), *[SecondPassed()] * 60])[-1].state)
('every client was served within the last 30 s',)
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.operations.coordinator_life.effects import SessionExpired
from kafkalearn.operations.coordinator_life.promises import INVARIANTS as LIFE_INVARIANTS
from kafkalearn.operations.failover.effects import Heard
from kafkalearn.operations.failover.settings import Settings
from kafkalearn.operations.failover.state import Failover
from kafkalearn.promises import Promises, Since, judges, of_inner

LONGEST_WAIT_S = 30

SERVED = f"every client was served within the last {LONGEST_WAIT_S} s"
MEMBERS_KEPT = "no member lost its place"


def _served(settings: Settings, state: Failover) -> bool:
    waits = (state.second - each.unserved_since_s for each in state.clients if each.unserved_since_s is not None)
    return max(waits, default=0) <= LONGEST_WAIT_S


def _dead_answer_nobody(settings: Settings, state: Failover) -> bool:
    return all(state.is_up(each.broker_id) or each.error == "no connection" for each in _heard(state))


def _heard(state: Failover) -> list[Heard]:
    return [each for each in state.effects if isinstance(each, Heard)]


_OF_ONE_STATE = {name: each for name, each in LIFE_INVARIANTS.items() if not isinstance(each, Since)}
"""In one second several things happen to the coordinator's life; what is said of a single step is not judged here."""

INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(_OF_ONE_STATE, lambda state: state.life, lambda settings: settings.life),
        "who is dead answers nobody": _dead_answer_nobody,
        "only a load that is under way has an end": lambda settings, state: (
            state.load_ends_s is None or state.load_ends_s >= state.second
        ),
    }
)
"""What holds in every state; first those of the coordinator's life."""

PROMISES: Promises = MappingProxyType(
    {
        SERVED: _served,
        MEMBERS_KEPT: lambda settings, state: not any(isinstance(each, SessionExpired) for each in state.effects),
    }
)
"""What users hope for; a factor of 1 breaks the first on the day its broker dies, a load that takes too long, both."""

check, broken = judges(INVARIANTS, PROMISES)
