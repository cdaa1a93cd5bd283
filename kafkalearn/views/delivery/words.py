"""A producer and its partition in words: a few sentences about a frame, and the whole of it as plain text."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.delivery.broker import producer_state
from kafkalearn.delivery.effects import (
    BatchAppended,
    BatchPutAside,
    BatchRefused,
    BatchWillBeRetried,
    CallbackInvoked,
    DeliveryEffect,
    DuplicateRecognised,
    EpochRaised,
)
from kafkalearn.delivery.events import (
    AnswerArrived,
    ConnectionLost,
    DeliveryEvent,
    GaveUp,
    ProduceRequest,
    ProducerEvent,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
)
from kafkalearn.delivery.promises import broken
from kafkalearn.delivery.record_results import record_results
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.state import ANSWERED, AT_BROKER, ON_ITS_WAY, Batch, Delivery, Request
from kafkalearn.log.sequences import ProducerStateEntry
from kafkalearn.phrases import capitalised
from kafkalearn.replication.effects import NONE, ProduceAnswered
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.state import Partition
from kafkalearn.trace import Frame
from kafkalearn.views.replication.words import describe_replication, replication_text


def describe_delivery(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None = None
) -> str:
    """A few short sentences about a frame of `kafkalearn.delivery`: the event, and what it led to.

    >>> from kafkalearn.delivery import ProducerSettings, simulate
    >>> settings = Settings(producer=ProducerSettings(acks=1))
    >>> trace = simulate(settings, [Send(), RequestArrived(), AnswerArrived()])
    >>> for frame, earlier in zip(trace[1:], trace):
    ...     print(describe_delivery(settings, frame, earlier))
    The application sends m1. Its request goes to broker 1.
    The request with m1 reaches broker 1. The leader writes m1 at offset 0. The answer is on its way.
    The answer arrives. The callback for m1 is called: written.
    """
    said = _event_in_words(settings, frame, before)
    said += [words for effect in frame.state.effects for words in _effect_in_words(frame.state, effect)]
    said += _progress_in_words(frame, before)
    wrong = broken(settings, frame.state)
    known = () if before is None else broken(settings, before.state)
    new = [name for name in wrong if name not in known]
    said += [f"broken: {'; '.join(new)}"] if new else []
    return " ".join(f"{capitalised(words.rstrip('.'))}." for words in said if words)


def of_partition(frame: Frame[Delivery, DeliveryEvent]) -> Frame[Partition, ReplicationEvent]:
    """The same moment, seen from the partition; what only concerns the producer is no event there, and no effect."""
    event = None if isinstance(frame.event, ProducerEvent) else frame.event
    kept = tuple(each for each in frame.state.partition.effects if not isinstance(each, ProduceAnswered))
    return Frame(frame.index, event, replace(frame.state.partition, effects=kept))


def _event_in_words(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None
) -> list[str]:
    producer = frame.state.producer
    past = producer if before is None else before.state.producer
    match frame.event:
        case Send() | SendAgain():
            batch = producer.sent[-1]
            verb = "sends" if isinstance(frame.event, Send) else "takes from its store and sends again"
            requests = [each for each in producer.in_flight if each.batch.number == batch[0]]
            goes = f"its request goes {_goes(requests[0])}" if requests else "it waits for a place in flight"
            return [f"the application {verb} {values_in_words(batch[1])}", goes]
        case RequestSent():
            request = producer.in_flight[-1]
            return [f"the request with {values_in_words(request.batch.values)} goes {_goes(request)}"]
        case RequestArrived():
            request = next((each for each in past.in_flight if each.stage == ON_ITS_WAY), None)
            if request is None:
                return ["a request reaches its broker"]
            return [f"the request with {values_in_words(request.batch.values)} reaches broker {request.to_broker}"]
        case AnswerArrived():
            return ["the answer arrives"]
        case ConnectionLost():
            return ["the connection breaks: what is in flight never arrives"]
        case GaveUp():
            return ["the time of the oldest batch is over, delivery.timeout.ms"]
        case ProduceRequest():
            return [_by_hand(frame.event)]
    earlier = None if before is None else of_partition(before)
    return [describe_replication(settings.topic, of_partition(frame), earlier)]


def _by_hand(event: ProduceRequest) -> str:
    values = values_in_words(event.values)
    if event.producer_id is None:
        return f"a request with {values} comes to the leader"
    stamp = f"producer {event.producer_id}, epoch {event.producer_epoch}, sequence {event.first_sequence}"
    return f"a request with {values} comes to the leader: {stamp}"


def _goes(request: Request) -> str:
    return f"to broker {request.to_broker}{stamp_in_words(request.batch)}"


def stamp_in_words(batch: Batch) -> str:
    """The sequence number of a batch, if it has one."""
    if batch.stamp is None:
        return ""
    epoch = f", epoch {batch.stamp.producer_epoch}" if batch.stamp.producer_epoch else ""
    return f" with sequence {_span(batch.stamp.first_sequence, batch.stamp.last_sequence)}{epoch}"


def _span(first: int, last: int) -> str:
    return str(first) if first == last else f"{first} to {last}"


def values_in_words(values: tuple[str, ...]) -> str:
    """The values of a batch in words.

    >>> values_in_words(("m1",)), values_in_words(("m1", "m2")), values_in_words(("m1", "m2", "m3"))
    ('m1', 'm1 and m2', 'm1 to m3')
    """
    if len(values) < 3:
        return " and ".join(values)
    return f"{values[0]} to {values[-1]}"


def _effect_in_words(state: Delivery, effect: DeliveryEffect) -> list[str]:
    values: dict[int | None, str] = {number: values_in_words(values) for number, values, _ in state.producer.sent}
    match effect:
        case BatchAppended(number, offset):
            return [f"the leader writes {values.get(number, 'it')} at offset {offset}"]
        case DuplicateRecognised(number, offset):
            return [f"the leader remembers {values.get(number, 'it')}: it writes nothing and answers offset {offset}"]
        case BatchRefused(number, error):
            return [f"the leader refuses {values.get(number, 'it')}: {error}"]
        case BatchWillBeRetried(number, error):
            return [f"the producer will send {values[number]} again, after {error}"]
        case CallbackInvoked(number, error):
            return [f"the callback for {values[number]} is called: {'written' if error == NONE else error}"]
        case BatchPutAside(number):
            return [f"the application puts {values[number]} aside"]
        case EpochRaised(epoch):
            return [f"the producer raises its epoch to {epoch} and counts from 0 again"]
    return []


def _progress_in_words(
    frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None
) -> list[str]:
    """How requests that reached the broker go on."""
    past = {} if before is None else {each.batch.number: each.stage for each in before.state.producer.in_flight}
    said = []
    for request in frame.state.producer.in_flight:
        if past.get(request.batch.number, "") != request.stage:
            if request.stage == ANSWERED:
                said.append("the answer is on its way" + ("" if request.error == NONE else f": {request.error}"))
            elif request.stage == AT_BROKER:
                said.append("it waits there until the high watermark has passed it")
    return said


def producer_in_words(settings: Settings) -> str:
    """The producer's settings in one line.

    >>> from kafkalearn.delivery import ProducerSettings
    >>> producer_in_words(Settings()), producer_in_words(Settings(producer=ProducerSettings(acks=1)))
    ('acks=all, idempotent, 5 in flight', 'acks=1, not idempotent, 5 in flight')
    """
    producer = settings.producer
    kind = "idempotent" if producer.is_idempotent else "not idempotent"
    kind += ", failures put aside" if producer.puts_failures_aside else ""
    return f"acks={producer.acks}, {kind}, {producer.max_in_flight} in flight"


def remembered(settings: Settings, delivery: Delivery) -> tuple[int, ProducerStateEntry] | None:
    """The producer whose batches the leader remembers, and which; None: there is none."""
    leader = delivery.partition.leader
    ids = [each.stamp.producer_id for each in delivery.appended]
    if leader is None or not ids:
        return None
    now_ms, release = delivery.partition.now_ms, settings.topic.release
    entry = producer_state(leader.log, delivery.appended, ids[-1], now_ms, release)
    return None if entry is None else (ids[-1], entry)


def request_in_words(request: Request) -> str:
    """Where a request is."""
    if request.stage == ANSWERED:
        return f"answer on its way: {'written' if request.error == NONE else request.error}"
    return f"at broker {request.to_broker}, waits" if request.stage == AT_BROKER else f"to broker {request.to_broker}"


def delivery_text(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None = None
) -> str:
    """A frame of `kafkalearn.delivery` as a few lines of text, the partition below the producer.

    >>> from kafkalearn.delivery import ProducerSettings, TopicSettings, simulate
    >>> settings = Settings(TopicSettings(replica_count=1), ProducerSettings(acks=1))
    >>> before, frame = simulate(settings, [Send(), RequestArrived()])[-2:]
    >>> print(delivery_text(settings, frame, before))
    The request with m1 reaches broker 1. The leader writes m1 at offset 0. The answer is on its way.
    producer (acks=1, not idempotent, 5 in flight)
      m1: no callback yet; in the log at 0; open
      waiting: nothing
      in flight: m1, answer on its way: written
    leader 1, epoch 0, ISR 1
      1 leader, epoch 0  LEO 1, HW 1  0:m1 |
    """
    state = frame.state
    lines = [describe_delivery(settings, frame, before), f"producer ({producer_in_words(settings)})"]
    for record in record_results(state):
        callback = {None: "no callback yet", NONE: "acknowledged"}.get(
            record.callback, f"callback with {record.callback}"
        )
        places = f"in the log at {' and '.join(map(str, record.offsets))}" if record.offsets else "not in the log"
        lines.append(f"  {record.value}: {callback}; {places}; {record.result}")
    waiting = [f"{values_in_words(batch.values)}{stamp_in_words(batch)}" for batch in state.producer.waiting]
    lines.append(f"  waiting: {'; '.join(waiting) or 'nothing'}")
    if settings.producer.puts_failures_aside:
        stored = [values_in_words(each.values) for each in state.producer.put_aside]
        lines.append(f"  put aside: {'; '.join(stored) or 'nothing'}")
    flying = [
        f"{values_in_words(each.batch.values)}{stamp_in_words(each.batch)}, {request_in_words(each)}"
        for each in state.producer.in_flight
    ]
    lines.append(f"  in flight: {'; '.join(flying) or 'nothing'}")
    known = remembered(settings, state)
    if known is not None:
        spans = [f"{_span(*each[:2])} at {each.base_offset}" for each in known[1].batches]
        lines.append(f"  the leader remembers of producer {known[0]}: {'; '.join(spans)}")
    partition = replication_text(settings.topic, of_partition(frame), None if before is None else of_partition(before))
    return "\n".join([*lines, *partition.splitlines()[1:]])
