"""Who leads in a cluster of many partitions: leaders that pile up after failures, and how they are given back.

A simulator: the state is a `Cluster` of partitions with their replicas, ISR and leaders; brokers are lost and come
back, and every 300 s the controller gives leadership back to preferred replicas. The steps of a partition are those of
`kafkalearn.replication`. `load_without` says what the others carry if a broker dies, `moved_bytes` and `move_seconds`
what a plan costs before it is executed.

A broker that was lost and is back leads nothing until then:

>>> settings = Settings((1, 2, 3))
>>> broken(settings, simulate(settings, [BrokerFenced(1), BrokerUnfenced(1)])[-1].state)
('every partition is led by its preferred replica', 'no broker leads twice as much as another')
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.base import checks, facts
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, listed, no_event, shown
from kafkalearn.base.events import BrokerFenced, BrokerUnfenced, TimePassed
from kafkalearn.base.promises import Predicate, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.operations.reassignment import Target, targets_of
from kafkalearn.releases import default
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, AnswersFor, ReleaseName, at_least

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerFenced",
    "BrokerUnfenced",
    "Cluster",
    "ElectLeaders",
    "LeaderImbalanceChecked",
    "Settings",
    "TimePassed",
    "broken",
    "check",
    "cluster_of",
    "imbalances",
    "load_without",
    "move_seconds",
    "moved_bytes",
    "partition_of",
    "simulate",
    "start",
    "step",
]

Percentage: TypeAlias = Annotated[int, checks.Whole(0, 100)]
KRAFT_SINCE, ZOOKEEPER_UNTIL = "3.3", "4.0"


ANSWERS_FOR = AnswersFor("operations.leadership", RELEASES[0])


@dataclass(frozen=True, slots=True)
class Settings(checks.Checked):
    """The brokers, and when their leadership is balanced.

    Parameters
    ----------
    broker_ids : tuple of int
        All brokers.
    release : str
        Of the controller.
    has_leader_rebalancing : bool or None
        ``auto.leader.rebalance.enable``; None: the release's default (true in every one).
    check_interval_s : int or None
        ``leader.imbalance.check.interval.seconds``; None: the release's default (300 in every one).
    imbalance_percentage : int or None
        ``leader.imbalance.per.broker.percentage``; None: the default, 10. Only controllers with ZooKeeper read it.
    has_zookeeper : bool or None
        Whether the controller is the old one; None: up to 3.2 alone, as there was no other for production.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so.

    Examples
    --------
    >>> Settings((1, 2, 3)).check_interval_s, Settings((1, 2, 3), "2.8").has_zookeeper
    (300, True)
    """

    broker_ids: tuple[checks.BrokerId, ...]
    release: ReleaseName = DEFAULT_RELEASE
    has_leader_rebalancing: checks.FilledIn[bool] = checks.NOT_GIVEN
    check_interval_s: checks.FilledIn[checks.Count] = checks.NOT_GIVEN
    imbalance_percentage: checks.FilledIn[Percentage] = checks.NOT_GIVEN
    has_zookeeper: checks.FilledIn[bool] = checks.NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what is no cluster."""
        checks.check_fields(self)
        ANSWERS_FOR.check(self.release)
        if not self.broker_ids or len({*self.broker_ids}) < len(self.broker_ids):
            raise KafkaLearnError(f"broker_ids must name at least one broker, each once, got {shown(self.broker_ids)}")
        checks.fill_in(
            self,
            has_leader_rebalancing=default("auto.leader.rebalance.enable", self.release, side="broker"),
            check_interval_s=default("leader.imbalance.check.interval.seconds", self.release, side="broker"),
            has_zookeeper=not at_least(KRAFT_SINCE, self.release),
        )
        if self.has_zookeeper and at_least(ZOOKEEPER_UNTIL, self.release):
            raise KafkaLearnError(f"Kafka {self.release} has no ZooKeeper; it went with 4.0")
        if not self.has_zookeeper and not at_least(KRAFT_SINCE, self.release):
            raise KafkaLearnError(f"has_zookeeper must be true: before 3.3 KRaft was no choice, got {self.release}")
        if self.imbalance_percentage is not None and not self.has_zookeeper:
            raise KafkaLearnError(
                "imbalance_percentage is read by controllers with ZooKeeper alone; KRaft gives every leadership back"
            )
        checks.fill_in(self, imbalance_percentage=10)


# The state: who leads which partition, which brokers live, and when the controller looks next.


class Led(NamedTuple):
    """One partition: its replicas, the preferred leader first, and who leads it."""

    topic: str
    partition: int
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int | None  # None: nobody can
    leader_epoch: int = 0
    size_bytes: int = 0

    @property
    def preferred(self) -> int:
        """The replica that is to lead."""
        return self.replicas[0]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Leaders and brokers at one moment."""

    partitions: tuple[Led, ...]
    fenced: tuple[int, ...] = ()  # brokers that do not count as alive
    now_ms: int = 0
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # of the last event


def partition_of(
    topic: str, partition: int, replicas: Iterable[int], leader: int | None = None, size_bytes: int = 0
) -> Led:
    """A partition with all replicas in sync, led by the first of them if no other is named.

    Raises
    ------
    KafkaLearnError
        If topic or partition can be none, a broker is named twice, or the leader is none of them.

    Examples
    --------
    >>> partition_of("orders", 0, [2, 3])
    Led(topic='orders', partition=0, replicas=(2, 3), isr=(2, 3), leader=2, leader_epoch=0, size_bytes=0)
    """
    checks.text("topic", topic)
    checks.whole_number("partition", partition, at_least=0)
    named = tuple(
        checks.whole_number("replicas", each, at_least=0)
        for each in checks.iterable("replicas", replicas, of="broker ids")
    )
    if not named or len({*named}) < len(named):
        raise KafkaLearnError(
            f"replicas of {topic}-{partition} must name at least one broker, each once, got {shown(named)}"
        )
    if leader is not None and leader not in named:
        raise KafkaLearnError(
            f"the leader of {topic}-{partition} must be one of its replicas {named}, got {shown(leader)}"
        )
    return Led(
        topic,
        partition,
        named,
        tuple(sorted(named)),
        named[0] if leader is None else leader,
        size_bytes=checks.whole_number("size_bytes", size_bytes, at_least=0),
    )


def start(settings: Settings) -> Cluster:
    """A cluster whose brokers all live, with a partition for each that is to lead it; `cluster_of` takes your own.

    >>> [each.leader for each in start(Settings((1, 2, 3))).partitions]
    [1, 2, 3]
    """
    ids = settings.broker_ids
    turned = ((*ids[place:], *ids[:place]) for place in range(len(ids)))
    return cluster_of(settings, (partition_of("orders", place, each[:3]) for place, each in enumerate(turned)))


def cluster_of(settings: Settings, partitions: Iterable[Led]) -> Cluster:
    """A cluster of these partitions, whose brokers all live.

    Raises
    ------
    KafkaLearnError
        If a partition has a replica on a broker that is not there.

    Examples
    --------
    >>> cluster_of(Settings((1, 2)), [partition_of("orders", 0, [2, 1])]).partitions[0].leader
    2
    """
    kept = tuple(checks.iterable("partitions", partitions, of="partition_of(...)"))
    for each in kept:
        unknown = {*each.replicas} - {*settings.broker_ids}
        if unknown:
            raise KafkaLearnError(
                f"{each.topic}-{each.partition} has replicas on {sorted(unknown)}; the brokers are "
                f"{listed(settings.broker_ids)}"
            )
    return Cluster(kept)


# Events: what happens to the brokers, and what the controller does about leaders.


class LeaderImbalanceChecked(facts.Event, says="the controller looks at its leaders"):
    """The controller looks at its leaders now, as it does by itself every 300 s."""


class ElectLeaders(facts.Event):
    """An administrator has the preferred leaders elected: of one partition, or, without one, of all."""

    topic: str | None = None
    partition: checks.Index | None = None


Event: TypeAlias = BrokerFenced | BrokerUnfenced | TimePassed | LeaderImbalanceChecked | ElectLeaders


# Effects: whom the controller has elected, and what it answered.


class LeaderChanged(facts.Effect):
    """A partition is led by another broker, or by none."""

    topic: str
    partition: int
    leader: int | None
    leader_epoch: int


class ImbalanceFound(facts.Effect):
    """The share of the partitions that a broker is to lead and does not; the controller looks at each broker."""

    broker_id: int
    preferred_count: int
    not_led_count: int
    is_over: bool  # over the percentage: there are elections; KRaft asks for no percentage

    @property
    def ratio(self) -> float:
        """0.0 to 1.0."""
        return self.not_led_count / self.preferred_count


class ElectionAnswered(facts.Effect):
    """The answer of ElectLeaders for one partition."""

    topic: str
    partition: int
    error: str


Effect: TypeAlias = LeaderChanged | ImbalanceFound | ElectionAnswered


# The step: brokers fail and come back, leadership moves away, and is given back.

MS_PER_S = 1000


def step(settings: Settings, cluster: Cluster, event: Event) -> Cluster:
    """The cluster after `event`.

    Raises
    ------
    IllegalEvent
        If there is no such broker or partition, or the broker is lost already, or lives.

    Examples
    --------
    >>> settings = Settings((1, 2))
    >>> step(settings, start(settings), BrokerFenced(1)).effects
    (LeaderChanged(topic='orders', partition=0, leader=2, leader_epoch=1),)

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``ReplicationControlManager``; before, ``KafkaController``. One partition in all its
    steps is `kafkalearn.replication`.
    """
    match event:
        case BrokerFenced(broker_id):
            _require(settings, cluster, event, broker_id, is_to_live=True)
            fenced = tuple(sorted({*cluster.fenced, broker_id}))
            return _changed(cluster, lambda each: _without(each, broker_id, fenced), fenced)
        case BrokerUnfenced(broker_id):
            _require(settings, cluster, event, broker_id, is_to_live=False)
            fenced = tuple(each for each in cluster.fenced if each != broker_id)
            return _changed(cluster, lambda each: _with(each, broker_id, fenced), fenced)
        case TimePassed(ms):
            return _time_passed(settings, cluster, ms)
        case LeaderImbalanceChecked():
            return _balanced(settings, cluster)
        case ElectLeaders():
            return _elected(cluster, event)
    raise no_event(event, (BrokerFenced, BrokerUnfenced, TimePassed, LeaderImbalanceChecked, ElectLeaders))


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
    chosen = [
        each
        for each in cluster.partitions
        if event.topic in (None, each.topic) and event.partition in (None, each.partition)
    ]
    if not chosen:
        answer = ElectionAnswered(event.topic or "", event.partition or 0, "UNKNOWN_TOPIC_OR_PARTITION")
        return replace(cluster, effects=(answer,))
    partitions = tuple(_given_back(each, cluster.fenced, each in chosen) for each in cluster.partitions)
    answers = [ElectionAnswered(each.topic, each.partition, _answer(each, cluster.fenced)) for each in chosen]
    if event.topic is None:
        answers = [each for each in answers if each.error != "ELECTION_NOT_NEEDED"]
    effects = (*_leaders_changed(cluster.partitions, partitions), *answers)
    return replace(cluster, partitions=partitions, effects=effects)


def _answer(partition: Led, fenced: tuple[int, ...]) -> str:
    if partition.leader == partition.preferred:
        return "ELECTION_NOT_NEEDED"
    return "NONE" if may_be_given_back(partition, fenced) else "PREFERRED_LEADER_NOT_AVAILABLE"


# Which partitions count as imbalanced, and may be given back.


def imbalances(settings: Settings, partitions: Sequence[Led]) -> tuple[ImbalanceFound, ...]:
    """For each broker that is to lead something: how many of it it does not lead, and whether that is too many.

    Under KRaft one is too many. With ZooKeeper the share has to be above ``leader.imbalance.per.broker.percentage``,
    so a broker that is to lead ten partitions and does not lead one of them keeps waiting for ever.

    Examples
    --------
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
        most = settings.imbalance_percentage * len(to_lead) if settings.has_zookeeper else 0
        if to_lead:
            found.append(ImbalanceFound(broker_id, len(to_lead), not_led, is_over=100 * not_led > most))
    return tuple(found)


def may_be_given_back(partition: Led, fenced: tuple[int, ...]) -> bool:
    """Whether the preferred replica of a partition does not lead it, and could: it lives and is in sync."""
    preferred = partition.preferred
    return partition.leader != preferred and preferred in partition.isr and preferred not in fenced


# What holds.

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


def _is_even(settings: Settings, cluster: Cluster) -> bool:
    counts = Counter(each.leader for each in cluster.partitions if each.leader is not None)
    led = [counts[broker_id] for broker_id in settings.broker_ids if broker_id not in cluster.fenced]
    return not led or max(led) < 2 * max(1, min(led))


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {LEADERS_LIVE: _leaders_live, EPOCHS_RISE: Since(_epochs_rise)}
)
"""What holds in every state that can be reached."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        ALL_LED: lambda settings, cluster: all(each.leader is not None for each in cluster.partitions),
        PREFERRED_LEAD: lambda settings, cluster: all(each.leader == each.preferred for each in cluster.partitions),
        EVEN: _is_even,
    }
)
"""What an operator hopes for; a dead broker breaks it, and one that is back too, until leadership is given back."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)


# What brokers carry, what they would if some died, and what a plan has to move: the numbers before it is executed.


@dataclass(frozen=True, slots=True)
class Load:
    """What one broker carries."""

    broker_id: int
    leader_count: int
    led_bytes: int
    replica_count: int
    replica_bytes: int


@dataclass(frozen=True, slots=True)
class Moved:
    """What one broker receives and sends while a plan is carried out, and what it may delete afterwards."""

    broker_id: int
    in_bytes: int
    out_bytes: int
    deleted_bytes: int


def load_without(partitions: Sequence[Led], dead: Iterable[int] = ()) -> tuple[Load, ...]:
    """The load of every broker that is left while others are dead, by broker id.

    Of each partition of a dead leader the first replica in sync that lives leads. Partitions without one are led by
    nobody and count for nobody.

    Raises
    ------
    KafkaLearnError
        If `dead` holds what is no broker id.

    Examples
    --------
    >>> partitions = [partition_of("orders", 0, [1, 2], size_bytes=10), partition_of("orders", 1, [2, 1], size_bytes=5)]
    >>> load_without(partitions, dead=[1])
    (Load(broker_id=2, leader_count=2, led_bytes=15, replica_count=2, replica_bytes=15),)
    """
    gone = {
        checks.whole_number("a broker id of dead", each, 0, checks.LARGEST_INT)
        for each in checks.iterable("dead", dead, of="broker ids")
    }
    leaders, led, replicas, held = Counter(), Counter(), Counter(), Counter()
    for each in partitions:
        leader = leader_of(each, gone)
        leaders[leader] += 1
        led[leader] += each.size_bytes
        for broker_id in each.replicas:
            replicas[broker_id] += 1
            held[broker_id] += each.size_bytes
    left = sorted({*replicas} - gone)
    return tuple(Load(each, leaders[each], led[each], replicas[each], held[each]) for each in left)


def moved_bytes(partitions: Sequence[Led], plan: Sequence[Target]) -> tuple[Moved, ...]:
    """What each broker receives and sends for a plan, by broker id; brokers that do neither are left out.

    Every new replica copies the whole log from the leader. Nothing is copied for a replica that stays, whatever its
    place in the list.

    Raises
    ------
    KafkaLearnError
        If the plan names a partition that is not there, or one that nobody leads.

    Examples
    --------
    >>> partitions = [partition_of("orders", 0, [1, 2], size_bytes=10)]
    >>> for moved in moved_bytes(partitions, [Target("orders", 0, (3, 2))]):
    ...     print(moved)
    Moved(broker_id=1, in_bytes=0, out_bytes=10, deleted_bytes=10)
    Moved(broker_id=3, in_bytes=10, out_bytes=0, deleted_bytes=0)
    """
    there = {(each.topic, each.partition): each for each in partitions}
    came, went, deleted = Counter(), Counter(), Counter()
    for target in targets_of(plan):
        led = there.get((target.topic, target.partition))
        if led is None:
            raise KafkaLearnError(f"the plan names {target.topic}-{target.partition}, which is none of the partitions")
        if led.leader is None:
            raise KafkaLearnError(f"nobody leads {led.topic}-{led.partition}: nobody to copy its log from")
        for broker_id in {*target.replicas} - {*led.replicas}:
            came[broker_id] += led.size_bytes
            went[led.leader] += led.size_bytes
        for broker_id in {*led.replicas} - {*target.replicas}:
            deleted[broker_id] += led.size_bytes
    busy = sorted({*came, *went, *deleted})
    return tuple(Moved(each, came[each], went[each], deleted[each]) for each in busy)


def move_seconds(moved: Sequence[Moved], throttle_bytes_per_s: int, produced_bytes_per_s: int = 0) -> Fraction | None:
    """How long a plan takes if every broker sends and receives as much as its throttle allows.

    The busiest broker decides, sending or receiving: ``leader.replication.throttled.rate`` and
    ``follower.replication.throttled.rate`` are limits of a broker, not of a partition. Fetches of replicas in sync are
    not throttled.

    Parameters
    ----------
    moved : sequence of Moved
        As `moved_bytes` has it.
    throttle_bytes_per_s : int
        What ``--throttle`` is given, at least 1.
    produced_bytes_per_s : int
        What producers write meanwhile to the partitions that move to one broker: new replicas have to copy it too.

    Returns
    -------
    fractions.Fraction or None
        Seconds; None: never, as more comes than the throttle lets through.

    Examples
    --------
    >>> moved = [Moved(1, 0, 100, 0), Moved(2, 60, 0, 0), Moved(3, 40, 0, 0)]
    >>> move_seconds(moved, 10), move_seconds(moved, 10, produced_bytes_per_s=10)
    (Fraction(10, 1), None)

    References
    ----------
    KIP-73; Apache Kafka 0.10.1 to 4.3, ``ReplicationQuotaManager``, ``ReplicaManager.shouldLeaderThrottle``.
    """
    rate = checks.whole_number("throttle_bytes_per_s", throttle_bytes_per_s, at_least=1)
    left = rate - checks.whole_number("produced_bytes_per_s", produced_bytes_per_s, at_least=0)
    busiest = max((max(each.in_bytes, each.out_bytes) for each in moved), default=0)
    if busiest == 0:
        return Fraction(0)
    return Fraction(busiest, left) if left > 0 else None
