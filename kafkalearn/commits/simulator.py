"""The simulator of one group on one partition: `step` tells the events apart, the files beside it do them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kafkalearn.commits import acting, committing
from kafkalearn.commits.events import (
    Answered,
    Append,
    Assign,
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
from kafkalearn.commits.model import Pipeline, Settings
from kafkalearn.commits.sinks import APPLIED, KEEPS_THE_OFFSET
from kafkalearn.errors import IllegalEvent

_NAMES = (
    "Start, Assign, Rebalance, Poll, Process, CommitSync, CommitAsync, Answered, Close, Crash, Append, Delete, Wait"
)


def step(settings: Settings, pipeline: Pipeline, event: CommitEvent) -> Pipeline:
    """The pipeline after `event`; ``effects`` says what it brought about, refusals of the coordinator included.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state: a consumer that does not run, a record that is not in its hand.

    Examples
    --------
    >>> from kafkalearn.commits.model import new_pipeline
    >>> settings = Settings(max_poll_records=3)
    >>> pipeline = step(settings, new_pipeline(6), Start())
    >>> pipeline = step(settings, pipeline, Poll())
    >>> pipeline.consumer("A").position, pipeline.consumer("A").hand, pipeline.committed
    (3, (0, 1, 2), 0)
    >>> step(settings, pipeline, CommitSync()).committed
    3

    References
    ----------
    Apache Kafka: ``ConsumerCoordinator`` (the classic consumer), ``SubscriptionState.allConsumed``,
    ``GroupMetadataManager`` and ``OffsetMetadataManager`` (who may commit).
    """
    pipeline = replace(pipeline, effects=())
    match event:
        case Start(by) | Assign(by):
            return acting.start(settings, pipeline, by, is_standalone=isinstance(event, Assign))
        case Rebalance(to):
            return acting.rebalance(settings, pipeline, event, to)
        case Poll():
            return acting.poll(settings, pipeline, event)
        case Process():
            return acting.process(settings, pipeline, event)
        case CommitSync() | CommitAsync():
            return committing.ask(pipeline, event)
        case Answered():
            return committing.answer(pipeline, event)
        case Close(by):
            return acting.close(pipeline, event, by)
        case Crash(by):
            return acting.crash(pipeline, event, by)
        case Append() | Delete() | Wait():
            return acting.pass_by(pipeline, event)
    raise IllegalEvent(f"{event!r} is no event of this simulator; it knows {_NAMES}")


def lost(pipeline: Pipeline) -> tuple[int, ...]:
    """The records that the group owes, has passed by, and will never have a result of.

    Passed by: below the position of the owner, or where nobody runs, below the offset that is stored or committed.
    Records in the hands of a consumer that runs are not lost yet.
    """
    in_hand = {offset for consumer in pipeline.consumers for offset in consumer.hand}
    done = {each.offset for each in pipeline.sink.writes}
    reached = range(pipeline.first, acting.reached(pipeline))
    return tuple(offset for offset in reached if offset not in done and offset not in in_hand)


def doubled(pipeline: Pipeline) -> tuple[int, ...]:
    """The records whose result took effect more than once."""
    times = Counter(each.offset for each in pipeline.sink.writes if each.answer == APPLIED)
    return tuple(sorted(offset for offset, count in times.items() if count > 1))


def check(settings: Settings, pipeline: Pipeline) -> None:
    """Pass in silence if the state keeps what holds in every run; else AssertionError names what is broken."""
    names = [each.name for each in pipeline.consumers]
    assert names == sorted(set(names)), "a consumer runs once"
    assert pipeline.owner is None or pipeline.owner in names, "the owner runs"
    for each in pipeline.consumers:
        assert all(offset < each.position for offset in each.hand), "what is in hand was polled"
        assert each.position <= pipeline.log_end, "a position is at most the log end"
        assert each.generation <= pipeline.generation, "no consumer knows a generation that is yet to come"
    if pipeline.written:
        assert pipeline.committed == pipeline.written[-1].offset, "the last commit wins"
    writes = pipeline.sink.writes
    assert all(pipeline.log_end > each.offset >= 0 for each in writes), "only records that exist have results"
    if settings.sink not in KEEPS_THE_OFFSET:
        assert pipeline.sink.stored is None, "only a transactional sink stores an offset"
    if settings.sink in ("idempotent", "lock"):
        assert not doubled(pipeline), "no result takes effect twice"
