"""``__consumer_offsets`` on its brokers: created by the first client that asks, and led, as long as somebody can.

>>> settings = Settings([1, 2, 3], release="0.10.2")
>>> early = [BrokerStarted(1), FindCoordinator("billing"), BrokerStarted(2), BrokerStarted(3)]
>>> last = simulate(settings, [*early, BrokerCrashed(1), FindCoordinator("billing")])[-1].state
>>> last.effects, len(last.leaderless)
((CoordinatorNotAvailable(group_id='billing', partition=9),), 50)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, TypeAlias

from kafkalearn.base import checks, facts
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, refusing_events
from kafkalearn.base.events import BrokerCrashed, BrokerStarted
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.base.java import JavaRandom
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.operations.placement import Broker, Placement, Replicas, brokers_of, place_shifted, place_striped
from kafkalearn.operations.reassignment import Cluster, Move, plan_of, refusal
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, AnswersFor, Release, ReleaseName, at_least

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerCrashed",
    "BrokerStarted",
    "Creation",
    "FindCoordinator",
    "Metadata",
    "OffsetsTopic",
    "Reassigned",
    "Settings",
    "broken",
    "check",
    "create_offsets_topic",
    "groups_by_coordinator",
    "groups_without_coordinator",
    "simulate",
    "start",
    "step",
]

ANSWERS_FOR = AnswersFor("operations.offsets_topic", RELEASES[0])


@dataclass(frozen=True, slots=True)
class Settings(checks.Checked):
    """A cluster and its offsets topic.

    Parameters
    ----------
    brokers : tuple of int
        All brokers that the cluster ever has.
    replication_factor, partition_count : int
        ``offsets.topic.replication.factor``, ``offsets.topic.num.partitions``.
    release : str
        Of the cluster.
    has_zookeeper : bool or None
        None: up to 3.2 yes, since 4.0 no. From 3.3 to 3.9 clusters have either, so it has to be said.
    seed : int
        Kafka draws where the replicas go; the same seed, the same places.
    auto_create_topics_enable : bool
        Of the brokers; up to 2.7 it does not count for this topic.

    Raises
    ------
    KafkaLearnError
        If a broker is named twice, the release had no such cluster, or had both kinds.
    """

    brokers: tuple[checks.NodeId, ...] = (1, 2, 3)
    replication_factor: checks.Count = 3
    partition_count: checks.PartitionCount = 50
    release: ReleaseName = DEFAULT_RELEASE
    has_zookeeper: bool | None = None
    seed: Annotated[int, checks.Whole(0)] = 0
    auto_create_topics_enable: bool = True

    def __post_init__(self) -> None:
        """Refuse what no cluster can be."""
        checks.check_fields(self)
        ANSWERS_FOR.check(self.release)
        if len({*self.brokers}) < len(self.brokers) or not self.brokers:
            raise KafkaLearnError(f"brokers must name each broker once, and at least one; got {list(self.brokers)}")
        object.__setattr__(self, "has_zookeeper", uses_zookeeper(self.release, self.has_zookeeper))


# The state: which brokers live, where the topic lies, and who leads each of its partitions.


@dataclass(frozen=True, slots=True)
class OffsetsTopic:
    """The topic on its brokers.

    Attributes
    ----------
    live : tuple of int
        Brokers that are up, by id.
    fenced : tuple of int
        Brokers that were up once, and are down.
    replicas, isr : tuple of tuple of int
        For each partition; empty: there is no topic.
    leaders : tuple of int or None
        For each partition; None: none of its in-sync replicas lives.
    pending : tuple of (int, tuple of int)
        Partitions whose reassignment waits for a leader, each with the replicas that it is to have.
    """

    live: tuple[int, ...] = ()
    fenced: tuple[int, ...] = ()
    replicas: Placement = ()
    isr: Placement = ()
    leaders: tuple[int | None, ...] = ()
    pending: tuple[tuple[int, Replicas], ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def is_created(self) -> bool:
        """Whether there is a topic."""
        return bool(self.replicas)

    @property
    def leaderless(self) -> tuple[int, ...]:
        """The partitions whose groups have no coordinator."""
        return tuple(partition for partition, leader in enumerate(self.leaders) if leader is None)


def start(settings: Settings) -> OffsetsTopic:
    """A cluster none of whose brokers was ever started."""
    return OffsetsTopic()


# Events: what may happen to a cluster and its offsets topic.


class FindCoordinator(facts.Event):
    """A client asks any live broker for the coordinator of a group."""

    group_id: str


class Metadata(facts.Event):
    """A client asks any live broker for the topic by its name; ``allow.auto.create.topics`` is the client's."""

    allow_auto_topic_creation: bool = True


class Reassigned(facts.Event):
    """A plan is given to ``kafka-reassign-partitions``: for each partition the replicas that it is to have.

    What can be copied is copied at once; a partition without a leader waits for one. The tool refuses a plan that names
    a broker that is down, and every plan while another one runs.
    """

    replicas: tuple[tuple[checks.NodeId, ...], ...]


Event: TypeAlias = BrokerStarted | BrokerCrashed | FindCoordinator | Metadata | Reassigned


# Effects: answers to clients, a topic, leaders that change, plans that stand still.


class CoordinatorFound(facts.Effect):
    """FindCoordinator was answered with a broker."""

    group_id: str
    partition: int
    broker: int


class CoordinatorNotAvailable(facts.Effect):
    """FindCoordinator was answered COORDINATOR_NOT_AVAILABLE; `partition` is None while there is no topic.

    The client is not given a reason. It waits ``retry.backoff.ms`` and asks again, until its own time is over.
    """

    group_id: str
    partition: int | None = None


class MetadataAnswered(facts.Effect):
    """Metadata was answered for the topic: how many partitions it has, or an error after which the client asks again.

    The error of a topic that has just been created is LEADER_NOT_AVAILABLE, with KRaft UNKNOWN_TOPIC_OR_PARTITION.
    """

    error: str
    partition_count: int = 0


class TopicCreated(facts.Effect):
    """The topic was created."""

    replica_count: int


class TopicNotCreated(facts.Effect):
    """There are too few brokers; `logged` is what the broker's log says, where it says something."""

    logged: str | None


class LeaderChanged(facts.Effect):
    """A partition has another leader; None: none."""

    partition: int
    before: int | None
    after: int | None


class ReassignmentStuck(facts.Effect):
    """A partition without a leader cannot be copied: its reassignment is recorded, and waits for one."""

    partition: int


class ReassignmentCompleted(facts.Effect):
    """A reassignment that waited has come to its end, as somebody leads the partition again."""

    partition: int


class ReassignmentRefused(facts.Effect):
    """The tool did not begin the plan; `message` is what it prints."""

    message: str


Effect: TypeAlias = (
    CoordinatorFound
    | CoordinatorNotAvailable
    | MetadataAnswered
    | TopicCreated
    | TopicNotCreated
    | LeaderChanged
    | ReassignmentStuck
    | ReassignmentCompleted
    | ReassignmentRefused
)


# The step: from the topic's creation to the day a broker dies.


@refusing_events
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
        case BrokerCrashed():
            return _died(state, event)
        case FindCoordinator():
            return _asked(settings, state, event)
        case Metadata():
            return _named(settings, state, event)
        case Reassigned():
            return _reassigned(settings, state, event)
    raise no_event(event, (BrokerStarted, BrokerCrashed, FindCoordinator, Metadata, Reassigned))


def _started(settings: Settings, state: OffsetsTopic, event: BrokerStarted) -> OffsetsTopic:
    if event.broker_id not in settings.brokers:
        raise IllegalEvent(f"{event!r}: the cluster has the brokers {list(settings.brokers)}")
    if event.broker_id in state.live:
        raise IllegalEvent(f"{event!r}: broker {event.broker_id} is up already")
    live = tuple(sorted((*state.live, event.broker_id)))
    fenced = tuple(each for each in state.fenced if each != event.broker_id)
    return _carried_on(_led(replace(state, live=live, fenced=fenced)))


def _died(state: OffsetsTopic, event: BrokerCrashed) -> OffsetsTopic:
    if event.broker_id not in state.live:
        raise IllegalEvent(f"{event!r}: broker {event.broker_id} is not up; there are {list(state.live)}")
    live = tuple(each for each in state.live if each != event.broker_id)
    return _led(replace(state, live=live, fenced=tuple(sorted((*state.fenced, event.broker_id)))))


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
    _refuse_nobody(state, event)
    if not state.is_created:
        return _created(settings, state, CoordinatorNotAvailable(event.group_id))
    partition, leader = _leader_of(state, event.group_id)
    answer: Effect = CoordinatorNotAvailable(event.group_id, partition)
    if partition is not None and leader is not None:
        answer = CoordinatorFound(event.group_id, partition, leader)
    return replace(state, effects=(answer,))


def _refuse_nobody(state: OffsetsTopic, event: Event) -> None:
    if not state.live:
        raise IllegalEvent(f"{event!r}: no broker is up that could be asked")


def _named(settings: Settings, state: OffsetsTopic, event: Metadata) -> OffsetsTopic:
    """The topic after a Metadata request that names it, which may create it.

    Source: ``KafkaApis.getTopicMetadata`` of 0.8.2 to 2.7, ``AutoTopicCreationManager`` since 2.8.
    """
    _refuse_nobody(state, event)
    if state.is_created:
        return replace(state, effects=(MetadataAnswered("NONE", len(state.replicas)),))
    unknown = MetadataAnswered("UNKNOWN_TOPIC_OR_PARTITION")
    is_allowed = settings.auto_create_topics_enable and event.allow_auto_topic_creation
    if at_least("2.8", settings.release) and not is_allowed:
        return replace(state, effects=(unknown,))
    if not settings.has_zookeeper:  # the broker asks the controller, and does not wait for what that says
        return _created(settings, state, unknown)
    created = _created(settings, state, MetadataAnswered("LEADER_NOT_AVAILABLE"))
    if created.is_created:
        return created
    return replace(state, effects=(*created.effects[:-1], MetadataAnswered("INVALID_REPLICATION_FACTOR")))


def _created(settings: Settings, state: OffsetsTopic, answer: Effect) -> OffsetsTopic:
    """The cluster with the topic, if it can be created; the request that led to it is answered in either case."""
    found = create_offsets_topic(
        state.live,
        settings.replication_factor,
        settings.release,
        fenced_brokers=state.fenced,
        has_zookeeper=settings.has_zookeeper,
    )
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


# Which groups have no coordinator.


def groups_without_coordinator(state: OffsetsTopic, group_ids: Iterable[str]) -> tuple[str, ...]:
    """Those of some groups that no broker coordinates at the moment.

    Their members go on with what they own, and cannot commit, join or heartbeat.

    >>> settings = Settings([1, 2, 3], replication_factor=1)
    >>> up = [BrokerStarted(each) for each in (1, 2, 3)]
    >>> state = simulate(settings, [*up, FindCoordinator("billing"), BrokerCrashed(2)])[-1].state
    >>> groups_without_coordinator(state, ["billing", "shipping", "search"])
    ('shipping',)
    """
    given = [checks.text("group_id", each) for each in checks.iterable("group_ids", group_ids, of="group ids")]
    return tuple(each for each in given if _leader_of(state, each)[1] is None)


def groups_by_coordinator(state: OffsetsTopic, group_ids: Iterable[str]) -> Mapping[int | None, tuple[str, ...]]:
    """For each broker the groups that it coordinates; under None those that nobody does."""
    found: dict[int | None, list[str]] = {}
    for each in checks.iterable("group_ids", group_ids, of="group ids"):
        found.setdefault(_leader_of(state, checks.text("group_id", each))[1], []).append(each)
    ordered = sorted(found, key=lambda broker: (broker is None, broker))
    return MappingProxyType({broker: tuple(found[broker]) for broker in ordered})


def _leader_of(state: OffsetsTopic, group_id: str) -> tuple[int | None, int | None]:
    """The partition of a group, and its leader; both None while there is no topic."""
    if not state.is_created:
        return None, None
    partition = offsets_partition(group_id, len(state.replicas))
    return partition, state.leaders[partition]


# Whether the topic is created when the first group asks, and with how many replicas, by release.

LAST_WITH_ZOOKEEPER, FIRST_WITH_KRAFT = "3.9", "2.8"
KRAFT_FOR_PRODUCTION = "3.3"


@dataclass(frozen=True, slots=True)
class Creation:
    """What comes of the first FindCoordinator.

    Attributes
    ----------
    replica_count : int or None
        Replicas of each partition; None: the topic is not created.
    logged : str or None
        What the broker writes as an error into its log.
    """

    replica_count: int | None
    logged: str | None = None

    @property
    def is_created(self) -> bool:
        """Whether there is a topic now."""
        return self.replica_count is not None


def create_offsets_topic(
    live_brokers: Sequence[int],
    replication_factor: int = 3,
    release: str | Release = DEFAULT_RELEASE,
    *,
    fenced_brokers: Sequence[int] = (),
    has_zookeeper: bool | None = None,
) -> Creation:
    """What a cluster makes of the request for the first group, by its release.

    In every case this first request is answered COORDINATOR_NOT_AVAILABLE, with the reason nowhere: the client asks
    again until it gives up. The same number of live brokers leads to three different topics:

    - up to 0.10.2 it is created with as many replicas as brokers are alive, and stays so when the others come;
    - from 0.11 on (KIP-115) it is not created before as many brokers are alive as it shall have replicas;
    - with KRaft brokers count that are registered: a fenced one, down at the moment, gets its replica, too.

    Parameters
    ----------
    live_brokers : sequence of int
        Ids of the brokers that are up.
    replication_factor : int
        ``offsets.topic.replication.factor``: 3 unless it is set; the sample ``server.properties`` sets 1 since 0.11.
    release : str or Release
        Of the cluster.
    fenced_brokers : sequence of int
        With KRaft: registered once, and down.
    has_zookeeper : bool or None
        None: up to 3.2 yes, since 4.0 no. From 3.3 to 3.9 clusters have either, so it has to be said.

    Raises
    ------
    KafkaLearnError
        If no broker is alive, a broker is named twice, the release had no such cluster, or had both kinds.

    Examples
    --------
    >>> create_offsets_topic([1, 2], release="0.10.2").replica_count
    2
    >>> print(create_offsets_topic([1, 2], release="1.0").replica_count)
    None
    >>> print(create_offsets_topic([1, 2]).replica_count)
    None
    >>> create_offsets_topic([1, 2], fenced_brokers=[3]).replica_count
    3

    References
    ----------
    Apache Kafka 0.8.2 to 2.7, ``KafkaApis.createInternalTopic`` (to 0.10.2 ``createGroupMetadataTopic``); since 2.8
    ``AutoTopicCreationManager``; with KRaft ``ReplicationControlManager.createTopic``, ``StripedReplicaPlacer``.
    """
    live, fenced = _ids("live_brokers", live_brokers), _ids("fenced_brokers", fenced_brokers)
    checks.whole_number("replication_factor", replication_factor, 1, checks.LARGEST_INT)
    if not live:
        raise KafkaLearnError("live_brokers is empty: who should be asked for a coordinator?")
    if both := {*live} & {*fenced}:
        raise KafkaLearnError(f"brokers {sorted(both)} are live and fenced; each broker is one of the two")
    if uses_zookeeper(release, has_zookeeper):
        if not at_least("0.11.0", release):
            return Creation(min(replication_factor, len(live)))
        if len(live) < replication_factor:
            return Creation(None, _logged_with_zookeeper(release, len(live), replication_factor))
        return Creation(replication_factor)
    if len(live) + len(fenced) < replication_factor:
        return Creation(None)
    return Creation(replication_factor)


def uses_zookeeper(release: str | Release, has_zookeeper: bool | None) -> bool:
    """Whether a cluster of a release keeps its metadata in ZooKeeper; None: where its release leaves no choice.

    >>> uses_zookeeper("3.2", None), uses_zookeeper("4.0", None), uses_zookeeper("3.9", False)
    (True, False, False)
    """
    if has_zookeeper and at_least("4.0", release):
        raise KafkaLearnError(f"Kafka {release!s} has no ZooKeeper: the last that could was {LAST_WITH_ZOOKEEPER}")
    if has_zookeeper is False and not at_least(FIRST_WITH_KRAFT, release):
        raise KafkaLearnError(f"Kafka {release!s} has no KRaft: the first that could was {FIRST_WITH_KRAFT}")
    if has_zookeeper is None and at_least(KRAFT_FOR_PRODUCTION, release) and not at_least("4.0", release):
        raise KafkaLearnError(
            f"Kafka {release!s} runs with ZooKeeper or with KRaft, and they differ in this: say which, "
            "has_zookeeper=True or has_zookeeper=False"
        )
    return not at_least("4.0", release) if has_zookeeper is None else has_zookeeper


def _logged_with_zookeeper(release: str | Release, live_count: int, replication_factor: int) -> str:
    """Since 2.8 the topic is created as any other is, and the error is that of any other."""
    if at_least("2.8", release):
        return f"Replication factor: {replication_factor} larger than available brokers: {live_count}."
    return (
        f"Number of alive brokers '{live_count}' does not meet the required replication factor "
        f"'{replication_factor}' for the offsets topic (configured via 'offsets.topic.replication.factor'). This error "
        "can be ignored if the cluster is starting up and not all brokers are up yet."
    )


def _ids(name: str, value: object) -> tuple[int, ...]:
    kept = tuple(
        checks.whole_number(f"{name}[{place}]", each, 0, checks.LARGEST_INT)
        for place, each in enumerate(checks.sequence(name, value, of="broker ids"))
    )
    if len({*kept}) < len(kept):
        raise KafkaLearnError(f"{name} names a broker twice: {list(kept)}; give each once")
    return kept


# What holds.


def _leaders_live_and_are_in_sync(settings: Settings, state: OffsetsTopic) -> bool:
    return all(
        leader is None or (leader in state.live and leader in isr)
        for leader, isr in zip(state.leaders, state.isr, strict=True)
    )


def _a_live_in_sync_replica_leads(settings: Settings, state: OffsetsTopic) -> bool:
    return all(
        (leader is None) == (not {*isr} & {*state.live}) for leader, isr in zip(state.leaders, state.isr, strict=True)
    )


INVARIANTS = {
    "a leader lives and is in sync": _leaders_live_and_are_in_sync,
    "where an in-sync replica lives, one leads": _a_live_in_sync_replica_leads,
    "the last in-sync replica stays one": lambda settings, state: all(state.isr),
    "in-sync replicas are replicas": lambda settings, state: all(
        {*isr} <= {*replicas} for isr, replicas in zip(state.isr, state.replicas, strict=True)
    ),
    "a partition waits for one reassignment at most": lambda settings, state: (
        len({partition for partition, _ in state.pending}) == len(state.pending)
    ),
    "no replica twice on one broker": lambda settings, state: all(
        len({*replicas}) == len(replicas) for replicas in state.replicas
    ),
}
PROMISES = {
    "every group has a coordinator while a broker lives": lambda settings, state: (
        not state.live or not state.is_created or not state.leaderless
    ),
    "the topic has the replicas that were asked for": lambda settings, state: all(
        len(replicas) >= settings.replication_factor for replicas in state.replicas
    ),
}
simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
