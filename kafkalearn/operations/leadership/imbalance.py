"""Which partitions count as imbalanced: led by another than their preferred replica; and who is elected, by release."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.operations.leadership.effects import ImbalanceFound
from kafkalearn.operations.leadership.settings import Settings
from kafkalearn.operations.leadership.state import Led


def imbalances(settings: Settings, partitions: Sequence[Led]) -> tuple[ImbalanceFound, ...]:
    """For each broker that is to lead something: how many of it it does not lead, and whether that is too many.

    Under KRaft one is too many. With ZooKeeper the share has to be above ``leader.imbalance.per.broker.percentage``,
    so a broker that is to lead ten partitions and does not lead one of them keeps waiting for ever.

    Examples
    --------
    >>> from kafkalearn.operations.leadership.state import partition_of
    >>> partitions = [partition_of("orders", n, [1, 2], leader=2 if n == 0 else 1) for n in range(10)]
    >>> [each.is_over for release in ("2.8", "4.3") for each in imbalances(Settings((1, 2), release), partitions)]
    [False, True]

    References
    ----------
    Apache Kafka 0.8.1 to 3.9 with ZooKeeper, ``KafkaController.checkAndTriggerAutoLeaderRebalance``; KRaft, 3.2 to 4.3,
    ``ReplicationControlManager.maybeBalancePartitionLeaders``.
    """
    found = []
    for broker_id in settings.broker_ids:
        to_lead = [each for each in partitions if each.preferred == broker_id]
        not_led = sum(each.leader != broker_id for each in to_lead)
        if to_lead:
            found.append(ImbalanceFound(broker_id, len(to_lead), not_led, _is_over(settings, not_led, len(to_lead))))
    return tuple(found)


def _is_over(settings: Settings, not_led: int, to_lead: int) -> bool:
    return not_led * 100 > settings.imbalance_percentage * to_lead if settings.has_zookeeper else not_led > 0


def may_be_given_back(partition: Led, fenced: tuple[int, ...]) -> bool:
    """Whether the preferred replica of a partition does not lead it, and could: it lives and is in sync."""
    preferred = partition.preferred
    return partition.leader != preferred and preferred in partition.isr and preferred not in fenced
