"""The simulator of delivery: which rule answers which event, what each record ends as, what an application hopes for.

The promises are judged by the log of the leader that the controller has recorded, once it knows that it leads. Careless
settings and accidents break them: `broken` lists which, `kafkalearn.delivery.search` looks for the shortest way.

>>> from kafkalearn.delivery import ConnectionLost, ProducerSettings, RequestArrived, RequestSent, Send, simulate
>>> retried = [Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived()]
>>> for producer in (ProducerSettings(is_idempotent=False), ProducerSettings()):
...     settings = Settings(producer=producer)
...     broken(settings, simulate(settings, retried)[-1].state)
('no record is doubled',)
()
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, Never

from kafkalearn.base.errors import IllegalEvent, no_event, shown
from kafkalearn.base.promises import InParts, Promises, Since, of_inner
from kafkalearn.base.simulator import simulator
from kafkalearn.base.trace import Parts
from kafkalearn.delivery import client, model
from kafkalearn.delivery.client import DeliveryProcessing, delivery_of, parts_of_delivery
from kafkalearn.delivery.model import Delivery, DeliveryEvent, Settings, start
from kafkalearn.replication import simulator as replication
from kafkalearn.replication.events import NONE, Produce, TimePassed
from kafkalearn.replication.state import Log

HANDLERS: MappingProxyType[type, Callable[[DeliveryProcessing, Never], None]] = MappingProxyType(
    {
        model.Send: client.send,
        model.SendAgain: client.send_again,
        model.RequestSent: client.request_sent,
        model.RequestArrived: client.request_arrived,
        model.AnswerArrived: client.answer_arrived,
        model.LateAnswerArrived: client.late_answer_arrived,
        model.ConnectionLost: client.connection_lost,
        model.GaveUp: client.gave_up,
        model.ProduceRequest: client.produce_by_hand,
    }
)
"""Which rule answers which of the producer's events; the others are the partition's."""


def step(settings: Settings, delivery: Delivery, event: DeliveryEvent) -> Delivery:
    """The delivery after `event`; its `effects` are what was written, answered, retried and called back.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: no request is on its way that could arrive. What a broker would refuse is
        no such case: it is an effect.

    Examples
    --------
    >>> from kafkalearn.delivery import ProducerSettings, RequestArrived, Send
    >>> settings = Settings(producer=ProducerSettings(acks=1))
    >>> sent = step(settings, start(settings), Send())
    >>> step(settings, sent, RequestArrived()).effects[0]
    BatchAppended(number=1, base_offset=0)

    References
    ----------
    Apache Kafka 4.3: the clients' ``Sender``, ``RecordAccumulator``, ``TransactionManager``; the broker's
    ``ReplicaManager.appendRecords``, ``ProducerStateManager``.
    """
    processing = DeliveryProcessing(settings, Parts(parts_of_delivery(delivery)))
    process(processing, event)
    return delivery_of(processing.parts.all(), tuple(processing.effects))


def process(processing: DeliveryProcessing, event: DeliveryEvent) -> None:
    """Process an event on parts; `step` and a search share this."""
    handler: Callable[[DeliveryProcessing, Any], None] | None = HANDLERS.get(type(event))
    effect_count = len(processing.effects)
    if handler is not None:
        handler(processing, event)
    elif isinstance(event, Produce):
        raise IllegalEvent(
            f"{shown(event)}: here a producer sends, with Send; a request made by hand is a ProduceRequest"
        )
    elif type(event) in replication.HANDLERS:
        of_partition: Any = event
        replication.process(processing, of_partition)
    else:
        raise no_event(event, (*HANDLERS, *replication.HANDLERS))
    client.receive_answers(processing, effect_count)
    if isinstance(event, TimePassed):
        client.apply_timeouts(processing)


# The result of each record: what its callback got, against what the surviving log holds. The surviving log is that of
# the leader the controller has recorded: every other replica will agree with it.

SAFE = "safe"
REJECTED = "rejected"
LOST = "lost"
DOUBLED = "doubled"
OUT_OF_ORDER = "out of order"
WRITTEN = "rejected, yet written"
OPEN = "open"

RESULTS: MappingProxyType[str, str] = MappingProxyType(
    {
        SAFE: "acknowledged, and in the log once, in its place",
        REJECTED: "the callback got an error, and the record is not in the log",
        LOST: "acknowledged, and not in the log",
        DOUBLED: "in the log more than once",
        OUT_OF_ORDER: "acknowledged, in the log once, behind a record that was sent later",
        WRITTEN: "the callback got an error, and the record is in the log all the same",
        OPEN: "not decided: no callback yet, or the record may still arrive, or there is no leader",
    }
)
"""What a record can end as, by name; each record has one of these."""


class RecordResult(NamedTuple):
    """One record at the end of a run."""

    batch: int  # the number of its batch; of a record that was put aside and sent again, of the last
    value: str
    callback: str | None  # the error the callback of that batch got; "NONE": acknowledged; None: not called yet
    offsets: tuple[int, ...]  # where it is in the surviving log
    result: str  # a name in RESULTS


def result_of(callback: str | None, copy_count: int, is_overtaken: bool = False) -> str:
    """The result of a record.

    Parameters
    ----------
    callback : str or None
        The error its callback got; ``"NONE"``: it was acknowledged; None: the callback was not called yet.
    copy_count : int
        How often the record is in the surviving log.
    is_overtaken : bool
        Whether a record that was sent later stands before it.

    Examples
    --------
    >>> result_of("NONE", 1), result_of("NONE", 0), result_of("NOT_ENOUGH_REPLICAS", 0), result_of("NONE", 2)
    ('safe', 'lost', 'rejected', 'doubled')
    >>> result_of("REQUEST_TIMED_OUT", 1), result_of(None, 1), result_of("NONE", 1, is_overtaken=True)
    ('rejected, yet written', 'open', 'out of order')
    """
    if copy_count > 1:
        return DOUBLED
    if callback is None:
        return OPEN
    if callback != NONE:
        return WRITTEN if copy_count else REJECTED
    if copy_count == 0:
        return LOST
    return OUT_OF_ORDER if is_overtaken else SAFE


def record_results(delivery: Delivery) -> tuple[RecordResult, ...]:
    """The result of every record so far, in the order the application sent them.

    Examples
    --------
    >>> from kafkalearn.delivery import AnswerArrived, ProducerSettings, RequestArrived, Send, Settings, simulate
    >>> from kafkalearn.replication import BrokerCrashed, SessionExpired
    >>> settings = Settings(producer=ProducerSettings(acks=1))
    >>> acknowledged = [Send(), RequestArrived(), AnswerArrived()]
    >>> record_results(simulate(settings, acknowledged)[-1].state)
    (RecordResult(batch=1, value='m1', callback='NONE', offsets=(0,), result='safe'),)
    >>> end = simulate(settings, [*acknowledged, BrokerCrashed(1), SessionExpired(1)])[-1].state
    >>> record_results(end)[0].result
    'lost'
    """
    leader = delivery.partition.leader
    sent = [(number, value, callback) for value, (number, callback) in delivery.producer.records.items()]
    if leader is None:
        return tuple(RecordResult(number, value, callback, (), OPEN) for number, value, callback in sent)
    places = offsets_of([record.value for record in leader.log.records], leader.log.first_offset)
    overtaken = overtaken_values([value for _, value, _ in sent], places)
    found = []
    for number, value, callback in sent:
        offsets = places.get(value, ())
        may_arrive = not offsets and value in delivery.producer.on_the_wire
        result = OPEN if may_arrive else result_of(callback, len(offsets), value in overtaken)
        found.append(RecordResult(number, value, callback, offsets, result))
    return tuple(found)


def offsets_of(values: list[str], first_offset: int = 0) -> dict[str, tuple[int, ...]]:
    """Where each value stands in a log.

    >>> offsets_of(["x", "y", "x"])
    {'x': (0, 2), 'y': (1,)}
    """
    places: dict[str, tuple[int, ...]] = {}
    for offset, value in enumerate(values, first_offset):
        places[value] = (*places.get(value, ()), offset)
    return places


def overtaken_values(sent: list[str], places: dict[str, tuple[int, ...]]) -> set[str]:
    """The values that stand behind one which was sent later; `sent` has them as they were sent.

    >>> overtaken_values(["x", "y", "z"], offsets_of(["y", "x", "z"]))
    {'x'}
    """
    overtaken, earliest = set(), None
    for value in reversed(sent):
        if value not in places:
            continue
        first = places[value][0]
        if earliest is not None and first > earliest:
            overtaken.add(value)
        earliest = first if earliest is None else min(first, earliest)
    return overtaken


ROOM_IN_FLIGHT = "no more requests are in flight than allowed"
NONE_FORGOTTEN = "each batch waits, is in flight, or had its callback"
CALLED_ONCE = "each callback is called once"
KEPT_ASIDE = "each batch that failed is put aside until it is sent again"

NONE_LOST = "no acknowledged record is lost"
NONE_DOUBLED = "no record is doubled"
ORDER_KEPT = "records keep the order they were sent in"
NO_REJECTED_IN_LOG = "no rejected record is in the log"


def _has_room(settings: Settings, delivery: Delivery) -> bool:
    return len(delivery.producer.in_flight) <= settings.producer.max_in_flight


def _forgets_none(settings: Settings, delivery: Delivery) -> bool:
    producer = delivery.producer
    waiting, done = [batch.number for batch in producer.waiting], {each.number for each in producer.callbacks}
    flying = [request.batch.number for request in producer.in_flight]
    is_once = len({*waiting, *flying}) == len(waiting) + len(flying) and done.isdisjoint(waiting)
    return is_once and {*waiting, *flying, *done} == set(range(1, producer.batch_count + 1))


def _calls_once(settings: Settings, before: Delivery, delivery: Delivery) -> bool:
    """No callback is taken back, and none is called for a batch that had its own."""
    callbacks, old = delivery.producer.callbacks, before.producer.callbacks
    return callbacks[: len(old)] == old and len({each.number for each in callbacks}) == len(callbacks)


def _keeps_aside(settings: Settings, delivery: Delivery) -> bool:
    """Where failures are put aside, a batch that failed is in the store or its records were sent again; else never."""
    producer = delivery.producer
    failed = [each for each in producer.callbacks if each.error != NONE]
    if not settings.producer.puts_failures_aside:
        return not producer.put_aside
    last = {value: number for value, (number, _) in producer.records.items()}
    waiting = tuple(each for each in failed if last[each.values[0]] == each.number)
    return producer.put_aside == waiting


INVARIANTS: Promises = MappingProxyType(
    {
        **of_inner(replication.INVARIANTS, lambda delivery: delivery.partition, lambda settings: settings.topic),
        ROOM_IN_FLIGHT: _has_room,
        NONE_FORGOTTEN: _forgets_none,
        CALLED_ONCE: Since(_calls_once),
        KEPT_ASIDE: _keeps_aside,
    }
)
"""What holds in every state that can be reached; first the invariants of the partition."""


def _loses(processing: DeliveryProcessing, log: Log) -> bool:
    producer = processing.producer
    acknowledged = {value for each in producer.callbacks if each.error == NONE for value in each.values}
    missing = acknowledged - {record.value for record in log.records}
    return not missing <= producer.on_the_wire


def _doubles(processing: DeliveryProcessing, log: Log) -> bool:
    values = [record.value for record in log.records]
    return len(values) != len(set(values))


def _reorders(processing: DeliveryProcessing, log: Log) -> bool:
    places = offsets_of([record.value for record in log.records])
    return bool(overtaken_values(list(processing.producer.records), places))


def _keeps_rejected(processing: DeliveryProcessing, log: Log) -> bool:
    callbacks = processing.producer.records.items()
    rejected = {value for value, (_, error) in callbacks if error not in (None, NONE)}
    return not rejected.isdisjoint(record.value for record in log.records)


def _unless(breaks: Callable[[DeliveryProcessing, Log], bool]) -> InParts[Settings, Delivery, DeliveryProcessing]:
    """A test of every broker: if it leads, its log must not show the fault."""

    def tests(settings: Settings) -> Iterable[Callable[[DeliveryProcessing], bool]]:
        return (partial(_holds, breaks, broker_id) for broker_id in settings.topic.broker_ids)

    return InParts(tests, lambda settings, delivery: DeliveryProcessing(settings, Parts(parts_of_delivery(delivery))))


def _holds(breaks: Callable[[DeliveryProcessing, Log], bool], leader_id: int, processing: DeliveryProcessing) -> bool:
    if processing.leading(leader_id) is None or not breaks(processing, processing.log(leader_id)):
        return True
    controller = processing.controller
    return controller.leader != leader_id or controller.leader_epoch != processing.broker(leader_id).leader_epoch


PROMISES: Promises = MappingProxyType(
    {
        NONE_LOST: _unless(_loses),
        NONE_DOUBLED: _unless(_doubles),
        ORDER_KEPT: _unless(_reorders),
        NO_REJECTED_IN_LOG: _unless(_keeps_rejected),
    }
)
"""What an application hopes for."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
