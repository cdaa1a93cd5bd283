"""``kafka-consumer-groups``: what it prints and does, by release, on groups of the store of offsets."""

from kafkalearn.operations.groups.describe import (
    Coordinator,
    PartitionLog,
    describe_members,
    describe_offsets,
    describe_state,
)
from kafkalearn.operations.groups.reset import Reset, delete_groups, delete_offsets, export_offsets, reset_offsets

__all__ = [
    "Coordinator",
    "PartitionLog",
    "Reset",
    "delete_groups",
    "delete_offsets",
    "describe_members",
    "describe_offsets",
    "describe_state",
    "export_offsets",
    "reset_offsets",
]
