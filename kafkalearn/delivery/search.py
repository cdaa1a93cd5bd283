"""What only the searches over a producer's schedules need: `find`, the matrix of results, and counting schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, Unpack

from kafkalearn.base.checks import iterable, mapping, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.search import EventLimits, Model, Relabelling, Search, explore
from kafkalearn.base.trace import Parts
from kafkalearn.delivery.client import DeliveryProcessing, places_of_producer
from kafkalearn.delivery.model import (
    AnswerArrived,
    Batch,
    ConnectionLost,
    Delivery,
    DeliveryEvent,
    GaveUp,
    Producer,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    StampedBatch,
    start,
)
from kafkalearn.delivery.simulator import (
    DOUBLED,
    LOST,
    OUT_OF_ORDER,
    PROMISES,
    REJECTED,
    SAFE,
    process,
    record_results,
    step,
)
from kafkalearn.replication import search as of_replication
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    Fetch,
    PowerLost,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication.search import alphabet, count_anew, relabelling, renamings, tests_of
from kafkalearn.replication.state import Requests

# Searching all schedules of a producer and its partition, as `kafkalearn.replication.search` does for one alone.

Test = Callable[[DeliveryProcessing], bool]

NORMALISER = of_replication.NORMALISER._replace(requests=lambda requests: Requests())
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
        As for `kafkalearn.replication.search.alphabet`.
    promises : iterable of str
        As for `model`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.base.search.explore`.

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
    return (*of_replication.split(settings.topic, uncounted), _from_now(producer, now_ms), _aged(appended, now_ms))


def _process(settings: Settings, parts: Parts, event: DeliveryEvent) -> None:
    processing = DeliveryProcessing(settings, parts, NORMALISER)
    process(processing, event)
    if isinstance(event, TimePassed):
        processing.producer = _from_now(processing.producer, processing.now_ms)
        processing.appended = _aged(processing.appended, processing.now_ms)
    count_anew(processing, event)


def _aged(appended: tuple[StampedBatch, ...], now_ms: int) -> tuple[StampedBatch, ...]:
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


# All schedules of a bounded length, and where they end: counted, not searched for the worst. A search asks whether
# something can happen; this asks in how many of all schedules it does. Schedules that lead to the same state are
# counted together, so millions of them take no longer than the states there are.

MOST_EVENTS = 100  # of a schedule
MOST_STATES = 200_000  # gone on from at once: some hundred megabytes

Level: TypeAlias = Mapping[tuple[Delivery, tuple[int, ...]], int]
"""States, each with how often events of a limited type have happened on the way, and the number of schedules to it."""


class End(NamedTuple):
    """A state in which nothing is under way and a broker leads, and how many schedules end there."""

    delivery: Delivery
    schedule_count: int


def ends(
    settings: Settings, kinds: Sequence[type | DeliveryEvent], length: int, at_most: Mapping[type, int] | None = None
) -> tuple[End, ...]:
    """Where all schedules of up to `length` events end, if they end quietly.

    Parameters
    ----------
    settings : Settings
        Producer and topic; the controller elects by the order of the assignment.
    kinds : sequence of event classes or events
        As for `kafkalearn.replication.search.alphabet`.
    length : int
        The most events of a schedule, at most 100.
    at_most : mapping of type to int, or None
        How often events of a type may happen in one schedule.

    Returns
    -------
    tuple of End
        In the order in which they are first reached. Schedules that end while a request is in flight, or without a
        leader, are left out: the results of their records are not decided.

    Raises
    ------
    KafkaLearnError
        If an argument is not as described, or there are more than 200,000 states at once to go on from.

    Examples
    --------
    >>> from kafkalearn.delivery import AnswerArrived, ConnectionLost, RequestArrived, RequestSent, Send
    >>> from kafkalearn.delivery import ProducerSettings, TopicSettings
    >>> settings = Settings(TopicSettings(replica_count=1), ProducerSettings(acks=1))
    >>> kinds = [Send, RequestSent, RequestArrived, AnswerArrived, ConnectionLost]
    >>> for end in ends(settings, kinds, 6, {Send: 1, ConnectionLost: 1}):
    ...     print([each.result for each in record_results(end.delivery)], end.schedule_count)
    [] 1
    ['open'] 1
    ['safe'] 2
    ['open'] 1
    ['doubled'] 1
    """
    whole_number("length", length, 0, MOST_EVENTS)
    happens: Iterable[Any] = iterable("kinds", kinds, of="event classes or events")
    named = alphabet(settings.topic, *happens)
    events = [each for each in named if getattr(each, "successor", None) is None]
    given = mapping("at_most", at_most or {}, of="event class to number")
    limits = tuple((kind, whole_number("at_most", most, at_least=0)) for kind, most in given.items())
    level: Level = {(start(settings), (0,) * len(limits)): 1}
    found: Counter[Delivery] = Counter(_quiet(level))
    for number in range(1, length + 1):
        level = _next(settings, events, limits, level)
        if len(level) > MOST_STATES:
            raise KafkaLearnError(
                f"schedules of {number} events lead to {len(level):,} states, and at most {MOST_STATES:,} are gone on "
                "from; allow fewer events, or fewer of a kind with at_most"
            )
        found.update(_quiet(level))
    return tuple(End(delivery, count) for delivery, count in found.items())


def _next(
    settings: Settings, events: Sequence[DeliveryEvent], limits: tuple[tuple[type, int], ...], level: Level
) -> Level:
    """The states one event further on, each with the number of schedules that lead to it."""
    further: Counter[tuple[Delivery, tuple[int, ...]]] = Counter()
    for (delivery, used), count in level.items():
        for event in events:
            spent = tuple(times + (type(event) is kind) for times, (kind, _) in zip(used, limits, strict=True))
            if any(times > most for times, (_, most) in zip(spent, limits, strict=True)):
                continue
            try:
                after = step(settings, delivery, event)
            except IllegalEvent:
                continue
            further[after, spent] += count
    return further


def _quiet(level: Level) -> dict[Delivery, int]:
    quiet: Counter[Delivery] = Counter()
    for (delivery, _), count in level.items():
        if not delivery.producer.in_flight and delivery.partition.leader is not None:
            quiet[delivery] += count
    return quiet


def sent_rows(run: str, delivery: Delivery) -> list[tuple[str, int, str | None, int]]:
    """What the application knows, a row for each time a record was sent: run, its number, its callback, which time.

    >>> from kafkalearn.delivery import GaveUp, ProducerSettings, Send, SendAgain, simulate
    >>> settings = Settings(producer=ProducerSettings(puts_failures_aside=True))
    >>> sent_rows("r", simulate(settings, [Send(2), Send(), GaveUp(), SendAgain()])[-1].state)
    [('r', 1, 'TIMEOUT', 1), ('r', 2, 'TIMEOUT', 1), ('r', 3, None, 1), ('r', 1, None, 2), ('r', 2, None, 2)]
    """
    numbers = {value: number for number, value in enumerate(delivery.producer.records, start=1)}
    times: Counter[str] = Counter()
    rows: list[tuple[str, int, str | None, int]] = []
    for _, values, callback in delivery.producer.sent:
        for value in values:
            times[value] += 1
            rows.append((run, numbers[value], callback, times[value]))
    return rows


def log_rows(run: str, delivery: Delivery) -> list[tuple[str, int, int]]:
    """What is in the leader's log, a row for each copy of a record: run, number, offset; nothing without a leader."""
    numbers = {result.value: number for number, result in enumerate(record_results(delivery), start=1)}
    leader = delivery.partition.leader
    if leader is None:
        return []
    records = enumerate(leader.log.records, leader.log.first_offset)
    return [(run, numbers[record.value], offset) for offset, record in records]


def result_rows(run: str, delivery: Delivery) -> list[tuple[str, int, str]]:
    """The result of each record by the simulator: run, number of the record, result."""
    return [(run, number, result.result) for number, result in enumerate(record_results(delivery), start=1)]


def rows_of(
    named: Iterable[tuple[str, Delivery]],
) -> tuple[list[tuple[str, int, str | None, int]], list[tuple[str, int, int]], list[tuple[str, int, str]]]:
    """`sent_rows`, `log_rows` and `result_rows` of many runs, each list as long as it gets."""
    sent: list[tuple[str, int, str | None, int]] = []
    log: list[tuple[str, int, int]] = []
    results: list[tuple[str, int, str]] = []
    for run, delivery in named:
        sent += sent_rows(run, delivery)
        log += log_rows(run, delivery)
        results += result_rows(run, delivery)
    return sent, log, results


# What the matrix is made of: producers, failures that may happen, and results that a search looks for.

GIVEN_UP = "given up"
OFFLINE = "offline"  # of the whole partition; the other results are those of records

CELL_RESULTS: MappingProxyType[str, str] = MappingProxyType(
    {
        LOST: "the record is acknowledged, and gone",
        DOUBLED: "the record is in the log twice",
        OUT_OF_ORDER: "a record stands behind one that was sent after it",
        GIVEN_UP: "the callback got an error, the application left it at that, and the record is not in the log",
        OFFLINE: "brokers are up, and none may lead: the partition waits for one that has everything",
        REJECTED: "the leader refuses the record: NOT_ENOUGH_REPLICAS",
        SAFE: "the failure has happened; the record is acknowledged and in the log",
    }
)
"""What a search looks for in a cell, the worst first."""

TRAFFIC = (Send, SendAgain, RequestSent, RequestArrived, AnswerArrived, Fetch)


@dataclass(frozen=True, slots=True)
class Failure:
    """What goes wrong, at any moment."""

    description: str
    kinds: tuple[type, ...]  # the events of it, besides the traffic
    at_most: MappingProxyType[type, int]
    before: tuple[DeliveryEvent, ...] = ()  # what has happened when the search begins
    send_count: int = 1
    absent: tuple[int, ...] = ()  # brokers that take no part in it
    strikes: tuple[type, ...] = ()  # the events with which it has happened; none given: any of those it is limited to


def _failure(
    description: str,
    kinds: tuple[type, ...],
    limits: dict[type, int],
    before: tuple[DeliveryEvent, ...] = (),
    **options: Any,
) -> Failure:
    return Failure(description, kinds, MappingProxyType(limits), before, **options)


_AWAY = tuple(event for broker_id in (2, 3) for event in (BrokerCrashed(broker_id), SessionExpired(broker_id)))

FAILURES: MappingProxyType[str, Failure] = MappingProxyType(
    {
        "the connection breaks": _failure(
            "once, with up to two batches in flight", (ConnectionLost,), {ConnectionLost: 1}, send_count=2
        ),
        "the time for a batch is over": _failure(
            "delivery.timeout.ms; the connection may have broken before that, once",
            (ConnectionLost, GaveUp),
            {ConnectionLost: 1, GaveUp: 1},
            strikes=(GaveUp,),
        ),
        "the leader dies": _failure(
            "its process is killed; another is elected; it may come back",
            (BrokerCrashed, SessionExpired, BrokerStarted),
            {BrokerCrashed: 1},
        ),
        "the leader stands still": _failure(
            "a long pause: another is elected while it still believes it leads",
            (BrokerFrozen, BrokerThawed, BrokerReconnected, SessionExpired),
            {BrokerFrozen: 1},
        ),
        "the followers are away, the leader dies": _failure(
            "the other two have left the ISR; they may come back, but not into the ISR before that",
            (BrokerCrashed, SessionExpired, BrokerStarted),
            {BrokerCrashed: 1},
            _AWAY,
        ),
        "the last in sync loses its power": _failure(
            "one broker is away; another stops cleanly; the third loses what it had not flushed",
            (BrokerStopped, PowerLost, SessionExpired, BrokerStarted),
            {BrokerStopped: 1, PowerLost: 1},
            (BrokerStopped(3),),
            absent=(3,),
        ),
        "both in sync lose their power": _failure(
            "one broker is away; the other two lose what they had not flushed",
            (PowerLost, SessionExpired, BrokerStarted),
            {PowerLost: 2},
            (BrokerStopped(3),),
            absent=(3,),
        ),
    }
)
"""Failures by name."""

PRODUCERS: MappingProxyType[str, ProducerSettings] = MappingProxyType(
    {
        "acks=0": ProducerSettings(acks=0),
        "acks=1": ProducerSettings(acks=1),
        "acks=all": ProducerSettings(acks="all", is_idempotent=False),
        "acks=all, idempotent": ProducerSettings(acks="all", is_idempotent=True),
        "idempotent, puts aside": ProducerSettings(acks="all", is_idempotent=True, puts_failures_aside=True),
    }
)
"""Producers by name, else with the defaults of 4.3: they retry without end. The application of the last stores what
fails all the same, and sends it again."""
