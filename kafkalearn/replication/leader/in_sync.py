"""Who counts: which followers are caught up, who leaves and joins the ISR, how far the high watermark may go.

Pure functions of the leader's log and of what it knows. The time comes from outside, and so does who may be in the
ISR at all: `is_eligible` says whether a broker counts as alive.
"""

from __future__ import annotations

from collections.abc import Callable

from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import Leadership, Log, Remote, remote_ends_of


def with_fetch(settings: Settings, now_ms: int, remote: Remote, log: Log, offset: int, start: int) -> Remote:
    """What the leader knows of a follower that has just asked for `offset`; its log starts at `start`.

    The remote LEO is simply the offset asked for: it may go down. Having all the leader has is being caught up now;
    having all the leader had at the fetch before is having been caught up then.
    """
    end = log.log_end_offset
    caught_up_ms = remote.last_caught_up_ms
    if offset >= end:
        caught_up_ms = _later(caught_up_ms, now_ms)
    elif settings.rules.counts_previous_fetch and offset >= remote.leader_end_at_last_fetch:
        caught_up_ms = _later(caught_up_ms, remote.last_fetch_ms)
    return Remote(
        log_end_offset=offset,
        log_start_offset=start,
        last_caught_up_ms=caught_up_ms,
        last_fetch_ms=now_ms,
        leader_end_at_last_fetch=max(end, remote.leader_end_at_last_fetch),
        last_sent_high_watermark=log.high_watermark if settings.rules.answers_new_high_watermark else 0,
    )


def _later(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def is_recent(settings: Settings, now_ms: int, since_ms: int | None) -> bool:
    """Whether a moment is within the lag time; exactly at its limit it still is."""
    return since_ms is not None and now_ms - since_ms <= settings.replica_lag_time_max_ms


def high_watermark_of(
    settings: Settings,
    now_ms: int,
    is_eligible: Callable[[int], bool],
    log: Log,
    leading: Leadership,
    remotes: tuple[Remote | None, ...],
) -> int:
    """The leader's high watermark after it has tried to raise it: the smallest LEO of all who count.

    The maximal ISR counts; since 0.10.2 also replicas outside that are caught up, so that they can join.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeIncrementLeaderHW``.
    """
    ends = remote_ends_of(remotes)
    return high_watermark_by_ends(
        settings,
        log,
        leading,
        ends,
        lambda broker_id: holds_back(settings, now_ms, is_eligible, broker_id, remotes[broker_id - 1]),
    )


def high_watermark_by_ends(
    settings: Settings,
    log: Log,
    leading: Leadership,
    ends: tuple[int | None, ...],
    is_held_back_by: Callable[[int], bool],
) -> int:
    """The same by the remote LEOs: whether a broker outside the ISR holds it back is asked only where it would."""
    replica_count = 1 + sum([each is not None for each in ends])
    if settings.rules.is_frozen_under_min_isr and len(leading.isr) < settings.min_isr_of(replica_count):
        return log.high_watermark
    members, lowest = leading.maximal_isr, log.log_end_offset
    for broker_id in members:
        end = ends[broker_id - 1]
        if end is not None and end < lowest:
            lowest = end
    if lowest <= log.high_watermark:
        return log.high_watermark
    for broker_id, end in enumerate(ends, start=1):
        if end is not None and end < lowest and broker_id not in members and is_held_back_by(broker_id):
            lowest = end
    return max(lowest, log.high_watermark)


def holds_back(
    settings: Settings, now_ms: int, is_eligible: Callable[[int], bool], broker_id: int, remote: Remote | None
) -> bool:
    """Whether a follower outside the ISR counts for the high watermark: it is caught up, so that it can join."""
    # Since 3.3 one that has all the leader has is caught up too, whatever its time: it cannot be the lowest.
    is_known = settings.rules.high_watermark_waits_for_caught_up
    if remote is None or not is_known or not is_recent(settings, now_ms, remote.last_caught_up_ms):
        return False
    return is_eligible(broker_id) or not settings.rules.high_watermark_ignores_ineligible


def shrunk_isr(
    settings: Settings, now_ms: int, log: Log, isr: tuple[int, ...], remotes: tuple[Remote | None, ...]
) -> tuple[int, ...]:
    """The ISR without the followers that lag; the leader is always in it.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeShrinkIsr`` and ``getOutOfSyncReplicas``.
    """
    return tuple(
        broker_id
        for broker_id in isr
        if (remote := remotes[broker_id - 1]) is None or not _lags(settings, now_ms, log, remote)
    )


def _lags(settings: Settings, now_ms: int, log: Log, remote: Remote) -> bool:
    behind = log.log_end_offset - remote.log_end_offset
    if settings.rules.lag_test == "time or records":
        fetched_ms = _later(remote.last_fetch_ms, remote.last_caught_up_ms)  # the second: set at the election
        is_silent = not is_recent(settings, now_ms, fetched_ms)
        return is_silent or (remote.log_end_offset >= 0 and behind > settings.replica_lag_max_messages)
    if settings.rules.lag_test == "time, unless at the end" and behind == 0:
        return False
    return not is_recent(settings, now_ms, remote.last_caught_up_ms)


def may_join(
    settings: Settings,
    is_eligible: Callable[[int], bool],
    log: Log,
    leading: Leadership,
    broker_id: int,
    remote_log_end_offset: int,
) -> bool:
    """Whether a follower outside the ISR is to be proposed for it now.

    It must have reached the high watermark, and, since 2.0, the offset where the leader took over. One change at a
    time may be under way.

    References
    ----------
    Apache Kafka 0.8.2 to 4.3, ``Partition.maybeExpandIsr``.
    """
    if leading.proposal is not None or broker_id in leading.isr:
        return False
    needed = log.high_watermark
    if settings.rules.joins_from_epoch_start:
        needed = max(needed, leading.epoch_start_offset)
    if remote_log_end_offset < needed:
        return False
    return is_eligible(broker_id) or not settings.rules.joins_only_eligible
