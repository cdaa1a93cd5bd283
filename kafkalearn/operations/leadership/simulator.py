"""The simulator of a cluster's leaders: brokers fail and come back, leadership moves away, and is given back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.operations.leadership.effects import Effect, ElectionAnswered, LeaderChanged
from kafkalearn.operations.leadership.events import (
    BrokerBack,
    BrokerLost,
    ElectLeaders,
    Event,
    LeaderImbalanceChecked,
    TimePassed,
)
from kafkalearn.operations.leadership.imbalance import imbalances, may_be_given_back
from kafkalearn.operations.leadership.settings import Settings
from kafkalearn.operations.leadership.state import Cluster, Led, start
from kafkalearn.phrases import listed, shown
from kafkalearn.trace import Trace, run

MS_PER_S = 1000


def simulate(settings: Settings, events: Iterable[Event], initial: Cluster | None = None) -> Trace[Cluster, Event]:
    """A run: the leaders of a cluster after each event.

    Parameters
    ----------
    settings : Settings
        Brokers, release, interval.
    events : iterable of Event
        In order.
    initial : Cluster, optional
        As `cluster_of` makes it of your own partitions; without it one partition for each broker.

    Examples
    --------
    >>> trace = simulate(Settings((1, 2, 3)), [BrokerLost(1), BrokerBack(1), TimePassed(300_000)])
    >>> [[each.leader for each in frame.state.partitions] for frame in trace]
    [[1, 2, 3], [2, 2, 3], [2, 2, 3], [1, 2, 3]]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, cluster: Cluster, event: Event) -> Cluster:
    """The cluster after `event`.

    Raises
    ------
    IllegalEvent
        If there is no such broker or partition, or the broker is lost already, or lives.

    Examples
    --------
    >>> settings = Settings((1, 2))
    >>> step(settings, start(settings), BrokerLost(1)).effects
    (LeaderChanged(topic='orders', partition=0, leader=2, leader_epoch=1),)

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ReplicationControlManager``; before, ``KafkaController``. One partition in all its
    steps is `kafkalearn.replication`.
    """
    match event:
        case BrokerLost(broker_id):
            _require(settings, cluster, event, broker_id, is_to_live=True)
            fenced = tuple(sorted({*cluster.fenced, broker_id}))
            return _changed(cluster, lambda each: _without(each, broker_id, fenced), fenced)
        case BrokerBack(broker_id):
            _require(settings, cluster, event, broker_id, is_to_live=False)
            fenced = tuple(each for each in cluster.fenced if each != broker_id)
            return _changed(cluster, lambda each: _with(each, broker_id, fenced), fenced)
        case TimePassed(ms):
            return _time_passed(settings, cluster, ms)
        case LeaderImbalanceChecked():
            return _balanced(settings, cluster)
        case ElectLeaders():
            return _elected(cluster, event)
    raise no_event(event, (BrokerLost, BrokerBack, TimePassed, LeaderImbalanceChecked, ElectLeaders))


def _require(settings: Settings, cluster: Cluster, event: Event, broker_id: int, is_to_live: bool) -> None:
    if broker_id not in settings.broker_ids:
        raise IllegalEvent(f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.broker_ids)}")
    if (broker_id not in cluster.fenced) != is_to_live:
        raise IllegalEvent(f"{shown(event)}: the broker {'is lost already' if is_to_live else 'lives'}")


def _changed(cluster: Cluster, change: Callable[[Led], Led], fenced: tuple[int, ...]) -> Cluster:
    partitions = tuple(change(each) for each in cluster.partitions)
    effects = _leaders_changed(cluster.partitions, partitions)
    return replace(cluster, partitions=partitions, fenced=fenced, effects=effects)


def _leaders_changed(before: Iterable[Led], after: Iterable[Led]) -> tuple[Effect, ...]:
    pairs = zip(before, after, strict=True)
    return tuple(
        LeaderChanged(now.topic, now.partition, now.leader, now.leader_epoch)
        for was, now in pairs
        if was.leader != now.leader
    )


def _led_by(partition: Led, leader: int | None) -> Led:
    if leader == partition.leader:
        return partition
    return partition._replace(leader=leader, leader_epoch=partition.leader_epoch + 1)


def _without(partition: Led, broker_id: int, fenced: tuple[int, ...]) -> Led:
    """The partition once a broker is gone; the last of the ISR stays in it, and nobody leads."""
    if broker_id not in partition.isr:
        return partition
    isr = tuple(each for each in partition.isr if each != broker_id) or partition.isr
    shrunk = partition._replace(isr=isr)
    return _led_by(shrunk, leader_of(shrunk, fenced))


def leader_of(partition: Led, fenced: Iterable[int]) -> int | None:
    """Who leads a partition while these brokers are gone: who does now, else the first replica in sync that lives."""
    alive = [each for each in partition.replicas if each in partition.isr and each not in fenced]
    if partition.leader in alive:
        return partition.leader
    return alive[0] if alive else None


def _with(partition: Led, broker_id: int, fenced: tuple[int, ...]) -> Led:
    if broker_id not in partition.replicas:
        return partition
    led = _led_by(partition, leader_of(partition, fenced))
    if led.leader is None:
        return led
    caught_up = [each for each in led.replicas if each not in fenced]  # those too that came back before their leader
    return led._replace(isr=tuple(sorted({*led.isr, *caught_up})))


def _time_passed(settings: Settings, cluster: Cluster, ms: int) -> Cluster:
    interval_ms = settings.check_interval_s * MS_PER_S
    now_ms = cluster.now_ms + ms
    is_due = settings.has_leader_rebalancing and cluster.now_ms // interval_ms != now_ms // interval_ms
    later = replace(cluster, now_ms=now_ms, effects=())
    return _balanced(settings, later) if is_due else later


def _balanced(settings: Settings, cluster: Cluster) -> Cluster:
    found = imbalances(settings, cluster.partitions)
    over = {each.broker_id for each in found if each.is_over}
    partitions = tuple(_given_back(each, cluster.fenced, each.preferred in over) for each in cluster.partitions)
    effects = (*(each for each in found if each.not_led_count), *_leaders_changed(cluster.partitions, partitions))
    return replace(cluster, partitions=partitions, effects=effects)


def _given_back(partition: Led, fenced: tuple[int, ...], is_wanted: bool) -> Led:
    is_possible = is_wanted and may_be_given_back(partition, fenced)
    return _led_by(partition, partition.preferred) if is_possible else partition


def _elected(cluster: Cluster, event: ElectLeaders) -> Cluster:
    """As ElectLeaders answers: of all partitions those that need no election are left out of the answer."""
    chosen = [each for each in cluster.partitions if _is_meant(each, event)]
    if not chosen:
        return replace(
            cluster,
            effects=(ElectionAnswered(event.topic or "", event.partition or 0, "UNKNOWN_TOPIC_OR_PARTITION"),),
        )
    partitions = tuple(_given_back(each, cluster.fenced, each in chosen) for each in cluster.partitions)
    answers = [ElectionAnswered(each.topic, each.partition, _answer(each, cluster.fenced)) for each in chosen]
    if event.topic is None:
        answers = [each for each in answers if each.error != "ELECTION_NOT_NEEDED"]
    return replace(
        cluster, partitions=partitions, effects=(*_leaders_changed(cluster.partitions, partitions), *answers)
    )


def _is_meant(partition: Led, event: ElectLeaders) -> bool:
    return event.topic in (None, partition.topic) and event.partition in (None, partition.partition)


def _answer(partition: Led, fenced: tuple[int, ...]) -> str:
    if partition.leader == partition.preferred:
        return "ELECTION_NOT_NEEDED"
    return "NONE" if may_be_given_back(partition, fenced) else "PREFERRED_LEADER_NOT_AVAILABLE"
