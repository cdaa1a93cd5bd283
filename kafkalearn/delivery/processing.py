"""An event being processed: the parts of the partition and of its producer, to be read and replaced by their names."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from kafkalearn.delivery.effects import DeliveryEffect
from kafkalearn.delivery.settings import Settings
from kafkalearn.delivery.state import Appended, Delivery, Producer
from kafkalearn.parts import Parts
from kafkalearn.replication.effects import Effect
from kafkalearn.replication.processing import (
    FIRST_REPLICA,
    PARTS_OF_REPLICA,
    Normaliser,
    Processing,
    partition_of,
    parts_of,
)
from kafkalearn.replication.settings import Settings as TopicSettings


def places_of_producer(topic: TopicSettings) -> tuple[int, int]:
    """The places of the producer, and of what was appended for it: behind all parts of the partition."""
    first = FIRST_REPLICA + PARTS_OF_REPLICA * topic.broker_count
    return first, first + 1


def parts_of_delivery(delivery: Delivery) -> tuple[Hashable, ...]:
    """The parts of a delivery, each at its place."""
    return (*parts_of(delivery.partition), delivery.producer, delivery.appended)


def delivery_of(parts: tuple[Hashable, ...], effects: tuple[DeliveryEffect, ...]) -> Delivery:
    """The delivery made of these parts; the partition has those of the effects that are its own."""
    at: Any = parts  # what is at which place, `parts_of_delivery` says
    *of_partition, producer, appended = at
    own = tuple(each for each in effects if isinstance(each, Effect))
    return Delivery(partition_of(tuple(of_partition), own), producer, appended, effects)


class DeliveryProcessing(Processing):
    """The partition's parts, and the producer's; `settings` are the partition's, as its rules expect them."""

    __slots__ = ("appended_place", "producer_place", "producer_settings")

    def __init__(self, settings: Settings, parts: Parts, normaliser: Normaliser | None = None) -> None:
        """Begin with the parts as they are before the event."""
        super().__init__(settings.topic, parts, normaliser)
        self.producer_settings = settings.producer
        self.producer_place, self.appended_place = places_of_producer(settings.topic)

    def emit(self, effect: DeliveryEffect) -> None:
        """Add an effect of this event."""
        self.effects.append(effect)

    @property
    def producer(self) -> Producer:
        """The client's side."""
        return self.read(self.producer_place)

    @producer.setter
    def producer(self, producer: Producer) -> None:
        self.write(self.producer_place, producer)

    @property
    def appended(self) -> tuple[Appended, ...]:
        """The stamped batches that leaders wrote."""
        return self.read(self.appended_place)

    @appended.setter
    def appended(self, appended: tuple[Appended, ...]) -> None:
        self.write(self.appended_place, appended)
