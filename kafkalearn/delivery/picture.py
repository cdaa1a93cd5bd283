"""A producer and its partition, shown: in words, and as a picture with the producer on top of its partition.

The settings come first, so that they can be bound once: ``play(trace, partial(draw_delivery, settings))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkalearn.base.errors import capitalised
from kafkalearn.base.facts import in_words
from kafkalearn.base.promises import broken_in_words
from kafkalearn.base.trace import Frame
from kafkalearn.delivery import model
from kafkalearn.delivery.client import producer_state
from kafkalearn.delivery.model import Delivery, DeliveryEvent, Request, Settings
from kafkalearn.delivery.simulator import (
    DOUBLED,
    LOST,
    OPEN,
    SAFE,
    WRITTEN,
    RecordResult,
    broken,
    record_results,
)
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import Block, chip, envelope, label, line_of, named, promises, row, sheet, space, stack
from kafkalearn.drawing.player import Picture
from kafkalearn.log.sequences import ProducerStateEntry, window_of
from kafkalearn.replication.events import NONE, ProduceAnswered, ReplicationEvent
from kafkalearn.replication.picture import replication_rows
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.replication.state import Partition
from kafkalearn.replication.words import describe_replication, replication_text


def describe_delivery(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None = None
) -> str:
    """A few short sentences about a frame of `kafkalearn.delivery`: the event, and what it led to.

    >>> from kafkalearn.delivery import AnswerArrived, RequestArrived, Send
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
    said += [broken_in_words(new)] if new else []
    return " ".join(f"{capitalised(words.rstrip('.'))}." for words in said if words)


def of_partition(frame: Frame[Delivery, DeliveryEvent]) -> Frame[Partition, ReplicationEvent]:
    """The same moment, seen from the partition; what only concerns the producer is no event there, and no effect."""
    event = None if isinstance(frame.event, model.ProducerEvent) else frame.event
    kept = tuple(each for each in frame.state.partition.effects if not isinstance(each, ProduceAnswered))
    return Frame(frame.index, event, replace(frame.state.partition, effects=kept))


def _event_in_words(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None
) -> list[str]:
    producer = frame.state.producer
    past = producer if before is None else before.state.producer
    match frame.event:
        case model.Send() | model.SendAgain():
            batch = producer.sent[-1]
            verb = "sends" if isinstance(frame.event, model.Send) else "takes from its store and sends again"
            requests = [each for each in producer.in_flight if each.batch.number == batch[0]]
            goes = f"its request goes {_goes(requests[0])}" if requests else "it waits for a place in flight"
            return [f"the application {verb} {values_in_words(batch[1])}", goes]
        case model.RequestSent():
            if not producer.in_flight:  # its leader is down, and nobody has said so yet
                return [f"the request with {values_in_words(past.waiting[0].values)} finds nobody at its broker"]
            request = producer.in_flight[-1]
            return [f"the request with {values_in_words(request.batch.values)} goes {_goes(request)}"]
        case model.RequestArrived():
            request = next((each for each in past.in_flight if each.stage == model.ON_ITS_WAY), None)
            if request is None:
                return ["a request reaches its broker"]
            return [f"the request with {values_in_words(request.batch.values)} reaches broker {request.to_broker}"]
        case model.AnswerArrived() | model.LateAnswerArrived() | model.ConnectionLost() | model.GaveUp():
            return [in_words(frame.event)]
        case model.ProduceRequest():
            return [_by_hand(frame.event)]
    earlier = None if before is None else of_partition(before)
    return [describe_replication(settings.topic, of_partition(frame), earlier)]


def _by_hand(event: model.ProduceRequest) -> str:
    values = values_in_words(event.values)
    if event.producer_id is None:
        return f"a request with {values} comes to the leader"
    stamp = f"producer {event.producer_id}, epoch {event.producer_epoch}, sequence {event.first_sequence}"
    return f"a request with {values} comes to the leader: {stamp}"


def _goes(request: Request) -> str:
    return f"to broker {request.to_broker}{stamp_in_words(request.batch)}"


def stamp_in_words(batch: model.Batch) -> str:
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


def _effect_in_words(state: Delivery, effect: model.DeliveryEffect) -> list[str]:
    values: dict[int | None, str] = {number: values_in_words(values) for number, values, _ in state.producer.sent}
    match effect:
        case model.BatchAppended(number, offset):
            return [f"the leader writes {values.get(number, 'it')} at offset {offset}"]
        case model.DuplicateRecognised(number, offset):
            return [f"the leader remembers {values.get(number, 'it')}: it writes nothing and answers offset {offset}"]
        case model.BatchRefused(number, error):
            return [f"the leader refuses {values.get(number, 'it')}: {error}"]
        case model.BatchWillBeRetried(number, error):
            return [f"the producer will send {values[number]} again, after {error}"]
        case model.CallbackInvoked(number, error):
            return [f"the callback for {values[number]} is called: {'written' if error == NONE else error}"]
        case model.BatchPutAside(number):
            return [f"the application puts {values[number]} aside"]
        case model.EpochRaised():
            return [in_words(effect)]
    return []


def _progress_in_words(
    frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None
) -> list[str]:
    """How requests that reached the broker go on."""
    past = {} if before is None else {each.batch.number: each.stage for each in before.state.producer.in_flight}
    said = []
    for request in frame.state.producer.in_flight:
        if past.get(request.batch.number, "") != request.stage:
            if request.stage == model.ANSWERED:
                said.append("the answer is on its way" + ("" if request.error == NONE else f": {request.error}"))
            elif request.stage == model.AT_BROKER:
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
    if request.stage == model.ANSWERED:
        return f"answer on its way: {'written' if request.error == NONE else request.error}"
    to = request.to_broker
    return f"at broker {to}, waits" if request.stage == model.AT_BROKER else f"to broker {to}"


def delivery_text(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None = None
) -> str:
    """A frame of `kafkalearn.delivery` as a few lines of text, the partition below the producer.

    >>> from kafkalearn.delivery import RequestArrived, Send
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


# The picture: callbacks and requests in flight above, logs below.

LEFT, NAMES = 16, 14  # pixels: of the page, and from there to the names of lanes
CHIP_WIDTH, MOST_CHIPS, MOST_REQUESTS = 112, 6, 3
LANE_HEIGHT, BAND_HEIGHT = 48, 32
LOOKS = {SAFE: svg.COMMITTED, OPEN: svg.OPEN, WRITTEN: svg.OPEN, LOST: svg.LOST, DOUBLED: svg.TWICE}
DONE = svg.Fill(svg.READ, "")


def draw_delivery(
    settings: Settings, frame: Frame[Delivery, DeliveryEvent], before: Frame[Delivery, DeliveryEvent] | None = None
) -> Picture:
    """One moment of a producer in front of a partition, drawn.

    The lanes above: each record the application sent, with its callback and its result; what waits and what is in
    flight; and of an idempotent producer the batches that the leader remembers. Below: the partition.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of the trace and the one before it.

    Examples
    --------
    >>> from kafkalearn.delivery import Send, simulate
    >>> trace = simulate(Settings(), [Send()])
    >>> draw_delivery(Settings(), trace[1], trace[0]).label
    'The application sends m1. Its request goes to broker 1 with sequence 0.'
    """
    old = None if before is None else before.state
    lanes = [
        _lane("the application", "its callbacks", _records(frame.state, old)),
        _lane("in flight", "requests", _in_flight(frame.state)),
    ]
    if settings.producer.is_idempotent or remembered(settings, frame.state) is not None:
        lanes.append(_window(settings, frame.state, old))
    above = stack(
        label(f"Producer: {producer_in_words(settings)}", svg.TITLE, bold=True),
        space(height=4),
        *lanes,
        promises(
            broken(settings, frame.state),
            () if old is None else broken(settings, old),
            "the application can rely on its callbacks",
            width=svg.WIDTH - 2 * LEFT,
            height=BAND_HEIGHT,
        ),
    )
    earlier = None if before is None else of_partition(before)
    page = stack(above, _partition(settings.topic, of_partition(frame), earlier))
    return sheet(page, describe_delivery(settings, frame, before), top=8, below=0)


def _partition(
    topic: TopicSettings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None,
) -> Block:
    """The partition as a picture of its own, from edge to edge, with its words."""
    rows = replication_rows(topic, frame, before)
    height = 10 + rows.height
    view = {"xmlns": "http://www.w3.org/2000/svg", "viewBox": f"0 0 {svg.WIDTH} {svg.number(height)}"}
    look = {"width": svg.WIDTH, "height": height, "role": "img", "font_family": svg.SANS, "fill": svg.INK}
    words = svg.escape(describe_replication(topic, frame, before))

    def draw(x: float, y: float) -> list[str]:
        drawn = [svg.rect(0, 0, svg.WIDTH, height, svg.PANEL), *(each for each in rows.draw(LEFT, 10) if each)]
        return [svg.element("svg", "\n".join(["", *drawn, ""]), x=x - LEFT, y=y, **view, **look, aria_label=words)]

    return Block(rows.width, height, draw)


def _lane(name: str, what: str, things: Sequence[Block]) -> Block:
    return row(space(NAMES - 8), named(name, what, line_of(*things), height=LANE_HEIGHT), space())


def _nothing(words: str) -> list[Block]:
    return [stack(space(height=8), label(words, svg.BODY, svg.MUTED))]


def _records(state: Delivery, before: Delivery | None) -> list[Block]:
    """The newest records: value and callback, and below them the result."""
    known = None if before is None else _said_of(before)
    said = _said_of(state)
    shown = [
        chip(
            lines,
            LOOKS.get(result, svg.NOTHING),
            width=CHIP_WIDTH,
            is_new=known is not None and known.get(value) != (lines, result),
        )
        for value, (lines, result) in list(said.items())[-MOST_CHIPS:]
    ]
    return shown or _nothing("has sent nothing yet")


def _said_of(state: Delivery) -> dict[str, tuple[tuple[str, str], str]]:
    """Of each record the two lines of its chip, and its result."""
    stored = {value for each in state.producer.put_aside for value in each.values}
    return {
        each.value: ((f"{each.value[:4]}: {_callback(each, each.value in stored)}", _short(each.result)), each.result)
        for each in record_results(state)
    }


def _callback(record: RecordResult, is_stored: bool) -> str:
    return {None: "waits", NONE: "acked"}.get(record.callback, "aside" if is_stored else "failed")


def _short(result: str) -> str:
    return {WRITTEN: "yet written", LOST: "LOST", DOUBLED: "DOUBLED"}.get(result, result)


def _in_flight(state: Delivery) -> list[Block]:
    """Requests on their way to a broker, at it, and answers on their way back."""
    producer = state.producer
    things = [_request(each) for each in producer.in_flight[:MOST_REQUESTS]] or _nothing("nothing")
    more = len(producer.in_flight) - MOST_REQUESTS
    words = [f"+{more}"] if more > 0 else []
    waiting = "; ".join(values_in_words(batch.values) for batch in producer.waiting)
    words += [f"to be sent again: {waiting}"] if waiting else []
    return [*things, *_nothing(svg.cut_end(", ".join(words), 28))] if words else things


def _request(request: Request) -> Block:
    stamp = request.batch.stamp
    numbered = "" if stamp is None else f", seq {stamp.first_sequence}"
    return envelope(
        f"{values_in_words(request.batch.values)}{numbered}",
        request_in_words(request).replace("answer on its way", "answer"),  # it points to where it goes
        DONE if request.stage == model.ANSWERED else svg.OPEN,
        width=244 if request.error == NONE else 300,
        to={model.ANSWERED: "left", model.AT_BROKER: ""}.get(request.stage, "right"),
    )


def _window(settings: Settings, state: Delivery, before: Delivery | None) -> Block:
    """The batches the leader remembers: a place for each, the newest right."""
    known = remembered(settings, state)
    old = None if before is None else remembered(settings, before)
    batches = () if known is None else known[1].batches
    was = () if old is None else old[1].batches
    places = [
        chip(
            [f"seq {_span(each.first_sequence, each.last_sequence)}", f"offset {each.base_offset}"],
            DONE,
            width=CHIP_WIDTH,
            is_new=before is not None and each not in was,
        )
        for each in batches
    ]
    free_places = window_of(settings.topic.release) - len(batches)
    who = "nothing yet" if known is None else f"id {known[0]}, epoch {known[1].producer_epoch}"
    return _lane("remembered", who, [*places, *[chip([], svg.NOTHING, width=CHIP_WIDTH)] * free_places])
