"""The offsets topic, from its creation to the day a broker dies: which groups have no coordinator then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from kafkalearn.arguments import iterable, text
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.operations.offsets_topic.creation import create_offsets_topic
from kafkalearn.operations.offsets_topic.effects import (
    CoordinatorFound,
    CoordinatorNotAvailable,
    Effect,
    LeaderChanged,
    ReassignmentCompleted,
    ReassignmentRefused,
    ReassignmentStuck,
    TopicCreated,
    TopicNotCreated,
)
from kafkalearn.operations.offsets_topic.events import BrokerDied, BrokerStarted, Event, FindCoordinator, Reassigned
from kafkalearn.operations.offsets_topic.settings import Settings
from kafkalearn.operations.offsets_topic.state import OffsetsTopic, start
from kafkalearn.operations.placement.brokers import Broker, Replicas, brokers_of
from kafkalearn.operations.placement.java_random import JavaRandom
from kafkalearn.operations.placement.shifted import place_shifted
from kafkalearn.operations.placement.striped import place_striped
from kafkalearn.operations.reassignment.cluster import Cluster, Move
from kafkalearn.operations.reassignment.plan import plan_of
from kafkalearn.operations.reassignment.refusals import refusal
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Trace, run


def step(settings: Settings, state: OffsetsTopic, event: Event) -> OffsetsTopic:
    """The topic after an event.

    Raises
    ------
    IllegalEvent
        If it makes no sense: a broker that is up is started, nobody lives who could be asked, a plan for a topic that
        is not there.

    Examples
    --------
    >>> settings = Settings([1], replication_factor=1)
    >>> up = step(settings, start(settings), BrokerStarted(1))
    >>> step(settings, up, FindCoordinator("billing")).effects
    (TopicCreated(replica_count=1), CoordinatorNotAvailable(group_id='billing', partition=None))
    """
    match event:
        case BrokerStarted():
            return _started(settings, state, event)
        case BrokerDied():
            return _died(state, event)
        case FindCoordinator():
            return _asked(settings, state, event)
        case Reassigned():
            return _reassigned(settings, state, event)
    raise no_event(event, (BrokerStarted, BrokerDied, FindCoordinator, Reassigned))


def simulate(
    settings: Settings, events: Iterable[Event], initial: OffsetsTopic | None = None
) -> Trace[OffsetsTopic, Event]:
    """A run: from `initial`, or from brokers that were never started.

    Up to 0.10.2 a topic that is asked for too early has one replica, and the day its broker dies is a bad one:

    >>> settings = Settings([1, 2, 3], release="0.10.2")
    >>> early = [BrokerStarted(1), FindCoordinator("billing"), BrokerStarted(2), BrokerStarted(3)]
    >>> last = simulate(settings, [*early, BrokerDied(1), FindCoordinator("billing")])[-1].state
    >>> last.effects, len(last.leaderless)
    ((CoordinatorNotAvailable(group_id='billing', partition=9),), 50)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def groups_without_coordinator(state: OffsetsTopic, group_ids: Iterable[str]) -> tuple[str, ...]:
    """Those of some groups that no broker coordinates at the moment.

    Their members go on with what they own, and cannot commit, join or heartbeat.

    >>> settings = Settings([1, 2, 3], replication_factor=1)
    >>> up = [BrokerStarted(each) for each in (1, 2, 3)]
    >>> state = simulate(settings, [*up, FindCoordinator("billing"), BrokerDied(2)])[-1].state
    >>> groups_without_coordinator(state, ["billing", "shipping", "search"])
    ('shipping',)
    """
    given = [text("group_id", each) for each in iterable("group_ids", group_ids, of="group ids")]
    return tuple(each for each in given if _leader_of(state, each)[1] is None)


def groups_by_coordinator(state: OffsetsTopic, group_ids: Iterable[str]) -> Mapping[int | None, tuple[str, ...]]:
    """For each broker the groups that it coordinates; under None those that nobody does."""
    found: dict[int | None, list[str]] = {}
    for each in iterable("group_ids", group_ids, of="group ids"):
        found.setdefault(_leader_of(state, text("group_id", each))[1], []).append(each)
    ordered = sorted(found, key=lambda broker: (broker is None, broker))
    return MappingProxyType({broker: tuple(found[broker]) for broker in ordered})


def _leader_of(state: OffsetsTopic, group_id: str) -> tuple[int | None, int | None]:
    """The partition of a group, and its leader; both None while there is no topic."""
    if not state.is_created:
        return None, None
    partition = offsets_partition(group_id, len(state.replicas))
    return partition, state.leaders[partition]


def _started(settings: Settings, state: OffsetsTopic, event: BrokerStarted) -> OffsetsTopic:
    if event.broker not in settings.brokers:
        raise IllegalEvent(f"{event!r}: the cluster has the brokers {list(settings.brokers)}")
    if event.broker in state.live:
        raise IllegalEvent(f"{event!r}: broker {event.broker} is up already")
    live = tuple(sorted((*state.live, event.broker)))
    fenced = tuple(each for each in state.fenced if each != event.broker)
    return _carried_on(_led(replace(state, live=live, fenced=fenced)))


def _died(state: OffsetsTopic, event: BrokerDied) -> OffsetsTopic:
    if event.broker not in state.live:
        raise IllegalEvent(f"{event!r}: broker {event.broker} is not up; there are {list(state.live)}")
    live = tuple(each for each in state.live if each != event.broker)
    return _led(replace(state, live=live, fenced=tuple(sorted((*state.fenced, event.broker)))))


def _led(state: OffsetsTopic) -> OffsetsTopic:
    """The topic after brokers have come or gone: the last in-sync replica stays one, the first that lives leads."""
    isr: list[Replicas] = []
    leaders: list[int | None] = []
    for replicas, before, leader in zip(state.replicas, state.isr, state.leaders, strict=True):
        staying = tuple(each for each in before if each in state.live)
        if staying:
            staying = tuple(each for each in replicas if each in state.live)  # who is back has caught up
        isr.append(staying or before)
        leaders.append(leader if leader in staying else next(iter(staying), None))
    changed = tuple(
        LeaderChanged(partition, before, after)
        for partition, (before, after) in enumerate(zip(state.leaders, leaders, strict=True))
        if before != after
    )
    return replace(state, isr=tuple(isr), leaders=tuple(leaders), effects=changed)


def _asked(settings: Settings, state: OffsetsTopic, event: FindCoordinator) -> OffsetsTopic:
    if not state.live:
        raise IllegalEvent(f"{event!r}: no broker is up that could be asked")
    if not state.is_created:
        return _created(settings, state, event)
    partition, leader = _leader_of(state, event.group_id)
    answer: Effect = CoordinatorNotAvailable(event.group_id, partition)
    if partition is not None and leader is not None:
        answer = CoordinatorFound(event.group_id, partition, leader)
    return replace(state, effects=(answer,))


def _created(settings: Settings, state: OffsetsTopic, event: FindCoordinator) -> OffsetsTopic:
    found = create_offsets_topic(
        state.live,
        settings.replication_factor,
        settings.release,
        fenced_brokers=state.fenced,
        has_zookeeper=settings.has_zookeeper,
    )
    answer = CoordinatorNotAvailable(event.group_id)
    if found.replica_count is None:
        return replace(state, effects=(TopicNotCreated(found.logged), answer))
    replicas = _placed(settings, state, found.replica_count)
    isr = tuple(tuple(each for each in of_one if each in state.live) for of_one in replicas)
    leaders = tuple(of_one[0] for of_one in isr)
    created = replace(state, replicas=replicas, isr=isr, leaders=leaders)
    return replace(created, effects=(TopicCreated(found.replica_count), answer))


def _placed(settings: Settings, state: OffsetsTopic, replica_count: int) -> tuple[Replicas, ...]:
    if settings.has_zookeeper:
        random = JavaRandom(settings.seed)
        start_at, shift = random.next_int(len(state.live)), random.next_int(len(state.live))
        return place_shifted(state.live, settings.partition_count, replica_count, start_at, shift)
    known = [Broker(each, is_fenced=each in state.fenced) for each in sorted((*state.live, *state.fenced))]
    return place_striped(known, settings.partition_count, replica_count, settings.seed)


def _reassigned(settings: Settings, state: OffsetsTopic, event: Reassigned) -> OffsetsTopic:
    if len(event.replicas) != len(state.replicas) or not state.is_created:
        raise IllegalEvent(
            f"a plan for {len(event.replicas)} partitions, and the topic has {len(state.replicas)}: it names each once"
        )
    for partition, wanted in enumerate(event.replicas):
        if not wanted or len({*wanted}) < len(wanted) or not {*wanted} <= {*settings.brokers}:
            raise IllegalEvent(f"replicas[{partition}] must name brokers of the cluster, each once; got {list(wanted)}")
    if (message := _refused(state, event)) is not None:
        return replace(state, effects=(ReassignmentRefused(message),))
    stuck = tuple((p, wanted) for p, wanted in enumerate(event.replicas) if state.leaders[p] is None)
    waiting = dict(stuck)
    copied = {p: wanted for p, wanted in enumerate(event.replicas) if p not in waiting}
    moved = _led(_with_replicas(state, copied))
    return replace(moved, pending=stuck, effects=(*moved.effects, *(ReassignmentStuck(p) for p in waiting)))


def _refused(state: OffsetsTopic, event: Reassigned) -> str | None:
    """Why the tool does not begin a plan."""
    moves = {TopicPartition(OFFSETS_TOPIC, partition): Move(adding=wanted) for partition, wanted in state.pending}
    return refusal(
        plan_of(OFFSETS_TOPIC, event.replicas), Cluster(brokers_of(state.live), {OFFSETS_TOPIC: state.replicas}, moves)
    )


def _carried_on(state: OffsetsTopic) -> OffsetsTopic:
    """The topic after what waited has gone on: where somebody leads, and all that are to have a replica live."""
    ready = {p: wanted for p, wanted in state.pending if state.leaders[p] is not None and {*wanted} <= {*state.live}}
    if not ready:
        return state
    moved = _led(_with_replicas(state, ready))
    left = tuple(each for each in state.pending if each[0] not in ready)
    done = tuple(ReassignmentCompleted(partition) for partition in ready)
    return replace(moved, pending=left, effects=(*state.effects, *moved.effects, *done))


def _with_replicas(state: OffsetsTopic, copied: Mapping[int, Replicas]) -> OffsetsTopic:
    """The topic with other replicas of some partitions, all of them on brokers that live."""
    replicas = tuple(copied.get(partition, before) for partition, before in enumerate(state.replicas))
    isr = tuple(copied.get(partition, before) for partition, before in enumerate(state.isr))
    return replace(state, replicas=replicas, isr=isr)
