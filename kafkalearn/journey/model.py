"""A small shop on its way through Kafka: its state, what may happen, what a step led to.

Two producers send records of one customer each to the topic `orders`, whose two partitions lie on three brokers; two
consumers, the group `shipping`, share them and commit what they have read. Records are called after their customer:
A1, A2, ... are ann's, D1, D2, ... dan's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, TypeAlias

from kafkalearn import tiny
from kafkalearn.base import checks, facts
from kafkalearn.base.events import BrokerCrashed, BrokerStarted

BROKERS = (1, 2, 3)
PRODUCERS = ("ann", "dan")
CONSUMERS = ("c1", "c2")
GROUP, TOPIC = "shipping", "orders"
PARTITIONS = ("orders-0", "orders-1", "commits")
"""Of all partitions of the cluster those that are drawn; `commits` is that of ``__consumer_offsets`` for the group."""


@dataclass(frozen=True, slots=True)
class Settings:
    """There is nothing to set: the shop is always the same."""


# The state: frozen copies of what tiny's objects hold.


@dataclass(frozen=True, slots=True)
class Replica:
    """One copy of a partition, as `kafkalearn.tiny.Log` has it."""

    broker: int
    records: tuple[tiny.Record, ...] = ()
    end_offset: int = 0
    high_watermark: int = 0
    epochs: tuple[tuple[int, int], ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """What its records are called, in their order."""
        return tuple(map(label_of, self.records))


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition with all its replicas, as `kafkalearn.tiny.Partition` has it."""

    replicas: tuple[Replica, ...]
    leader: int | None
    epoch: int
    alive: frozenset[int]
    isr: frozenset[int]
    remote_ends: tuple[tuple[int, int], ...] = ()
    waiting: tuple[int, ...] = ()
    acknowledged: tuple[int, ...] = ()

    def on(self, broker: int) -> Replica:
        """Its copy on a broker."""
        return next(each for each in self.replicas if each.broker == broker)

    @property
    def committed(self) -> tuple[tiny.Record, ...]:
        """The records below the leader's high watermark; none while nobody leads."""
        if self.leader is None:
            return ()
        log = self.on(self.leader)
        return tuple(each for each in log.records if each.offset < log.high_watermark)


@dataclass(frozen=True, slots=True)
class Producer:
    """An application that sends one customer's orders.

    Attributes
    ----------
    made : int
        How many records it has made so far.
    unanswered : tuple of str
        Sent, and not yet answered.
    again : tuple of str
        Sent to a leader that died before it answered: they are sent again.
    told : tuple of str
        Answered: they are written.
    """

    name: str
    made: int = 0
    unanswered: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    told: tuple[str, ...] = ()

    @property
    def next(self) -> str:
        """The record that it sends next."""
        return self.again[0] if self.again else f"{self.name[0].upper()}{self.made + 1}"


@dataclass(frozen=True, slots=True)
class Consumer:
    """A member of the group, with its partitions: their numbers, and what it has read since they are its own."""

    name: str
    partitions: tuple[int, ...]
    read: tuple[tuple[int, str], ...] = ()  # (partition, record)


@dataclass(frozen=True, slots=True)
class Journey:
    """Everything at one moment.

    Attributes
    ----------
    partitions : tuple of Partition
        In the order of `PARTITIONS`.
    positions : tuple of int
        Of the group, for each partition of the topic: the next offset to read.
    """

    partitions: tuple[Partition, ...]
    producers: tuple[Producer, ...]
    consumers: tuple[Consumer, ...]
    positions: tuple[int, ...] = (0, 0)
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def alive(self) -> frozenset[int]:
        """The brokers that are up."""
        return self.partitions[0].alive

    @property
    def coordinator(self) -> int | None:
        """The broker that the group turns to."""
        return self.partitions[2].leader


# Events.


def _producer(name: str, value: object) -> str:
    return checks.one_of(name, checks.text(name, value), PRODUCERS)


def _consumer(name: str, value: object) -> str:
    return checks.one_of(name, checks.text(name, value), CONSUMERS)


ProducerName: TypeAlias = Annotated[str, _producer]
ConsumerName: TypeAlias = Annotated[str, _consumer]


class Send(facts.Event):
    """A producer sends its next record, acks=all; or again the one that it was never told about."""

    producer: ProducerName


class FollowersFetch(facts.Event):
    """Every follower asks its leaders once for what comes at its log's end."""


class Poll(facts.Event):
    """A consumer reads what is committed and new to it."""

    consumer: ConsumerName


class Commit(facts.Event):
    """A consumer writes down, at its coordinator, where it goes on."""

    consumer: ConsumerName


class Leave(facts.Event):
    """A consumer leaves the group; who stays takes its partitions over."""

    consumer: ConsumerName


class Join(facts.Event):
    """A consumer joins the group, which shares the partitions anew."""

    consumer: ConsumerName


Event: TypeAlias = Send | FollowersFetch | Poll | Commit | Leave | Join | BrokerCrashed | BrokerStarted


# Effects: what travelled, who leads now, what was cut.


class Travelled(facts.Effect):
    """Something went from one place to another: a producer, a consumer, or (broker, partition's name)."""

    what: str
    source: str | tuple[int, str]
    target: str | tuple[int, str]


class Told(facts.Effect):
    """A producer was told that a record is written."""

    producer: str
    record: str
    leader: int


class LeaderChanged(facts.Effect):
    """A partition has another leader; None: nobody."""

    partition: str
    before: int | None
    after: int | None


class Cut(facts.Effect):
    """A returned broker cut what the new leader never had."""

    broker: int
    partition: str
    record: str


Effect: TypeAlias = Travelled | Told | LeaderChanged | Cut


def label_of(record: tiny.Record) -> str:
    """What a record is called: an order by its value, a commit by its partition and the next offset.

    >>> label_of(tiny.Record(0, b"ann", "A1", epoch=0)), label_of(tiny.Record(0, ("shipping", "orders", 1), 2, epoch=0))
    ('A1', '1→2')
    """
    return f"{record.key[2]}→{record.value}" if isinstance(record.key, tuple) else str(record.value)


# The same as tiny's objects: `thawed` makes them, `frozen` looks at them.


def frozen(partition: tiny.Partition) -> Partition:
    """A partition of tiny's, as it is now."""
    replicas = tuple(
        Replica(broker, tuple(log.records), log.end_offset, log.high_watermark, tuple(log.epochs))
        for broker, log in partition.logs.items()
    )
    return Partition(
        replicas,
        partition.leader,
        partition.epoch,
        frozenset(partition.alive),
        frozenset(partition.isr),
        tuple(sorted(partition.remote_ends.items())),
        tuple(partition.waiting),
        tuple(partition.acknowledged),
    )


def thawed(state: Journey) -> tuple[tiny.Cluster, tiny.Group]:
    """A cluster and a group of tiny's that stand where a state does."""
    cluster = tiny.Cluster(list(BROKERS))
    cluster.create_topic(TOPIC, 2)
    group = tiny.Group(cluster, GROUP, TOPIC)
    for kept, partition in zip(state.partitions, drawn(cluster, group), strict=True):
        partition.leader, partition.epoch = kept.leader, kept.epoch
        partition.alive, partition.isr = set(kept.alive), set(kept.isr)
        partition.remote_ends = dict(kept.remote_ends)
        partition.waiting, partition.acknowledged = list(kept.waiting), list(kept.acknowledged)
        for each in kept.replicas:
            log = partition.logs[each.broker]
            log.records, log.epochs = list(each.records), list(each.epochs)
            log.end_offset, log.high_watermark = each.end_offset, each.high_watermark
    group.assignment = {each.name: [(TOPIC, number) for number in each.partitions] for each in state.consumers}
    group.positions = {(TOPIC, number): position for number, position in enumerate(state.positions)}
    return cluster, group


def drawn(cluster: tiny.Cluster, group: tiny.Group) -> list[tiny.Partition]:
    """The partitions of a cluster that `PARTITIONS` names."""
    return [*cluster.topics[TOPIC], group.offsets_log]
