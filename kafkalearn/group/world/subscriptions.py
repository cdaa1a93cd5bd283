"""What a consumer subscribes to: a list of topics, or a pattern that it compares with the topics it knows."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from kafkalearn.arguments import sequence, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

LONGEST_PATTERN = 200  # characters
MOST_REPEATS = 4  # more of them can take for ever to compare with one long name
_REPEATS = re.compile(r"(?<!\\)(?:[*+?]|\{\d*,?\d*\})")
_REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{)")


@dataclass(frozen=True, slots=True)
class Subscription:
    """What was given to ``subscribe``: names of topics, or a pattern.

    Parameters
    ----------
    topics : sequence of str
        Names; they need not be there yet.
    pattern : str or None
        A regular expression for the whole name of a topic, as Python writes it. It has at most four repeats
        (``*``, ``+``, ``?``), and no group is repeated: such patterns may take for ever.

    Examples
    --------
    >>> Subscription(("orders",)).among({"orders": 6, "orders-eu": 2})
    ('orders',)
    >>> Subscription(pattern="orders.*").among({"orders": 6, "orders-eu": 2, "clicks": 1})
    ('orders', 'orders-eu')

    References
    ----------
    Apache Kafka, ``KafkaConsumer.subscribe(Collection)`` and ``subscribe(Pattern)``; the pattern is compared by the
    client, in both protocols. (A ``SubscriptionPattern`` of KIP-848 is compared by the broker; that is not here.)
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be subscribed to."""
        names = tuple(text("topic", each) for each in sequence("topics", self.topics, of="names of topics"))
        object.__setattr__(self, "topics", tuple(dict.fromkeys(names)))
        if self.pattern is not None:
            _check_pattern(self.pattern)
        if bool(self.topics) == (self.pattern is not None):
            raise KafkaLearnError(
                f"a consumer subscribes to topics or to a pattern, got topics {shown(self.topics)} and pattern "
                f"{shown(self.pattern)}; give one of the two"
            )

    def covers(self, topic: str) -> bool:
        """Whether a topic of this name belongs to it."""
        if self.pattern is None:
            return topic in self.topics
        return re.fullmatch(self.pattern, topic) is not None

    def among(self, known: Iterable[str]) -> tuple[str, ...]:
        """The names that a consumer sends as its subscription when these are the topics that it knows."""
        return self.topics if self.pattern is None else tuple(each for each in known if self.covers(each))

    def __str__(self) -> str:
        """As in the line of a scenario."""
        return ", ".join(self.topics) if self.pattern is None else f"the pattern {self.pattern}"


def _check_pattern(pattern: str) -> None:
    text("pattern", pattern)
    if not 0 < len(pattern) <= LONGEST_PATTERN:
        raise KafkaLearnError(f"a pattern has 1 to {LONGEST_PATTERN} characters, got {len(pattern)}")
    if len(_REPEATS.findall(pattern)) > MOST_REPEATS or _REPEATED_GROUP.search(pattern):
        raise KafkaLearnError(
            f"the pattern {shown(pattern)} may take for ever: at most {MOST_REPEATS} of * + ? are taken, and none of "
            "them after a group; as in: orders-.*"
        )
    try:
        re.compile(pattern)
    except re.error as reason:
        raise KafkaLearnError(f"the pattern {shown(pattern)} cannot be read: {reason}; as in: orders-.*") from None
