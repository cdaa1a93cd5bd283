"""States without what can make no difference later, so that a search meets fewer of them.

Times count from now on, partition epochs from the controller's; requests lose their numbers, and a leader's memory of
a fetch is kept only while it can still show anything. States with the same normal form have the same future.
"""

from __future__ import annotations

from collections.abc import Hashable

from kafkalearn.parts import Parts
from kafkalearn.replication.events import ReplicationEvent, TimePassed
from kafkalearn.replication.processing import Normaliser, Processing, parts_of
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import process
from kafkalearn.replication.state import UNKNOWN, Partition, Remote, Requests, Waiting


def split(settings: Settings, partition: Partition) -> tuple[Hashable, ...]:
    """The parts of a partition in normal form."""
    parts = Parts(parts_of(partition))
    processing = Processing(settings, parts, NORMALISER)
    processing.requests = processing.requests
    processing.controller = processing.controller._replace(assignment=processing.controller.assignment.in_no_order())
    _count_from_now(processing)
    _count_from_this_record(processing)
    return parts.all()


def process_in_normal_form(settings: Settings, parts: Parts, event: ReplicationEvent) -> None:
    """`kafkalearn.replication.simulator.process` on parts in normal form, which they stay in."""
    processing = Processing(settings, parts, NORMALISER)
    process(processing, event)
    count_anew(processing, event)


def count_anew(processing: Processing, event: object) -> None:
    """Times and epochs counted from this moment on, if the event has moved them."""
    if isinstance(event, TimePassed):
        _count_from_now(processing)
    if processing.has_recorded:
        _count_from_this_record(processing)


def _essential_remotes(remotes: tuple[Remote | None, ...]) -> tuple[Remote | None, ...]:
    return tuple([remote and _essential(remote) for remote in remotes])


def _essential(remote: Remote) -> Remote:
    """The last fetch matters only if the next could show that the follower was caught up then, and that were news."""
    end_offset, _, caught_up_ms, fetch_ms, leader_end, sent = remote  # made anew at once: a search does it often
    if fetch_ms is None or (caught_up_ms is not None and fetch_ms <= caught_up_ms):
        fetch_ms, leader_end = None, UNKNOWN
    return Remote(end_offset, UNKNOWN, caught_up_ms, fetch_ms, leader_end, sent)


def _without_numbers(waiting: Waiting) -> Waiting:
    if not waiting.produces:
        return waiting
    return waiting._replace(produces=tuple(parked._replace(request=0) for parked in waiting.produces))


def _values_alone(requests: Requests) -> Requests:
    return requests._replace(request_count=0)


NORMALISER = Normaliser(_essential_remotes, _without_numbers, _values_alone)
"""What a leader will not use of its followers goes, and so do the numbers of requests, which are for reading only."""


def _count_from_now(processing: Processing) -> None:
    """Times counted from now on, and none older than can matter."""
    now_ms, oldest_ms = processing.now_ms, -processing.settings.replica_lag_time_max_ms - 1
    processing.now_ms = 0
    for broker_id in processing.settings.broker_ids:
        remotes = processing.remotes(broker_id)
        if remotes:
            counted = tuple([each and _remote_from(each, now_ms, oldest_ms) for each in remotes])
            if counted != remotes:
                processing.put_remotes(broker_id, counted)
            processing.put_waiting(broker_id, _waiting_from(processing.waiting(broker_id), now_ms))


def _remote_from(remote: Remote, now_ms: int, oldest_ms: int) -> Remote:
    end_offset, start_offset, caught_up_ms, fetch_ms, leader_end, sent = remote
    caught_up_ms = _time_from(caught_up_ms, now_ms, oldest_ms)
    return Remote(end_offset, start_offset, caught_up_ms, _time_from(fetch_ms, now_ms, oldest_ms), leader_end, sent)


def _time_from(time_ms: int | None, now_ms: int, oldest_ms: int) -> int | None:
    return None if time_ms is None else max(time_ms - now_ms, oldest_ms)


def _waiting_from(waiting: Waiting, now_ms: int) -> Waiting:
    return Waiting(
        fetches=tuple(parked._replace(deadline_ms=max(parked.deadline_ms - now_ms, 0)) for parked in waiting.fetches),
        produces=tuple(parked._replace(deadline_ms=max(parked.deadline_ms - now_ms, 0)) for parked in waiting.produces),
    )


def _count_from_this_record(processing: Processing) -> None:
    """Partition epochs counted from the controller's on."""
    controller = processing.controller
    if controller.partition_epoch == 0:
        return
    processing.controller = controller._replace(partition_epoch=0)
    for broker_id in processing.settings.broker_ids:
        leading = processing.leading(broker_id)
        if leading is not None:
            epoch = leading.partition_epoch - controller.partition_epoch
            processing.put_leading(broker_id, leading._replace(partition_epoch=epoch))
