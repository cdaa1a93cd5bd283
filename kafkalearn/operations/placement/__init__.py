"""Which brokers hold the replicas of a partition: Kafka's two placers, and what people write by hand."""

from kafkalearn.operations.placement.brokers import Broker, Placement, Replicas
from kafkalearn.operations.placement.judging import heirs, lost_with_rack, preferred_counts
from kafkalearn.operations.placement.rotation import place_rotated
from kafkalearn.operations.placement.shifted import place_shifted
from kafkalearn.operations.placement.striped import place_striped

__all__ = [
    "Broker",
    "Placement",
    "Replicas",
    "heirs",
    "lost_with_rack",
    "place_rotated",
    "place_shifted",
    "place_striped",
    "preferred_counts",
]
