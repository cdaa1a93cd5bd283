"""What always holds for the leaders of a cluster, and what an operator hopes for.

>>> from kafkalearn.operations.leadership import BrokerBack, BrokerLost, Settings, simulate
>>> settings = Settings((1, 2, 3))
>>> broken(settings, simulate(settings, [BrokerLost(1), BrokerBack(1)])[-1].state)
('every partition is led by its preferred replica', 'no broker leads twice as much as another')
"""

from __future__ import annotations

from collections import Counter
from types import MappingProxyType

from kafkalearn.operations.leadership.settings import Settings
from kafkalearn.operations.leadership.state import Cluster
from kafkalearn.promises import Predicate, Since, judges

LEADERS_LIVE = "a leader lives and is in sync"
EPOCHS_RISE = "leader epochs never go back, and rise with every change of leader"
ALL_LED = "every partition has a leader"
PREFERRED_LEAD = "every partition is led by its preferred replica"
EVEN = "no broker leads twice as much as another"


def _leaders_live(settings: Settings, cluster: Cluster) -> bool:
    return all(
        each.leader is None or (each.leader in each.isr and each.leader not in cluster.fenced)
        for each in cluster.partitions
    )


def _epochs_rise(settings: Settings, before: Cluster, cluster: Cluster) -> bool:
    pairs = zip(before.partitions, cluster.partitions, strict=True)
    return all(now.leader_epoch - was.leader_epoch == (now.leader != was.leader) for was, now in pairs)


def _are_led(settings: Settings, cluster: Cluster) -> bool:
    return all(each.leader is not None for each in cluster.partitions)


def _preferred_lead(settings: Settings, cluster: Cluster) -> bool:
    return all(each.leader == each.preferred for each in cluster.partitions)


def _is_even(settings: Settings, cluster: Cluster) -> bool:
    counts = Counter(each.leader for each in cluster.partitions if each.leader is not None)
    led = [counts[broker_id] for broker_id in settings.broker_ids if broker_id not in cluster.fenced]
    return not led or max(led) < 2 * max(1, min(led))


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {LEADERS_LIVE: _leaders_live, EPOCHS_RISE: Since(_epochs_rise)}
)
"""What holds in every state that can be reached."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {ALL_LED: _are_led, PREFERRED_LEAD: _preferred_lead, EVEN: _is_even}
)
"""What an operator hopes for; a dead broker breaks it, and one that is back too, until leadership is given back."""

check, broken = judges(INVARIANTS, PROMISES)
