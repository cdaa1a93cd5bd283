"""A transactional producer before the cluster: what its client sends, what may come late, and which promises break.

One application writes its records in transactions, under one transactional id, from one instance after the other or
from two at once. A request that it sent may arrive at once, or after the client gave it up: then the client aborts,
and the *late* request is still on its way. That is what KIP-890 is about.

A simulator: `Application` is the state, `Started`, `Sent`, `Arrived`, `GaveUp`, `Ended`, `MarkerArrived` and
`TimePassed` are the events. Source: `TransactionManager` and `Sender` of Kafka 4.0, read; recorded of the clients
2.6.3 to 4.4.0: what is answered, and what the client makes of it, after a time-out or a fence.

A request that was refused for a while (`client_errors.RETRIED`) changes nothing: the client asks again, by the same
event. Not modelled: linger and batches, offsets.

>>> trace = simulate(Settings(), [Started(), Sent(), Arrived(), Ended(), MarkerArrived("x", "t-0")])
>>> committed_records(trace[-1].state.cluster.partitions[0])
((1, 0),)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base import simulator as contract
from kafkalearn.base.checks import Checked, Index
from kafkalearn.base.errors import IllegalEvent, no_event
from kafkalearn.base.promises import Promises, Since
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.transactions import model, simulator
from kafkalearn.transactions.client_errors import ABORTING, FATAL, RETRIED, kind_of
from kafkalearn.transactions.model import Cluster, CoordinatorLoaded, InitProducerId, MarkerArrived, Produce, TimePassed
from kafkalearn.transactions.partition import committed_records

TRANSACTIONAL_ID = "x"

NO_ABORTED_READ = "no record of an aborted transaction is read"
ALL_OR_NOTHING = "of a committed transaction every acknowledged record is read"

BEFORE_KIP_360 = "2.4"
"""The release of a client that keeps its epoch."""


class Versions(NamedTuple):
    """The versions in which a client sends InitProducerId, AddPartitionsToTxn, Produce and EndTxn."""

    init: int
    add: int
    produce: int
    end: int


@dataclass(frozen=True)
class Settings(Checked):
    """The cluster, and the client in front of it.

    ``bumps_epoch`` is KIP-360 (Java's client since 2.5): after a request that it gave up, the client asks for a new
    epoch before it goes on. A client that speaks for version 2 always has a new epoch then.
    """

    cluster: model.Settings = field(default_factory=model.Settings)
    bumps_epoch: bool = True

    @property
    def is_new(self) -> bool:
        """Whether the client uses Produce 12 and EndTxn 5, which it does where the cluster has version 2."""
        return self.cluster.transaction_version >= 2

    @property
    def client_release(self) -> str:
        """The release whose `client_errors.kind_of` the client follows."""
        return DEFAULT_RELEASE if self.bumps_epoch or self.is_new else BEFORE_KIP_360

    @property
    def versions(self) -> Versions:
        """Of the client's requests."""
        if self.is_new:
            return Versions(init=5, add=5, produce=12, end=5)
        return Versions(init=4, add=3, produce=11, end=4) if self.bumps_epoch else Versions(1, 1, 8, 1)


@dataclass(frozen=True)
class Instance:
    """One process with the id. ``transaction`` is the number of its open one, or 0; its records bear that number.

    ``partitions`` have a record of this transaction. ``fatal_error``, once there is one, is all that it says.
    """

    name: str
    producer_id: int = -1
    epoch: int = -1
    transaction: int = 0
    sequences: tuple[tuple[str, int], ...] = ()
    partitions: tuple[str, ...] = ()
    must_abort: bool = False
    fatal_error: str = ""

    def sequence(self, partition: str) -> int:
        """The sequence of its next record for a partition."""
        return dict(self.sequences).get(partition, 0)


@dataclass(frozen=True)
class Request:
    """A Produce on its way; ``is_late`` once its client no longer waits for it."""

    instance: str
    transaction: int
    produce: Produce
    is_late: bool = False


class Refused(facts.Effect):
    """An effect: what a request of an instance was answered, where it was not NONE."""

    instance: str
    error: str


@dataclass(frozen=True)
class Application:
    """The state: the cluster, its instances, what is on its way, and what was decided and acknowledged."""

    cluster: Cluster
    instances: tuple[Instance, ...] = ()
    requests: tuple[Request, ...] = ()
    acknowledged: tuple[tuple[int, int], ...] = ()
    committed: frozenset[int] = frozenset()
    aborted: frozenset[int] = frozenset()
    transaction_count: int = 0
    record_count: int = 0
    effects: tuple[Refused, ...] = field(default=(), compare=False)

    def instance(self, name: str) -> Instance:
        """An instance by its name; IllegalEvent where it was never started."""
        for each in self.instances:
            if each.name == name:
                return each
        raise IllegalEvent(f"instance {name!r} was not started; Started comes first")

    def with_instance(self, changed: Instance) -> Application:
        """The application with this of an instance."""
        others = (each for each in self.instances if each.name != changed.name)
        return replace(self, instances=tuple(sorted((*others, changed), key=lambda each: each.name)))


class Started(facts.Event, says="instance {instance} starts and asks for an epoch"):
    """An instance asks for a producer id (``initTransactions``); it fences whoever had the transactional id."""

    instance: str = "a"


class Sent(facts.Event, says="instance {instance} sends a record for {partition}"):
    """An instance sends a record, in its open transaction or as the first of a new one."""

    partition: str = "t-0"
    instance: str = "a"


class Arrived(facts.Event, says="a request comes to its leader"):
    """A request reaches the leader of its partition: the oldest, or the ``number``-th of those on their way."""

    number: Index = 0


class GaveUp(facts.Event, says="instance {instance} gives up its oldest request, which is still on its way"):
    """The client no longer waits for its oldest request (``delivery.timeout.ms``); it may still arrive."""

    instance: str = "a"


class Ended(facts.Event):
    """An instance commits or aborts; it can commit once all of its records are acknowledged."""

    commit: bool = True
    instance: str = "a"


Event: TypeAlias = Started | Sent | Arrived | GaveUp | Ended | MarkerArrived | TimePassed | CoordinatorLoaded


def start(settings: Settings) -> Application:
    """The application before its first instance is started."""
    return Application(model.start(settings.cluster))


def _ask(settings: Settings, state: Application, event: model.Event) -> tuple[Application, model.Answer]:
    cluster = simulator.step(settings.cluster, state.cluster, event)
    return replace(state, cluster=replace(cluster, effects=())), cluster.effects[0]


def started(settings: Settings, state: Application, event: Started) -> Application:
    """An instance with an id and an epoch; an open transaction is aborted first, and Started has to be repeated."""
    state, answer = _ask(settings, state, InitProducerId(TRANSACTIONAL_ID, settings.versions.init))
    if answer.error != "NONE":
        return replace(state, effects=(Refused(event.instance, answer.error),))
    return state.with_instance(Instance(event.instance, answer.producer_id, answer.epoch))


def sent(settings: Settings, state: Application, event: Sent) -> Application:
    """A request is on its way; a client of old has the coordinator add its partition first, once a transaction."""
    one, before = _usable(state, event), state
    if one.must_abort:
        raise IllegalEvent(f"{event!r}: the transaction of {one.name!r} can only be aborted now")
    if not one.transaction:
        state = replace(state, transaction_count=state.transaction_count + 1)
        one = replace(one, transaction=state.transaction_count)
    versions = settings.versions
    if not settings.is_new and event.partition not in one.partitions:
        partitions = (event.partition,)
        add = model.AddPartitionsToTxn(TRANSACTIONAL_ID, one.producer_id, one.epoch, partitions, versions.add)
        state, answer = _ask(settings, state, add)
        error = dict(answer.partitions)[event.partition]
        if error != "NONE":
            return _refused(settings, before, state, one, error, "AddPartitionsToTxn")
    sequence = one.sequence(event.partition)
    label = (one.transaction, state.record_count)
    produce = Produce(
        TRANSACTIONAL_ID, event.partition, one.producer_id, one.epoch, sequence, (label,), True, versions.produce
    )
    sequences = tuple(sorted({**dict(one.sequences), event.partition: sequence + 1}.items()))
    state = replace(
        state,
        requests=(*state.requests, Request(one.name, one.transaction, produce)),
        record_count=state.record_count + 1,
    )
    partitions = tuple(sorted({*one.partitions, event.partition}))
    return state.with_instance(replace(one, sequences=sequences, partitions=partitions))


def _usable(state: Application, event: Sent | Ended | GaveUp) -> Instance:
    one = state.instance(event.instance)
    if one.fatal_error:
        raise IllegalEvent(f"{event!r}: {one.name!r} has met {one.fatal_error}; it can only be started again")
    return one


def _refused(
    settings: Settings, before: Application, state: Application, one: Instance, error: str, request: str
) -> Application:
    """What the client makes of an error: it will ask again, can only abort, or is of no use any more."""
    effects = (Refused(one.name, error),)
    kind = kind_of(error, request, settings.client_release)
    if kind == RETRIED:
        return replace(before, effects=effects)
    changed = replace(one, fatal_error=error) if kind == FATAL else replace(one, must_abort=True)
    return replace(state.with_instance(changed), effects=effects)


def arrived(settings: Settings, state: Application, event: Arrived) -> Application:
    """The record is written or refused; the client learns of it if it still waits."""
    if event.number >= len(state.requests):
        raise IllegalEvent(f"{event!r}: {len(state.requests)} requests are on their way")
    request, before = state.requests[event.number], state
    left = tuple(each for number, each in enumerate(state.requests) if number != event.number)
    state, answer = _ask(settings, replace(state, requests=left), request.produce)
    if request.is_late:
        return state
    if answer.error != "NONE":
        return _refused(settings, before, state, state.instance(request.instance), answer.error, "Produce")
    (label,) = request.produce.records
    return replace(state, acknowledged=(*state.acknowledged, label))  # type: ignore[arg-type]


def gave_up(settings: Settings, state: Application, event: GaveUp) -> Application:
    """The oldest request of the instance is late from now on, and its transaction can only be aborted."""
    one = _usable(state, event)
    for number, each in enumerate(state.requests):
        if each.instance == one.name and not each.is_late:
            late = (*state.requests[:number], replace(each, is_late=True), *state.requests[number + 1 :])
            return replace(state, requests=late).with_instance(replace(one, must_abort=True))
    raise IllegalEvent(f"{event!r}: {one.name!r} waits for no request")


def ended(settings: Settings, state: Application, event: Ended) -> Application:
    """The transaction is decided, unless the coordinator says otherwise; nothing is before the answer."""
    one = _usable(state, event)
    if not one.transaction:
        raise IllegalEvent(f"{event!r}: {one.name!r} has no open transaction")
    if any(each.instance == one.name and not each.is_late for each in state.requests):
        raise IllegalEvent(f"{event!r}: a record is not acknowledged yet; Arrived or GaveUp comes first")
    if event.commit and one.must_abort:
        raise IllegalEvent(f"{event!r}: the transaction of {one.name!r} can only be aborted now")
    before = state
    end = model.EndTxn(TRANSACTIONAL_ID, one.producer_id, one.epoch, event.commit, settings.versions.end)
    state, answer = _ask(settings, state, end)
    if answer.error != "NONE":
        return _refused(settings, before, state, one, answer.error, "EndTxn" if event.commit else ABORTING)
    if event.commit:
        state = replace(state, committed=state.committed | {one.transaction})
    else:
        state = replace(state, aborted=state.aborted | {one.transaction})
    if settings.is_new:
        changed = Instance(one.name, answer.producer_id, answer.epoch)
    elif one.must_abort and settings.bumps_epoch:
        # KIP-360: the client does not know what came of its records, and begins anew under the next epoch.
        changed = Instance(one.name)
    else:
        changed = replace(one, transaction=0, partitions=(), must_abort=False)
    return state.with_instance(changed)


def _in_the_cluster(
    settings: Settings, state: Application, event: MarkerArrived | TimePassed | CoordinatorLoaded
) -> Application:
    state, _ = _ask(settings, state, event)
    held = state.cluster.transaction(TRANSACTIONAL_ID)
    if held is not None and isinstance(event, TimePassed):
        # Whose transaction the coordinator aborted learns of it with its next request.
        gone = {each.transaction for each in state.instances if each.transaction and held.epoch != each.epoch}
        state = replace(state, aborted=state.aborted | gone)
    return state


_RULES: Mapping[type, Callable[[Settings, Application, Any], Application]] = MappingProxyType(
    {
        Started: started,
        Sent: sent,
        Arrived: arrived,
        GaveUp: gave_up,
        Ended: ended,
        MarkerArrived: _in_the_cluster,
        TimePassed: _in_the_cluster,
        CoordinatorLoaded: _in_the_cluster,
    }
)


def step(settings: Settings, state: Application, event: Event) -> Application:
    """The state after an event; an instance that has no epoch yet asks for one with its next `Started`."""
    rule = _RULES.get(type(event))
    if rule is None:
        raise no_event(event, _RULES)
    if isinstance(event, Sent | Ended) and state.instance(event.instance).epoch == -1:
        raise IllegalEvent(f"{event!r}: {event.instance!r} has no epoch; Started comes first")
    return rule(settings, replace(state, effects=()), event)


def _read(state: Application) -> set[tuple[int, int]]:
    return {label for each in state.cluster.partitions for label in committed_records(each)}  # type: ignore[misc]


def _no_aborted_is_read(settings: Settings, state: Application) -> bool:
    return all(number not in state.aborted for number, _ in _read(state))


def _all_or_nothing(settings: Settings, state: Application) -> bool:
    held = state.cluster.transaction(TRANSACTIONAL_ID)
    if held is not None and held.is_open:
        return True
    read = _read(state)
    is_held_back = any(each.last_stable_offset < each.end_offset for each in state.cluster.partitions)
    return is_held_back or all(label in read for label in state.acknowledged if label[0] in state.committed)


def _nobody_is_held_back(settings: Settings, state: Application) -> bool:
    return simulator.PROMISES[simulator.NOBODY_HELD_BACK](settings.cluster, state.cluster)  # type: ignore[arg-type]


def _no_id_is_stuck(settings: Settings, state: Application) -> bool:
    return simulator.PROMISES[simulator.NO_ID_STUCK](settings.cluster, state.cluster)  # type: ignore[arg-type]


def _decides_once(settings: Settings, before: Application, state: Application) -> bool:
    return before.committed <= state.committed and before.aborted <= state.aborted


INVARIANTS: Promises = MappingProxyType(
    {
        "no transaction is both committed and aborted": lambda _, state: not state.committed & state.aborted,
        "what was decided stays decided": Since(_decides_once),
    }
)
"""What holds in every state, as predicates of settings and state."""

PROMISES: Promises = MappingProxyType(
    {
        NO_ABORTED_READ: _no_aborted_is_read,
        ALL_OR_NOTHING: _all_or_nothing,
        simulator.NOBODY_HELD_BACK: _nobody_is_held_back,
        simulator.NO_ID_STUCK: _no_id_is_stuck,
    }
)
"""What users hope for, in their words; which settings keep them, `kafkalearn.transactions.search.find` answers."""

simulate, check, broken = contract.simulator(start, step, INVARIANTS, PROMISES)
