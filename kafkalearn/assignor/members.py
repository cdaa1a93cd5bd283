"""The members of a group, with their subscriptions and what they owned before; and old consumers, up to 1.1.

An assignor sees no connections, no heartbeats and no offsets: only this.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kafkalearn.arguments import LARGEST_INT, iterable, text, whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.topic_partition import TopicPartition

MOST_STREAMS = 10_000  # threads of one consumer for one topic: more than a machine runs


@dataclass(frozen=True, slots=True)
class Member:
    """One member of a consumer group, as the assignor sees it.

    Parameters
    ----------
    member_id : str
        From the coordinator: the client id and a random part. Orders and ties depend on it.
    topics : sequence of str
        Its subscription; a topic that does not exist is ignored, as in Kafka.
    owned : sequence of (topic, partition)
        What it was assigned last, in that order; for the server-side assignors its current target.
    generation : int or None
        Of the group when it was assigned `owned`; None: it has not been assigned anything yet, or its client
        is too old to report it. (A Java client reports it twice, in the protocol and in the assignor's user data;
        the two are assumed to agree.)
    instance_id : str or None
        ``group.instance.id`` of a static member.

    Examples
    --------
    >>> Member("C0", ["orders"], owned=[("orders", 2)], generation=7).owned
    (TopicPartition(topic='orders', partition=2),)
    """

    member_id: str
    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    instance_id: str | None = None

    if TYPE_CHECKING:

        def __init__(
            self,
            member_id: str,
            topics: Iterable[str],
            owned: Iterable[tuple[str, int]] = (),
            generation: int | None = None,
            instance_id: str | None = None,
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no member can be, and make tuples of sequences."""
        text("member_id", self.member_id)
        if self.instance_id is not None:
            text("instance_id", self.instance_id)
        if self.generation is not None:
            whole_number("generation", self.generation, at_least=-1, at_most=LARGEST_INT)
        object.__setattr__(self, "topics", _topic_names(self.member_id, self.topics))
        object.__setattr__(self, "owned", _topic_partitions(self.member_id, self.owned))


@dataclass(frozen=True, slots=True)
class OldConsumer:
    """A consumer from before there was a coordinator (up to 1.1), which read each topic with several threads.

    Parameters
    ----------
    consumer_id : str
        Threads are named after it: ``C1-0``, ``C1-1``, ...
    stream_counts : mapping of str to int
        The threads for each topic, as given to ``createMessageStreams``.

    Examples
    --------
    >>> OldConsumer("C1", {"orders": 2}).threads("orders")
    ['C1-0', 'C1-1']
    """

    consumer_id: str
    stream_counts: tuple[tuple[str, int], ...]

    if TYPE_CHECKING:

        def __init__(self, consumer_id: str, stream_counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no consumer can be."""
        text("consumer_id", self.consumer_id)
        try:
            counts = dict(self.stream_counts)
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"stream_counts must map each topic to a number of threads, got {shown(self.stream_counts)}"
            ) from None
        for topic, count in counts.items():
            what = f"the number of streams of {text('topic', topic)!r}"
            whole_number(what, count, at_least=1, at_most=MOST_STREAMS)
        object.__setattr__(self, "stream_counts", tuple(counts.items()))

    def threads(self, topic: str) -> list[str]:
        """The names of the threads that read `topic`."""
        return [f"{self.consumer_id}-{number}" for number in range(dict(self.stream_counts).get(topic, 0))]


def _topic_names(member_id: str, topics: Iterable[str]) -> tuple[str, ...]:
    if isinstance(topics, str):
        raise KafkaLearnError(
            f"topics of member {member_id!r} must be a sequence of names, got the text {shown(topics)}"
        )
    names = tuple(text("topic", topic) for topic in iterable("topics", topics, of="names"))
    if len(set(names)) < len(names):
        raise KafkaLearnError(f"member {member_id!r} subscribes twice to one topic: {list(names)}; name each once")
    return names


def _topic_partitions(member_id: str, owned: Iterable[tuple[str, int]]) -> tuple[TopicPartition, ...]:
    given = tuple(iterable("owned", owned, of="pairs of topic and partition"))
    partitions = tuple(each for each in given if type(each) is TopicPartition)
    if len(partitions) < len(given):
        try:
            partitions = tuple(TopicPartition(topic, partition) for topic, partition in given)
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"owned of member {member_id!r} must hold pairs of topic and partition, got {shown(given)}"
            ) from None
    if len(set(partitions)) < len(partitions):
        raise KafkaLearnError(f"member {member_id!r} owns a partition twice; name each once")
    return partitions
