"""Consume, transform, produce: offset and output in one transaction, and the rebalance that comes in between.

Workers of one group read a partition, write a result of each record, and send the offset behind it along in the same
transaction (`sendOffsetsToTransaction`). A rebalance may give the partition to another worker at any moment; the old
one does not know of it until the group's coordinator says so. What keeps a record from being processed twice then has
changed with the releases, and `Settings` has each part by itself:

``id_per``
    Who has a transactional id: each ``partition`` (before KIP-447: the new owner takes the id over, which fences the
    old one) or each ``worker`` (since 2.5).
``waits``
    The new owner's OffsetFetch has `requireStable`: while offsets wait for the end of a transaction it is answered
    UNSTABLE_OFFSET_COMMIT and asks again (KIP-447).
``names_member``
    TxnOffsetCommit has the member and its generation, and the group's coordinator refuses those of old (KIP-447).

A simulator. Source: KIP-447; `TransactionManager` and `ConsumerCoordinator` of the clients 4.3, read; what the group
answers, recorded on 4.0.2 and 4.3.1.

>>> old = Settings(waits=False)  # a worker has the id, and the new owner takes what is there
>>> events = [Assigned("a"), Processed("a"), OffsetsSent("a"), Ended("a"), Assigned("b"), Processed("b"),
...     OffsetsSent("b"), MarkerArrived("a", "out-0"), MarkerArrived("a", "__consumer_offsets-0"), Ended("b"),
...     MarkerArrived("b", "out-0"), MarkerArrived("b", "__consumer_offsets-0")]
>>> broken(old, simulate(old, events)[-1].state)
('each input record has at most one result',)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base import simulator as contract
from kafkalearn.base.checks import Checked, Whole, one_of
from kafkalearn.base.errors import IllegalEvent, no_event
from kafkalearn.base.promises import Promises, of_inner
from kafkalearn.transactions import model, simulator
from kafkalearn.transactions.client_errors import ABORTING, FATAL, RETRIED, kind_of
from kafkalearn.transactions.model import Answer, Cluster, MarkerArrived, TimePassed
from kafkalearn.transactions.partition import committed_records

INPUT, OUTPUT, GROUP = "in-0", "out-0", "billing"
WORKER, PARTITION = "worker", "partition"

AT_MOST_ONCE = "each input record has at most one result"
TOGETHER = "offset and output go together"


@dataclass(frozen=True)
class Settings(Checked):
    """The cluster, how many records there are to process, and which of the three parts the application has."""

    cluster: model.Settings = field(default_factory=lambda: model.Settings(partitions=(INPUT, OUTPUT)))
    record_count: Annotated[int, Whole(1, 1000)] = 2  # each is a step of the simulator
    id_per: str = WORKER
    waits: bool = True
    names_member: bool = True

    def __post_init__(self) -> None:
        """Refuse an owner of ids that there is none of."""
        super().__post_init__()
        one_of("id_per", self.id_per, (WORKER, PARTITION))

    @property
    def is_new(self) -> bool:
        """Whether requests add their partitions by themselves (KIP-890)."""
        return self.cluster.transaction_version >= 2


@dataclass(frozen=True)
class Worker:
    """One instance of the application, as it sees itself; ``fatal_error`` is the end of its producer."""

    name: str
    producer_id: int = -1
    epoch: int = -1
    generation: int = -1
    position: int | None = None
    """The next input record; None until it has a committed offset to begin from."""
    sequence: int = 0
    has_open: bool = False
    has_sent_offsets: bool = False
    must_abort: bool = False
    fatal_error: str = ""


class Refused(facts.Effect):
    """An effect: what a request of a worker was answered, where it was not NONE."""

    worker: str
    error: str


@dataclass(frozen=True)
class Processing:
    """The state: the cluster, and its workers by name."""

    cluster: Cluster
    workers: tuple[Worker, ...] = ()
    effects: tuple[Refused, ...] = field(default=(), compare=False)

    def worker(self, name: str) -> Worker:
        """A worker by its name; IllegalEvent where it never had the partition."""
        for each in self.workers:
            if each.name == name:
                return each
        raise IllegalEvent(f"worker {name!r} never had the partition; Assigned({name!r}) comes first")

    def with_worker(self, changed: Worker) -> Processing:
        """The state with this of a worker."""
        others = (each for each in self.workers if each.name != changed.name)
        return replace(self, workers=tuple(sorted((*others, changed), key=lambda each: each.name)))


class Assigned(facts.Event, says="a rebalance gives the partition to worker {worker}"):
    """A rebalance gives the partition to this worker: a generation more, and the committed offset is asked for."""

    worker: str = "a"


class OffsetFetched(facts.Event, says="worker {worker} asks for the committed offset again"):
    """The worker asks for the committed offset once more, after UNSTABLE_OFFSET_COMMIT."""

    worker: str = "a"


class Processed(facts.Event, says="worker {worker} processes a record and writes its result"):
    """The worker takes the next input record and writes its result in its transaction."""

    worker: str = "a"


class OffsetsSent(facts.Event, says="worker {worker} sends the offset along in its transaction"):
    """The worker sends the offset behind its last record along in the transaction."""

    worker: str = "a"


class Ended(facts.Event):
    """The worker commits or aborts its transaction; after an abort it begins from the committed offset again."""

    worker: str = "a"
    commit: bool = True


Event: TypeAlias = Assigned | OffsetFetched | Processed | OffsetsSent | Ended | MarkerArrived | TimePassed


def start(settings: Settings) -> Processing:
    """The input records are there, and nobody has read one."""
    cluster = model.start(settings.cluster)
    for number in range(settings.record_count):
        written = model.Produce(None, INPUT, records=(number,), is_transactional=False)
        cluster = simulator.step(settings.cluster, cluster, written)
    return Processing(replace(cluster, effects=()))


def id_of(settings: Settings, worker: str) -> str:
    """The transactional id that a worker uses."""
    return worker if settings.id_per == WORKER else INPUT


def _ask(settings: Settings, state: Processing, event: model.Event) -> tuple[Processing, Answer]:
    cluster = simulator.step(settings.cluster, state.cluster, event)
    return replace(state, cluster=replace(cluster, effects=())), cluster.effects[0]


def _refused(before: Processing, state: Processing, one: Worker, error: str, request: str) -> Processing:
    """What the client makes of an error: it will ask again, can only abort, or is of no use any more."""
    effects = (Refused(one.name, error),)
    kind = kind_of(error, request)
    if kind == RETRIED:
        return replace(before, effects=effects)
    changed = replace(one, fatal_error=error) if kind == FATAL else replace(one, must_abort=True)
    return replace(state.with_worker(changed), effects=effects)


def assigned(settings: Settings, state: Processing, event: Assigned) -> Processing:
    """The group has a generation more; the worker has an epoch, and a position if its offset is stable."""
    known = next((each for each in state.workers if each.name == event.worker), None)
    if known is not None and known.has_open and not known.fatal_error:
        raise IllegalEvent(f"{event!r}: {event.worker!r} has a transaction open; Ended comes first")
    state, joined = _ask(settings, state, model.Join(GROUP, event.worker))
    one = replace(known or Worker(event.worker), generation=joined.epoch, position=None)
    if one.producer_id == -1 or one.fatal_error or settings.id_per == PARTITION:
        version = 5 if settings.is_new else 4
        state, answer = _ask(settings, state, model.InitProducerId(id_of(settings, event.worker), version))
        if answer.error != "NONE":
            # The open transaction of the owner before is being aborted: the client asks again by itself.
            changed = replace(one, producer_id=-1, epoch=-1)
            return replace(state.with_worker(changed), effects=(Refused(event.worker, answer.error),))
        one = Worker(event.worker, answer.producer_id, answer.epoch, joined.epoch)
    return _fetched(settings, state, one)


def _fetched(settings: Settings, state: Processing, one: Worker) -> Processing:
    group = state.cluster.group(GROUP)
    offset = -1 if group is None else group.offset(INPUT, settings.waits)
    if isinstance(offset, str):
        return replace(state.with_worker(one), effects=(Refused(one.name, offset),))
    return state.with_worker(replace(one, position=max(offset, 0)))


def offset_fetched(settings: Settings, state: Processing, event: OffsetFetched) -> Processing:
    """The worker has a position, or has to ask again."""
    one = state.worker(event.worker)
    if one.position is not None or one.producer_id == -1:
        raise IllegalEvent(f"{event!r}: {one.name!r} has a position, or no epoch; it asks for no offset")
    return _fetched(settings, state, one)


def _usable(state: Processing, event: Processed | OffsetsSent | Ended) -> Worker:
    one = state.worker(event.worker)
    if one.fatal_error:
        raise IllegalEvent(f"{event!r}: {one.name!r} has met {one.fatal_error}; Assigned begins anew")
    return one


def processed(settings: Settings, state: Processing, event: Processed) -> Processing:
    """The result is written, in a transaction that may begin with it; or it is refused."""
    one, before = _usable(state, event), state
    if one.must_abort or one.has_sent_offsets or one.position is None:
        raise IllegalEvent(f"{event!r}: {one.name!r} has no position, or its transaction has to end first")
    if one.position >= settings.record_count:
        raise IllegalEvent(f"{event!r}: {one.name!r} has processed every record")
    identity = id_of(settings, one.name)
    if not settings.is_new:
        add = model.AddPartitionsToTxn(identity, one.producer_id, one.epoch, (OUTPUT,), 3)
        state, answer = _ask(settings, state, add)
        error = dict(answer.partitions)[OUTPUT]
        if error != "NONE":
            return _refused(before, state, replace(one, has_open=True), error, "AddPartitionsToTxn")
    produce = model.Produce(
        identity, OUTPUT, one.producer_id, one.epoch, one.sequence, (one.position,), True,
        12 if settings.is_new else 11,
    )  # fmt: skip
    state, answer = _ask(settings, state, produce)
    if answer.error != "NONE":
        return _refused(before, state, replace(one, has_open=True), answer.error, "Produce")
    return state.with_worker(replace(one, position=one.position + 1, sequence=one.sequence + 1, has_open=True))


def offsets_sent(settings: Settings, state: Processing, event: OffsetsSent) -> Processing:
    """The offset waits for the end of the transaction; or the group's coordinator refuses the worker."""
    one, before = _usable(state, event), state
    if one.must_abort or one.has_sent_offsets or not one.has_open or one.position is None:
        raise IllegalEvent(f"{event!r}: {one.name!r} has processed nothing in a transaction that can go on")
    identity = id_of(settings, one.name)
    if not settings.is_new:
        state, answer = _ask(settings, state, model.AddOffsetsToTxn(identity, one.producer_id, one.epoch, GROUP))
        if answer.error != "NONE":
            return _refused(before, state, one, answer.error, "AddOffsetsToTxn")
    generation, member = (one.generation, one.name) if settings.names_member else (-1, "")
    commit = model.TxnOffsetCommit(
        identity, one.producer_id, one.epoch, GROUP, ((INPUT, one.position),), 5 if settings.is_new else 3,
        generation, member,
    )  # fmt: skip
    state, answer = _ask(settings, state, commit)
    error = dict(answer.partitions)[INPUT]
    if error != "NONE":
        return _refused(before, state, one, error, "TxnOffsetCommit")
    return state.with_worker(replace(one, has_sent_offsets=True))


def ended(settings: Settings, state: Processing, event: Ended) -> Processing:
    """The transaction is decided; a worker whose client has to abort cannot commit."""
    one, before = _usable(state, event), state
    if not one.has_open:
        raise IllegalEvent(f"{event!r}: {one.name!r} has no open transaction")
    if event.commit and (one.must_abort or not one.has_sent_offsets):
        raise IllegalEvent(f"{event!r}: {one.name!r} can only abort: its offsets are not in the transaction")
    version = 5 if settings.is_new else 4
    end = model.EndTxn(id_of(settings, one.name), one.producer_id, one.epoch, event.commit, version)
    state, answer = _ask(settings, state, end)
    if answer.error != "NONE":
        return _refused(before, state, one, answer.error, "EndTxn" if event.commit else ABORTING)
    left = replace(one, has_open=False, has_sent_offsets=False, must_abort=False)
    if settings.is_new:
        left = replace(left, producer_id=answer.producer_id, epoch=answer.epoch, sequence=0)
    return state.with_worker(left if event.commit else replace(left, position=None))


def _in_the_cluster(settings: Settings, state: Processing, event: MarkerArrived | TimePassed) -> Processing:
    return _ask(settings, state, event)[0]


_RULES: Mapping[type, Callable[[Settings, Processing, Any], Processing]] = MappingProxyType(
    {
        Assigned: assigned,
        OffsetFetched: offset_fetched,
        Processed: processed,
        OffsetsSent: offsets_sent,
        Ended: ended,
        MarkerArrived: _in_the_cluster,
        TimePassed: _in_the_cluster,
    }
)


def step(settings: Settings, state: Processing, event: Event) -> Processing:
    """The state after an event; what a request was refused with is in ``effects``."""
    rule = _RULES.get(type(event))
    if rule is None:
        raise no_event(event, _RULES)
    return rule(settings, replace(state, effects=()), event)


def results(state: Processing) -> tuple[object, ...]:
    """The results that a ``read_committed`` reader of the output is given, by the input record that they are of."""
    output = state.cluster.partition(OUTPUT)
    assert output is not None
    return committed_records(output)


def _at_most_once(settings: Settings, state: Processing) -> bool:
    found = results(state)
    return len(found) == len(set(found))


def _together(settings: Settings, state: Processing) -> bool:
    """Once nothing is open: every record below the committed offset has a result, and no other one has."""
    group, output = state.cluster.group(GROUP), state.cluster.partition(OUTPUT)
    assert output is not None
    if output.last_stable_offset < output.end_offset or any(each.is_open for each in state.cluster.transactions):
        return True
    committed = 0 if group is None else group.offset(INPUT)
    return set(results(state)) == set(range(max(int(committed), 0)))


INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(simulator.INVARIANTS, lambda state: state.cluster, lambda settings: settings.cluster),
        "a worker is not beyond the input": lambda settings, state: all(
            each.position is None or each.position <= settings.record_count for each in state.workers
        ),
    }
)
"""What holds in every state, as predicates of settings and state."""

PROMISES: Promises = MappingProxyType({AT_MOST_ONCE: _at_most_once, TOGETHER: _together})
"""What users mean by exactly once; which settings keep it, `kafkalearn.transactions.search.find_twice` answers."""

simulate, check, broken = contract.simulator(start, step, INVARIANTS, PROMISES)
