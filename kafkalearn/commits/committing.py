"""Commits: who asks, what the coordinator answers, and that the last one wins."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.commits.events import Answered, CommitAsync, CommitEvent, CommitSync
from kafkalearn.commits.model import NO_GENERATION, Consumer, Effect, Pipeline, Written
from kafkalearn.errors import IllegalEvent

RETRIABLE = "COORDINATOR_LOAD_IN_PROGRESS"


def ask(pipeline: Pipeline, event: CommitSync | CommitAsync) -> Pipeline:
    """A commit by hand: of the position, or of the offset that the application names."""
    consumer = known(pipeline, event.by, event)
    offset = consumer.position if event.offset is None else event.offset
    if offset < 0:
        raise IllegalEvent(f"{event!r}: the consumer throws IllegalArgumentException for a negative offset")
    consumer = replace(consumer, asked=max(consumer.asked, offset), asked_ms=pipeline.now_ms, failed=None)
    if isinstance(event, CommitSync):
        pipeline = arrived(put(pipeline, consumer), consumer)
        return _written(pipeline, consumer, offset)
    consumer = replace(consumer, in_flight=(*consumer.in_flight, offset))
    return say(put(pipeline, consumer), Effect("asked", (offset,)))


def answer(pipeline: Pipeline, event: Answered) -> Pipeline:
    """The oldest asynchronous commit arrives; what was wrong with it, the callback hears."""
    consumer = known(pipeline, event.by, event)
    if not consumer.in_flight:
        raise IllegalEvent(f"{event!r}: no asynchronous commit of {event.by} is on its way")
    offset, rest = consumer.in_flight[0], consumer.in_flight[1:]
    pipeline = replace(pipeline, answered=pipeline.answered + 1)
    if event.is_retriable:
        failed = replace(consumer, in_flight=rest, failed=offset)
        return say(put(pipeline, failed), Effect("refused", (offset,), RETRIABLE))
    return _written(put(pipeline, replace(consumer, in_flight=rest)), consumer, offset)


def commit_position(pipeline: Pipeline, consumer: Consumer, what: str) -> Pipeline:
    """What the client itself commits: the position, whether or not it moved, and whatever was processed."""
    asked = max(consumer.asked, consumer.position)
    consumer = replace(consumer, asked=asked, asked_ms=pipeline.now_ms)
    pipeline = arrived(say(put(pipeline, consumer), Effect(what, (consumer.position,))), consumer)
    return _written(pipeline, consumer, consumer.position)


def arrived(pipeline: Pipeline, consumer: Consumer) -> Pipeline:
    """All asynchronous commits on their way arrive: what is sent after them on the same connection comes later."""
    for offset in consumer.in_flight:
        pipeline = _written(pipeline, consumer, offset)
    return put(pipeline, replace(consumer, in_flight=()))


def _written(pipeline: Pipeline, consumer: Consumer, offset: int) -> Pipeline:
    """The coordinator looks at who asks, never at which offset was there before."""
    error = refusal(pipeline, consumer)
    if error is not None:
        return say(pipeline, Effect("refused", (offset,), error))
    written = (*pipeline.written, Written(pipeline.now_ms, consumer.name, offset))
    return say(replace(pipeline, committed=offset, written=written), Effect("committed", (offset,)))


def refusal(pipeline: Pipeline, consumer: Consumer) -> str | None:
    """The error for a commit of this consumer; None: it is accepted.

    A standalone consumer may commit as long as the group has no members; a member as long as it is one.
    """
    is_member = consumer.name == pipeline.owner
    if consumer.generation == NO_GENERATION:
        return None if pipeline.owner is None else "UNKNOWN_MEMBER_ID"
    return None if is_member else "UNKNOWN_MEMBER_ID"


def known(pipeline: Pipeline, name: str, event: CommitEvent) -> Consumer:
    """The consumer of that name."""
    consumer = pipeline.consumer(name)
    if consumer is None:
        running = ", ".join(each.name for each in pipeline.consumers) or "nobody"
        raise IllegalEvent(f"{event!r}: {name} does not run; running: {running}")
    return consumer


def put(pipeline: Pipeline, consumer: Consumer) -> Pipeline:
    """The pipeline with this consumer in place of the one of its name."""
    others = [each for each in pipeline.consumers if each.name != consumer.name]
    return replace(pipeline, consumers=tuple(sorted([*others, consumer], key=lambda each: each.name)))


def ended(pipeline: Pipeline, name: str) -> Pipeline:
    """The pipeline without that consumer; if it was a member, the group has none."""
    consumers = tuple(each for each in pipeline.consumers if each.name != name)
    owner = None if pipeline.owner == name else pipeline.owner
    return replace(pipeline, consumers=consumers, owner=owner)


def say(pipeline: Pipeline, effect: Effect) -> Pipeline:
    """The pipeline with one more effect of the event."""
    return replace(pipeline, effects=(*pipeline.effects, effect))
