"""A partition of a topic, the noun that all parts share."""

from __future__ import annotations

from typing import NamedTuple


class TopicPartition(NamedTuple):
    """One partition of one topic; its text is Kafka's own, the two joined by a dash.

    >>> print(TopicPartition("orders", 3))
    orders-3
    >>> TopicPartition("orders", 10) > TopicPartition("orders", 9)  # numbers compare as numbers
    True
    """

    topic: str
    partition: int

    def __str__(self) -> str:
        """The form that Kafka's logs, folders and tools write."""
        return f"{self.topic}-{self.partition}"
