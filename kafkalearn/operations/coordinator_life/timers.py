"""What time does: sessions end, and the expiry task looks at what the broker coordinates."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.offsets.store import simulator as store_simulator
from kafkalearn.offsets.store.events import Sweep
from kafkalearn.offsets.store.state import OWNED, Store
from kafkalearn.operations.coordinator_life.effects import SessionExpired, Swept
from kafkalearn.operations.coordinator_life.requests import PARTITION, TOPIC
from kafkalearn.operations.coordinator_life.settings import Settings
from kafkalearn.operations.coordinator_life.state import Coordinator, Life


def run_timers(settings: Settings, life: Life) -> Life:
    """The life after every timer has run that is due now.

    Up to 3.9 one task sweeps all that a broker has in memory, at once when the broker starts and then in every
    interval; a load in the same thread makes it wait. Since 4.0 every partition has its own, first one interval after
    its load, and none after its resignation.
    """
    for broker_id in settings.broker_ids:
        coordinator = life.coordinator(broker_id)
        if life.is_up(broker_id) and coordinator.is_active:
            life = _expire_sessions(life, coordinator)
            life = _sweep_if_due(settings, life, life.coordinator(broker_id))
    return life


def _expire_sessions(life: Life, coordinator: Coordinator) -> Life:
    over = [each for each in coordinator.sessions if each.deadline_ms <= life.now_ms]
    left = tuple(each for each in coordinator.sessions if each not in over)
    effects = (SessionExpired(coordinator.broker_id, each.group_id, each.member_id) for each in over)
    return life.with_coordinator(coordinator._replace(sessions=left), *effects)


def _sweep_if_due(settings: Settings, life: Life, coordinator: Coordinator) -> Life:
    due_ms = coordinator.next_sweep_ms
    is_busy = coordinator.is_reading and settings.has_one_thread
    if due_ms is None or life.now_ms < due_ms or is_busy:
        return life
    interval_ms = settings.check_interval_ms
    passed = (life.now_ms - due_ms) // interval_ms + 1
    coordinator = coordinator._replace(next_sweep_ms=due_ms + passed * interval_ms)
    life = life.with_coordinator(coordinator)
    if not coordinator.is_owned or life.leader != coordinator.broker_id:
        return life.with_effects(Swept(coordinator.broker_id, 0, 0))
    return sweep(settings, life, coordinator)


def sweep(settings: Settings, life: Life, coordinator: Coordinator) -> Life:
    """The life after the expiry task of the coordinator has run now."""
    before = Store(OWNED, log=life.log, groups=coordinator.groups)
    after = store_simulator.step(settings.store, before, Sweep(life.now_ms))
    offset_count = _offset_count(before) - _offset_count(after)
    group_count = len(before.groups) - len(after.groups)
    kept = {group.group_id for group in after.groups if group.offset(TOPIC, PARTITION) is not None}
    answered = tuple((group_id, offset) for group_id, offset in life.answered if group_id in kept)
    life = replace(life, log=after.log, answered=answered)
    swept = Swept(coordinator.broker_id, offset_count, group_count)
    return life.with_coordinator(coordinator._replace(groups=after.groups), swept)


def _offset_count(store: Store) -> int:
    return sum(len(group.offsets) for group in store.groups)
