"""An event being processed: the parts of the partition under their names, to be read and replaced, and the effects.

The rules are pure functions of parts. What joins them reads parts from a `Processing` and writes new ones to it. A
`Processing` stands on `Parts`, which know each part by its place alone: so a search can watch which parts a step looks
at, and reuse the answer wherever they are the same (`kafkalearn.base.search`). This is why the parts are small, and are
read only where they are needed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, NoReturn

from kafkalearn.base.errors import IllegalEvent, shown
from kafkalearn.base.trace import Parts
from kafkalearn.replication.events import Effect
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import (
    Broker,
    Controller,
    Leadership,
    Ledger,
    Log,
    Partition,
    Remote,
    Replica,
    Requests,
    Visible,
    Waiting,
    remote_ends_of,
)

CONTROLLER, LEADER, CLOCK, REQUESTS, ACKNOWLEDGED, VISIBLE, UNCLEAN_COUNT = range(7)
FIRST_REPLICA = 7
FIELDS_OF_REPLICA = len(Replica._fields)
PARTS_OF_REPLICA = FIELDS_OF_REPLICA + 1
LOG, BROKER, LEADING, REMOTES, WAITING, REMOTE_ENDS = range(FIRST_REPLICA, FIRST_REPLICA + PARTS_OF_REPLICA)
"""Places; those of a replica are broker 1's, and `place_of` moves them on to the others'."""


Acknowledged = tuple[tuple[int, str], ...]
"""What was acknowledged to producers: offset and value of each record."""


def place_of(part: int, broker_id: int) -> int:
    """The place of a part of a replica: ``place_of(LOG, 2)``."""
    return part + PARTS_OF_REPLICA * (broker_id - 1)


def part_at(place: int) -> int:
    """Which part is at a place: ``part_at(place_of(LOG, 2)) == LOG``."""
    return place if place < FIRST_REPLICA else LOG + (place - LOG) % PARTS_OF_REPLICA


def parts_of(partition: Partition) -> tuple[Hashable, ...]:
    """The parts of a partition, each at its place."""
    parts: list[Hashable] = [partition.controller, partition.controller.leader, partition.now_ms, *partition.ledger]
    for replica in partition.replicas:
        parts += replica
        parts.append(remote_ends_of(replica.remotes))
    return tuple(parts)


def partition_of(parts: tuple[Hashable, ...], effects: tuple[Effect, ...] = ()) -> Partition:
    """The partition made of these parts."""
    at: Any = parts  # what is at which place, `parts_of` says
    controller, _, now_ms, *ledger = at[:FIRST_REPLICA]
    starts = range(FIRST_REPLICA, len(parts), PARTS_OF_REPLICA)
    replicas = tuple([Replica._make(at[start : start + FIELDS_OF_REPLICA]) for start in starts])
    return Partition(controller, replicas, Ledger(*ledger), now_ms, effects)


class Normaliser(NamedTuple):
    """How a search writes parts: without what can make no difference later (`kafkalearn.replication.search`)."""

    remotes: Callable[[tuple[Remote | None, ...]], tuple[Remote | None, ...]]
    waiting: Callable[[Waiting], Waiting]
    requests: Callable[[Requests], Requests]
    acknowledged: Callable[[Acknowledged], Acknowledged] = lambda acknowledged: acknowledged


class Processing:
    """The parts under their names, as this event has changed them so far, and the effects so far."""

    __slots__ = ("effects", "has_recorded", "normaliser", "parts", "read", "settings", "write")

    def __init__(self, settings: Settings, parts: Parts, normaliser: Normaliser | None = None) -> None:
        """Begin with the parts as they are before the event; without a normaliser they are written as they are."""
        self.settings = settings
        self.parts = parts
        self.read: Callable[[int], Any] = parts.read  # what is at which place, `parts_of` says
        self.write = parts.write
        self.normaliser = normaliser
        self.effects: list[Any] = []  # `Effect`; of a producer's partition also the producer's
        self.has_recorded = False  # whether the controller's record was replaced

    @property
    def controller(self) -> Controller:
        """What the controller has recorded."""
        return self.read(CONTROLLER)

    @controller.setter
    def controller(self, controller: Controller) -> None:
        self.has_recorded = True
        self.write(CONTROLLER, controller)
        self.write(LEADER, controller.leader)

    @property
    def leader_id(self) -> int | None:
        """The leader that the controller has recorded: a part of its own, as many rules ask for nothing else."""
        return self.read(LEADER)

    @property
    def now_ms(self) -> int:
        """The clock."""
        return self.read(CLOCK)

    @now_ms.setter
    def now_ms(self, now_ms: int) -> None:
        self.write(CLOCK, now_ms)

    @property
    def requests(self) -> Requests:
        """How much producers have sent."""
        return self.read(REQUESTS)

    @requests.setter
    def requests(self, requests: Requests) -> None:
        normaliser = self.normaliser
        self.write(REQUESTS, requests if normaliser is None else normaliser.requests(requests))

    @property
    def acknowledged(self) -> Acknowledged:
        """What was acknowledged to producers."""
        return self.read(ACKNOWLEDGED)

    @acknowledged.setter
    def acknowledged(self, acknowledged: Acknowledged) -> None:
        normaliser = self.normaliser
        self.write(ACKNOWLEDGED, acknowledged if normaliser is None else normaliser.acknowledged(acknowledged))

    @property
    def visible(self) -> Visible:
        """What consumers have been able to read."""
        return self.read(VISIBLE)

    @visible.setter
    def visible(self, visible: Visible) -> None:
        self.write(VISIBLE, visible)

    @property
    def unclean_election_count(self) -> int:
        """How many leaders were elected that may lack committed records."""
        return self.read(UNCLEAN_COUNT)

    @unclean_election_count.setter
    def unclean_election_count(self, count: int) -> None:
        self.write(UNCLEAN_COUNT, count)

    def log(self, broker_id: int) -> Log:
        """The log on a broker."""
        return self.read(LOG + PARTS_OF_REPLICA * (broker_id - 1))

    def put_log(self, broker_id: int, log: Log) -> None:
        """Replace the log on a broker."""
        self.write(LOG + PARTS_OF_REPLICA * (broker_id - 1), log)

    def broker(self, broker_id: int) -> Broker:
        """The status of a broker, and what it knows of the leader."""
        return self.read(BROKER + PARTS_OF_REPLICA * (broker_id - 1))

    def put_broker(self, broker_id: int, broker: Broker) -> None:
        """Replace the status of a broker."""
        self.write(BROKER + PARTS_OF_REPLICA * (broker_id - 1), broker)

    def leading(self, broker_id: int) -> Leadership | None:
        """The state of a broker that leads; None: it follows."""
        return self.read(LEADING + PARTS_OF_REPLICA * (broker_id - 1))

    def leadership(self, leader_id: int) -> Leadership:
        """The state of a broker that is known to lead."""
        return self.read(LEADING + PARTS_OF_REPLICA * (leader_id - 1))

    def put_leading(self, broker_id: int, leading: Leadership | None) -> None:
        """Replace the state of a broker that leads."""
        self.write(LEADING + PARTS_OF_REPLICA * (broker_id - 1), leading)

    def remotes(self, broker_id: int) -> tuple[Remote | None, ...]:
        """What a leader knows of the others."""
        return self.read(REMOTES + PARTS_OF_REPLICA * (broker_id - 1))

    def remote(self, leader_id: int, broker_id: int) -> Remote:
        """What a leader knows of a broker that is known to follow it."""
        return self.read(REMOTES + PARTS_OF_REPLICA * (leader_id - 1))[broker_id - 1]

    def remote_ends(self, broker_id: int) -> tuple[int | None, ...]:
        """The remote LEOs that a leader knows: a part of its own, as many rules ask for no times."""
        return self.read(REMOTE_ENDS + PARTS_OF_REPLICA * (broker_id - 1))

    def put_remotes(self, broker_id: int, remotes: tuple[Remote | None, ...]) -> None:
        """Replace what a leader knows of the others, and so the remote LEOs."""
        normaliser = self.normaliser
        kept = remotes if normaliser is None else normaliser.remotes(remotes)
        self.write(REMOTES + PARTS_OF_REPLICA * (broker_id - 1), kept)
        self.write(REMOTE_ENDS + PARTS_OF_REPLICA * (broker_id - 1), remote_ends_of(kept))

    def waiting(self, broker_id: int) -> Waiting:
        """The requests that wait on a leader."""
        return self.read(WAITING + PARTS_OF_REPLICA * (broker_id - 1))

    def put_waiting(self, broker_id: int, waiting: Waiting) -> None:
        """Replace the requests that wait on a leader."""
        normaliser = self.normaliser
        kept = waiting if normaliser is None else normaliser.waiting(waiting)
        self.write(WAITING + PARTS_OF_REPLICA * (broker_id - 1), kept)

    def stop_leading(self, broker_id: int) -> None:
        """The broker no longer leads: it forgets the followers, and the requests that waited."""
        self.put_leading(broker_id, None)
        self.put_remotes(broker_id, ())
        self.put_waiting(broker_id, Waiting())

    def is_eligible(self, broker_id: int) -> bool:
        """Whether a broker counts as alive and stays so, and so may be in the ISR."""
        return self.controller.is_active(broker_id)

    def needed_isr(self, leader_id: int) -> int:
        """In-sync replicas that acks=all needs, of the replicas that a leader knows of."""
        return self.settings.min_isr_of(1 + sum([each is not None for each in self.remote_ends(leader_id)]))

    def emit(self, effect: Effect) -> None:
        """Add an effect of this event."""
        self.effects.append(effect)

    def require(self, is_possible: bool, why_not: str, *values: object) -> None:
        """Pass in silence if the event makes sense here; else raise IllegalEvent, with these values in the message."""
        if not is_possible:
            self.refuse(why_not, *values)

    def refuse(self, why_not: str, *values: object) -> NoReturn:
        """Raise IllegalEvent, with these values in the message."""
        raise IllegalEvent(why_not.format(*(each if isinstance(each, str) else shown(each, 200) for each in values)))

    def existing(self, broker_id: int) -> Broker:
        """The status of a broker that an event names; refuses a broker that does not exist."""
        known = self.settings.broker_ids
        if broker_id not in known:
            raise IllegalEvent(f"there is no broker {shown(broker_id)}; there are {known[0]} to {known[-1]}")
        return self.broker(broker_id)

    def acting_leader(self, broker_id: int | None = None) -> int | None:
        """The broker that leads and runs: the one named, or the controller's leader; None: there is none."""
        leader_id = self.leader_id if broker_id is None else broker_id
        if leader_id is None or not self.existing(leader_id).is_running or self.leading(leader_id) is None:
            return None
        return leader_id
