"""Bursts: five records sent at once, one accident, and what each producer makes of it.

An accident says what happens outside the producer: how many requests have reached the leader, how many answers have
come back, how many records the follower has copied, as the connection breaks or the leader dies. What follows is the
producer's own: which requests are in flight, in which order they go out again, with which numbers. So the same
accident leads to another log for each producer. `kafkalearn.spark.bursts` has the same for millions of bursts.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import NamedTuple

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.delivery.model import (
    ON_ITS_WAY,
    AnswerArrived,
    ConnectionLost,
    DeliveryEvent,
    GaveUp,
    ProducerSettings,
    RequestArrived,
    RequestSent,
    Send,
    SendAgain,
    Settings,
    TopicSettings,
    start,
)
from kafkalearn.delivery.search import PRODUCERS
from kafkalearn.delivery.simulator import record_results, simulate, step
from kafkalearn.replication.events import BrokerCrashed, Fetch, SessionExpired

BURST = 5
"""Records of a burst, each a batch of its own: as many as may be in flight by default."""

LEAST_RETRIES = 2
"""So many retries are as good as no limit: nothing is sent more than three times in a burst."""

BURST_PRODUCERS: MappingProxyType[str, ProducerSettings] = MappingProxyType(
    {
        "acks=0": PRODUCERS["acks=0"],
        "acks=1, no retries": ProducerSettings(acks=1, retries=0),
        "acks=1": PRODUCERS["acks=1"],
        "acks=all": PRODUCERS["acks=all"],
        "acks=all, 1 in flight": ProducerSettings(acks="all", is_idempotent=False, max_in_flight=1),
        "acks=all, idempotent": PRODUCERS["acks=all, idempotent"],
        "idempotent, puts aside": PRODUCERS["idempotent, puts aside"],
    }
)
"""Those of `kafkalearn.delivery.search.PRODUCERS`, and two more: without retries, and with one request in flight."""


class Accident(NamedTuple):
    """What happens to a burst, counted in records of the order in which they go out.

    A producer that waits for answers may not have sent as many as here are said to arrive; a leader that waits for its
    follower does not answer what is not copied. Then it is as many as can be.
    """

    arrived: int  # requests that reach the leader before it happens
    answered: int  # of them, answers that reach the producer
    copied: int | None = None  # the leader dies, and the follower has so many; None: the connection breaks
    again: tuple[int, int] | None = None  # the connection breaks once more: arrived and answered of what was left
    is_time_over: bool = False  # only the first record is out; it is given up, and then the others are sent


def check_producer(settings: ProducerSettings) -> None:
    """Raise for a producer whose bursts are not modelled.

    >>> check_producer(ProducerSettings(acks=1, retries=1))
    Traceback (most recent call last):
    kafkalearn.base.errors.KafkaLearnError: retries must be 0 or at least 2, got 1: two accidents would end them
    """
    if 0 < settings.retries < LEAST_RETRIES:
        raise KafkaLearnError(f"retries must be 0 or at least {LEAST_RETRIES}, got 1: two accidents would end them")
    if settings.puts_failures_aside and not settings.retries:
        raise KafkaLearnError("a producer that puts failures aside must retry first; leave retries=0 away")


def burst_events(settings: Settings, accident: Accident | None) -> list[DeliveryEvent]:
    """A burst as events of the simulator, until every callback was called and nothing is under way.

    Parameters
    ----------
    settings : Settings
        The producer, as `check_producer` allows it; the topic has two brokers.
    accident : Accident or None
        None: nothing happens.

    Returns
    -------
    list of events
        For `kafkalearn.delivery.simulate` with the same settings.

    Raises
    ------
    KafkaLearnError
        If the producer, the topic or the numbers are not as described.

    Examples
    --------
    >>> from kafkalearn.delivery import record_results, simulate
    >>> lost_answers = Accident(arrived=2, answered=0)
    >>> for name in ("acks=all", "acks=all, 1 in flight", "acks=all, idempotent"):
    ...     settings = Settings(TWO_BROKERS, BURST_PRODUCERS[name])
    ...     end = simulate(settings, burst_events(settings, lost_answers))[-1].state
    ...     print([record.value for record in end.partition.leader.log.records])
    ['m1', 'm2', 'm5', 'm4', 'm3', 'm2', 'm1']
    ['m1', 'm1', 'm2', 'm3', 'm4', 'm5']
    ['m1', 'm2', 'm3', 'm4', 'm5']
    """
    check_producer(settings.producer)
    if settings.topic.broker_count != TWO_BROKERS.broker_count:
        raise KafkaLearnError("a burst is sent to two brokers; give TopicSettings(2), or TWO_BROKERS")
    run = _Burst(settings)
    if accident is None:
        run.send(BURST)
    elif accident.is_time_over:
        run.send(1)
        run.arrive(min(accident.arrived, 1), 0)
        run.break_connection()
        run.give_up()
        run.send(BURST - 1)
    else:
        _check(accident)
        run.send(BURST)
        run.arrive(accident.arrived, accident.answered, accident.copied)
        if accident.copied is None:
            run.break_connection()
        else:
            run.kill_leader()
        if accident.again is not None:
            run.arrive(*accident.again)
            run.break_connection()
    run.finish()
    return run.events


def _check(accident: Accident) -> None:
    arrived = whole_number("arrived", accident.arrived, 0, BURST)
    whole_number("answered", accident.answered, 0, min(arrived, BURST - 1))
    if accident.copied is not None:
        whole_number("copied", accident.copied, 0, arrived)
    if accident.again is not None:
        arrived = whole_number("again, arrived", accident.again[0], 0, BURST)
        whole_number("again, answered", accident.again[1], 0, min(arrived, BURST - 1))


def burst_results(producer: ProducerSettings, accident: Accident | None) -> list[str]:
    """What each of a burst's records ends as, by the simulator: names in `kafkalearn.delivery.RESULTS`.

    >>> burst_results(BURST_PRODUCERS["acks=1"], Accident(arrived=3, answered=2, copied=1))
    ['safe', 'lost', 'out of order', 'out of order', 'safe']
    """
    settings = Settings(TWO_BROKERS, producer)
    end = simulate(settings, burst_events(settings, accident))[-1].state
    return [each.result for each in record_results(end)]


TWO_BROKERS = TopicSettings(2, fetch_wait_max_ms=0)
"""A topic for bursts: broker 1 leads, broker 2 follows."""


class _Burst:
    """A burst as it is made: the events so far, and the state after them."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.waits_for_copies = settings.producer.acks == "all"
        self.has_answers = settings.producer.acks != 0
        self.delivery = start(settings)
        self.events: list[DeliveryEvent] = []

    def do(self, *events: DeliveryEvent) -> None:
        for event in events:
            self.delivery = step(self.settings, self.delivery, event)
            self.events.append(event)

    def send(self, count: int) -> None:
        self.do(*[Send()] * count)

    def fill(self) -> None:
        """All goes out that may."""
        while self.delivery.producer.waiting:
            try:
                self.do(RequestSent())
            except IllegalEvent:
                break

    def arrive(self, arrived: int, answered: int, copied: int | None = None) -> None:
        """So many requests arrive and are answered, or as many as can be."""
        if copied is not None and self.waits_for_copies:
            arrived, answered = min(arrived, copied + 1), min(answered, copied)
        self.fill()
        for number in range(1, arrived + 1):
            if not self.is_one_on_its_way():
                break
            self.arrive_one(is_copied=copied is None or number <= copied)
            if number <= answered:
                self.answer()
                self.fill()

    def is_one_on_its_way(self) -> bool:
        """Whether any of those in flight has not arrived yet."""
        return any(request.stage == ON_ITS_WAY for request in self.delivery.producer.in_flight)

    def arrive_one(self, *, is_copied: bool) -> None:
        self.do(RequestArrived())
        if is_copied and self.delivery.partition.controller.leader == 1:
            self.do(Fetch(2), Fetch(2))
        if not self.has_answers:
            self.fill()

    def answer(self) -> None:
        if self.has_answers:
            self.do(AnswerArrived())

    def break_connection(self) -> None:
        if self.delivery.producer.in_flight:
            self.do(ConnectionLost())

    def kill_leader(self) -> None:
        self.do(BrokerCrashed(1), SessionExpired(1))

    def give_up(self) -> None:
        if self.delivery.producer.unresolved:
            self.do(GaveUp())

    def finish(self) -> None:
        """Nothing more happens: all arrives and is answered, and what was put aside is sent again."""
        self.drain()
        while self.delivery.producer.put_aside:
            self.do(SendAgain())
            self.drain()

    def drain(self) -> None:
        self.fill()
        while self.delivery.producer.in_flight:
            self.arrive_one(is_copied=True)
            self.answer()
            self.fill()
