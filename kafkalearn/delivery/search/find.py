"""Searching all schedules of a producer and its partition, as `kafkalearn.replication.search` does for one alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import permutations

from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.processing import NormalDeliveryWork, partition_in, parts_of_delivery, places_of_producer
from kafkalearn.delivery.promises import PROMISES, clauses
from kafkalearn.delivery.settings import Setup
from kafkalearn.delivery.simulator import happen, start, step
from kafkalearn.delivery.state import Batch, Delivery, Producer
from kafkalearn.explore import Draft, Model, Relabelling, Search, explore
from kafkalearn.replication import Requests, TimePassed, alphabet
from kafkalearn.replication.search.naming import relabelling
from kafkalearn.replication.search.normal_form import split as split_partition

Test = Callable[[NormalDeliveryWork], bool]


def model(
    setup: Setup, promises: tuple[str, ...] = PROMISES, tests: Sequence[tuple[str, Test]] = ()
) -> Model[Delivery, DeliveryEvent]:
    """A delivery as a search sees it: brokers are interchangeable, numbers of requests are left out.

    Parameters
    ----------
    setup : Setup
        The topic's assignment only decides who leads at the start.
    promises : tuple of str
        Of `PROMISES`: those whose breaking is looked for.
    tests : sequence of (str, callable)
        Promises of your own: whether each holds in the parts of a state.
    """
    unordered = setup.unordered()
    brokers = setup.topic.broker_ids
    orders = [order for order in permutations(brokers) if order != brokers]
    judged = (*clauses(setup, promises), *tests)
    return Model(
        step=partial(step, unordered),
        split=partial(_split, unordered),
        happen=partial(_happen, unordered),
        promises=tuple((name, partial(_holds, unordered, test)) for name, test in judged),
        relabellings=tuple(_relabelling(setup, dict(zip(brokers, order, strict=True))) for order in orders),
    )


def find(
    setup: Setup,
    kinds: Sequence[type | DeliveryEvent],
    promises: tuple[str, ...] = PROMISES,
    **limits: object,
) -> Search[Delivery, DeliveryEvent]:
    """The shortest run from a fresh start that breaks one of these promises, or word that there is none.

    Parameters
    ----------
    setup : Setup
        A topic with ``fetch_wait_max_ms=0`` spares the search fetches that wait; it changes no outcome.
    kinds : sequence of event classes or events
        As for `kafkalearn.replication.alphabet`.
    promises : tuple of str
        Of `PROMISES`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.explore.explore`.

    Examples
    --------
    >>> from kafkalearn.delivery import NONE_DOUBLED, ConnectionLost, ProducerSettings, RequestArrived, RequestSent
    >>> from kafkalearn.delivery import Send
    >>> setup = Setup(producer=ProducerSettings(acks=1))
    >>> found = find(setup, [Send, RequestSent, RequestArrived, ConnectionLost], (NONE_DOUBLED,))
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Send', 'RequestArrived', 'ConnectionLost', 'RequestSent', 'RequestArrived']
    """
    return explore(model(setup, promises), start(setup), alphabet(setup.topic, *kinds), **limits)


def _holds(setup: Setup, test: Test, draft: Draft) -> bool:
    return test(NormalDeliveryWork(setup, draft))


def _split(setup: Setup, delivery: Delivery) -> tuple:
    producer, appended = parts_of_delivery(delivery)[-2:]
    now_ms = delivery.partition.now_ms
    uncounted = replace(delivery.partition, ledger=delivery.partition.ledger._replace(requests=Requests()))
    aged = tuple(each._replace(timestamp_ms=each.timestamp_ms - now_ms) for each in appended)
    return (*split_partition(setup.topic, uncounted), _from_now(producer, now_ms), aged)


def _happen(setup: Setup, draft: Draft, event: DeliveryEvent) -> None:
    work = NormalDeliveryWork(setup, draft)
    happen(work, event)
    if isinstance(event, TimePassed):
        work.producer = _from_now(work.producer, work.now_ms)
        work.appended = tuple(each._replace(timestamp_ms=each.timestamp_ms - work.now_ms) for each in work.appended)
    if work.has_recorded or isinstance(event, TimePassed):
        _normalise(setup, work)


def _normalise(setup: Setup, work: NormalDeliveryWork) -> None:
    """The partition's parts in normal form again: times from now on, epochs of its record from this one on."""
    parts = tuple(work.read(place) for place in range(places_of_producer(setup.topic)[1] + 1))
    for place, part in enumerate(split_partition(setup.topic, partition_in(parts))):
        if part != parts[place]:
            work.write(place, part)


def _from_now(producer: Producer, now_ms: int) -> Producer:
    """The client's side with times told from now on."""
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


def _relabelling(setup: Setup, names: dict[int, int]) -> Relabelling:
    of_partition, own = relabelling(names), places_of_producer(setup.topic)

    def part(place: int, part: object) -> object:
        if place == own[0]:
            return _renamed(names, part)
        return part if place == own[1] else of_partition.part(place, part)

    return Relabelling((*of_partition.places, *own), part, of_partition.event)


def _renamed(names: dict[int, int], producer: Producer) -> Producer:
    in_flight = tuple(request._replace(to_broker=names[request.to_broker]) for request in producer.in_flight)
    return producer._replace(in_flight=in_flight)
