"""A cluster left to itself: followers fetch, controllers answer, time passes, until nothing changes or time is up.

`step` does one thing at a time, as a class wants it. Where only the outcome counts, `settle` and `pass_time` find
the events that brokers would bring about by themselves and carry a trace on with them.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.arguments import whole_number
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    ReplicationEvent,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import step
from kafkalearn.replication.state import CUT_OFF, RUNNING, Partition, Replica, Waiting
from kafkalearn.trace import Trace, extend

SESSION_TIMEOUT_MS = 9_000  # broker.session.timeout.ms, the default
SHORTEST_ROUND_MS = 100  # of a cluster whose fetches do not wait

ReplicationTrace = Trace[Partition, ReplicationEvent]


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

    Examples
    --------
    >>> from kafkalearn.replication import Produce, simulate
    >>> settings = Settings()
    >>> trace = settle(settings, simulate(settings, [Produce(record_count=3)]))
    >>> [(replica.log_end_offset, replica.high_watermark) for replica in trace[-1].state.replicas]
    [(3, 3), (3, 3), (3, 3)]
    """
    before = None
    while before != _without_times(trace[-1].state):
        before = _without_times(trace[-1].state)
        trace = _round(settings, trace)
    return trace


def pass_time(
    settings: Settings, trace: ReplicationTrace, ms: int, session_timeout_ms: int = SESSION_TIMEOUT_MS
) -> ReplicationTrace:
    """The run carried on for at least `ms`: as `settle`, and who lags leaves the ISR, lost brokers are fenced.

    Parameters
    ----------
    settings, trace
        As in `settle`.
    ms : int
        How long; at least 0.
    session_timeout_ms : int
        How long a broker may send no heartbeat until the controller fences it.

    Returns
    -------
    tuple of Frame
        As in `settle`.

    Examples
    --------
    >>> from kafkalearn.replication import BrokerCrashed, simulate
    >>> settings = Settings()
    >>> end = pass_time(settings, simulate(settings, [BrokerCrashed(1)]), ms=10_000)[-1].state
    >>> end.controller.leader, end.controller.isr
    (2, (2, 3))
    """
    whole_number("ms", ms, at_least=0)
    until_ms = trace[-1].state.now_ms + ms
    while trace[-1].state.now_ms < until_ms:
        checked_ms = trace[-1].state.now_ms
        trace = _round(settings, trace)
        trace = _carry_on(settings, trace, _lost_sessions(trace, session_timeout_ms))
        half_lag_ms = max(settings.replica_lag_time_max_ms // 2, 1)
        if checked_ms // half_lag_ms != trace[-1].state.now_ms // half_lag_ms and trace[-1].state.leader is not None:
            trace = _carry_on(settings, trace, [IsrChecked()])
    return settle(settings, trace)


def _carry_on(settings: Settings, trace: ReplicationTrace, events: list[ReplicationEvent]) -> ReplicationTrace:
    return extend(step, settings, trace, events)


def _round(settings: Settings, trace: ReplicationTrace) -> ReplicationTrace:
    """Each follower fetches once, a proposal is answered, waiting fetches come back, high watermarks go to disk."""
    for broker_id in settings.broker_ids:
        if _can_fetch(trace[-1].state, broker_id):
            trace = _carry_on(settings, trace, [Fetch(broker_id)])
        trace = _carry_on(settings, trace, list(_answers(trace[-1].state)))
    trace = _carry_on(settings, trace, [TimePassed(max(settings.fetch_wait_max_ms, SHORTEST_ROUND_MS))])
    running = [id_ for id_ in settings.broker_ids if trace[-1].state.replica(id_).is_running]
    return _carry_on(settings, trace, [HighWatermarkCheckpointed(broker_id) for broker_id in running])


def _can_fetch(partition: Partition, broker_id: int) -> bool:
    broker = partition.replica(broker_id).broker
    if not broker.is_running or broker.leader in (None, broker_id):
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


def _lost_sessions(trace: ReplicationTrace, session_timeout_ms: int) -> list[SessionExpired]:
    """The brokers that have been silent for too long and still count as alive."""
    now = trace[-1].state
    return [
        SessionExpired(broker_id)
        for broker_id, replica in enumerate(now.replicas, start=1)
        if replica.broker.status not in (RUNNING, CUT_OFF)
        and broker_id not in now.controller.fenced
        and now.now_ms - _last_running_ms(trace, broker_id) >= session_timeout_ms
    ]


def _last_running_ms(trace: ReplicationTrace, broker_id: int) -> int:
    running = [frame.state.now_ms for frame in trace if frame.state.replica(broker_id).broker.status == RUNNING]
    return running[-1] if running else trace[0].state.now_ms


def _without_times(partition: Partition) -> tuple:
    """All that can change in a partition but the clock and what is measured by it."""
    return partition.controller, partition.ledger, tuple(_lasting(replica) for replica in partition.replicas)


def _lasting(replica: Replica) -> Replica:
    known = tuple(each and each._replace(last_caught_up_ms=None, last_fetch_ms=None) for each in replica.remotes)
    return replica._replace(remotes=known, waiting=Waiting())
