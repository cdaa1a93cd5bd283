"""Groups whose members do what a client does: the shortest way into a rebalance that never ends.

A coordinator alone never hangs: it answers. Whether a group comes to rest depends on what its members send next, so a
search needs both. Here a client takes its *turn*: it sends what its protocol asks now, and does what it is answered.
One that is busy or hangs goes on sending heartbeats from its background thread alone (`Beat`).

`find_stuck` looks for a fair run of them in which a promise of `PROGRESS` is never kept again. Times count from now on,
generations of the classic protocol from the group's, so that a run that goes round is seen to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

from kafkalearn.base import facts
from kafkalearn.base.checks import iterable, one_of, sequence
from kafkalearn.base.errors import IllegalEvent, no_event
from kafkalearn.base.events import TimePassed
from kafkalearn.base.liveness import Stuck
from kafkalearn.base.liveness import find_stuck as find_stuck_in
from kafkalearn.base.promises import Promises
from kafkalearn.base.search import Model
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Parts
from kafkalearn.groups import classic, consumer
from kafkalearn.groups.classic.model import JoinAnswered
from kafkalearn.groups.consumer.events import HeartbeatAnswered
from kafkalearn.groups.defaults import STABLE

COMES_TO_REST = "the group is Stable"
IS_ALL_READ = "every partition belongs to a member that knows it"

WINDOW_MS = 3000
"""How much time passes at once: an initial delay. A rebalance may take two of them, and a session ends after two."""


class Starts(facts.Event):
    """A consumer is started; one that may be busy need not take its turn before time passes."""

    name: str
    is_busy: bool = False


class Turn(facts.Event):
    """A consumer does what its protocol asks next: it joins, syncs, gives up partitions, or sends a heartbeat."""

    name: str


class Beat(facts.Event):
    """A consumer that is busy, or hangs: its background thread sends a heartbeat, and nothing else is done."""

    name: str


class Hangs(facts.Event):
    """A consumer hangs for good: from now on its turns are heartbeats of its background thread alone."""

    name: str


Event = Starts | Turn | Beat | Hangs | TimePassed

# What a client does next.
JOINS, WAITS, SYNCS, READS = "joins", "waits", "syncs", "reads"


class Client(NamedTuple):
    """What a consumer knows."""

    name: str
    does: str = JOINS  # what its next turn is
    epoch: int = 0  # of its membership; of the classic protocol the generation
    member_id: str = ""  # of the classic protocol
    owned: tuple[TopicPartition, ...] = ()  # of the consumer protocol: what it reads
    is_busy: bool = False  # it may be
    hangs: bool = False
    is_heard: bool = True  # it has sent something since time passed, or was answered

    @property
    def is_member(self) -> bool:
        """Whether it was answered that it is one, and has not been answered otherwise since."""
        return bool(self.member_id) or self.epoch > 0

    @property
    def is_due(self) -> bool:
        """Whether it does something before time passes: consumers are quicker than timers."""
        if self.does == WAITS or (self.does == READS and self.is_heard):
            return False
        if self.is_busy or self.hangs:  # a heartbeat is enough
            return self.is_member and self.does != JOINS and not self.is_heard
        return True


@dataclass(frozen=True, slots=True)
class Settings:
    """Those of the coordinator: of `kafkalearn.groups.classic` or of `kafkalearn.groups.consumer`."""

    coordinator: classic.Settings | consumer.Settings

    @property
    def is_classic(self) -> bool:
        """Whether members join by the classic protocol."""
        return isinstance(self.coordinator, classic.Settings)


@dataclass(frozen=True, slots=True)
class Members:
    """A group as its coordinator has it, and what each of its consumers knows."""

    group: Any  # `classic.Group` or `consumer.Group`
    clients: tuple[Client, ...] = ()
    effects: tuple[object, ...] = ()

    def client(self, name: str) -> Client:
        """One consumer; IllegalEvent if it has not started."""
        for client in self.clients:
            if client.name == name:
                return client
        raise IllegalEvent(f"{name!r} has not started")

    def with_client(self, client: Client) -> Members:
        """With what a consumer knows now."""
        return replace(self, clients=tuple(client if each.name == client.name else each for each in self.clients))


def start(settings: Settings) -> Members:
    """A group without members."""
    rules: Any = classic if settings.is_classic else consumer
    return Members(rules.start(settings.coordinator))


def step(settings: Settings, members: Members, event: Event) -> Members:
    """The group and its consumers after an event.

    Raises
    ------
    IllegalEvent
        If it makes no sense: a consumer takes a turn while it waits for an answer, or starts twice.

    Examples
    --------
    >>> settings = Settings(consumer.Settings())
    >>> members = step(settings, step(settings, start(settings), Starts("c1")), Turn("c1"))
    >>> members.group.state, len(members.client("c1").owned)
    ('Stable', 6)
    """
    if isinstance(event, Starts):
        if any(each.name == event.name for each in members.clients):
            raise IllegalEvent(f"{event!r}: it has started already")
        return replace(members, clients=(*members.clients, Client(event.name, is_busy=event.is_busy)), effects=())
    if isinstance(event, Hangs):
        return replace(members.with_client(members.client(event.name)._replace(hangs=True)), effects=())
    if not isinstance(event, Turn | Beat | TimePassed):
        raise no_event(event, (Starts, Turn, Beat, Hangs, TimePassed))
    if isinstance(event, TimePassed):
        late = [each.name for each in members.clients if each.is_due]
        if late:
            raise IllegalEvent(f"{event!r}: {late[0]!r} is quicker, and takes its turn first")
        members = replace(members, clients=tuple(each._replace(is_heard=False) for each in members.clients))
    else:
        client = members.client(event.name)
        if client.hangs:
            event = Beat(event.name)
        members = members.with_client(client._replace(is_heard=True))
    return (_classic_step if settings.is_classic else _consumer_step)(settings.coordinator, members, event)


def _classic_step(settings: Any, members: Members, event: Turn | Beat | TimePassed) -> Members:
    if isinstance(event, TimePassed):
        return _classic_answers(members, classic.step(settings, members.group, classic.TimePassed(event.ms)))
    client = members.client(event.name)
    if client.does == WAITS or (isinstance(event, Beat) and (not client.member_id or client.does == JOINS)):
        raise IllegalEvent(f"{event!r}: it waits for an answer, or is no member")
    if isinstance(event, Beat):
        heartbeat = classic.Heartbeat(client.name, client.member_id, client.epoch)
        return replace(members, group=classic.step(settings, members.group, heartbeat), effects=())
    if client.does == JOINS:
        times = {"session_timeout_ms": 2 * WINDOW_MS, "rebalance_timeout_ms": 2 * WINDOW_MS}
        request: Any = classic.JoinGroup(client.name, client.member_id, drawn_id=f"{client.name}-id", **times)
    elif client.does == SYNCS:
        is_leader = members.group.leader == client.member_id
        plan = tuple((each.member_id, "its partitions") for each in members.group.members) if is_leader else ()
        request = classic.SyncGroup(client.name, client.member_id, client.epoch, plan)
    else:
        request = classic.Heartbeat(client.name, client.member_id, client.epoch)
    waiting = members.with_client(client._replace(does=WAITS))
    return _classic_answers(waiting, classic.step(settings, members.group, request))


def _classic_answers(members: Members, group: Any) -> Members:
    """Each consumer hears what it was answered."""
    members = replace(members, group=group, effects=group.effects)
    for answer in group.effects:
        if not hasattr(answer, "client") or not hasattr(answer, "error"):
            continue
        client = members.client(answer.client)
        if answer.error == "MEMBER_ID_REQUIRED":
            client = client._replace(does=JOINS, member_id=answer.member_id)
        elif answer.error == "REBALANCE_IN_PROGRESS":
            client = client._replace(does=JOINS)
        elif answer.error != "NONE":
            client = Client(client.name, is_busy=client.is_busy, hangs=client.hangs)
        elif isinstance(answer, JoinAnswered):
            client = client._replace(does=SYNCS, member_id=answer.member_id, epoch=answer.generation)
        else:
            client = client._replace(does=READS)
        members = members.with_client(client)
    return members


def _consumer_step(settings: Any, members: Members, event: Turn | Beat | TimePassed) -> Members:
    if isinstance(event, TimePassed):
        group = consumer.step(settings, members.group, consumer.TimePassed(event.ms))
        return replace(members, group=group, effects=group.effects)
    client = members.client(event.name)
    if isinstance(event, Beat) and client.epoch == 0:
        raise IllegalEvent(f"{event!r}: it is no member")
    topics = tuple(name for name, _ in settings.topics)
    request = (
        consumer.join(client.name, topics, rebalance_timeout_ms=2 * WINDOW_MS)
        if client.epoch == 0
        else consumer.ConsumerGroupHeartbeat(client.name, client.epoch, owned=client.owned)
    )
    group = consumer.step(settings, members.group, request)
    answer: Any = next(each for each in group.effects if isinstance(each, HeartbeatAnswered))
    if answer.error != "NONE":
        client = Client(client.name, is_busy=client.is_busy, hangs=client.hangs)
    else:
        is_given = answer.assignment is not None and not isinstance(event, Beat)
        owned = answer.assignment if is_given else client.owned
        client = client._replace(does=READS, epoch=answer.member_epoch, owned=owned)
    return replace(members, group=group, effects=group.effects).with_client(client)


# What is to come again, whatever happened.


def _is_known(members: Members, client: Client) -> bool:
    return any(each.member_id in (client.name, client.member_id) for each in members.group.members)


def _is_all_read(settings: Settings, members: Members) -> bool:
    joined = [each for each in members.clients if _is_known(members, each)]
    if settings.is_classic or not joined:
        return all(each.does == READS for each in joined)
    coordinator: Any = settings.coordinator
    read = [partition for client in joined for partition in client.owned]
    return len(read) == len({*read}) == sum(count for _, count in coordinator.topics)


PROGRESS: Promises = MappingProxyType(
    {
        COMES_TO_REST: lambda settings, members: members.group.state == STABLE or not members.group.members,
        IS_ALL_READ: _is_all_read,
    }
)
"""What is to come again after whatever happened. `find_stuck` looks for a fair run in which it does not."""


# The normal form: times from now on, and generations from the group's.


def _from_now(time_ms: int | None, now_ms: int) -> int | None:
    return None if time_ms is None else max(time_ms - now_ms, 0)


def _classic_form(members: Members) -> Members:
    group, now_ms = members.group, members.group.now_ms
    generation = min(group.generation, 1)
    group = replace(
        group,
        now_ms=0,
        generation=generation,
        id_count=0,
        members=tuple(each._replace(expires_ms=_from_now(each.expires_ms, now_ms)) for each in group.members),
        pending=tuple((member_id, max(at_ms - now_ms, 0), client) for member_id, at_ms, client in group.pending),
        join_deadline_ms=_from_now(group.join_deadline_ms, now_ms),
        sync_deadline_ms=_from_now(group.sync_deadline_ms, now_ms),
        effects=(),
    )
    clients = (
        each._replace(epoch=generation if each.epoch == members.group.generation else 0) for each in members.clients
    )
    return Members(group, tuple(clients))


def _consumer_form(members: Members) -> Members:
    """No topic changes here, so when the group looks at them next makes no difference."""
    group, now_ms = members.group, members.group.now_ms
    known = (
        replace(
            each,
            session_ends_at_ms=_from_now(each.session_ends_at_ms, now_ms),
            revocation_ends_at_ms=_from_now(each.revocation_ends_at_ms, now_ms),
        )
        for each in group.members
    )
    assigned_at_ms = None if group.assigned_at_ms is None else max(group.assigned_at_ms - now_ms, -WINDOW_MS)
    group = replace(group, now_ms=0, look_at_ms=0, assigned_at_ms=assigned_at_ms, members=tuple(known), effects=())
    return Members(group, members.clients)


def model(settings: Settings, promise: str) -> Model[Settings, Members, Event]:
    """A group and its consumers as a search sees them."""
    form: Callable[[Members], Members] = _classic_form if settings.is_classic else _consumer_form
    holds: Any = PROGRESS[one_of("promise", promise, PROGRESS)]

    def happen(parts: Parts, event: Event) -> None:
        members: Any = parts.read(0)
        parts.write(0, form(step(settings, members, event)))

    tests = ((promise, lambda parts: holds(settings, parts.read(0))),)
    return Model(settings, step, lambda members: (form(members),), happen, tests)


def find_stuck(
    coordinator: classic.Settings | consumer.Settings,
    promise: str = COMES_TO_REST,
    *,
    consumers: Sequence[str] = ("c1", "c2"),
    busy: Iterable[str] = (),
    hang: Iterable[str] = (),
    time_passes: bool = True,
    depth: int | None = None,
    budget: int = 200_000,
) -> Stuck[Members, Event]:
    """The shortest way into a group that never comes to rest, or word that there is none.

    Each consumer that has started takes its turn at last, and time passes. One that is busy sends heartbeats at last,
    and takes turns or not, now and then; one that hangs takes none any more.

    Parameters
    ----------
    coordinator : Settings
        Of `kafkalearn.groups.classic` or `kafkalearn.groups.consumer`: it says by which protocol they join.
    promise : str
        A name in `PROGRESS`.
    consumers : sequence of str
        Each is started once.
    busy, hang : iterable of str
        Those of them that may be busy with their records, and those that may hang for good. Their heartbeats go on.
    time_passes : bool
        Whether timers end at last. Without, a member is waited for as if its timeout were endless.
    depth, budget
        As for `kafkalearn.base.liveness.find_stuck`.

    Examples
    --------
    Up to 2.8.0 a member that has joined and hangs before its SyncGroup is waited for as long as it sends heartbeats.

    >>> [find_stuck(classic.Settings(release), hang=["c1"]).outcome for release in ("2.7", "2.8.1")]
    ['found', 'nothing left']

    Two that are too slow by turns are removed by turns, and come back: the group rebalances without end.

    >>> stuck = find_stuck(classic.Settings(), busy=["c1", "c2"])
    >>> sorted({frame.state.group.state for frame in stuck.trace[stuck.loop_start :]})
    ['CompletingRebalance', 'PreparingRebalance']

    References
    ----------
    Apache Kafka, ``GroupCoordinator`` and ``GroupMetadataManager``; the timer of a sync came with 2.8.1 (KAFKA-12890).
    """
    settings = Settings(coordinator)
    names = sequence("consumers", consumers, of="names")
    slow = {one_of("consumer", name, names) for name in iterable("busy", busy, of="names")}
    hung = [one_of("consumer", name, names) for name in iterable("hang", hang, of="names")]
    turns, beats = [Turn(name) for name in names], [Beat(name) for name in names if name in slow]
    events: list[Event] = [*(Starts(name, name in slow) for name in names), *turns, *beats, *map(Hangs, hung)]
    fair: list[Event] = [*(turn for turn in turns if turn.name not in slow), *beats]
    if time_passes:
        events.append(TimePassed(WINDOW_MS))
        fair.append(TimePassed(WINDOW_MS))
    return find_stuck_in(
        model(settings, promise), start(settings), events, fair=fair,
        depth=depth, budget=budget, at_most={Starts: len(names), Hangs: len(hung)},
    )  # fmt: skip
