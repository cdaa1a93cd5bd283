"""Topic filters: a white list or a black list, each a regular expression of Java for the whole name of a topic.

It is no glob: ``test-*`` is "test", then any number of hyphens. What a user types is first made ready: blanks go,
a comma becomes ``|``, quotes around it go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from kafkalearn.arguments import flag, one_of, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.zookeeper.contents import BLACK_LIST, WHITE_LIST

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
    kafkalearn.zookeeper.filters.InvalidFilter: *-bad is an invalid regex.

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
