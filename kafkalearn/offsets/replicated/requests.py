"""What a coordinator does with a request: it writes at once, and answers when the high watermark has passed it."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.replicated.effects import Answered, Appended, Deferred, NotReached, ReplicatedEffect
from kafkalearn.offsets.replicated.events import Request
from kafkalearn.offsets.replicated.settings import Settings
from kafkalearn.offsets.replicated.state import Coordinator, Known, ReplicatedStore, Waiting
from kafkalearn.offsets.store import simulator as store_simulator
from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.events import Commit, DeleteGroup, Fetch, Produce, StoreEvent, Sweep
from kafkalearn.offsets.store.state import LOADING, OWNED, Entry, Store
from kafkalearn.phrases import shown
from kafkalearn.replication import events as replication
from kafkalearn.replication import simulator as replication_simulator
from kafkalearn.replication.state import Replica

NOT_AN_EXCEPTION = ("NONE", "OFFSET_METADATA_TOO_LARGE")
"""Answers to a commit for one partition; all others refuse the request as a whole, and go at once."""


def request(
    settings: Settings, state: ReplicatedStore, event: Request, to_broker: int | None = None
) -> ReplicatedStore:
    """The state after a request has come to a broker; None: to the one that clients take for the coordinator."""
    broker_id = state.partition.controller.leader if to_broker is None else to_broker
    if isinstance(event, Commit) and (event.producer_id is not None or event.is_in_flight):
        raise IllegalEvent(
            f"{shown(event)}: here a commit is in flight until followers fetch it, and is in no transaction; "
            "kafkalearn.offsets.store has transactions"
        )
    if broker_id is None or not _replica(settings, state, event, broker_id).is_running:
        return with_effect(state, NotReached(broker_id, event))
    coordinator = state.coordinator(broker_id)
    if coordinator is None or coordinator.status != OWNED:
        is_loading = coordinator is not None and coordinator.status == LOADING
        error = "COORDINATOR_LOAD_IN_PROGRESS" if is_loading else "NOT_COORDINATOR"
        return with_effect(state, Answered(broker_id, event, Answer(error)))
    if isinstance(event, Fetch) and not event.requires_stable:  # a read: of what is replicated
        answer = _carried_out(settings, state, broker_id, coordinator.confirmed, event).effects[0]
        return with_effect(state, Answered(broker_id, event, answer))
    return _write(settings, state, broker_id, coordinator, event)


def sweep(settings: Settings, state: ReplicatedStore, event: Sweep) -> ReplicatedStore:
    """The state after the coordinator has looked for expired offsets: tombstones are written, not yet replicated."""
    broker_id, coordinator = acting_coordinator(state, event, OWNED)
    return _write(settings, state, broker_id, coordinator, event)


def produce(settings: Settings, state: ReplicatedStore, event: Produce) -> ReplicatedStore:
    """The state after a Produce request of somebody else: the log has the record, the coordinator does not know it."""
    broker_id = state.partition.controller.leader
    if broker_id is None or not state.partition.replica(broker_id).is_running:
        return with_effect(state, NotReached(broker_id, event))
    after = store_simulator.step(settings.store, Store(OWNED, log=state.log(broker_id)), event)
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


def _carried_out(settings: Settings, state: ReplicatedStore, broker_id: int, known: Known, event: StoreEvent) -> Store:
    """What one broker alone would do, that has these groups in memory."""
    return store_simulator.step(settings.store, Store(OWNED, log=state.log(broker_id), groups=known.groups), event)


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
        if isinstance(event, DeleteGroup) or answer.error in NOT_AN_EXCEPTION:
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
    partition = replication_simulator.step(settings.partition, state.partition, batch)
    state = replace(state, partition=partition, entries=(*state.entries, *entries))
    return with_effect(state, Appended(broker_id, tuple(range(first, first + len(entries)))))
