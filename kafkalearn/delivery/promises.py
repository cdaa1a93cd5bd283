"""What always holds between a producer and its partition, and what an application hopes for, by name.

The promises are judged by the log of the leader that the controller has recorded, once it knows that it leads. Careless
settings and accidents break them: `broken` lists which, `kafkalearn.delivery.search.find` looks for the shortest way.

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

from kafkalearn.delivery.processing import DeliveryProcessing, parts_of_delivery
from kafkalearn.delivery.record_results import offsets_of, overtaken_values
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.state import Delivery
from kafkalearn.parts import Parts
from kafkalearn.promises import InParts, Promises, Since, judges, of_inner
from kafkalearn.replication.effects import NONE
from kafkalearn.replication.promises import INVARIANTS as PARTITION_INVARIANTS
from kafkalearn.replication.state import Log

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
        **of_inner(PARTITION_INVARIANTS, lambda delivery: delivery.partition, lambda settings: settings.topic),
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
    return bool(
        overtaken_values(list(processing.producer.records), offsets_of([record.value for record in log.records]))
    )


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

check, broken = judges(INVARIANTS, PROMISES)
