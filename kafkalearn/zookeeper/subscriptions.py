"""What an old consumer asks for: streams of topics by name, or streams of all topics that a filter lets through."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from kafkalearn.assignors.members import MOST_STREAMS
from kafkalearn.base.checks import LARGEST_INT, flag, one_of, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.zookeeper.layout import BLACK_LIST, STATIC, WHITE_LIST, Registration, read_registration

# Topic filters: a white list or a black list, each a regular expression of Java for the whole name of a topic. It is no
# glob: ``test-*`` is "test", then any number of hyphens. What a user types is first made ready: blanks go, a comma
# becomes ``|``, quotes around it go.

INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")
LONGEST = 200  # characters
MOST_REPEATS = 8  # more of them can take for ever to compare with one long name
_REPEAT = re.compile(r"(?<!\\)(?:[*+]|\{\d*,?\d*\})")
_REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+]|\{)")
_JAVA_ONLY = re.compile(r"\\[pPQEGhHvVRXzZkxc]|&&|\(\?[<a-zA-Z]|\[[^\]\\]*\[|[*+?}]\+")
"""What Java reads in another way than Python: classes by name, quoting, classes in classes, inline flags."""


class InvalidFilter(KafkaLearnError):  # noqa: N818  (a filter that is invalid, not an error of ours)
    """A regular expression that Java cannot read: the old consumer throws RuntimeException with these words."""


@dataclass(frozen=True, slots=True)
class TopicFilter:
    """A white list or a black list.

    Parameters
    ----------
    pattern : str
        ``"white_list"`` or ``"black_list"``.
    regex : str
        As a user gives it. What Java and Python read differently is refused; it has at most eight repeats, none of
        them of a group: such expressions may take for ever.

    Raises
    ------
    InvalidFilter
        If it is no regular expression.
    KafkaLearnError
        If it is one that is not modelled.

    Examples
    --------
    >>> filter = TopicFilter("white_list", "test-.*, mail")
    >>> filter.regex, filter.among(["test-a", "mail", "mails", "test"])
    ('test-.*|mail', ('test-a', 'mail'))
    >>> TopicFilter("white_list", "test-*").among(["test-a", "test--", "test"])
    ('test--', 'test')
    >>> TopicFilter("white_list", "*-bad")
    Traceback (most recent call last):
    ...
    kafkalearn.zookeeper.subscriptions.InvalidFilter: *-bad is an invalid regex.

    References
    ----------
    Apache Kafka 0.8 to 1.1, ``kafka.consumer.TopicFilter``, ``Whitelist``, ``Blacklist``.
    """

    pattern: str
    regex: str

    def __post_init__(self) -> None:
        """Make the expression ready, as Kafka does, and refuse what is none."""
        one_of("pattern of a filter", self.pattern, (WHITE_LIST, BLACK_LIST))
        object.__setattr__(self, "regex", _made_ready(text("regex", self.regex)))
        _compiled(self.regex)

    def covers(self, topic: str, *, excludes_internal: bool = True) -> bool:
        """Whether a topic of this name is consumed; internal ones are not, unless ``exclude.internal.topics=false``."""
        if topic in INTERNAL_TOPICS and flag("excludes_internal", excludes_internal):
            return False
        is_named = _compiled(self.regex).fullmatch(topic) is not None
        return is_named == (self.pattern == WHITE_LIST)

    def among(self, topics: Iterable[str], *, excludes_internal: bool = True) -> tuple[str, ...]:
        """Those of the topics that are consumed."""
        return tuple(each for each in topics if self.covers(each, excludes_internal=excludes_internal))


def _made_ready(regex: str) -> str:
    ready = regex.strip("".join(map(chr, range(33)))).replace(",", "|").replace(" ", "")
    return re.sub(r"[\"']+\Z", "", re.sub(r"\A[\"']+", "", ready))


@lru_cache(maxsize=256)
def _compiled(regex: str) -> re.Pattern[str]:
    if len(regex) > LONGEST:
        raise KafkaLearnError(f"a filter has at most {LONGEST} characters, got {len(regex):,}")
    if found := _JAVA_ONLY.search(regex):
        raise KafkaLearnError(
            f"{shown(found[0])} in the filter {shown(regex)} means something in Java that is not modelled here; "
            "use letters, digits, . * + ? | [...] and groups"
        )
    if len(_REPEAT.findall(regex)) > MOST_REPEATS or _REPEATED_GROUP.search(regex):
        raise KafkaLearnError(
            f"the filter {shown(regex)} may take for ever: at most {MOST_REPEATS} of * + {{ are taken, and none after "
            "a group; as in: orders-.*"
        )
    try:
        return re.compile(regex, re.ASCII)
    except re.error:
        raise InvalidFilter(f"{regex} is an invalid regex.") from None


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
