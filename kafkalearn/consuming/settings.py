"""What stays the same while groups read a topic."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import one_of
from kafkalearn.assignor.registry import CLIENT_ASSIGNORS
from kafkalearn.fields import Checked, PartitionCount, check_fields

RESETS = ("earliest", "latest")
"""Where a group begins in a partition for which it has committed nothing (``auto.offset.reset``)."""

GROUP, MEMBER = "group", "member"
OFFSETS_KEPT_BY = (GROUP, MEMBER)
"""Whose the committed offsets are: those of the whole group, as in Kafka, or of each member alone."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The topic, and how its groups read it.

    Parameters
    ----------
    partition_count : int
        Partitions of the topic, 1 to 10,000.
    topic : str
        Its name.
    assignor : str
        How every group shares the partitions: a name in `kafkalearn.assignor.registry.CLIENT_ASSIGNORS`.
    auto_offset_reset : str
        A name in `RESETS`. (The default of a real consumer is ``latest``.)
    offsets_kept_by : str
        A name in `OFFSETS_KEPT_BY`. ``"member"`` is not Kafka's: it shows what a rebalance would cost if each member
        kept its own progress, so that a new owner of a partition knows nothing of what the old one has read.
    """

    partition_count: PartitionCount
    topic: str = "orders"
    assignor: str = "range"
    auto_offset_reset: str = "earliest"
    offsets_kept_by: str = GROUP

    def __post_init__(self) -> None:
        """Refuse what no topic and no consumer can be."""
        check_fields(self)
        one_of("assignor of a client", self.assignor, CLIENT_ASSIGNORS)
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        one_of("offsets_kept_by", self.offsets_kept_by, OFFSETS_KEPT_BY)
