"""States without what can make no difference later, so that a search meets fewer of them.

Times count from now on, partition epochs from the controller's; requests lose their numbers, and a leader's memory of
a fetch is kept only while it can still show anything. States with the same normal form have the same future.
"""

from __future__ import annotations

from kafkalearn.explore import Draft
from kafkalearn.replication.effects import Effect
from kafkalearn.replication.events import ReplicationEvent, TimePassed
from kafkalearn.replication.processing import Work, parts_of
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import happen
from kafkalearn.replication.state import UNKNOWN, Partition, Remote, Requests, Waiting


def split(settings: Settings, partition: Partition) -> tuple:
    """The parts of a partition in normal form."""
    draft = Draft(parts_of(partition))
    work = NormalWork(settings, draft)
    work.note_requests(work.requests)
    _count_from_now(work)
    _count_from_this_record(work)
    return draft.parts()


def happen_in_normal_form(settings: Settings, draft: Draft, event: ReplicationEvent) -> None:
    """`simulator.happen` on parts in normal form, which they stay in."""
    work = NormalWork(settings, draft)
    happen(work, event)
    if isinstance(event, TimePassed):
        _count_from_now(work)
    if work.has_recorded:
        _count_from_this_record(work)


class NormalWork(Work):
    """A step that leaves out of the parts it writes what can make no difference later."""

    __slots__ = ()

    def put_remotes(self, broker_id: int, remotes: tuple[Remote | None, ...]) -> None:
        """Replace what a leader knows of the others, less what it will not use."""
        super().put_remotes(broker_id, tuple(remote and _essential(remote) for remote in remotes))

    def put_waiting(self, broker_id: int, waiting: Waiting) -> None:
        """Replace the requests that wait; their numbers are for reading only."""
        produces = tuple(parked._replace(request=0) for parked in waiting.produces)
        super().put_waiting(broker_id, waiting._replace(produces=produces))

    def note_requests(self, requests: Requests) -> None:
        """Values are counted, requests are not."""
        super().note_requests(requests._replace(request_count=0))

    def tell(self, effect: Effect) -> None:
        """Nobody listens."""


def _essential(remote: Remote) -> Remote:
    """The last fetch matters only if the next could show that the follower was caught up then, and that were news."""
    caught_up_ms, fetch_ms = remote.last_caught_up_ms, remote.last_fetch_ms
    if fetch_ms is None or (caught_up_ms is not None and fetch_ms <= caught_up_ms):
        remote = remote._replace(last_fetch_ms=None, leader_end_at_last_fetch=UNKNOWN)
    return remote._replace(log_start_offset=UNKNOWN)


def _count_from_now(work: Work) -> None:
    """Times told from now on, and none older than can matter."""
    now_ms, oldest_ms = work.now_ms, -work.settings.replica_lag_time_max_ms - 1
    work.now_ms = 0
    for broker_id in work.settings.broker_ids:
        remotes = work.remotes(broker_id)
        if remotes:
            work.put_remotes(broker_id, tuple(each and _remote_from(each, now_ms, oldest_ms) for each in remotes))
            work.put_waiting(broker_id, _waiting_from(work.waiting(broker_id), now_ms))


def _remote_from(remote: Remote, now_ms: int, oldest_ms: int) -> Remote:
    return remote._replace(
        last_caught_up_ms=_time_from(remote.last_caught_up_ms, now_ms, oldest_ms),
        last_fetch_ms=_time_from(remote.last_fetch_ms, now_ms, oldest_ms),
    )


def _time_from(time_ms: int | None, now_ms: int, oldest_ms: int) -> int | None:
    return None if time_ms is None else max(time_ms - now_ms, oldest_ms)


def _waiting_from(waiting: Waiting, now_ms: int) -> Waiting:
    return Waiting(
        fetches=tuple(parked._replace(deadline_ms=max(parked.deadline_ms - now_ms, 0)) for parked in waiting.fetches),
        produces=tuple(parked._replace(deadline_ms=max(parked.deadline_ms - now_ms, 0)) for parked in waiting.produces),
    )


def _count_from_this_record(work: Work) -> None:
    """Partition epochs told from the controller's on."""
    controller = work.controller
    if controller.partition_epoch == 0:
        return
    work.controller = controller._replace(partition_epoch=0)
    for broker_id in work.settings.broker_ids:
        leading = work.leading(broker_id)
        if leading is not None:
            epoch = leading.partition_epoch - controller.partition_epoch
            work.put_leading(broker_id, leading._replace(partition_epoch=epoch))
