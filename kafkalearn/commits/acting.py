"""What consumers do: start, poll, process, close, crash; and what happens around them."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.commits.committing import arrived, commit_position, ended, known, put, say
from kafkalearn.commits.events import Append, Close, Crash, Delete, Poll, Process, Rebalance, Wait
from kafkalearn.commits.model import NO_GENERATION, Consumer, Effect, Pipeline, Settings
from kafkalearn.commits.sinks import KEEPS_THE_OFFSET, write
from kafkalearn.commits.starting import NoStart, start_offset
from kafkalearn.errors import IllegalEvent


def start(settings: Settings, pipeline: Pipeline, by: str, is_standalone: bool) -> Pipeline:
    """A consumer begins at the stored or committed offset, or by auto.offset.reset."""
    if pipeline.consumer(by) is not None:
        raise IllegalEvent(f"{by} runs already; let it Close or Crash first, or start one of another name")
    try:
        begins_at = _beginning(settings, pipeline)
    except NoStart as error:
        return say(pipeline, Effect("failed", (), error.exception))
    generation = NO_GENERATION if is_standalone else pipeline.generation + 1
    consumer = Consumer(
        by,
        generation,
        position=begins_at,
        done=begins_at,
        asked=begins_at,
        asked_ms=pipeline.now_ms,
        auto_due_ms=pipeline.now_ms + settings.auto_commit_interval_ms if settings.is_auto else None,
    )
    if not is_standalone:
        pipeline = replace(pipeline, owner=by, generation=generation)
    is_reset = begins_at != (pipeline.sink.stored if _keeps(settings, pipeline) else pipeline.committed)
    return say(put(pipeline, consumer), Effect("reset" if is_reset else "started", (begins_at,)))


def _keeps(settings: Settings, pipeline: Pipeline) -> bool:
    return settings.sink in KEEPS_THE_OFFSET and pipeline.sink.stored is not None


def _beginning(settings: Settings, pipeline: Pipeline) -> int:
    """Where a consumer that starts now would begin; raises NoStart if auto.offset.reset is none and it needs it."""
    offset = pipeline.sink.stored if _keeps(settings, pipeline) else pipeline.committed
    return start_offset(offset, pipeline.log_start, pipeline.log_end, settings.auto_offset_reset)


def reached(pipeline: Pipeline) -> int:
    """How far the group has come: the position of who reads for it, or what is stored or committed."""
    readers = [each for each in pipeline.consumers if each.name == pipeline.owner] or pipeline.consumers
    if readers:
        return max(each.position for each in readers)
    kept = pipeline.committed if pipeline.sink.stored is None else pipeline.sink.stored
    return pipeline.first if kept is None else min(kept, pipeline.log_end)


def rebalance(settings: Settings, pipeline: Pipeline, event: Rebalance, to: str) -> Pipeline:
    """The owner gives the partition up, with an auto commit if that is on, and another member gets it."""
    if pipeline.owner is None:
        raise IllegalEvent(f"{event!r}: nobody owns the partition; Start {to}")
    before = known(pipeline, pipeline.owner, event)
    pipeline = commit_position(pipeline, before, "auto commit") if before.auto_due_ms is not None else pipeline
    kept = ended(pipeline, before.name)
    return start(settings, replace(kept, effects=(*kept.effects, Effect("revoked", before.hand))), to, False)


def poll(settings: Settings, pipeline: Pipeline, event: Poll) -> Pipeline:
    """An auto commit if one is due, of the position as earlier polls left it; then the next records."""
    consumer = known(pipeline, event.by, event)
    if consumer.auto_due_ms is not None and pipeline.now_ms >= consumer.auto_due_ms:
        pipeline = commit_position(pipeline, consumer, "auto commit")
        due_ms = pipeline.now_ms + settings.auto_commit_interval_ms
        consumer = replace(known(pipeline, event.by, event), auto_due_ms=due_ms)
    if consumer.position < pipeline.log_start:  # retention has overtaken it
        try:
            position = start_offset(consumer.position, pipeline.log_start, pipeline.log_end, settings.auto_offset_reset)
        except NoStart as error:
            return say(put(pipeline, consumer), Effect("failed", (), error.exception))
        consumer = replace(consumer, position=position)
        pipeline = say(pipeline, Effect("reset", (position,)))
    most = settings.max_poll_records if event.at_most is None else min(event.at_most, settings.max_poll_records)
    offsets = tuple(range(consumer.position, min(consumer.position + most, pipeline.log_end)))
    position = consumer.position + len(offsets)
    consumer = replace(consumer, position=position, hand=(*consumer.hand, *offsets))
    pipeline = replace(pipeline, polled=max(pipeline.polled, position))
    return say(put(pipeline, consumer), Effect("polled", offsets))


def process(settings: Settings, pipeline: Pipeline, event: Process) -> Pipeline:
    """A record leaves the hand, and its result goes to the sink."""
    consumer = known(pipeline, event.by, event)
    if not consumer.hand:
        raise IllegalEvent(f"{event!r}: {event.by} has nothing in hand; let it Poll first")
    offset = consumer.hand[0] if event.offset is None else event.offset
    if offset not in consumer.hand:
        raise IllegalEvent(f"{event!r}: {event.by} has {list(consumer.hand)} in hand")
    hand = tuple(each for each in consumer.hand if each != offset)
    sink = write(settings.sink, pipeline.sink, offset, event.by)
    pipeline = replace(pipeline, sink=sink, now_ms=pipeline.now_ms + event.took_ms)
    done = max(consumer.done, offset + 1)
    return say(put(pipeline, replace(consumer, hand=hand, done=done)), Effect(sink.writes[-1].answer, (offset,)))


def close(pipeline: Pipeline, event: Close, by: str) -> Pipeline:
    """A last auto commit, of the position and not of what was processed; then the consumer is gone."""
    consumer = known(pipeline, by, event)
    if consumer.auto_due_ms is not None:
        pipeline = commit_position(pipeline, consumer, "auto commit")
    return say(ended(arrived(pipeline, known(pipeline, by, event)), by), Effect("closed", consumer.hand))


def crash(pipeline: Pipeline, event: Crash, by: str) -> Pipeline:
    """The consumer is gone, and with it all that is not in the sink or with the coordinator."""
    consumer = known(pipeline, by, event)
    return say(ended(pipeline, by), Effect("crashed", consumer.hand))


def pass_by(pipeline: Pipeline, event: Append | Delete | Wait) -> Pipeline:
    """Records are written, records are deleted, time passes."""
    match event:
        case Append(record_count) if record_count >= 0:
            return replace(pipeline, log_end=pipeline.log_end + record_count)
        case Delete(log_start) if pipeline.log_start <= log_start <= pipeline.log_end:
            return replace(pipeline, log_start=log_start)
        case Wait(ms) if ms >= 0:
            return replace(pipeline, now_ms=pipeline.now_ms + ms)
    raise IllegalEvent(
        f"{event!r}: counts and times are 0 or more; the log is {pipeline.log_start} to {pipeline.log_end}"
    )
