"""The topics of the cluster as a group's coordinator sees them: it knows them by their ids, and we by their names.

A topic that is deleted and created again has its old name and a new id, so the partitions of the old one are others.
What a group still holds of the old one is called ``orders@1`` then: of the first topic of that name. (No topic of
Kafka's can have an ``@`` in its name.)
"""

from __future__ import annotations

import re
from typing import NamedTuple

from kafkalearn.arguments import text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class Topic(NamedTuple):
    """A topic at one moment."""

    name: str
    partition_count: int
    topic_id: str | None = None  # as Kafka prints it; None: the settings give no ids
    number: int = 1  # it is the first topic of its name, or the second, ...

    @property
    def name_when_replaced(self) -> str:
        """What is left of it is called so as soon as there is another topic of its name.

        >>> Topic("orders", 6).name_when_replaced
        'orders@1'
        """
        return f"{self.name}@{self.number}"


def topic_name(name: object) -> str:
    """`name` itself if a topic can be called so.

    >>> topic_name("orders@1")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: topic 'orders@1' must have 1 to 249 letters, digits, '.', '_' or '-', as every \
topic of Kafka

    References
    ----------
    Apache Kafka, ``org.apache.kafka.common.internals.Topic``.
    """
    known = text("topic", name)
    if not TOPIC_NAME.fullmatch(known):
        raise KafkaLearnError(
            f"topic {shown(name)} must have 1 to 249 letters, digits, '.', '_' or '-', as every topic of Kafka"
        )
    return known
