"""All schedules of a bounded length, and where they end: counted, not searched for the worst.

A search asks whether something can happen; this asks in how many of all schedules it does. Schedules that lead to the
same state are counted together, so millions of them take no longer than the states there are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from kafkalearn.arguments import iterable, mapping, whole_number
from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.record_results import record_results
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.simulator import step
from kafkalearn.delivery.state import Delivery, start
from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.replication.search.find import alphabet

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
        As for `kafkalearn.replication.search.find.alphabet`.
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
