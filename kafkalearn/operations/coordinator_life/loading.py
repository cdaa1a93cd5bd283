"""The load: the log is read into memory, then members get their session timeouts, and requests their answers."""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.store import simulator as store_simulator
from kafkalearn.offsets.store.events import Load
from kafkalearn.offsets.store.loading import logged_groups
from kafkalearn.offsets.store.state import FAILED, LOADING, Store
from kafkalearn.operations.coordinator_life.effects import LoadEnded, LoadFailed
from kafkalearn.operations.coordinator_life.events import LoadRead
from kafkalearn.operations.coordinator_life.settings import Settings
from kafkalearn.operations.coordinator_life.state import Coordinator, Life, Session
from kafkalearn.phrases import shown

NO_LEADER, BAD_RECORD = "the broker does not lead the partition", "a record could not be read"


def read(settings: Settings, life: Life, event: LoadRead) -> Life:
    """The life after a load has read on.

    Who does not lead the partition reads nothing. Since 4.0 that is a failure; before, the load ended there, and the
    broker owned a partition of which it knew no group.
    """
    coordinator = life.coordinator(event.broker_id)
    if not coordinator.is_reading:
        raise IllegalEvent(
            f"{shown(event)}: broker {event.broker_id} is {coordinator.status}, no load is under way; "
            "OrderCarriedOut of an election begins one"
        )
    if life.leader != event.broker_id:
        if not settings.has_one_thread:
            return _failed(life, coordinator, NO_LEADER)
        return _ended(settings, life, coordinator, logged_groups(life.log[: coordinator.read_count]))
    before = Store(LOADING, log=life.log, read_count=coordinator.read_count)
    after = store_simulator.step(settings.store, before, Load(event.record_count))
    if after.status == FAILED:
        return _failed(life, coordinator, BAD_RECORD)
    coordinator = coordinator._replace(read_count=after.read_count)
    if after.status == LOADING:
        return life.with_coordinator(coordinator)
    return _ended(settings, life, coordinator, after.groups)


def _failed(life: Life, coordinator: Coordinator, reason: str) -> Life:
    failed = coordinator._replace(is_owned=False, is_loading=False, is_reading=False, is_failed=True)
    return life.with_coordinator(failed, LoadFailed(coordinator.broker_id, reason))


def _ended(settings: Settings, life: Life, coordinator: Coordinator, loaded: tuple[Group, ...]) -> Life:
    """What was in memory already stays as it was there: a second load adds only groups that are missing."""
    cached = {group.group_id for group in coordinator.groups}
    new = [group for group in loaded if group.group_id not in cached]
    sessions = (
        Session(group.group_id, member.member_id, life.now_ms + settings.session_timeout_ms)
        for group in new
        for member in group.members
    )
    sweep_ms = coordinator.next_sweep_ms if settings.has_one_thread else life.now_ms + settings.check_interval_ms
    ended = coordinator._replace(
        is_owned=True,
        is_loading=False,
        is_reading=False,
        groups=tuple(sorted((*coordinator.groups, *new), key=lambda group: group.group_id)),
        sessions=(*coordinator.sessions, *sessions),
        next_sweep_ms=sweep_ms,
    )
    return life.with_coordinator(ended, LoadEnded(coordinator.broker_id, coordinator.read_count, len(loaded)))
