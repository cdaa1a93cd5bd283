"""What stays the same while groups read a topic."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import text, whole_number
from kafkalearn.assignor.registry import CLIENT_ASSIGNORS
from kafkalearn.errors import unknown_name

RESETS = ("earliest", "latest")
"""Where a group begins in a partition for which it has committed nothing (``auto.offset.reset``)."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The topic, and how its groups read it.

    Parameters
    ----------
    partition_count : int
        Partitions of the topic, at least 1.
    topic : str
        Its name.
    assignor : str
        How every group shares the partitions: a name in `kafkalearn.assignor.registry.CLIENT_ASSIGNORS`.
    auto_offset_reset : str
        A name in `RESETS`. (The default of a real consumer is ``latest``.)
    """

    partition_count: int
    topic: str = "orders"
    assignor: str = "range"
    auto_offset_reset: str = "earliest"

    def __post_init__(self) -> None:
        """Refuse what no topic and no consumer can be."""
        whole_number("partition_count", self.partition_count, at_least=1)
        text("topic", self.topic)
        if self.assignor not in CLIENT_ASSIGNORS:
            raise unknown_name("assignor of a client", self.assignor, CLIENT_ASSIGNORS)
        if self.auto_offset_reset not in RESETS:
            raise unknown_name("auto_offset_reset", self.auto_offset_reset, RESETS)
