"""Searching all schedules of a producer and its partition, as `kafkalearn.replication.search` does for one alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

from kafkalearn.arguments import iterable
from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.processing import DeliveryProcessing, places_of_producer
from kafkalearn.delivery.promises import PROMISES
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.simulator import process, step
from kafkalearn.delivery.state import Appended, Batch, Delivery, Producer, start
from kafkalearn.explore import Model, Relabelling, Search, explore
from kafkalearn.explore.model import EventLimits
from kafkalearn.parts import Parts
from kafkalearn.replication.events import TimePassed
from kafkalearn.replication.search.find import alphabet, renamings, tests_of
from kafkalearn.replication.search.naming import relabelling
from kafkalearn.replication.search.normal_form import NORMALISER as PARTITION_NORMALISER
from kafkalearn.replication.search.normal_form import count_anew
from kafkalearn.replication.search.normal_form import split as split_partition
from kafkalearn.replication.state import Requests

Test = Callable[[DeliveryProcessing], bool]

NORMALISER = PARTITION_NORMALISER._replace(requests=lambda requests: Requests())
"""As for the partition; and no value is counted: here records bring their values along."""


def model(
    settings: Settings, promises: Iterable[str] = tuple(PROMISES), tests: Sequence[tuple[str, Test]] = ()
) -> Model[Settings, Delivery, DeliveryEvent]:
    """A delivery as a search sees it: brokers are interchangeable, numbers of requests are left out.

    Parameters
    ----------
    settings : Settings
        The topic's assignment only decides who leads at the start.
    promises : iterable of str
        Names in `PROMISES`: the search looks for a state that breaks one of them.
    tests : sequence of (str, callable)
        Promises of your own: whether each holds in the parts of a state.
    """
    unordered = settings.unordered()
    judged = (*tests_of(PROMISES, settings, promises), *tests)
    return Model(
        settings=unordered,
        step=step,
        split=partial(_split, unordered),
        happen=partial(_process, unordered),
        promises=tuple((name, partial(_holds, unordered, test)) for name, test in judged),
        relabellings=tuple(_relabelling(settings, names) for names in renamings(settings.topic.broker_ids)),
    )


def find(
    settings: Settings,
    kinds: Sequence[type | DeliveryEvent],
    promises: Iterable[str] = tuple(PROMISES),
    **limits: Unpack[EventLimits],
) -> Search[Delivery, DeliveryEvent]:
    """The shortest run from the start that breaks one of these promises, or the answer that there is none.

    Parameters
    ----------
    settings : Settings
        A topic with ``fetch_wait_max_ms=0`` spares the search fetches that wait; it changes no answer.
    kinds : sequence of event classes or events
        As for `kafkalearn.replication.search.find.alphabet`.
    promises : iterable of str
        As for `model`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.explore.explore`.

    Examples
    --------
    >>> from kafkalearn.delivery import NONE_DOUBLED, ConnectionLost, ProducerSettings, RequestArrived, RequestSent
    >>> from kafkalearn.delivery import Send
    >>> settings = Settings(producer=ProducerSettings(acks=1))
    >>> found = find(settings, [Send, RequestSent, RequestArrived, ConnectionLost], (NONE_DOUBLED,))
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Send', 'RequestArrived', 'ConnectionLost', 'RequestSent', 'RequestArrived']
    """
    happens: Iterable[Any] = iterable("kinds", kinds, of="event classes or events")
    events = alphabet(settings.topic, *happens)
    return explore(model(settings, promises), start(settings), events, **limits)


def _holds(settings: Settings, test: Test, parts: Parts) -> bool:
    return test(DeliveryProcessing(settings, parts))


def _split(settings: Settings, delivery: Delivery) -> tuple[Hashable, ...]:
    producer, appended = delivery.producer, delivery.appended
    now_ms = delivery.partition.now_ms
    uncounted = replace(delivery.partition, ledger=delivery.partition.ledger._replace(requests=Requests()))
    return (*split_partition(settings.topic, uncounted), _from_now(producer, now_ms), _aged(appended, now_ms))


def _process(settings: Settings, parts: Parts, event: DeliveryEvent) -> None:
    processing = DeliveryProcessing(settings, parts, NORMALISER)
    process(processing, event)
    if isinstance(event, TimePassed):
        processing.producer = _from_now(processing.producer, processing.now_ms)
        processing.appended = _aged(processing.appended, processing.now_ms)
    count_anew(processing, event)


def _aged(appended: tuple[Appended, ...], now_ms: int) -> tuple[Appended, ...]:
    return tuple(each._replace(timestamp_ms=each.timestamp_ms - now_ms) for each in appended)


def _from_now(producer: Producer, now_ms: int) -> Producer:
    """The client's side with times counted from now on."""
    if now_ms == 0:
        return producer
    return producer._replace(
        waiting=tuple(_earlier(batch, now_ms) for batch in producer.waiting),
        in_flight=tuple(
            request._replace(batch=_earlier(request.batch, now_ms), deadline_ms=request.deadline_ms - now_ms)
            for request in producer.in_flight
        ),
    )


def _earlier(batch: Batch, now_ms: int) -> Batch:
    return batch if batch.deadline_ms is None else batch._replace(deadline_ms=batch.deadline_ms - now_ms)


def _relabelling(settings: Settings, names: dict[int, int]) -> Relabelling:
    of_partition, own = relabelling(names), places_of_producer(settings.topic)

    def part(place: int, part: Any) -> Hashable:
        if place == own[0]:
            return _renamed(names, part)
        return part if place == own[1] else of_partition.part(place, part)

    return Relabelling((*of_partition.places, *own), part, of_partition.event)


def _renamed(names: dict[int, int], producer: Producer) -> Producer:
    in_flight = tuple(request._replace(to_broker=names[request.to_broker]) for request in producer.in_flight)
    return producer._replace(in_flight=in_flight)
