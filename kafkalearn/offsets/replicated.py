"""One partition of the offsets topic on its brokers: the path of a commit, and the life of its coordinator.

A simulator made of two others: the brokers are those of `kafkalearn.replication`, what a coordinator answers and
writes is the rule of `kafkalearn.offsets.store`. The broker that leads the partition is the coordinator. A commit is
appended to its log at once, and answered when the high watermark has passed it; until then only those who wait for it
see it. When the leadership moves, the new leader loads the log, and the old one answers NOT_COORDINATOR.

`ReplicatedStore` is the state. Events are the requests of the store, which go to the coordinator (`SentTo` to another
broker), `Sweep`, `Load`, `Produce`, and what happens to brokers, from `kafkalearn.replication`; a follower's fetch is
`kafkalearn.offsets.replicated.FollowerFetch`.

>>> from kafkalearn.offsets.store import Commit, Fetch
>>> commit = Commit("billing", "orders", 0, offset=7, now_ms=0)
>>> trace = simulate(Settings(), [commit, Fetch("billing", "orders", 0), *replicated(), Fetch("billing", "orders", 0)])
>>> [each.answer.offset for frame in trace for each in frame.state.effects if isinstance(each, Answered)]
[-1, None, 7]

At the end of the file stand runs to step through, as lists of events for `simulate`: a commit's path, a coordinator's
life, expiry, deletion.

>>> end = simulate(Settings(), takeover())[-1].state
>>> [end.status(broker_id) for broker_id in (1, 2, 3)], end.effects[-1].answer.offset
(['not owned', 'owned', 'not owned'], 8)

A record that somebody else has written into the topic breaks what those hope for who commit.

>>> trace = simulate(Settings(), foreign_record(None))
>>> sorted({name for frame in trace for name in broken(Settings(), frame.state)})
['the partition has a coordinator that can load it']
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import NOT_GIVEN, BrokerId, Checked, Count, FilledIn, Whole, check_fields, fill_in
from kafkalearn.base.errors import IllegalEvent, no_event, refusing_events, shown
from kafkalearn.base.promises import Promises, of_inner
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.offsets.replay import Group, Member
from kafkalearn.offsets.store import model
from kafkalearn.offsets.store.model import Entry, StoreEvent
from kafkalearn.offsets.store.simulator import has_what_is_logged, logged_groups
from kafkalearn.offsets.store.simulator import step as step_store
from kafkalearn.releases import default
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, ReleaseName
from kafkalearn.replication import events as replication
from kafkalearn.replication.events import BrokerCrashed, Effect, SessionExpired
from kafkalearn.replication.settings import MOST_REPLICAS
from kafkalearn.replication.settings import Settings as PartitionSettings
from kafkalearn.replication.simulator import INVARIANTS as PARTITION_INVARIANTS
from kafkalearn.replication.simulator import step as step_partition
from kafkalearn.replication.state import Partition, Replica
from kafkalearn.replication.state import start as start_partition

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "SentTo",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


ANSWERS_FOR = AnswersFor("offsets.replicated", "4.0", reason="before, another coordinator")


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while brokers take turns to coordinate the groups of one partition.

    Parameters
    ----------
    replica_count : int
        ``offsets.topic.replication.factor``: brokers that hold the partition, numbered from 1.
    release : str
        Of all brokers, 4.0 or later: before, another coordinator kept what is not replicated yet apart.
    retention_minutes : int or None
        ``offsets.retention.minutes``; None: the release's default.
    commit_timeout_ms : int or None
        ``offsets.commit.timeout.ms``: how long a request waits for the high watermark; None: the release's default.

    Raises
    ------
    KafkaLearnError
        If no cluster can be configured so.

    Examples
    --------
    >>> Settings().commit_timeout_ms, Settings().store.retention_minutes, Settings().partition.broker_ids
    (5000, 10080, (1, 2, 3))
    """

    replica_count: Annotated[int, Whole(1, MOST_REPLICAS)] = 3
    release: ReleaseName = DEFAULT_RELEASE
    retention_minutes: FilledIn[Count] = NOT_GIVEN
    commit_timeout_ms: FilledIn[Count] = NOT_GIVEN
    partition: PartitionSettings = field(init=False, repr=False, compare=False)  # followers are answered at once
    store: model.Settings = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in what was not given; refuse releases with another coordinator."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        fill_in(self, commit_timeout_ms=default("offsets.commit.timeout.ms", self.release, side="broker"))
        partition = PartitionSettings(self.replica_count, self.release, fetch_wait_max_ms=0)
        object.__setattr__(self, "partition", partition)
        object.__setattr__(self, "store", model.Settings(self.release, self.retention_minutes))
        fill_in(self, retention_minutes=self.store.retention_minutes)


FollowerFetch = replication.Fetch
"""A follower asks its leader for what comes next, under a name that differs from a group's `Fetch`."""

REQUESTS = (model.Commit, model.Fetch, model.StoreGroup, model.DeleteGroup, model.DeleteOffset)
"""What a client or a member asks of the coordinator; each gets an answer."""

OF_BROKERS = (
    replication.Fetch,
    replication.TimePassed,
    replication.IsrChecked,
    replication.AlterPartitionAnswered,
    replication.HighWatermarkCheckpointed,
    replication.BrokerCrashed,
    replication.PowerLost,
    replication.BrokerStopped,
    replication.BrokerStarted,
    replication.BrokerFrozen,
    replication.BrokerThawed,
    replication.BrokerReconnected,
    replication.SessionExpired,
    replication.LeaderElected,
    replication.BrokerFenced,
)
"""The events of `kafkalearn.replication` that may happen to the brokers; records come by the coordinator alone."""

Request: TypeAlias = model.Commit | model.Fetch | model.StoreGroup | model.DeleteGroup | model.DeleteOffset


class SentTo(facts.Event):
    """A request that goes to a broker of the client's choice, as when its metadata is old."""

    broker_id: BrokerId
    request: Request


ReplicatedStoreEvent: TypeAlias = (
    Request | SentTo | model.Sweep | model.Load | model.Produce | replication.ReplicationEvent
)


class Appended(facts.Effect, says="broker {broker_id} writes offset{offsets:s} {offsets:listed} of its log"):
    """A leader has written entries at these offsets of its log."""

    broker_id: int
    offsets: tuple[int, ...]


class Deferred(facts.Effect):
    """The answer to a request waits until the high watermark has reached an offset."""

    broker_id: int
    request: StoreEvent
    end_offset: int


class Answered(facts.Effect):
    """The client of a request has its answer."""

    broker_id: int
    request: StoreEvent
    answer: model.Answer


class NotReached(facts.Effect):
    """A request, or the answer to it, was lost: the broker is not running, or nobody leads (None)."""

    broker_id: int | None
    request: StoreEvent


class Elected(facts.Effect, says="broker {broker_id} is elected: it has {entry_count:of record} to load"):
    """A broker has become coordinator, and has so many entries to load."""

    broker_id: int
    entry_count: int


class Loaded(facts.Effect):
    """A broker has read so many entries of the log; then it is ``loading``, ``owned`` or ``failed``."""

    broker_id: int
    read_count: int
    status: str


class Resigned(facts.Effect, says="broker {broker_id} coordinates no longer: its memory is empty"):
    """A broker no longer leads, and has forgotten what it had in memory."""

    broker_id: int


ReplicatedEffect: TypeAlias = Appended | Deferred | Answered | NotReached | Elected | Loaded | Resigned | Effect


class Known(NamedTuple):
    """The groups as the log describes them up to an offset."""

    end_offset: int
    groups: tuple[Group, ...] = ()


class Waiting(NamedTuple):
    """A request whose answer is ready and waits for the high watermark."""

    request: StoreEvent
    answer: model.Answer
    end_offset: int  # the high watermark that lets the answer go
    deadline_ms: int  # offsets.commit.timeout.ms after it came
    entries: tuple[int, ...] = ()  # what was written for it


class Coordinator(NamedTuple):
    """What a broker that leads the partition has in memory."""

    leader_epoch: int
    status: str = model.LOADING  # as in `kafkalearn.offsets.store`: owned, loading or failed
    read_count: int = 0  # entries read so far, while loading
    known: tuple[Known, ...] = (Known(0),)  # rising; the first is replicated, the last is all that is written
    waiting: tuple[Waiting, ...] = ()

    @property
    def confirmed(self) -> Known:
        """The groups as of the high watermark."""
        return self.known[0]

    @property
    def written(self) -> Known:
        """The groups with all that is in the log, replicated or not."""
        return self.known[-1]


@dataclass(frozen=True, slots=True)
class ReplicatedStore:
    """A partition of the offsets topic on its brokers, at one moment."""

    partition: Partition
    coordinators: tuple[Coordinator | None, ...]  # by broker id from 1; None: it does not lead
    entries: tuple[Entry, ...] = ()  # all that was ever appended; a record's value is the number of its entry
    acknowledged: tuple[int, ...] = ()  # entries of requests that were answered without an error
    effects: tuple[ReplicatedEffect, ...] = field(default=(), compare=False)  # of the last event, in order

    def coordinator(self, broker_id: int) -> Coordinator | None:
        """The coordinator on a broker; None: it does not lead the partition."""
        return self.coordinators[broker_id - 1]

    def status(self, broker_id: int) -> str:
        """What a broker is to the partition, by the names of `kafkalearn.offsets.store`."""
        coordinator = self.coordinator(broker_id)
        return model.NOT_OWNED if coordinator is None else coordinator.status

    def log(self, broker_id: int) -> tuple[Entry, ...]:
        """The entries in a broker's log, by offset."""
        return tuple(self.entries[number] for number in self.numbers(broker_id))

    def numbers(self, broker_id: int) -> tuple[int, ...]:
        """The numbers of the entries in a broker's log, by offset."""
        return tuple(int(record.value) for record in self.partition.replica(broker_id).log.records)


def start(settings: Settings) -> ReplicatedStore:
    """A new partition: nothing is written, broker 1 leads and coordinates.

    >>> start(Settings()).status(1), start(Settings()).status(2)
    ('owned', 'not owned')
    """
    partition = start_partition(settings.partition)
    first = Coordinator(partition.controller.leader_epoch, model.OWNED)
    return ReplicatedStore(partition, (first, *(None for _ in settings.partition.broker_ids[1:])))


# What a coordinator does with a request: it writes at once, and answers when the high watermark has passed it.

NOT_AN_EXCEPTION = ("NONE", "OFFSET_METADATA_TOO_LARGE")
"""Answers to a commit for one partition; all others refuse the request as a whole, and go at once."""


def request(
    settings: Settings, state: ReplicatedStore, event: Request, to_broker: int | None = None
) -> ReplicatedStore:
    """The state after a request has come to a broker; None: to the one that clients take for the coordinator."""
    broker_id = state.partition.controller.leader if to_broker is None else to_broker
    if isinstance(event, model.Commit) and (event.producer_id is not None or event.is_in_flight):
        raise IllegalEvent(
            f"{shown(event)}: here a commit is in flight until followers fetch it, and is in no transaction; "
            "kafkalearn.offsets.store has transactions"
        )
    if broker_id is None or not _replica(settings, state, event, broker_id).is_running:
        return with_effect(state, NotReached(broker_id, event))
    coordinator = state.coordinator(broker_id)
    if coordinator is None or coordinator.status != model.OWNED:
        is_loading = coordinator is not None and coordinator.status == model.LOADING
        error = "COORDINATOR_LOAD_IN_PROGRESS" if is_loading else "NOT_COORDINATOR"
        return with_effect(state, Answered(broker_id, event, model.Answer(error)))
    if isinstance(event, model.Fetch) and not event.requires_stable:  # a read: of what is replicated
        answer = _carried_out(settings, state, broker_id, coordinator.confirmed, event).effects[0]
        return with_effect(state, Answered(broker_id, event, answer))
    return _write(settings, state, broker_id, coordinator, event)


def sweep(settings: Settings, state: ReplicatedStore, event: model.Sweep) -> ReplicatedStore:
    """The state after the coordinator has looked for expired offsets: tombstones are written, not yet replicated."""
    broker_id, coordinator = acting_coordinator(state, event, model.OWNED)
    return _write(settings, state, broker_id, coordinator, event)


def produce(settings: Settings, state: ReplicatedStore, event: model.Produce) -> ReplicatedStore:
    """The state after a Produce request of somebody else: the log has the record, the coordinator does not know it."""
    broker_id = state.partition.controller.leader
    if broker_id is None or not state.partition.replica(broker_id).is_running:
        return with_effect(state, NotReached(broker_id, event))
    after = step_store(settings.store, model.Store(model.OWNED, log=state.log(broker_id)), event)
    state = _append(settings, state, broker_id, after.log[len(state.log(broker_id)) :])
    return with_effect(state, Answered(broker_id, event, after.effects[0]))


def acting_coordinator(state: ReplicatedStore, event: StoreEvent, status: str) -> tuple[int, Coordinator]:
    """The broker that leads, and its coordinator if that has a status; IllegalEvent if not."""
    broker_id, is_now = state.partition.controller.leader, "nobody leads"
    if broker_id is not None and state.partition.replica(broker_id).is_running:
        coordinator = state.coordinator(broker_id)
        if coordinator is not None and coordinator.status == status:
            return broker_id, coordinator
        is_now = f"the coordinator on broker {broker_id} is {state.status(broker_id)}"
    raise IllegalEvent(f"{shown(event)}: only a coordinator that is {status} does this, and {is_now}")


def with_effect(state: ReplicatedStore, *effects: ReplicatedEffect) -> ReplicatedStore:
    """The state with more effects of the event."""
    return replace(state, effects=(*state.effects, *effects))


def with_coordinator(state: ReplicatedStore, broker_id: int, coordinator: Coordinator | None) -> ReplicatedStore:
    """The state with another coordinator on a broker."""
    before, after = state.coordinators[: broker_id - 1], state.coordinators[broker_id:]
    return replace(state, coordinators=(*before, coordinator, *after))


def _replica(settings: Settings, state: ReplicatedStore, event: Request, broker_id: int) -> Replica:
    if broker_id not in settings.partition.broker_ids:
        raise IllegalEvent(f"{shown(event)}: there is no broker {broker_id}; there are 1 to {settings.replica_count}")
    return state.partition.replica(broker_id)


def _carried_out(
    settings: Settings, state: ReplicatedStore, broker_id: int, known: Known, event: StoreEvent
) -> model.Store:
    """What one broker alone would do, that has these groups in memory."""
    return step_store(settings.store, model.Store(model.OWNED, log=state.log(broker_id), groups=known.groups), event)


def _write(
    settings: Settings, state: ReplicatedStore, broker_id: int, coordinator: Coordinator, event: StoreEvent
) -> ReplicatedStore:
    """A write goes by all that is written, replicated or not; so does a fetch that waits for it."""
    first = len(state.entries)
    after = _carried_out(settings, state, broker_id, coordinator.written, event)
    state = _append(settings, state, broker_id, after.log[len(state.log(broker_id)) :])
    entries = tuple(range(first, len(state.entries)))
    end_offset = len(state.log(broker_id)) if entries else coordinator.written.end_offset
    if after.groups != coordinator.written.groups or entries:
        coordinator = coordinator._replace(known=(*coordinator.known, Known(end_offset, after.groups)))
    if after.effects:
        (answer,) = after.effects
        if isinstance(event, model.DeleteGroup) or answer.error in NOT_AN_EXCEPTION:
            deadline_ms = state.partition.now_ms + settings.commit_timeout_ms
            waits = Waiting(event, answer, end_offset, deadline_ms, entries)
            coordinator = coordinator._replace(waiting=(*coordinator.waiting, waits))
            if end_offset > state.partition.replica(broker_id).high_watermark:
                state = with_effect(state, Deferred(broker_id, event, end_offset))
        else:
            state = with_effect(state, Answered(broker_id, event, answer))
    return with_coordinator(state, broker_id, coordinator)


def _append(settings: Settings, state: ReplicatedStore, broker_id: int, entries: tuple[Entry, ...]) -> ReplicatedStore:
    """Entries at the end of the leader's log, as one batch that waits for nobody: acks=1."""
    if not entries:
        return state
    number, first = len(state.entries), len(state.log(broker_id))
    values = tuple(map(str, range(number, number + len(entries))))
    batch = replication.Produce(len(entries), acks=1, values=values, to_broker=broker_id)
    partition = step_partition(settings.partition, state.partition, batch)
    state = replace(state, partition=partition, entries=(*state.entries, *entries))
    return with_effect(state, Appended(broker_id, tuple(range(first, first + len(entries)))))


# What coordinators do by themselves when leadership or high watermark have changed: resign, begin to load, answer.


def follow(settings: Settings, state: ReplicatedStore) -> ReplicatedStore:
    """The state when every broker has acted on what replication has changed."""
    for broker_id in settings.partition.broker_ids:
        replica, coordinator = state.partition.replica(broker_id), state.coordinator(broker_id)
        if replica.leading is None and coordinator is not None:
            state = _resign(state, broker_id, coordinator)
        elif replica.leading is not None and coordinator is None:
            begun = Coordinator(replica.broker.leader_epoch)
            state = with_coordinator(state, broker_id, begun)
            state = with_effect(state, Elected(broker_id, len(state.log(broker_id))))
        elif coordinator is not None:
            coordinator = coordinator._replace(leader_epoch=replica.broker.leader_epoch)
            state = with_coordinator(state, broker_id, coordinator)
            state = _answer(state, broker_id, coordinator) if replica.is_running else state
    return state


def load(settings: Settings, state: ReplicatedStore, event: model.Load) -> ReplicatedStore:
    """The state after the new coordinator has read the next entries; then it is owned, or its load has failed."""
    broker_id, coordinator = acting_coordinator(state, event, model.LOADING)
    log = state.log(broker_id)
    before = model.Store(model.LOADING, log=log, groups=coordinator.written.groups, read_count=coordinator.read_count)
    after = step_store(settings.store, before, event)
    known = (Known(after.read_count, after.groups),)
    if after.status == model.OWNED:
        high_watermark = state.partition.replica(broker_id).high_watermark
        known = (Known(high_watermark, logged_groups(log[:high_watermark])), Known(len(log), after.groups))
        known = known[1:] if high_watermark == len(log) else known
    loaded = coordinator._replace(status=after.status, read_count=after.read_count, known=known)
    state = with_coordinator(state, broker_id, loaded)
    return with_effect(state, Loaded(broker_id, after.read_count, after.status))


def _resign(state: ReplicatedStore, broker_id: int, coordinator: Coordinator) -> ReplicatedStore:
    """Nothing is left in memory, nothing is written; who waits gets an error, if the broker still runs."""
    state = with_effect(with_coordinator(state, broker_id, None), Resigned(broker_id))
    is_running = state.partition.replica(broker_id).is_running
    for each in coordinator.waiting:
        refused = Answered(broker_id, each.request, model.Answer("NOT_COORDINATOR"))
        state = with_effect(state, refused if is_running else NotReached(broker_id, each.request))
    return state


def _answer(state: ReplicatedStore, broker_id: int, coordinator: Coordinator) -> ReplicatedStore:
    """What the high watermark has passed is confirmed and answered; what has waited too long is answered too."""
    if coordinator.status != model.OWNED:
        return state
    high_watermark = state.partition.replica(broker_id).high_watermark
    passed = sum(known.end_offset <= high_watermark for known in coordinator.known)
    waiting: list[Waiting] = []
    for each in coordinator.waiting:
        if each.end_offset <= high_watermark:
            state = with_effect(state, Answered(broker_id, each.request, each.answer))
            state = replace(state, acknowledged=(*state.acknowledged, *each.entries))
        elif each.deadline_ms <= state.partition.now_ms:
            error = "NOT_COORDINATOR" if isinstance(each.request, model.Fetch) else "COORDINATOR_NOT_AVAILABLE"
            state = with_effect(state, Answered(broker_id, each.request, model.Answer(error)))
        else:
            waiting.append(each)
    known = coordinator.known[max(passed - 1, 0) :]
    return with_coordinator(state, broker_id, coordinator._replace(known=known, waiting=tuple(waiting)))


_KNOWN = (*REQUESTS, SentTo, model.Sweep, model.Produce, model.Load, *OF_BROKERS)


@refusing_events
def step(settings: Settings, state: ReplicatedStore, event: ReplicatedStoreEvent) -> ReplicatedStore:
    """The state after `event`; its ``effects`` are what was written, answered, elected and loaded, in order.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: a sweep while nobody coordinates, a commit inside a transaction. What a
        broker would refuse is an answer.

    Examples
    --------
    >>> from kafkalearn.offsets.store.model import Commit
    >>> state = step(Settings(), start(Settings()), Commit("billing", "orders", 0, offset=7, now_ms=0))
    >>> [type(each).__name__ for each in state.effects]
    ['Appended', 'Deferred']

    References
    ----------
    Apache Kafka 4.0 to 4.3: ``CoordinatorRuntime`` (append, HighWatermarkListener, unload),
    ``CoordinatorPartitionWriter`` (acks=1), ``CoordinatorLoaderImpl``, ``GroupCoordinatorService.fetchOffsets``.
    """
    if not isinstance(event, _KNOWN):
        raise no_event(event, _KNOWN)
    state = replace(state, effects=())
    if isinstance(event, REQUESTS):
        state = request(settings, state, event)
    elif isinstance(event, SentTo):
        state = request(settings, state, event.request, event.broker_id)
    elif isinstance(event, model.Sweep):
        state = sweep(settings, state, event)
    elif isinstance(event, model.Produce):
        state = produce(settings, state, event)
    elif isinstance(event, model.Load):
        state = load(settings, state, event)
    else:
        partition = step_partition(settings.partition, state.partition, event)
        state = replace(state, partition=partition, effects=partition.effects)
    return follow(settings, state)


# What holds of every state, and what those hope for who commit.

LEADER_COORDINATES = "who leads coordinates, and nobody else"
CONFIRMED_IS_REPLICATED = "what is confirmed is what the log says up to the high watermark"
WRITTEN_IS_LOGGED = "what is written is what the log says up to its end"
WAITS_FOR_REPLICAS = "whoever waits, waits for what is not replicated"

ANSWERED_SURVIVE = "an answered commit is in the log of the coordinator"
CAN_BE_LOADED = "the partition has a coordinator that can load it"


def _leader_coordinates(settings: Settings, state: ReplicatedStore) -> bool:
    ids = settings.partition.broker_ids
    return all((state.partition.replica(each).leading is None) == (state.coordinator(each) is None) for each in ids)


def _owned(settings: Settings, state: ReplicatedStore) -> list[tuple[int, Coordinator]]:
    """The brokers that coordinate and have loaded the log."""
    coordinators = ((each, state.coordinator(each)) for each in settings.partition.broker_ids)
    return [(each, held) for each, held in coordinators if held is not None and held.status == model.OWNED]


def _confirmed_is_replicated(settings: Settings, state: ReplicatedStore) -> bool:
    """Judged where nobody else has written into the log, which the coordinator does not notice."""
    for broker_id, coordinator in _owned(settings, state):
        log = state.log(broker_id)
        end_offset = coordinator.confirmed.end_offset
        if any(entry.is_foreign for entry in log):
            continue
        if end_offset > state.partition.replica(broker_id).high_watermark:
            return False
        if not has_what_is_logged(coordinator.confirmed.groups, log[:end_offset]):
            return False
    return True


def _written_is_logged(settings: Settings, state: ReplicatedStore) -> bool:
    for broker_id, coordinator in _owned(settings, state):
        log = state.log(broker_id)
        if any(entry.is_foreign for entry in log):
            continue
        ends = [known.end_offset for known in coordinator.known]
        if not all(one <= other for one, other in pairwise(ends)):
            return False
        if not has_what_is_logged(coordinator.written.groups, log):
            return False
    return True


def _waits_for_replicas(settings: Settings, state: ReplicatedStore) -> bool:
    return all(
        each.end_offset > state.partition.replica(broker_id).high_watermark
        for broker_id, coordinator in _owned(settings, state)
        if state.partition.replica(broker_id).is_running
        for each in coordinator.waiting
    )


INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(PARTITION_INVARIANTS, lambda state: state.partition, lambda settings: settings.partition),
        LEADER_COORDINATES: _leader_coordinates,
        CONFIRMED_IS_REPLICATED: _confirmed_is_replicated,
        WRITTEN_IS_LOGGED: _written_is_logged,
        WAITS_FOR_REPLICAS: _waits_for_replicas,
    }
)
"""What holds in every state that can be reached; first the invariants of the partition."""


def _answered_survive(settings: Settings, state: ReplicatedStore) -> bool:
    leader_id = state.partition.controller.leader
    return leader_id is None or set(state.acknowledged) <= set(state.numbers(leader_id))


def _can_be_loaded(settings: Settings, state: ReplicatedStore) -> bool:
    leader_id = state.partition.controller.leader
    return leader_id is None or state.status(leader_id) != model.FAILED


PROMISES: Promises = MappingProxyType({ANSWERED_SURVIVE: _answered_survive, CAN_BE_LOADED: _can_be_loaded})
"""What users hope for.

The first is broken by power cuts of all replicas and by unclean elections; the second by a record without a key, which
somebody else has written into the topic, at the next load.
"""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)


# Runs to step through.

DAY_MS = 86_400_000
MEMBER = Member("billing-1", subscribed=("orders",), assigned=(TopicPartition("orders", 0),))
OF_MEMBER = {"member_id": "billing-1", "generation": 1}
READ = model.Fetch("billing", "orders", 0)
"""A tool asks for the group's offset: it gets what is replicated, at once."""
STABLE_READ = model.Fetch("billing", "orders", 0, requires_stable=True)
"""A consumer asks: Java's always waits for commits that are not replicated yet."""


def replicated() -> list[ReplicatedStoreEvent]:
    """Both followers fetch what is new, and say with their next fetch that they have it."""
    return [FollowerFetch(2), FollowerFetch(3), FollowerFetch(2), FollowerFetch(3)]


def group_with_an_offset() -> list[ReplicatedStoreEvent]:
    """``billing`` has a member, and has committed 7 for partition 0 of ``orders``; both are on all replicas."""
    group = model.StoreGroup("billing", 1, 1000, (MEMBER,), protocol="range", leader="billing-1")
    return [group, model.Commit("billing", "orders", 0, 7, 2000, **OF_MEMBER), *replicated()]


def commit_path() -> list[ReplicatedStoreEvent]:
    """A commit of 8 on its way, and fetches before and after: of a tool, and of a consumer, which waits."""
    commit = model.Commit("billing", "orders", 0, 8, 3000, **OF_MEMBER)
    return [commit, READ, STABLE_READ, *replicated(), READ]


def takeover() -> list[ReplicatedStoreEvent]:
    """The coordinator dies with a commit in flight; broker 2 is elected, loads, and answers what it has loaded."""
    commit = model.Commit("billing", "orders", 0, 8, 3000, **OF_MEMBER)
    election = [
        commit,
        FollowerFetch(2),
        BrokerCrashed(1),
        READ,
        SessionExpired(1),
        SentTo(3, READ),
        READ,
    ]
    load = [model.Load(1), READ, model.Load()]
    after = [READ, STABLE_READ, FollowerFetch(3), FollowerFetch(3)]
    return [*group_with_an_offset(), *election, *load, *after]


def foreign_record(key: bytes | None, value: bytes | None = b"strange") -> list[ReplicatedStoreEvent]:
    """Somebody writes a record of his own into the topic; the next coordinator finds it in its load."""
    produced = model.Produce(key, value, "__admin_client")
    return [
        *group_with_an_offset(),
        produced,
        *replicated(),
        READ,
        BrokerCrashed(1),
        SessionExpired(1),
        model.Load(),
        READ,
    ]


def end_of_a_group(days: int = 8) -> list[ReplicatedStoreEvent]:
    """The last member leaves; after so many days the sweep writes tombstones, and the replicas get them."""
    empty = model.StoreGroup("billing", 2, 4000)
    return [*group_with_an_offset(), empty, *replicated(), model.Sweep(4000 + days * DAY_MS), READ, *replicated(), READ]


def deletions() -> list[ReplicatedStoreEvent]:
    """An admin deletes an offset and the group: refused while a member is there, done when it is Empty."""
    offset, group = model.DeleteOffset("billing", "orders", 0), model.DeleteGroup("billing")
    empty = model.StoreGroup("billing", 2, 4000)
    return [*group_with_an_offset(), offset, group, empty, *replicated(), offset, *replicated(), group, *replicated()]
