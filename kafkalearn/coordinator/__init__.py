"""Which broker coordinates my group: the rule, and the look-up step by step."""

from kafkalearn.coordinator.rule import (
    FORMULAS,
    OFFSETS_PARTITION_COUNT,
    OFFSETS_TOPIC,
    Coordinator,
    find_coordinator,
    offsets_partition,
    round_robin_leaders,
)

__all__ = [
    "FORMULAS",
    "OFFSETS_PARTITION_COUNT",
    "OFFSETS_TOPIC",
    "Coordinator",
    "find_coordinator",
    "offsets_partition",
    "round_robin_leaders",
]
