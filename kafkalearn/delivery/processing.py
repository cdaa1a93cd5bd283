"""One step being worked out: the parts of the partition and of its producer, read and replaced by their names."""

from __future__ import annotations

from kafkalearn.delivery.settings import Setup
from kafkalearn.delivery.state import Appended, Delivery, Producer
from kafkalearn.explore import Draft
from kafkalearn.replication import Partition, Requests, Settings
from kafkalearn.replication.effects import Effect
from kafkalearn.replication.processing import FIRST_REPLICA, PARTS_OF_REPLICA, Work, partition_of, parts_of
from kafkalearn.replication.search.normal_form import NormalWork


def places_of_producer(settings: Settings) -> tuple[int, int]:
    """The places of the producer, and of what was appended for it: behind all parts of the partition."""
    first = FIRST_REPLICA + PARTS_OF_REPLICA * settings.replica_count
    return first, first + 1


def parts_of_delivery(delivery: Delivery) -> tuple:
    """The parts of a delivery, each at its place."""
    return (*parts_of(delivery.partition), delivery.producer, delivery.appended)


def delivery_of(parts: tuple, effects: tuple) -> Delivery:
    """The delivery made of these parts; the partition has those of the effects that are its own."""
    *of_partition, producer, appended = parts
    own = tuple(each for each in effects if isinstance(each, Effect))
    return Delivery(partition_of(tuple(of_partition), own), producer, appended, effects)


def partition_in(parts: tuple) -> Partition:
    """The partition alone."""
    return partition_of(tuple(parts[:-2]))


class ProducerParts:
    """The producer's parts, under their names."""

    setup: Setup

    @property
    def producer(self) -> Producer:
        """The client's side."""
        return self.read(places_of_producer(self.settings)[0])

    @producer.setter
    def producer(self, producer: Producer) -> None:
        self.write(places_of_producer(self.settings)[0], producer)

    @property
    def appended(self) -> tuple[Appended, ...]:
        """The stamped batches that leaders wrote."""
        return self.read(places_of_producer(self.settings)[1])

    @appended.setter
    def appended(self, appended: tuple[Appended, ...]) -> None:
        self.write(places_of_producer(self.settings)[1], appended)


class DeliveryWork(ProducerParts, Work):
    """A step of the simulator."""

    def __init__(self, setup: Setup, draft: Draft) -> None:
        """Begin with the parts as they are before the event."""
        super().__init__(setup.topic, draft)
        self.setup = setup


class NormalDeliveryWork(ProducerParts, NormalWork):
    """A step of a search: what can make no difference later is left out."""

    def __init__(self, setup: Setup, draft: Draft) -> None:
        """Begin with the parts as they are before the event."""
        super().__init__(setup.topic, draft)
        self.setup = setup

    def note_requests(self, requests: Requests) -> None:
        """Records bring their values along, so nothing needs to be counted."""
        Work.note_requests(self, Requests())

    def tell(self, effect: Effect) -> None:
        """Here somebody listens: the producer waits for answers."""
        self.effects.append(effect)
