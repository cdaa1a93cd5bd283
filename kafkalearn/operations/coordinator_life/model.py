"""What stays the same while the coordinator of one partition of ``__consumer_offsets`` moves between brokers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import (
    NOT_GIVEN,
    BrokerId,
    Checked,
    Count,
    FilledIn,
    Index,
    Offset,
    check_fields,
    fill_in,
    one_of,
)
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.offsets.replay import CLASSIC, Group
from kafkalearn.offsets.store.model import FAILED, LOADING, NOT_OWNED, OWNED, Entry
from kafkalearn.offsets.store.model import Settings as StoreSettings
from kafkalearn.operations.leadership import (
    BrokerFenced,
    BrokerUnfenced,
    Cluster,
    ElectionAnswered,
    ElectLeaders,
    ImbalanceFound,
    LeaderChanged,
    LeaderImbalanceChecked,
    Led,
    TimePassed,
    cluster_of,
    partition_of,
)
from kafkalearn.operations.leadership import Settings as LeadershipSettings
from kafkalearn.releases import default
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, ReleaseName, at_least

ANSWERS_FOR = AnswersFor("operations.coordinator_life", "1.1")

WHEN_CARRIED_OUT, ON_ARRIVAL, BY_EPOCH, BY_RUNTIME = ORDER_RULES = (
    "when carried out", "on arrival", "by epoch", "by the runtime",
)  # fmt: skip
"""How brokers treat orders: to 1.1, 2.0 to 2.8.0, 2.8.1 to 3.9 (KAFKA-10614), and the coordinator of 4.0."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The brokers, the replicas of the partition, and the times of the coordinator.

    Parameters
    ----------
    release : str
        Of the brokers, 1.1 or later; without one, the newest line.
    broker_ids : tuple of int
        All brokers.
    replicas : tuple of int or None
        Who has the partition, the preferred leader first; None: all brokers.
    check_interval_ms : int or None
        ``offsets.retention.check.interval.ms``; None: the release's default (ten minutes in every one).
    session_timeout_ms : int or None
        ``session.timeout.ms`` of the members; None: the default of their clients, 10 s, since 3.0 45 s.
    orders_may_overtake : bool or None
        Whether a broker may carry out a newer order before an older one. None: up to 3.9, where requests of the
        controller come in several threads; since 4.0 one thread hands over what the metadata log says, in order.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so, or the release was not asked.

    Examples
    --------
    >>> [Settings(release).order_rule for release in ("1.1", "2.8.0", "2.8.1", "4.3")]
    ['when carried out', 'on arrival', 'by epoch', 'by the runtime']
    """

    release: ReleaseName = DEFAULT_RELEASE
    broker_ids: tuple[BrokerId, ...] = (1, 2)
    replicas: FilledIn[tuple[BrokerId, ...]] = NOT_GIVEN
    check_interval_ms: FilledIn[Count] = NOT_GIVEN
    session_timeout_ms: FilledIn[Count] = NOT_GIVEN
    orders_may_overtake: FilledIn[bool] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Fill in what is not given, and refuse what is no cluster."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        fill_in(
            self,
            replicas=self.broker_ids,
            check_interval_ms=default("offsets.retention.check.interval.ms", self.release, side="broker"),
            session_timeout_ms=default("session.timeout.ms", self.release, side="consumer"),
            orders_may_overtake=not at_least("4.0", self.release),
        )
        named = {*self.replicas}
        if not named or len(named) < len(self.replicas) or not named <= {*self.broker_ids}:
            raise KafkaLearnError(
                f"replicas must name brokers of {list(self.broker_ids)}, each once, got {list(self.replicas)}"
            )
        LeadershipSettings(self.broker_ids, self.release)

    @property
    def order_rule(self) -> str:
        """How this release treats orders, a name in `ORDER_RULES`."""
        since = {"4.0": BY_RUNTIME, "2.8.1": BY_EPOCH, "2.0": ON_ARRIVAL}
        return next((rule for release, rule in since.items() if at_least(release, self.release)), WHEN_CARRIED_OUT)

    @property
    def has_one_thread(self) -> bool:
        """Whether loads, resignations and sweeps of a broker share one thread, up to 3.9: each waits for the others."""
        return self.order_rule != BY_RUNTIME

    @property
    def leadership(self) -> LeadershipSettings:
        """The same brokers, as the controller sees them."""
        return LeadershipSettings(self.broker_ids, self.release)

    @property
    def store(self) -> StoreSettings:
        """The coordinator's store in this release."""
        return StoreSettings(self.release)


# What may happen: to brokers, to the orders that they get, to a load; and what clients ask.

FIND, JOIN, SYNC, HEARTBEAT, CONSUMER_HEARTBEAT, COMMIT, FETCH = APIS = (
    "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit", "OffsetFetch",
)  # fmt: skip


class CoordinatorStarted(facts.Event, says="the group coordinator of broker {broker_id} has started"):
    """A broker that is back has started its group coordinator; before, it answers COORDINATOR_NOT_AVAILABLE."""

    broker_id: BrokerId


class OrderCarriedOut(facts.Event, says="broker {broker_id} carries out its order of epoch {epoch}"):
    """A broker carries out the order of an epoch: it need not be the oldest that waits."""

    broker_id: BrokerId
    epoch: Index


class LoadRead(facts.Event, says="the load of broker {broker_id} reads on"):
    """The load of a broker reads the next records; None: all that are left, and so to its end."""

    broker_id: BrokerId
    record_count: Count | None = None


class Request(facts.Event):
    """A client asks a broker about a group; `api` is a name in `APIS`.

    An OffsetCommit is for partition 0 of `orders`; with `producer_id` it belongs to a transaction.
    """

    broker_id: BrokerId
    api: str
    group_id: str = "billing"
    member_id: str = ""
    offset: Offset = 0
    producer_id: Index | None = None

    def __post_init__(self) -> None:
        """Refuse what is no request."""
        check_fields(self)
        one_of("api", self.api, APIS)


class GroupStored(facts.Event):
    """A rebalance has ended on the coordinator: the group is written down with these members."""

    group_id: str
    member_ids: tuple[str, ...] = ()
    generation: Index = 1
    kind: str = CLASSIC


class TransactionEnded(facts.Event):
    """The marker that ends a producer's transaction is written into the partition."""

    producer_id: Index
    is_commit: bool


Event: TypeAlias = (
    BrokerFenced | BrokerUnfenced | ElectLeaders | LeaderImbalanceChecked | TimePassed | CoordinatorStarted
    | OrderCarriedOut | LoadRead | Request | GroupStored | TransactionEnded
)  # fmt: skip


# What a step led to: orders, loads, resignations, answers, and what the timers removed.


class OrderIssued(facts.Effect):
    """A broker will be asked to become coordinator (``election``) or to stop being it (``resignation``)."""

    broker_id: int
    kind: str
    epoch: int


class OrderIgnored(facts.Effect, says="broker {broker_id} ignores the order, since {reason}"):
    broker_id: int
    kind: str
    epoch: int
    reason: str


class LoadBegun(facts.Effect, says="broker {broker_id} begins to load"):
    broker_id: int
    epoch: int


class LoadEnded(facts.Effect, says="broker {broker_id} has loaded {record_count:of record}"):
    """A broker has read what it could and answers from now on."""

    broker_id: int
    record_count: int
    group_count: int


class LoadFailed(facts.Effect, says="the load of broker {broker_id} fails, since {reason}"):
    """The load broke off, since 4.0: the broker answers NOT_COORDINATOR until a newer order."""

    broker_id: int
    reason: str


class Resigned(facts.Effect, says="broker {broker_id} resigns and forgets {group_count:of group}"):
    """A broker has forgotten the groups; who waits for an answer gets NOT_COORDINATOR, and nothing is written."""

    broker_id: int
    epoch: int
    group_count: int


class Answered(facts.Effect):
    """The answer to a request; `value` is a broker (FindCoordinator) or an offset (OffsetFetch; -1: none)."""

    broker_id: int
    api: str
    group_id: str
    error: str
    value: int | None = None


class NotReached(facts.Effect, says="broker {broker_id} does not answer"):
    broker_id: int
    api: str
    group_id: str


class Swept(facts.Effect, says="broker {broker_id} looks for expired offsets and removes {offset_count}"):
    """The expiry task of a broker has run: what it removed."""

    broker_id: int
    offset_count: int
    group_count: int


class MemberExpired(facts.Effect, says="the session of {member_id} in {group_id} has expired"):
    """A member has not been heard of for its session timeout, counted anew from the load."""

    broker_id: int
    group_id: str
    member_id: str


Effect: TypeAlias = (
    OrderIssued | OrderIgnored | LoadBegun | LoadEnded | LoadFailed | Resigned | Answered | NotReached | Swept
    | MemberExpired | LeaderChanged | ImbalanceFound | ElectionAnswered
)  # fmt: skip


# One partition of ``__consumer_offsets``, its log, and what each broker is to it.

ELECTION, RESIGNATION = "election", "resignation"
NEVER = -1


class Order(NamedTuple):
    """What a broker shall do for the partition, with the leader epoch that the controller gave it."""

    kind: str
    epoch: int


class Session(NamedTuple):
    """The timer of a member on its coordinator."""

    group_id: str
    member_id: str
    deadline_ms: int


class Coordinator(NamedTuple):
    """What one broker has in memory about the partition."""

    broker_id: int
    is_active: bool = True  # its group coordinator has started
    is_owned: bool = False
    is_loading: bool = False  # as requests see it
    is_reading: bool = False  # the load has begun
    is_failed: bool = False
    known_epoch: int = NEVER  # of the last order that counted, where the release remembers one
    orders: tuple[Order, ...] = ()  # not carried out yet, in the order of the controller
    read_count: int = 0
    groups: tuple[Group, ...] = ()
    sessions: tuple[Session, ...] = ()
    next_sweep_ms: int | None = None  # None: no expiry task is scheduled

    @property
    def status(self) -> str:
        """By the names of `kafkalearn.offsets.store`."""
        if self.is_loading:
            return LOADING
        return OWNED if self.is_owned else FAILED if self.is_failed else NOT_OWNED


@dataclass(frozen=True, slots=True)
class Life:
    """The partition and its brokers at one moment.

    Attributes
    ----------
    cluster : kafkalearn.operations.leadership.Cluster
        Who lives, who leads, and the leader epoch: what the controller says.
    coordinators : tuple of Coordinator
        One for each broker.
    log : tuple of Entry
        Of the partition, the same on all replicas in sync.
    answered : tuple of (str, int)
        For each group the last commit that was answered without an error.
    """

    cluster: Cluster
    coordinators: tuple[Coordinator, ...]
    log: tuple[Entry, ...] = ()
    answered: tuple[tuple[str, int], ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def partition(self) -> Led:
        """Leader, epoch and in-sync replicas."""
        return self.cluster.partitions[0]

    @property
    def leader(self) -> int | None:
        """The broker that leads the partition; None: nobody can."""
        return self.partition.leader

    @property
    def now_ms(self) -> int:
        """The clock."""
        return self.cluster.now_ms

    def is_up(self, broker_id: int) -> bool:
        """Whether a broker lives."""
        return broker_id not in self.cluster.fenced

    def coordinator(self, broker_id: int) -> Coordinator:
        """What a broker has in memory."""
        return next(each for each in self.coordinators if each.broker_id == broker_id)

    def with_coordinator(self, coordinator: Coordinator, *effects: Effect) -> Life:
        """The same with another coordinator on its broker, and more effects."""
        changed = (coordinator if each.broker_id == coordinator.broker_id else each for each in self.coordinators)
        return replace(self, coordinators=tuple(changed), effects=(*self.effects, *effects))

    def with_effects(self, *effects: Effect) -> Life:
        """The same with more effects."""
        return replace(self, effects=(*self.effects, *effects))


def start(settings: Settings) -> Life:
    """A new partition: its first replica leads and coordinates it, nothing is written.

    >>> [(each.broker_id, each.status) for each in start(Settings()).coordinators]
    [(1, 'owned'), (2, 'not owned')]
    """
    partition = partition_of(OFFSETS_TOPIC, 0, settings.replicas)
    first = settings.replicas[0]
    sweep_ms = settings.check_interval_ms
    coordinators = (
        Coordinator(
            each,
            is_owned=each == first,
            known_epoch=partition.leader_epoch if each == first else NEVER,
            next_sweep_ms=sweep_ms if each == first or settings.has_one_thread else None,
        )
        for each in settings.broker_ids
    )
    return Life(cluster_of(settings.leadership, [partition]), tuple(coordinators))
