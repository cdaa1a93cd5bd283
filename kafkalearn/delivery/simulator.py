"""The simulator of delivery: a producer in front of a replicated partition, one event at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from types import MappingProxyType

from kafkalearn.delivery import broker, client, events
from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.processing import DeliveryWork, delivery_of, parts_of_delivery
from kafkalearn.delivery.settings import Setup
from kafkalearn.delivery.state import Delivery
from kafkalearn.errors import IllegalEvent
from kafkalearn.explore import Draft
from kafkalearn.replication import Partition, Produce, TimePassed
from kafkalearn.replication import simulator as replication
from kafkalearn.trace import Trace, run

HANDLERS: MappingProxyType[type, Callable[[DeliveryWork, DeliveryEvent], None]] = MappingProxyType(
    {
        events.Send: client.send,
        events.RequestSent: client.request_sent,
        events.RequestArrived: client.request_arrived,
        events.AnswerArrived: client.answer_arrived,
        events.ConnectionLost: client.connection_lost,
        events.GaveUp: client.gave_up,
        events.ProduceRequest: broker.produce_by_hand,
    }
)
"""Which rule answers which of the producer's events; the others are the partition's."""


def start(setup: Setup, partition: Partition | None = None) -> Delivery:
    """A producer that has sent nothing, and a new partition if none is given.

    >>> start(Setup()).partition.controller.isr, start(Setup()).producer.in_flight
    ((1, 2, 3), ())
    """
    return Delivery(replication.start(setup.topic) if partition is None else partition)


def step(setup: Setup, delivery: Delivery, event: DeliveryEvent) -> Delivery:
    """The delivery after `event`; its `effects` tell what was written, answered, retried and told.

    Raises
    ------
    IllegalEvent
        If the event makes no sense here: no request is on its way that could arrive. What a broker would refuse is
        no such case: it is an effect.

    Examples
    --------
    >>> from kafkalearn.delivery import ProducerSettings, RequestArrived, Send
    >>> setup = Setup(producer=ProducerSettings(acks=1))
    >>> sent = step(setup, start(setup), Send())
    >>> step(setup, sent, RequestArrived()).effects[0]
    BatchAppended(number=1, base_offset=0)

    References
    ----------
    Apache Kafka 4.3: the clients' ``Sender``, ``RecordAccumulator``, ``TransactionManager``; the broker's
    ``ReplicaManager.appendRecords``, ``ProducerStateManager``.
    """
    work = DeliveryWork(setup, Draft(parts_of_delivery(delivery)))
    happen(work, event)
    return delivery_of(work.draft.parts(), tuple(work.effects))


def happen(work: DeliveryWork, event: DeliveryEvent) -> None:
    """Work out what an event leads to; `step` and a search share this."""
    handler = HANDLERS.get(type(event))
    effect_count = len(work.effects)
    if handler is not None:
        handler(work, event)
    elif isinstance(event, Produce):
        raise IllegalEvent(f"{event!r}: here a producer sends, with Send; a request made by hand is a ProduceRequest")
    elif type(event) in replication.HANDLERS:
        replication.happen(work, event)
    else:
        known = ", ".join(each.__name__ for each in (*HANDLERS, *replication.HANDLERS))
        raise IllegalEvent(f"{event!r} is no event of this simulator; it knows {known}")
    client.hear(work, effect_count)
    if isinstance(event, TimePassed):
        client.look_at_clock(work)


def deliver(
    setup: Setup, events: Iterable[DeliveryEvent], initial: Delivery | None = None
) -> Trace[Delivery, DeliveryEvent]:
    """The run of a producer and its partition through `events`, from a fresh start if no other is given.

    >>> from kafkalearn.delivery import AnswerArrived, ProducerSettings, RequestArrived, Send
    >>> setup = Setup(producer=ProducerSettings(acks=1))
    >>> trace = deliver(setup, [Send(), RequestArrived(), AnswerArrived()])
    >>> [len(frame.state.producer.in_flight) for frame in trace], trace[-1].state.producer.told
    ([0, 1, 1, 0], (Told(number=1, values=('m1',), error='NONE'),))
    """
    return run(partial(step, setup), start(setup) if initial is None else initial, events)
