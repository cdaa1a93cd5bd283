"""What an old consumer asks for: streams of topics by name, or streams of all topics that a filter lets through."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from kafkalearn.arguments import LARGEST_INT, text, whole_number
from kafkalearn.assignor.members import MOST_STREAMS
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.zookeeper.contents import STATIC, Registration, read_registration
from kafkalearn.zookeeper.filters import TopicFilter


@dataclass(frozen=True, slots=True)
class Streams:
    """Streams by topic, as for ``createMessageStreams``: ``Streams({"orders": 2})``; each is read by a thread.

    >>> Streams({"orders": 2, "mail": 1}).stream_counts
    (('orders', 2), ('mail', 1))
    """

    stream_counts: tuple[tuple[str, int], ...]

    def __init__(self, stream_counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> None:
        """Make a tuple of a mapping; nothing and zero streams are let through, as Kafka does at first."""
        given = stream_counts.items() if isinstance(stream_counts, Mapping) else stream_counts
        try:
            counts = tuple((text("topic", topic), count) for topic, count in given)
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"stream_counts must map each topic to a number of streams, got {shown(given)}"
            ) from None
        for topic, count in counts:
            if not topic or "/" in topic:
                raise KafkaLearnError(f"topic must be a name without '/', got {shown(topic)}")
            whole_number(f"the number of streams of {topic!r}", count, at_least=-LARGEST_INT, at_most=MOST_STREAMS)
        object.__setattr__(self, "stream_counts", counts)

    def registration(self, timestamp_ms: int = 0) -> Registration:
        """What is written into ZooKeeper."""
        return Registration(self.stream_counts, STATIC, timestamp_ms)


@dataclass(frozen=True, slots=True)
class Filtered:
    """Streams of all topics that a filter lets through, as for ``createMessageStreamsByFilter``.

    All its topics share the same streams: each thread reads some partitions of every one.
    """

    filter: TopicFilter
    stream_count: int = 1

    def __post_init__(self) -> None:
        """Refuse what is no filter; zero streams are let through, as Kafka does at first."""
        if not isinstance(self.filter, TopicFilter):
            raise KafkaLearnError(
                f"filter must be a TopicFilter, got {shown(self.filter)}; as in TopicFilter('white_list', 'test-.*')"
            )
        whole_number("stream_count", self.stream_count, at_least=-LARGEST_INT, at_most=MOST_STREAMS)

    def registration(self, timestamp_ms: int = 0) -> Registration:
        """What is written into ZooKeeper."""
        return Registration(((self.filter.regex, self.stream_count),), self.filter.pattern, timestamp_ms)


Subscription = Streams | Filtered


def read_subscription(content: str) -> Subscription:
    """The subscription that others read from the node of a consumer: not always the one that it meant.

    >>> meant = Filtered(TopicFilter("white_list", "shop\\\\.a"))
    >>> read_subscription(meant.registration().json()).filter.regex
    'shop\\\\\\\\.a'
    """
    read = read_registration(content)
    if read.pattern == STATIC or not read.subscription:
        return Streams(read.subscription)
    regex, count = read.subscription[0]
    return Filtered(TopicFilter(read.pattern, regex), count)


def stream_counts(
    subscription: Subscription, all_topics: Callable[[], tuple[str, ...]], *, excludes_internal: bool = True
) -> dict[str, int]:
    """The threads of each topic that a subscription comes to.

    Parameters
    ----------
    all_topics : callable
        Asked only if the subscription is a filter.

    Raises
    ------
    AssertionError
        If a topic has no thread, with Kafka's words.
    """
    if isinstance(subscription, Streams):
        counts = dict(subscription.stream_counts)
    else:
        topics = subscription.filter.among(all_topics(), excludes_internal=excludes_internal)
        counts = dict.fromkeys(topics, subscription.stream_count)
    if any(count < 1 for count in counts.values()):
        raise AssertionError("assertion failed")
    return counts
