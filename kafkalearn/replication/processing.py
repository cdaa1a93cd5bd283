"""One step being worked out: the parts of the partition, to be read, replaced and told about.

The rules are pure functions of parts. What strings them together reads parts from a `Work` and writes new ones to
it. A `Work` stands on a `Draft`, which knows parts by their place alone: so a search can watch which parts a step
looks at, and reuse the answer wherever they are the same (`kafkalearn.explore`). Hence the parts are small, and are
read only where they are needed.
"""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.explore import Draft
from kafkalearn.replication.effects import Effect
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
)

CONTROLLER, LEADER, CLOCK, REQUESTS, ACKNOWLEDGED, VISIBLE, UNCLEAN_COUNT = range(7)
FIRST_REPLICA = 7
PARTS_OF_REPLICA = len(Replica._fields)
LOG, BROKER, LEADING, REMOTES, WAITING = range(FIRST_REPLICA, FIRST_REPLICA + PARTS_OF_REPLICA)
"""Places; those of a replica are broker 1's, and `place_of` moves them on to the others'."""


def place_of(part: int, broker_id: int) -> int:
    """The place of a part of a replica: ``place_of(LOG, 2)``."""
    return part + PARTS_OF_REPLICA * (broker_id - 1)


def part_at(place: int) -> int:
    """Which part is at a place: ``part_at(place_of(LOG, 2)) == LOG``."""
    return place if place < FIRST_REPLICA else LOG + (place - LOG) % PARTS_OF_REPLICA


def parts_of(partition: Partition) -> tuple:
    """The parts of a partition, each at its place."""
    replicas = (part for replica in partition.replicas for part in replica)
    return (partition.controller, partition.controller.leader, partition.now_ms, *partition.ledger, *replicas)


def partition_of(parts: tuple, effects: tuple[Effect, ...] = ()) -> Partition:
    """The partition made of these parts."""
    controller, _, now_ms, *ledger = parts[:FIRST_REPLICA]
    starts = range(FIRST_REPLICA, len(parts), PARTS_OF_REPLICA)
    replicas = tuple(Replica(*parts[start : start + PARTS_OF_REPLICA]) for start in starts)
    return Partition(controller, replicas, Ledger(*ledger), now_ms, effects)


class Work:
    """The parts under their names, with what has happened to them so far in this step."""

    __slots__ = ("draft", "effects", "has_recorded", "read", "settings", "write")

    def __init__(self, settings: Settings, draft: Draft) -> None:
        """Begin with the parts as they are before the event."""
        self.settings = settings
        self.draft = draft
        self.read, self.write = draft.read, draft.write
        self.effects: list[Effect] = []
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
        """Whom the controller has recorded as leader: a part of its own, as it is often all that is asked."""
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

    def note_requests(self, requests: Requests) -> None:
        """Replace how much producers have sent."""
        self.write(REQUESTS, requests)

    @property
    def acknowledged(self) -> tuple[tuple[int, str], ...]:
        """What producers were told is written."""
        return self.read(ACKNOWLEDGED)

    @acknowledged.setter
    def acknowledged(self, acknowledged: tuple[tuple[int, str], ...]) -> None:
        self.write(ACKNOWLEDGED, acknowledged)

    @property
    def visible(self) -> Visible:
        """What consumers have been able to read."""
        return self.read(VISIBLE)

    @visible.setter
    def visible(self, visible: Visible) -> None:
        self.write(VISIBLE, visible)

    @property
    def unclean_election_count(self) -> int:
        """How often a leader was elected that may lack committed records."""
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
        """How a broker fares."""
        return self.read(BROKER + PARTS_OF_REPLICA * (broker_id - 1))

    def put_broker(self, broker_id: int, broker: Broker) -> None:
        """Replace how a broker fares."""
        self.write(BROKER + PARTS_OF_REPLICA * (broker_id - 1), broker)

    def leading(self, broker_id: int) -> Leadership | None:
        """The standing of a broker that leads; None: it follows."""
        return self.read(LEADING + PARTS_OF_REPLICA * (broker_id - 1))

    def put_leading(self, broker_id: int, leading: Leadership | None) -> None:
        """Replace the standing of a broker that leads."""
        self.write(LEADING + PARTS_OF_REPLICA * (broker_id - 1), leading)

    def remotes(self, broker_id: int) -> tuple[Remote | None, ...]:
        """What a leader knows of the others."""
        return self.read(REMOTES + PARTS_OF_REPLICA * (broker_id - 1))

    def put_remotes(self, broker_id: int, remotes: tuple[Remote | None, ...]) -> None:
        """Replace what a leader knows of the others."""
        self.write(REMOTES + PARTS_OF_REPLICA * (broker_id - 1), remotes)

    def waiting(self, broker_id: int) -> Waiting:
        """The requests that wait on a leader."""
        return self.read(WAITING + PARTS_OF_REPLICA * (broker_id - 1))

    def put_waiting(self, broker_id: int, waiting: Waiting) -> None:
        """Replace the requests that wait on a leader."""
        self.write(WAITING + PARTS_OF_REPLICA * (broker_id - 1), waiting)

    def stand_down(self, broker_id: int) -> None:
        """The broker no longer leads, and keeps nothing of what it kept for that."""
        self.put_leading(broker_id, None)
        self.put_remotes(broker_id, ())
        self.put_waiting(broker_id, Waiting())

    def is_eligible(self, broker_id: int) -> bool:
        """Whether a broker counts as alive, so may be in the ISR."""
        return broker_id not in self.controller.fenced

    def tell(self, effect: Effect) -> None:
        """Add to what this event has led to."""
        self.effects.append(effect)

    def require(self, is_possible: bool, why_not: str, *values: object) -> None:
        """Go on if the event makes sense here; else nothing changes and the message says what is the case."""
        if not is_possible:
            raise IllegalEvent(why_not.format(*values))

    def existing(self, broker_id: int) -> Broker:
        """How a broker that an event names fares; refuses one that there is not."""
        known = self.settings.broker_ids
        if broker_id not in known:
            raise IllegalEvent(f"there is no broker {broker_id!r}; there are {known[0]} to {known[-1]}")
        return self.broker(broker_id)

    def acting_leader(self, broker_id: int | None = None) -> int | None:
        """The broker that leads and runs: the one named, or whom the controller has recorded; None: there is none."""
        leader_id = self.leader_id if broker_id is None else broker_id
        if leader_id is None or not self.existing(leader_id).is_running or self.leading(leader_id) is None:
            return None
        return leader_id
