"""Commits: who asks, what the coordinator answers, and that the last one wins."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.commits.effects import (
    AutoCommitSent,
    Checkpointed,
    CheckpointRefused,
    CommitRefused,
    CommitSent,
    Committed,
)
from kafkalearn.commits.events import Answered, Checkpoint, CommitAsync, CommitEvent, CommitSync
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.sinks import CHECKPOINT, checkpointed
from kafkalearn.commits.state import NO_GENERATION, Consumer, Pipeline, Written
from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.metadata import metadata_fits

RETRIABLE, TOO_LARGE = "COORDINATOR_LOAD_IN_PROGRESS", "OFFSET_METADATA_TOO_LARGE"


def commit(settings: Settings, pipeline: Pipeline, event: CommitSync | CommitAsync) -> Pipeline:
    """A commit by the application: of the position, or of the offset that it names."""
    consumer = running(pipeline, event.by, event)
    offset = consumer.position if event.offset is None else event.offset
    if offset < 0:
        raise IllegalEvent(f"{event!r}: the consumer throws IllegalArgumentException for a negative offset")
    consumer = replace(consumer, requested=max(consumer.requested, offset), requested_ms=pipeline.now_ms, failed=None)
    if isinstance(event, CommitSync):
        pipeline = deliver_in_flight(pipeline, consumer)
        if refusal(pipeline, consumer) is None and not metadata_fits(event.metadata, settings.metadata_max_bytes):
            return pipeline.with_effect(CommitRefused(offset, TOO_LARGE))
        return _write(pipeline, consumer, offset, event.metadata)
    consumer = replace(consumer, in_flight=(*consumer.in_flight, offset))
    return pipeline.with_consumer(consumer).with_effect(CommitSent(offset))


def answer(pipeline: Pipeline, event: Answered) -> Pipeline:
    """The oldest asynchronous commit reaches the coordinator; the callback gets its answer."""
    consumer = running(pipeline, event.by, event)
    if not consumer.in_flight:
        raise IllegalEvent(f"{event!r}: no asynchronous commit of {event.by} is on its way")
    offset, *rest = consumer.in_flight
    consumer = replace(consumer, in_flight=tuple(rest), failed=offset if event.is_retriable else consumer.failed)
    pipeline = replace(pipeline, answered=pipeline.answered + 1).with_consumer(consumer)
    if event.is_retriable:
        return pipeline.with_effect(CommitRefused(offset, RETRIABLE))
    return _write(pipeline, consumer, offset)


def checkpoint(settings: Settings, pipeline: Pipeline, event: Checkpoint) -> Pipeline:
    """Results and next offset count together, if nobody else has gone on from the last checkpoint."""
    consumer = running(pipeline, event.by, event)
    if settings.sink != CHECKPOINT:
        raise IllegalEvent(f"{event!r}: there are checkpoints with Settings(sink={CHECKPOINT!r}) only")
    if pipeline.sink.stored not in (None, consumer.restored):
        return pipeline.without_consumer(event.by).with_effect(CheckpointRefused(consumer.done))
    sink = checkpointed(pipeline.sink, event.by, consumer.done)
    consumer = replace(consumer, restored=consumer.done, requested=consumer.done, requested_ms=pipeline.now_ms)
    pipeline = replace(pipeline, sink=sink).with_consumer(consumer).with_effect(Checkpointed(consumer.done))
    return _write(pipeline, consumer, consumer.done) if event.is_committed else pipeline


def commit_position(pipeline: Pipeline, consumer: Consumer) -> Pipeline:
    """An auto commit: of the position, whether or not it moved, and whether or not its records were processed."""
    requested = max(consumer.requested, consumer.position)
    consumer = replace(consumer, requested=requested, requested_ms=pipeline.now_ms)
    pipeline = deliver_in_flight(pipeline.with_effect(AutoCommitSent(consumer.position)), consumer)
    return _write(pipeline, consumer, consumer.position)


def deliver_in_flight(pipeline: Pipeline, consumer: Consumer) -> Pipeline:
    """All asynchronous commits on their way arrive: what is sent after them on the same connection comes later."""
    for offset in consumer.in_flight:
        pipeline = _write(pipeline, consumer, offset)
    return pipeline.with_consumer(replace(consumer, in_flight=()))


def _write(pipeline: Pipeline, consumer: Consumer, offset: int, metadata: str = "") -> Pipeline:
    """The coordinator looks at who commits, never at which offset was there before."""
    error = refusal(pipeline, consumer)
    if error is not None:
        return pipeline.with_effect(CommitRefused(offset, error))
    written = (*pipeline.written, Written(pipeline.now_ms, consumer.name, offset, metadata))
    return replace(pipeline, committed=offset, written=written).with_effect(Committed(offset))


def refusal(pipeline: Pipeline, consumer: Consumer) -> str | None:
    """The error for a commit of this consumer; None: it is accepted.

    A standalone consumer may commit as long as the group has no members; a member as long as it is one.
    """
    may_commit = consumer.name == pipeline.owner if consumer.generation != NO_GENERATION else pipeline.owner is None
    return None if may_commit else "UNKNOWN_MEMBER_ID"


def running(pipeline: Pipeline, name: str, event: CommitEvent) -> Consumer:
    """The consumer of that name; IllegalEvent if it does not run."""
    consumer = pipeline.consumer(name)
    if consumer is None:
        names = ", ".join(each.name for each in pipeline.consumers) or "nobody"
        raise IllegalEvent(f"{event!r}: {name} does not run; running: {names}")
    return consumer
