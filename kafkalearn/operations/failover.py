"""A broker dies and its groups move: what each kind of client asks, hears and does, second by second.

A simulator: `Failover` is the state, the coordinator's life (`kafkalearn.operations.coordinator_life`) and a client of
each kind; `SecondPassed` is the clock. What clients heard is in the effects, and as rows in `timeline`.

>>> trace = simulate(Settings(load_s=2), [BrokerCrashed(1), *[SecondPassed()] * 20])
>>> [(second, error) for second, client, _, _, error, _ in timeline(trace) if client == "classic member"][-3:]
[(12, 'NONE'), (15, 'NONE'), (18, 'NONE')]

With a factor of 1 there is nobody to take the groups over:

>>> alone = Settings(replicas=(1,))  # a factor of 1
>>> broken(alone, simulate(alone, [BrokerCrashed(1), *[SecondPassed()] * 60])[-1].state)
('every client was served within the last 30 s',)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, Index, check_fields, fill_in
from kafkalearn.base.errors import IllegalEvent, listed, no_event, shown
from kafkalearn.base.events import BrokerCrashed, BrokerStarted, BrokerStopped
from kafkalearn.base.promises import Promises, Since, of_inner
from kafkalearn.base.simulator import simulator
from kafkalearn.base.trace import Trace
from kafkalearn.offsets.replay import CONSUMER
from kafkalearn.operations.coordinator_life import model
from kafkalearn.operations.coordinator_life import model as life_model
from kafkalearn.operations.coordinator_life import simulator as life_simulator
from kafkalearn.operations.coordinator_life.simulator import (
    LOAD_IN_PROGRESS,
    NONE,
    NOT_AVAILABLE,
    NOT_COORDINATOR,
    REBALANCE_IN_PROGRESS,
    UNKNOWN_MEMBER_ID,
)
from kafkalearn.releases.defaults import whole_default
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, ReleaseName, at_least

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "BrokerCrashed",
    "BrokerStarted",
    "BrokerStopped",
    "Failover",
    "SecondPassed",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
    "timeline",
    "unserved_seconds",
]

S_MS = 1000


ANSWERS_FOR = AnswersFor("operations.failover", "1.1")


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The cluster, how long it takes to notice a dead broker, and how long a load takes.

    Parameters
    ----------
    release : str
        Of brokers and clients.
    broker_ids : tuple of int
        All brokers.
    replicas : tuple of int or None
        Who has the partition of the groups, the preferred leader first; None: all brokers.
    notice_s : int or None
        Until a broker that died counts as dead. None: the default, ``broker.session.timeout.ms`` (9 s) with KRaft,
        ``zookeeper.session.timeout.ms`` (6 s, 18 s since 2.5) before.
    load_s : int
        How long the new coordinator reads the log: `kafkalearn.operations.loading.load_seconds`.
    heartbeat_s, commit_s : int
        How often members send heartbeats and clients commit.

    Examples
    --------
    >>> [Settings(release).notice_s for release in ("1.1", "2.8", "4.3")]
    [6, 18, 9]
    """

    release: ReleaseName = DEFAULT_RELEASE
    broker_ids: tuple[BrokerId, ...] = (1, 2, 3)
    replicas: FilledIn[tuple[BrokerId, ...]] = NOT_GIVEN
    notice_s: FilledIn[Index] = NOT_GIVEN
    load_s: Index = 4
    heartbeat_s: Count = 3
    commit_s: Count = 5

    def __post_init__(self) -> None:
        """Fill in what the release decides."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        fill_in(self, replicas=self.broker_ids, notice_s=self._default_notice_s())

    def _default_notice_s(self) -> int:
        has_zookeeper = self.life.leadership.has_zookeeper
        name = "zookeeper.session.timeout.ms" if has_zookeeper else "broker.session.timeout.ms"
        return whole_default(name, self.release, side="broker") // S_MS

    @property
    def life(self) -> life_model.Settings:
        """The same, as the coordinator's life has it."""
        return life_model.Settings(self.release, self.broker_ids, self.replicas)


# The state: the cluster, and what each client knows and waits for.

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
    life : kafkalearn.operations.coordinator_life.model.Life
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

    life: model.Life
    clients: tuple[Client, ...]
    dead: tuple[tuple[int, int], ...] = ()
    load_ends_s: int | None = None
    second: int = 0
    effects: tuple[Heard | life_model.Effect, ...] = field(default=(), compare=False)

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

    def with_life(self, life: model.Life) -> Failover:
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
    stored = [model.GroupStored("billing", ("c1",))]
    if has_new_protocol:
        stored.append(model.GroupStored("search", ("c2",), kind=CONSUMER))
    life = life_simulator.simulate(settings.life, stored)[-1].state
    first = settings.replicas[0]
    clients = (
        Client(CLASSIC_MEMBER, model.HEARTBEAT, "billing", "c1", settings.heartbeat_s, first),
        Client(NEW_MEMBER, model.CONSUMER_HEARTBEAT, "search", "c2", settings.heartbeat_s, first),
        Client(COMMITTER, model.COMMIT, "copies", "", settings.commit_s, first),
        Client(NEWCOMER, model.JOIN, "shipping", "", None, None, due_s=2),
    )
    return Failover(life, tuple(each for each in clients if each.name != NEW_MEMBER or has_new_protocol))


# Events: what may happen to the cluster.


class SecondPassed(facts.Event):
    """The next second: what is due happens, then each client does what it has to do."""


Event: TypeAlias = BrokerCrashed | BrokerStopped | BrokerStarted | SecondPassed


# Effects: what clients asked and heard; others are those of `kafkalearn.operations.coordinator_life`.


class Heard(facts.Effect):
    """A client has asked a broker; `error` is what it heard, and `then` what it makes of it."""

    client: str
    broker_id: int
    api: str
    error: str
    then: str


# The step: what the cluster does in a second, then what each client does.


def step(settings: Settings, state: Failover, event: Event) -> Failover:
    """The state after `event`; its ``effects`` are what the cluster did and what each client heard, in order.

    Raises
    ------
    IllegalEvent
        If there is no such broker, or it is down already, or up.

    References
    ----------
    Apache Kafka, ``AbstractCoordinator``, ``CoordinatorRequestManager`` for clients; `coordinator_life` for brokers.
    """
    _require(settings, state, event)
    state = replace(state, effects=())
    match event:
        case BrokerCrashed(broker_id):
            return replace(state, dead=(*state.dead, (broker_id, state.second + settings.notice_s)))
        case BrokerStopped(broker_id):
            return _follow(settings, _lived(settings, state, model.BrokerFenced(broker_id)))
        case BrokerStarted(broker_id):
            return _follow(settings, _started(settings, state, broker_id))
        case SecondPassed():
            return _second_passed(settings, state)
    raise no_event(event, (BrokerCrashed, BrokerStopped, BrokerStarted, SecondPassed))


def _require(settings: Settings, state: Failover, event: object) -> None:
    broker_id = getattr(event, "broker_id", None)
    if broker_id is None:
        return
    if broker_id not in settings.broker_ids:
        raise IllegalEvent(f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.broker_ids)}")
    if state.is_up(broker_id) == isinstance(event, BrokerStarted):
        raise IllegalEvent(
            f"{shown(event)}: broker {broker_id} is {'up' if state.is_up(broker_id) else 'down'} already"
        )


def _lived(settings: Settings, state: Failover, event: life_model.Event) -> Failover:
    return state.with_life(life_simulator.step(settings.life, state.life, event))


def _started(settings: Settings, state: Failover, broker_id: int) -> Failover:
    """A broker that returns before anybody noticed is noticed then: it registers anew."""
    if state.life.is_up(broker_id):
        state = _lived(settings, state, model.BrokerFenced(broker_id))
    state = replace(state, dead=tuple(each for each in state.dead if each[0] != broker_id))
    return _lived(
        settings, _lived(settings, state, model.BrokerUnfenced(broker_id)), model.CoordinatorStarted(broker_id)
    )


def _second_passed(settings: Settings, state: Failover) -> Failover:
    state = _lived(settings, replace(state, second=state.second + 1), model.TimePassed(S_MS))
    for broker_id, noticed_s in state.dead:
        if noticed_s <= state.second:
            state = replace(state, dead=tuple(each for each in state.dead if each[0] != broker_id))
            state = _lived(settings, state, model.BrokerFenced(broker_id))
    state = _follow(settings, state)
    for client in state.clients:
        state = act(settings, state, client.name)
    return state


def _follow(settings: Settings, state: Failover) -> Failover:
    """Brokers do what they were ordered at once; only the load takes its time."""
    for each in state.life.coordinators:
        for order in each.orders:
            coordinator = state.life.coordinator(each.broker_id)
            if state.is_up(each.broker_id) and not (coordinator.is_reading and settings.life.has_one_thread):
                state = _lived(settings, state, model.OrderCarriedOut(each.broker_id, order.epoch))
                if state.life.coordinator(each.broker_id).is_reading:
                    state = replace(state, load_ends_s=state.second + settings.load_s)
    if state.load_ends_s is None or state.second < state.load_ends_s:
        return state
    state = replace(state, load_ends_s=None)
    for each in state.life.coordinators:
        if each.is_reading and state.is_up(each.broker_id):
            state = _lived(settings, state, model.LoadRead(each.broker_id))
    return state


# What a client does in a second, and what it makes of an answer.

NO_CONNECTION = "no connection"
GOES_ON, KNOWS, LOOKS, WAITS, REJOINS = (
    "goes on", "knows whom to ask", "looks for the coordinator", "waits, then asks the same broker", "joins again",
)  # fmt: skip
THEN = {
    NONE: GOES_ON,
    NO_CONNECTION: LOOKS,
    NOT_COORDINATOR: LOOKS,
    NOT_AVAILABLE: LOOKS,
    LOAD_IN_PROGRESS: WAITS,
    REBALANCE_IN_PROGRESS: REJOINS,
    UNKNOWN_MEMBER_ID: REJOINS,
}
"""What each error makes a client do: ``AbstractCoordinator``, ``ConsumerCoordinator``, ``CommitRequestManager``."""

NEVER_S = 2**31


def act(settings: Settings, state: Failover, name: str) -> Failover:
    """The state after a client has done what it does in this second.

    Who knows no coordinator asks any broker that lives; if it hears a name it asks there in the same second. What
    fails is tried again in the next one: in truth after ``retry.backoff.ms``, a tenth of that.
    """
    client = state.client(name)
    if client.due_s > state.second:
        return state
    if client.coordinator is None:
        state = _find(settings, state, client)
        client = state.client(name)
        if client.coordinator is None:
            return state
    return _ask(settings, state, client)


def _find(settings: Settings, state: Failover, client: Client) -> Failover:
    if not state.live:
        return _unserved(state, client, None)
    asked = state.live[0]
    life = life_simulator.step(settings.life, state.life, model.Request(asked, model.FIND, client.group_id))
    (answer,) = (each for each in life.effects if isinstance(each, model.Answered))
    then = KNOWS if answer.error == NONE else LOOKS
    heard = Heard(client.name, asked, model.FIND, answer.error, then)
    return (
        _unserved(state, client, answer.value, heard)
        if answer.value is None
        else state.with_client(client._replace(coordinator=answer.value), heard)
    )


def _ask(settings: Settings, state: Failover, client: Client) -> Failover:
    broker_id = client.coordinator
    assert broker_id is not None, "who asks knows a coordinator"
    error = NO_CONNECTION
    if state.is_up(broker_id):
        offset = client.asked_count
        request = model.Request(broker_id, client.api, client.group_id, client.member_id, offset)
        life = life_simulator.step(settings.life, state.life, request)
        (answer,) = (each for each in life.effects if isinstance(each, model.Answered))
        error, state = answer.error, state.with_life(life)
    heard = Heard(client.name, broker_id, client.api, error, THEN[error])
    client = client._replace(asked_count=client.asked_count + 1)
    if error == NONE:
        next_s = NEVER_S if client.interval_s is None else state.second + client.interval_s
        return state.with_client(client._replace(due_s=next_s, unserved_since_s=None), heard)
    if THEN[error] == REJOINS:
        client = client._replace(api=model.JOIN)
    return _unserved(state, client, None if THEN[error] == LOOKS else broker_id, heard)


def _unserved(state: Failover, client: Client, coordinator: int | None, *heard: Heard) -> Failover:
    since = state.second if client.unserved_since_s is None else client.unserved_since_s
    again = client._replace(coordinator=coordinator, due_s=state.second + 1, unserved_since_s=since)
    return state.with_client(again, *heard)


# What holds.

LONGEST_WAIT_S = 30
SERVED = f"every client was served within the last {LONGEST_WAIT_S} s"
MEMBERS_KEPT = "no member lost its place"


def _served(settings: Settings, state: Failover) -> bool:
    waits = (state.second - each.unserved_since_s for each in state.clients if each.unserved_since_s is not None)
    return max(waits, default=0) <= LONGEST_WAIT_S


def _dead_answer_nobody(settings: Settings, state: Failover) -> bool:
    heard = (each for each in state.effects if isinstance(each, Heard))
    return all(state.is_up(each.broker_id) or each.error == NO_CONNECTION for each in heard)


_OF_ONE_STATE = {name: each for name, each in life_simulator.INVARIANTS.items() if not isinstance(each, Since)}
"""In one second several things happen to the coordinator's life; what is said of a single step is not judged here."""

INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(_OF_ONE_STATE, lambda state: state.life, lambda settings: settings.life),
        "who is dead answers nobody": _dead_answer_nobody,
        "only a load that is under way has an end": lambda settings, state: (
            state.load_ends_s is None or state.load_ends_s >= state.second
        ),
    }
)
"""What holds in every state; first those of the coordinator's life."""

PROMISES: Promises = MappingProxyType(
    {
        SERVED: _served,
        MEMBERS_KEPT: lambda settings, state: not any(isinstance(each, model.MemberExpired) for each in state.effects),
    }
)
"""What users hope for; a factor of 1 breaks the first on the day its broker dies, a load that takes too long, both."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)


# A run as rows for a table: who heard what in which second, and for how long each client was not served.

Row = tuple[int, str, int, str, str, str]
"""Second, client, broker, API, error, and what the client does then."""


def timeline(trace: Trace[Failover, Event]) -> list[Row]:
    """Every question of every client, with its answer, in order."""
    return [
        (frame.state.second, each.client, each.broker_id, each.api, each.error, each.then)
        for frame in trace
        for each in frame.state.effects
        if isinstance(each, Heard)
    ]


def phases(trace: Trace[Failover, Event]) -> list[tuple[int, int, str, str, str]]:
    """The same in short: first and last second in which a client heard the same of its own request, API, error.

    Searching is left out but where it says that there is no coordinator.
    """
    found = []
    for name in (each.name for each in trace[0].state.clients):
        rows = [(row[0], row[1], row[3], row[4]) for row in timeline(trace) if row[1] == name]
        rows = [row for row in rows if row[2] != model.FIND or row[3] != NONE]
        for (client, api, error), same in groupby(rows, key=lambda row: row[1:]):
            seconds = [second for second, *_ in same]
            found.append((seconds[0], seconds[-1], client, api, error))
    return found


def unserved_seconds(trace: Trace[Failover, Event]) -> Mapping[str, int]:
    """For each client in how many seconds it asked and was not served; 0: it noticed nothing."""
    failed = {(second, client) for second, client, _, _, error, _ in timeline(trace) if error != NONE}
    counts = Counter(client for _, client in failed)
    return MappingProxyType({each.name: counts[each.name] for each in trace[0].state.clients})
