"""What always holds of moves and limits, and what an administrator hopes for.

>>> from kafkalearn.operations.reassignment import Target
>>> from kafkalearn.operations.throttles import Cancel, Execute, simulate
>>> settings = Settings((1, 2, 3), {"big": [(1, 2)], "orders": [(1, 2)]})
>>> run = [Execute([Target("big", 0, (3, 2))], 1000), Cancel([Target("orders", 0, (1, 2))])]
>>> broken(settings, simulate(settings, run)[-1].state)
('what was begun with a limit moves under it',)
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.operations.throttles.settings import Settings
from kafkalearn.operations.throttles.state import Throttled
from kafkalearn.promises import Predicate, judges

MOVES_LIMITED = "what was begun with a limit moves under it"
NONE_LEFT = "no limit is left when nothing moves"
ONLY_MOVES = "only what moves can be limited"


def _moves_fit(settings: Settings, state: Throttled) -> bool:
    return all(
        {*each.assignment.adding, *each.assignment.removing} <= {*each.assignment.replicas} for each in state.partitions
    )


def _moves_are_limited(settings: Settings, state: Throttled) -> bool:
    return all(
        state.limit(each.at, broker_id) is not None
        for each in state.moves
        if each.throttle is not None
        for broker_id in each.assignment.adding
    )


def _only_moves_are_limited(settings: Settings, state: Throttled) -> bool:
    moving = {(each.at.topic, each.at.partition) for each in state.moves}
    listed = {(each.topic, partition) for each in state.lists for partition, _ in each.follower}
    return listed <= moving


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "what comes and what goes are replicas": _moves_fit,
        "every partition keeps a replica": lambda settings, state: all(
            each.assignment.replicas for each in state.partitions
        ),
        "rates are on brokers of the cluster": lambda settings, state: (
            {broker for broker, _ in state.rates} <= {*settings.broker_ids}
        ),
    }
)
"""What holds in every state that can be reached."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        MOVES_LIMITED: _moves_are_limited,
        NONE_LEFT: lambda settings, state: bool(state.moves) or not (state.rates or state.lists),
        ONLY_MOVES: _only_moves_are_limited,
    }
)
"""What an administrator hopes for; ``--cancel`` of another plan breaks the first, a forgotten ``--verify`` the rest."""

check, broken = judges(INVARIANTS, PROMISES)
