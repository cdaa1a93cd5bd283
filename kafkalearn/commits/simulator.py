"""The simulator of one group on one partition: which event leads to which rule."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import get_args

from kafkalearn.commits import committing, consumers
from kafkalearn.commits.events import (
    Answered,
    Append,
    Assign,
    Checkpoint,
    Close,
    CommitAsync,
    CommitEvent,
    CommitSync,
    Crash,
    Delete,
    Poll,
    Process,
    Rebalance,
    Start,
    Wait,
)
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.state import Pipeline, start
from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.trace import Trace, run


def simulate(
    settings: Settings, events: Iterable[CommitEvent], initial: Pipeline | None = None
) -> Trace[Pipeline, CommitEvent]:
    """A run: the pipeline after each event.

    Parameters
    ----------
    settings : Settings
        The partition, and how the group reads it.
    events : iterable of CommitEvent
        In order.
    initial : Pipeline, optional
        Where the run begins; without it, nobody reads yet.

    Raises
    ------
    IllegalEvent
        As `step`.

    Examples
    --------
    >>> trace = simulate(Settings(6, max_poll_records=3), [Start(), Poll(), CommitSync()])
    >>> [(frame.state.consumer("A").position, frame.state.committed) for frame in trace[1:]]
    [(0, 0), (3, 0), (3, 3)]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, pipeline: Pipeline, event: CommitEvent) -> Pipeline:
    """The pipeline after `event`; its ``effects`` are what the event led to, refusals of the coordinator included.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state: a consumer that does not run, a record that it has not polled.

    Examples
    --------
    >>> settings = Settings(6, max_poll_records=3)
    >>> pipeline = step(settings, step(settings, start(settings), Start()), Poll())
    >>> pipeline.effects, pipeline.consumer("A").unprocessed
    ((Polled(offsets=(0, 1, 2)),), (0, 1, 2))

    References
    ----------
    Apache Kafka: ``ConsumerCoordinator`` (the classic consumer), ``SubscriptionState.allConsumed``,
    ``GroupMetadataManager`` and ``OffsetMetadataManager`` (who may commit).
    """
    pipeline = replace(pipeline, effects=())
    match event:
        case Start(by) | Assign(by):
            return consumers.start_consumer(settings, pipeline, by, is_standalone=isinstance(event, Assign))
        case Rebalance():
            return consumers.rebalance(settings, pipeline, event)
        case Poll():
            return consumers.poll(settings, pipeline, event)
        case Process():
            return consumers.process(settings, pipeline, event)
        case CommitSync() | CommitAsync():
            return committing.commit(settings, pipeline, event)
        case Answered():
            return committing.answer(pipeline, event)
        case Checkpoint():
            return committing.checkpoint(settings, pipeline, event)
        case Close():
            return consumers.close(pipeline, event)
        case Crash():
            return consumers.crash(pipeline, event)
        case Append(record_count):
            return replace(pipeline, log_end=pipeline.log_end + record_count)
        case Delete(log_start) if pipeline.log_start <= log_start <= pipeline.log_end:
            return replace(pipeline, log_start=log_start)
        case Wait(ms):
            return replace(pipeline, now_ms=pipeline.now_ms + ms)
        case Delete():
            raise IllegalEvent(f"{event!r}: the log is {pipeline.log_start} to {pipeline.log_end}; delete up to there")
    raise no_event(event, get_args(CommitEvent))
