"""What an application relies on, by name, and which of it a state breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial

from kafkalearn.delivery.processing import DeliveryWork, parts_of_delivery
from kafkalearn.delivery.record_results import overtaken_values, places_of
from kafkalearn.delivery.settings import Setup
from kafkalearn.delivery.state import Delivery
from kafkalearn.errors import unknown_name
from kafkalearn.explore import Draft
from kafkalearn.replication import NONE, Log

NONE_LOST = "no acknowledged record is lost"
NONE_DOUBLED = "no record is doubled"
ORDER_KEPT = "records keep the order they were sent in"
NONE_UNAWARE = "no rejected record is in the log"

PROMISES = (NONE_LOST, NONE_DOUBLED, ORDER_KEPT, NONE_UNAWARE)
"""All names. Each is judged by the log of the leader that the controller has recorded, once it knows that it leads."""

Test = Callable[[DeliveryWork], bool]


@cache
def clauses(setup: Setup, names: tuple[str, ...] = PROMISES) -> tuple[tuple[str, Test], ...]:
    """The promises of these names, split by broker, so that each looks at few parts.

    Raises
    ------
    KafkaLearnError
        If there is no promise of that name; the nearest names are given.
    """
    return tuple((name, test) for name in names for test in _split(setup, name))


def _split(setup: Setup, name: str) -> Iterator[Test]:
    if name not in _BREAKS:
        raise unknown_name("promise", name, PROMISES)
    for broker_id in setup.topic.broker_ids:
        yield partial(_holds, _BREAKS[name], broker_id)


def broken(setup: Setup, delivery: Delivery, names: tuple[str, ...] = PROMISES) -> tuple[str, ...]:
    """The names of the promises that a state breaks; none if all is well.

    Examples
    --------
    >>> from kafkalearn.delivery import ConnectionLost, ProducerSettings, RequestArrived, RequestSent, Send, deliver
    >>> retried = [Send(), RequestArrived(), ConnectionLost(), RequestSent(), RequestArrived()]
    >>> for producer in (ProducerSettings(is_idempotent=False), ProducerSettings()):
    ...     setup = Setup(producer=producer)
    ...     broken(setup, deliver(setup, retried)[-1].state)
    ('no record is doubled',)
    ()
    """
    work = DeliveryWork(setup, Draft(parts_of_delivery(delivery)))
    return tuple(dict.fromkeys(name for name, holds in clauses(setup, names) if not holds(work)))


def check(setup: Setup, delivery: Delivery, names: tuple[str, ...] = PROMISES) -> None:
    """Pass in silence if the state keeps these promises; else AssertionError names the broken ones."""
    found = broken(setup, delivery, names)
    assert not found, f"broken: {'; '.join(found)}"


def _holds(breaks: Callable[[DeliveryWork, Log], bool], leader_id: int, work: DeliveryWork) -> bool:
    if work.leading(leader_id) is None or not breaks(work, work.log(leader_id)):
        return True
    controller = work.controller
    return controller.leader != leader_id or controller.leader_epoch != work.broker(leader_id).leader_epoch


def _loses(work: DeliveryWork, log: Log) -> bool:
    acknowledged = {value for each in work.producer.told if each.error == NONE for value in each.values}
    missing = acknowledged - {record.value for record in log.records}
    return not missing <= work.producer.on_the_wire


def _doubles(work: DeliveryWork, log: Log) -> bool:
    values = [record.value for record in log.records]
    return len(values) != len(set(values))


def _reorders(work: DeliveryWork, log: Log) -> bool:
    sent = [value for _, values, _ in work.producer.sent for value in values]
    return bool(overtaken_values(sent, places_of([record.value for record in log.records])))


def _keeps_rejected(work: DeliveryWork, log: Log) -> bool:
    rejected = {value for each in work.producer.told if each.error != NONE for value in each.values}
    return not rejected.isdisjoint(record.value for record in log.records)


_BREAKS = {NONE_LOST: _loses, NONE_DOUBLED: _doubles, ORDER_KEPT: _reorders, NONE_UNAWARE: _keeps_rejected}
