"""A cluster left to itself: followers fetch, controllers answer, time passes, until nothing changes or time is up.

`step` does one thing at a time, as a class wants it. Where only the outcome counts, `settle` and `pass_time` find
the events that brokers would bring about by themselves and carry a trace on with them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.trace import Frame, Trace, extend
from kafkalearn.replication.controller import has_preferred_leader
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    LeaderImbalanceChecked,
    ReplicationEvent,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import step
from kafkalearn.replication.state import CUT_OFF, RUNNING, Partition, Replica, Waiting

SESSION_TIMEOUT_MS = 9_000  # broker.session.timeout.ms, the default
IMBALANCE_CHECK_MS = 300_000  # leader.imbalance.check.interval.seconds, the default of every release
SHORTEST_ROUND_MS = 100  # of a cluster whose fetches do not wait

MOST_STEPS = 200_000  # of one `pass_time`: a few seconds, and all frames are kept

ReplicationTrace = Trace[Partition, ReplicationEvent]
Frames = list[Frame[Partition, ReplicationEvent]]


def settle(settings: Settings, trace: ReplicationTrace) -> ReplicationTrace:
    """The run carried on until the brokers have nothing left to do: all is copied, answered and on disk.

    Only as much time passes as waiting fetches need. Followers that lag are not removed, and no broker is fenced:
    for that there is `pass_time`.

    Parameters
    ----------
    settings : Settings
        Those the trace was run with.
    trace : tuple of Frame
        At least one frame.

    Returns
    -------
    tuple of Frame
        `trace` and the frames of what the brokers did.

    Raises
    ------
    KafkaLearnError
        If the trace has no frame to go on from.

    Examples
    --------
    >>> from kafkalearn.replication import Produce, simulate
    >>> settings = Settings()
    >>> trace = settle(settings, simulate(settings, [Produce(record_count=3)]))
    >>> [(replica.log_end_offset, replica.high_watermark) for replica in trace[-1].state.replicas]
    [(3, 3), (3, 3), (3, 3)]
    """
    frames = _frames(trace)
    _settle(settings, frames)
    return Trace(frames)


def pass_time(
    settings: Settings,
    trace: ReplicationTrace,
    ms: int,
    session_timeout_ms: int = SESSION_TIMEOUT_MS,
    imbalance_check_ms: int = IMBALANCE_CHECK_MS,
) -> ReplicationTrace:
    """The run carried on for at least `ms`: as `settle`, and who lags leaves the ISR, lost brokers are fenced.

    Every five minutes the preferred replica gets its leadership back, unless ``auto.leader.rebalance.enable`` is off.

    Parameters
    ----------
    settings, trace
        As in `settle`.
    ms : int
        How long; at least 0.
    session_timeout_ms : int
        How long a broker may send no heartbeat until the controller fences it.
    imbalance_check_ms : int
        How often the controller looks for partitions that their preferred replica does not lead; at least 1.

    Returns
    -------
    tuple of Frame
        As in `settle`.

    Raises
    ------
    KafkaLearnError
        If the trace has no frame, a time is not a whole number of at least 0, or it would take more than 200,000 steps.

    Examples
    --------
    >>> from kafkalearn.replication import BrokerCrashed, simulate
    >>> settings = Settings()
    >>> end = pass_time(settings, simulate(settings, [BrokerCrashed(1)]), ms=10_000)[-1].state
    >>> end.controller.leader, end.controller.isr
    (2, (2, 3))
    """
    frames = _frames(trace)
    whole_number("session_timeout_ms", session_timeout_ms, at_least=0)
    whole_number("imbalance_check_ms", imbalance_check_ms, at_least=1)
    _refuse_too_many_steps(settings, whole_number("ms", ms, at_least=0))
    until_ms = frames[-1].state.now_ms + ms
    heard_ms = {broker_id: _last_running_ms(frames, broker_id) for broker_id in settings.broker_ids}
    while frames[-1].state.now_ms < until_ms:
        checked_ms = frames[-1].state.now_ms
        _round(settings, frames)
        _note_running(frames[-1].state, heard_ms)
        _carry_on(settings, frames, _lost_sessions(frames[-1].state, heard_ms, session_timeout_ms))
        half_lag_ms = max(settings.replica_lag_time_max_ms // 2, 1)
        if checked_ms // half_lag_ms != frames[-1].state.now_ms // half_lag_ms and frames[-1].state.leader is not None:
            _carry_on(settings, frames, [IsrChecked()])
        if checked_ms // imbalance_check_ms != frames[-1].state.now_ms // imbalance_check_ms:
            _carry_on(settings, frames, _balances(settings, frames[-1].state))
    _settle(settings, frames)
    return Trace(frames)


def _frames(trace: ReplicationTrace) -> Frames:
    if not trace:
        raise KafkaLearnError("the trace has no frame to go on from; simulate(settings, []) gives the first")
    return [*trace]


def _refuse_too_many_steps(settings: Settings, ms: int) -> None:
    round_ms, most_in_a_round = _round_ms(settings), 3 * settings.broker_count + 3
    most_ms = MOST_STEPS // most_in_a_round * round_ms
    if ms > most_ms:
        raise KafkaLearnError(
            f"ms must be at most {most_ms:,}, got {ms}: {counted(settings.replica_count, 'broker')} that do something "
            f"every {round_ms} ms would take more than {MOST_STEPS:,} steps; let the time pass in parts"
        )


def _settle(settings: Settings, frames: Frames) -> None:
    before = None
    while before != _without_times(frames[-1].state):
        before = _without_times(frames[-1].state)
        _round(settings, frames)


def _carry_on(settings: Settings, frames: Frames, events: Iterable[ReplicationEvent]) -> None:
    frames += extend(step, settings, Trace((frames[-1],)), events)[1:]


def _round_ms(settings: Settings) -> int:
    return max(settings.fetch_wait_max_ms, SHORTEST_ROUND_MS)


def _round(settings: Settings, frames: Frames) -> None:
    """Each follower fetches once, a proposal is answered, waiting fetches come back, high watermarks go to disk."""
    for broker_id in settings.broker_ids:
        if _can_fetch(frames[-1].state, broker_id):
            _carry_on(settings, frames, [Fetch(broker_id)])
        _carry_on(settings, frames, _answers(frames[-1].state))
    _carry_on(settings, frames, [TimePassed(_round_ms(settings))])
    replicas = frames[-1].state.controller.assignment.replicas
    running = [id_ for id_ in settings.broker_ids if id_ in replicas and frames[-1].state.replica(id_).is_running]
    _carry_on(settings, frames, [HighWatermarkCheckpointed(broker_id) for broker_id in running])


def _can_fetch(partition: Partition, broker_id: int) -> bool:
    broker = partition.replica(broker_id).broker
    if not broker.is_running or broker.leader is None or broker.leader == broker_id:
        return False
    leader = partition.replica(broker.leader)
    if not leader.is_running:
        return False
    return broker_id not in [parked.broker_id for parked in leader.waiting.fetches]


def _answers(partition: Partition) -> Iterator[AlterPartitionAnswered]:
    for broker_id, replica in enumerate(partition.replicas, start=1):
        proposal = replica.leading.proposal if replica.leading is not None and replica.is_running else None
        if proposal is not None and not proposal.is_refused:
            yield AlterPartitionAnswered(broker_id=broker_id)


def _balances(settings: Settings, now: Partition) -> list[LeaderImbalanceChecked]:
    """The controller's round, where it is switched on and there is something for it to do."""
    is_wanted = settings.has_leader_rebalancing and bool(settings.assignment)
    return [LeaderImbalanceChecked()] if is_wanted and not has_preferred_leader(now.controller) else []


def _lost_sessions(now: Partition, heard_ms: dict[int, int], session_timeout_ms: int) -> list[SessionExpired]:
    """The brokers that have been silent for too long and still count as alive."""
    return [
        SessionExpired(broker_id)
        for broker_id, replica in enumerate(now.replicas, start=1)
        if replica.broker.status not in (RUNNING, CUT_OFF)
        and broker_id not in now.controller.fenced
        and now.now_ms - heard_ms[broker_id] >= session_timeout_ms
    ]


def _last_running_ms(frames: Frames, broker_id: int) -> int:
    """When a broker was last seen running; the beginning, if it never was."""
    seen = (frame.state for frame in reversed(frames))
    running = (state.now_ms for state in seen if state.replica(broker_id).broker.status == RUNNING)
    return next(running, frames[0].state.now_ms)


def _note_running(now: Partition, heard_ms: dict[int, int]) -> None:
    for broker_id, replica in enumerate(now.replicas, start=1):
        if replica.broker.status == RUNNING:
            heard_ms[broker_id] = now.now_ms


def _without_times(partition: Partition) -> tuple[object, ...]:
    """All that can change in a partition but the clock and what is measured by it."""
    return partition.controller, partition.ledger, tuple(_lasting(replica) for replica in partition.replicas)


def _lasting(replica: Replica) -> Replica:
    known = tuple(each and each._replace(last_caught_up_ms=None, last_fetch_ms=None) for each in replica.remotes)
    return replica._replace(remotes=known, waiting=Waiting())
