"""What coordinators do by themselves when leadership or high watermark have changed: resign, begin to load, answer."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.offsets.replicated.effects import Answered, Elected, Loaded, NotReached, Resigned
from kafkalearn.offsets.replicated.requests import acting_coordinator, with_coordinator, with_effect
from kafkalearn.offsets.replicated.settings import Settings
from kafkalearn.offsets.replicated.state import Coordinator, Known, ReplicatedStore, Waiting
from kafkalearn.offsets.store import simulator as store_simulator
from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.events import Fetch, Load
from kafkalearn.offsets.store.loading import logged_groups
from kafkalearn.offsets.store.state import LOADING, OWNED, Store


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


def load(settings: Settings, state: ReplicatedStore, event: Load) -> ReplicatedStore:
    """The state after the new coordinator has read the next entries; then it is owned, or its load has failed."""
    broker_id, coordinator = acting_coordinator(state, event, LOADING)
    log = state.log(broker_id)
    before = Store(LOADING, log=log, groups=coordinator.written.groups, read_count=coordinator.read_count)
    after = store_simulator.step(settings.store, before, event)
    known = (Known(after.read_count, after.groups),)
    if after.status == OWNED:
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
        refused = Answered(broker_id, each.request, Answer("NOT_COORDINATOR"))
        state = with_effect(state, refused if is_running else NotReached(broker_id, each.request))
    return state


def _answer(state: ReplicatedStore, broker_id: int, coordinator: Coordinator) -> ReplicatedStore:
    """What the high watermark has passed is confirmed and answered; what has waited too long is answered too."""
    if coordinator.status != OWNED:
        return state
    high_watermark = state.partition.replica(broker_id).high_watermark
    passed = sum(known.end_offset <= high_watermark for known in coordinator.known)
    waiting: list[Waiting] = []
    for each in coordinator.waiting:
        if each.end_offset <= high_watermark:
            state = with_effect(state, Answered(broker_id, each.request, each.answer))
            state = _acknowledged(state, each)
        elif each.deadline_ms <= state.partition.now_ms:
            error = "NOT_COORDINATOR" if isinstance(each.request, Fetch) else "COORDINATOR_NOT_AVAILABLE"
            state = with_effect(state, Answered(broker_id, each.request, Answer(error)))
        else:
            waiting.append(each)
    known = coordinator.known[max(passed - 1, 0) :]
    return with_coordinator(state, broker_id, coordinator._replace(known=known, waiting=tuple(waiting)))


def _acknowledged(state: ReplicatedStore, each: Waiting) -> ReplicatedStore:
    return replace(state, acknowledged=(*state.acknowledged, *each.entries))
