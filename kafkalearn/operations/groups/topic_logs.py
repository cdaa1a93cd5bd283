"""The logs of topics, as far as a tool for groups asks about them: where they begin and end, and when what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from kafkalearn.arguments import mapping, sequence, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Millis, Offset, check_fields
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition


@dataclass(frozen=True, slots=True)
class PartitionLog(Checked):
    """The log of one partition.

    Attributes
    ----------
    end : int
        The offset that the next record will get.
    start : int
        The first offset that is still there.
    times : tuple of (int, int)
        Offset and timestamp of records, by offset. What is not in it has no timestamp that anybody asks for.
    """

    end: Offset
    start: Offset = 0
    times: tuple[tuple[Offset, Millis], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a log that ends before it begins."""
        check_fields(self)
        if self.end < self.start:
            raise KafkaLearnError(f"a log that begins at {self.start} cannot end at {self.end}: the end comes after")

    def offset_at(self, at_ms: int) -> int | None:
        """The first offset whose record is not older than a time; None: there is none (ListOffsets answers -1).

        >>> PartitionLog(3, times=[(0, 1000), (1, 5000), (2, 4000)]).offset_at(3000)
        1
        """
        return next((offset for offset, time_ms in self.times if time_ms >= at_ms and offset >= self.start), None)


Topics: TypeAlias = Mapping[str, Sequence[PartitionLog]]
"""The logs of each topic, by partition."""


def log_of(topics: Topics, at: TopicPartition) -> PartitionLog | None:
    """The log of a partition; None: there is no such partition.

    >>> log_of({"orders": [PartitionLog(7)]}, TopicPartition("orders", 0)).end
    7
    """
    logs = topics.get(at.topic, ())
    return logs[at.partition] if at.partition < len(logs) else None


def checked_topics(topics: object) -> Topics:
    """Topics given by the user: a mapping from names to logs."""
    given: Mapping[Any, Any] = mapping("topics", topics, of="name to PartitionLog of each partition")
    for name, logs in given.items():
        text("a name of topics", name)
        for place, each in enumerate(sequence(f"topics[{name!r}]", logs, of="PartitionLog(...)")):
            if not isinstance(each, PartitionLog):
                raise KafkaLearnError(f"topics[{name!r}][{place}] must be PartitionLog(end), got {shown(each)}")
    return given
