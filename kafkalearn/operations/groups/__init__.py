"""``kafka-consumer-groups``: what it prints and does, by release, on groups of the store of offsets."""

from kafkalearn.operations.groups.delete import delete_groups, delete_offsets
from kafkalearn.operations.groups.describe import describe_offsets, offsets_warning
from kafkalearn.operations.groups.members import describe_members
from kafkalearn.operations.groups.reset import Reset, export_offsets, reset_offsets
from kafkalearn.operations.groups.states import Coordinator, describe_state
from kafkalearn.operations.groups.topic_logs import PartitionLog

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
    "offsets_warning",
    "reset_offsets",
]
