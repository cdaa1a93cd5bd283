"""The cluster, and what each client knows and waits for."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafkalearn.offsets.groups import CONSUMER
from kafkalearn.operations.coordinator_life.effects import Effect as LifeEffect
from kafkalearn.operations.coordinator_life.events import (
    COMMIT,
    CONSUMER_HEARTBEAT,
    HEARTBEAT,
    JOIN,
    GroupStored,
)
from kafkalearn.operations.coordinator_life.simulator import simulate as simulate_life
from kafkalearn.operations.coordinator_life.state import Life
from kafkalearn.operations.failover.effects import Heard
from kafkalearn.operations.failover.settings import Settings
from kafkalearn.versions.releases import at_least

CLASSIC_MEMBER, NEW_MEMBER, COMMITTER, NEWCOMER = CLIENTS = (
    "classic member", "KIP-848 member", "committer", "newcomer",
)  # fmt: skip


class Client(NamedTuple):
    """One client of the partition's groups."""

    name: str
    api: str  # what it asks
    group_id: str
    member_id: str
    interval_s: int | None  # until it asks again after an answer; None: it asks no more
    coordinator: int | None  # whom it takes for the coordinator; None: it has to ask
    due_s: int = 1
    unserved_since_s: int | None = None  # since when every answer was an error; None: it is served
    asked_count: int = 0


@dataclass(frozen=True, slots=True)
class Failover:
    """A cluster and its clients at one moment.

    Attributes
    ----------
    life : kafkalearn.operations.coordinator_life.state.Life
        The partition and its coordinators, as the cluster knows them.
    clients : tuple of Client
        One of each kind in `CLIENTS`; the KIP-848 member since 4.0.
    dead : tuple of (int, int)
        Brokers that died, and the second in which the cluster will notice.
    load_ends_s : int or None
        When the load that is under way has read all; None: there is none.
    second : int
        Since the start.
    """

    life: Life
    clients: tuple[Client, ...]
    dead: tuple[tuple[int, int], ...] = ()
    load_ends_s: int | None = None
    second: int = 0
    effects: tuple[Heard | LifeEffect, ...] = field(default=(), compare=False)

    def is_up(self, broker_id: int) -> bool:
        """Whether a broker lives, noticed or not."""
        return self.life.is_up(broker_id) and broker_id not in {each for each, _ in self.dead}

    @property
    def live(self) -> tuple[int, ...]:
        """The brokers that live."""
        return tuple(each.broker_id for each in self.life.coordinators if self.is_up(each.broker_id))

    def client(self, name: str) -> Client:
        """One client, by its name."""
        return next(each for each in self.clients if each.name == name)

    def with_life(self, life: Life) -> Failover:
        """The same with another life of the coordinator, whose effects come after those so far."""
        return replace(self, life=replace(life, effects=()), effects=(*self.effects, *life.effects))

    def with_client(self, client: Client, *effects: Heard) -> Failover:
        """The same with another state of a client."""
        clients = tuple(client if each.name == client.name else each for each in self.clients)
        return replace(self, clients=clients, effects=(*self.effects, *effects))


def start(settings: Settings) -> Failover:
    """A cluster at work: two groups have a member each, a job commits, and somebody is about to join.

    >>> [each.name for each in start(Settings()).clients]
    ['classic member', 'KIP-848 member', 'committer', 'newcomer']
    """
    has_new_protocol = at_least("4.0", settings.release)
    stored = [GroupStored("billing", ("c1",))]
    if has_new_protocol:
        stored.append(GroupStored("search", ("c2",), kind=CONSUMER))
    life = simulate_life(settings.life, stored)[-1].state
    first = settings.replicas[0]
    clients = (
        Client(CLASSIC_MEMBER, HEARTBEAT, "billing", "c1", settings.heartbeat_s, first),
        Client(NEW_MEMBER, CONSUMER_HEARTBEAT, "search", "c2", settings.heartbeat_s, first),
        Client(COMMITTER, COMMIT, "copies", "", settings.commit_s, first),
        Client(NEWCOMER, JOIN, "shipping", "", None, None, due_s=2),
    )
    return Failover(life, tuple(each for each in clients if each.name != NEW_MEMBER or has_new_protocol))
