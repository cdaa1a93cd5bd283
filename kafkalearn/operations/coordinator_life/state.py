"""One partition of ``__consumer_offsets``, its log, and what each broker is to it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.store.state import FAILED, LOADING, NOT_OWNED, OWNED, Entry
from kafkalearn.operations.coordinator_life.effects import Effect
from kafkalearn.operations.coordinator_life.settings import Settings
from kafkalearn.operations.leadership.state import Cluster, Led, cluster_of, partition_of

OFFSETS_TOPIC = "__consumer_offsets"
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
    cluster : kafkalearn.operations.leadership.state.Cluster
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
