"""What happens to consumers: they start, poll, process, close and crash, and a rebalance takes the partition away."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.commits.committing import commit_position, deliver_in_flight, running
from kafkalearn.commits.effects import Closed, Crashed, Failed, Polled, Processed, Reset, Revoked, Started
from kafkalearn.commits.events import Close, Crash, Poll, Process, Rebalance
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.sinks import CHECKPOINT, KEEPS_THE_OFFSET, write
from kafkalearn.commits.starting import NoStart, start_offset
from kafkalearn.commits.state import NO_GENERATION, Consumer, Pipeline
from kafkalearn.errors import IllegalEvent


def start_consumer(settings: Settings, pipeline: Pipeline, name: str, is_standalone: bool = False) -> Pipeline:
    """A consumer begins at the stored or committed offset, or by auto.offset.reset."""
    if pipeline.consumer(name) is not None:
        raise IllegalEvent(f"{name} runs already; let it Close or Crash first, or start one of another name")
    keeps_offset = settings.sink in KEEPS_THE_OFFSET and pipeline.sink.stored is not None
    offset = pipeline.sink.stored if keeps_offset else pipeline.committed
    try:
        begins_at = start_offset(offset, pipeline.log_start, pipeline.log_end, settings.auto_offset_reset)
    except NoStart as error:
        return pipeline.with_effect(Failed(error.exception))
    consumer = Consumer(
        name,
        NO_GENERATION if is_standalone else pipeline.generation + 1,
        position=begins_at,
        done=begins_at,
        requested=begins_at,
        requested_ms=pipeline.now_ms,
        auto_due_ms=pipeline.now_ms + settings.auto_commit_interval_ms if settings.is_auto else None,
        restored=begins_at,
    )
    if not is_standalone:
        pipeline = replace(pipeline, owner=name, generation=consumer.generation)
    effect = Started(begins_at) if begins_at == offset else Reset(begins_at)
    return pipeline.with_consumer(consumer).with_effect(effect)


def rebalance(settings: Settings, pipeline: Pipeline, event: Rebalance) -> Pipeline:
    """The owner gives the partition up, with an auto commit if that is on, and another member gets it."""
    if pipeline.owner is None:
        raise IllegalEvent(f"{event!r}: nobody owns the partition; Start {event.to}")
    before = running(pipeline, pipeline.owner, event)
    if before.auto_due_ms is not None:
        pipeline = commit_position(pipeline, before)
    pipeline = pipeline.without_consumer(before.name).with_effect(Revoked(before.unprocessed))
    return start_consumer(settings, pipeline, event.to)


def poll(settings: Settings, pipeline: Pipeline, event: Poll) -> Pipeline:
    """An auto commit if one is due, of the position as earlier polls left it; then the next records."""
    consumer = running(pipeline, event.by, event)
    if consumer.auto_due_ms is not None and pipeline.now_ms >= consumer.auto_due_ms:
        pipeline = commit_position(pipeline, consumer)
        due_ms = pipeline.now_ms + settings.auto_commit_interval_ms
        consumer = replace(running(pipeline, event.by, event), auto_due_ms=due_ms)
    if consumer.position < pipeline.log_start:  # retention has overtaken it
        try:
            position = start_offset(consumer.position, pipeline.log_start, pipeline.log_end, settings.auto_offset_reset)
        except NoStart as error:
            return pipeline.with_consumer(consumer).with_effect(Failed(error.exception))
        consumer = replace(consumer, position=position)
        pipeline = pipeline.with_effect(Reset(position))
    most = settings.max_poll_records if event.at_most is None else min(event.at_most, settings.max_poll_records)
    offsets = tuple(range(consumer.position, min(consumer.position + most, pipeline.log_end)))
    position = consumer.position + len(offsets)
    consumer = replace(consumer, position=position, unprocessed=(*consumer.unprocessed, *offsets))
    pipeline = replace(pipeline, polled=max(pipeline.polled, position))
    return pipeline.with_consumer(consumer).with_effect(Polled(offsets))


def process(settings: Settings, pipeline: Pipeline, event: Process) -> Pipeline:
    """A record that was polled is processed, and its result goes to the sink."""
    consumer = running(pipeline, event.by, event)
    if not consumer.unprocessed:
        raise IllegalEvent(f"{event!r}: {event.by} has no unprocessed record; let it Poll first")
    offset = consumer.unprocessed[0] if event.offset is None else event.offset
    if offset not in consumer.unprocessed:
        raise IllegalEvent(f"{event!r}: the unprocessed records of {event.by} are {list(consumer.unprocessed)}")
    unprocessed = tuple(each for each in consumer.unprocessed if each != offset)
    consumer = replace(consumer, unprocessed=unprocessed, done=max(consumer.done, offset + 1))
    sink = write(settings.sink, pipeline.sink, offset, event.by)
    pipeline = replace(pipeline, sink=sink, now_ms=pipeline.now_ms + event.took_ms)
    (*_, last) = sink.held if settings.sink == CHECKPOINT else sink.writes
    return pipeline.with_consumer(consumer).with_effect(Processed(offset, last.answer))


def close(pipeline: Pipeline, event: Close) -> Pipeline:
    """A last auto commit, of the position and not of what was processed; then the consumer is gone."""
    consumer = running(pipeline, event.by, event)
    if consumer.auto_due_ms is not None:
        pipeline = commit_position(pipeline, consumer)
    pipeline = deliver_in_flight(pipeline, running(pipeline, event.by, event))
    return pipeline.without_consumer(event.by).with_effect(Closed(consumer.unprocessed))


def crash(pipeline: Pipeline, event: Crash) -> Pipeline:
    """The consumer is gone, and with it all that is not in the sink or with the coordinator."""
    consumer = running(pipeline, event.by, event)
    return pipeline.without_consumer(event.by).with_effect(Crashed(consumer.unprocessed))
