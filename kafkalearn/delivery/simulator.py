"""The simulator of delivery: a producer in front of a replicated partition, one event at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import MappingProxyType
from typing import Any, Never

from kafkalearn.delivery import broker, client, events
from kafkalearn.delivery.events import DeliveryEvent
from kafkalearn.delivery.processing import DeliveryProcessing, delivery_of, parts_of_delivery
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.state import Delivery, start
from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.parts import Parts
from kafkalearn.phrases import shown
from kafkalearn.replication import simulator as replication
from kafkalearn.replication.events import Produce, TimePassed
from kafkalearn.trace import Trace, run

HANDLERS: MappingProxyType[type, Callable[[DeliveryProcessing, Never], None]] = MappingProxyType(
    {
        events.Send: client.send,
        events.SendAgain: client.send_again,
        events.RequestSent: client.request_sent,
        events.RequestArrived: client.request_arrived,
        events.AnswerArrived: client.answer_arrived,
        events.ConnectionLost: client.connection_lost,
        events.GaveUp: client.gave_up,
        events.ProduceRequest: broker.produce_by_hand,
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


def simulate(
    settings: Settings, events: Iterable[DeliveryEvent], initial: Delivery | None = None
) -> Trace[Delivery, DeliveryEvent]:
    """The run of a producer and its partition through `events`, from a new partition if no other state is given.

    >>> from kafkalearn.delivery import AnswerArrived, ProducerSettings, RequestArrived, Send
    >>> settings = Settings(producer=ProducerSettings(acks=1))
    >>> trace = simulate(settings, [Send(), RequestArrived(), AnswerArrived()])
    >>> [len(frame.state.producer.in_flight) for frame in trace], trace[-1].state.producer.callbacks
    ([0, 1, 1, 0], (Callback(number=1, values=('m1',), error='NONE'),))
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
