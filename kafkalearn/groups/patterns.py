"""Topics by pattern: what the broker matches for a group (KIP-848, since 4.0), and when a new topic is seen.

With ``group.protocol=consumer`` a client may subscribe to a `SubscriptionPattern`. It sends the text, and the group's
coordinator matches all topics with RE2J, whole names only: `matching`. RE2J needs time in proportion to the length of
a name, whatever the pattern, and so knows no lookahead, no backreference, no possessive quantifier: a heartbeat with
such a pattern is answered INVALID_REGULAR_EXPRESSION, and the application gets an exception from ``poll()``.

The coordinator keeps what each pattern matched, for all members that have it, and writes it to the offsets topic
(ConsumerGroupRegularExpression). `refresh_reason` says when it matches again: with a heartbeat of any member, at most
every 10 s, and only if a pattern has no result yet, a topic was created, or the result is older than
``group.consumer.regex.refresh.interval.ms`` (10 min, since 4.1). The heartbeat itself does not wait: what was found
counts from the next one on. A topic that is deleted leaves at once, with the new metadata.

Nobody asks for ``exclude.internal.topics`` here: ``.*`` matches ``__consumer_offsets``. Where brokers have an
authorizer, topics that the member whose heartbeat began the match may not describe are left out, for all members (not
modelled).

In the classic protocol, and with a ``java.util.regex.Pattern`` in the new one as well, each client matches the topics
of its metadata itself, with Java's rules, each time its metadata is refreshed: `classic_seen_ms`. So members of a group
that have different patterns, or see a topic at different times, subscribe to different topics.

References
----------
Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.maybeUpdateRegularExpressions``, ``TopicRegexResolver``; RE2J 1.7, 1.8;
KIP-848, KAFKA-17592.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType

from kafkalearn.base.checks import text, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least

# What a pattern means. Names of topics have letters, digits, '.', '_' and '-' alone, so that nothing of RE2J's rules
# for other characters matters; what is left is written as an expression of Python's own, or refused.

INVALID = "INVALID_REGULAR_EXPRESSION"
MOST_REPEATS = 1000  # a{1001} is refused
POSIX = MappingProxyType(
    {
        "alnum": "0-9A-Za-z",
        "alpha": "A-Za-z",
        "ascii": "\\x00-\\x7F",
        "digit": "0-9",
        "lower": "a-z",
        "upper": "A-Z",
        "punct": "!-/:-@[-`{-~",
        "word": "0-9A-Za-z_",
        "xdigit": "0-9A-Fa-f",
    }
)
CLASSES = frozenset(f"\\{sign}" for sign in "dDsSwW")
_REPEAT = re.compile(r"\{(\d+)(?:(,)(\d*))?\}")
_FLAGS = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?(P?)<([A-Za-z0-9_]+)>")


def matching(pattern: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole name a pattern matches, as the broker says.

    Raises
    ------
    KafkaLearnError
        If RE2J refuses the pattern, with the reason; or if it has what is not modelled: Unicode classes, octal numbers,
        POSIX classes without a meaning for names.

    Examples
    --------
    >>> sorted(matching("orders-(eu|us)", ["orders-eu", "orders-us", "orders-us-old"]))
    ['orders-eu', 'orders-us']
    >>> sorted(matching(".*", ["orders", "__consumer_offsets"]))
    ['__consumer_offsets', 'orders']
    >>> matching("(?!__).*", ["orders"])
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: INVALID_REGULAR_EXPRESSION: RE2J has no '(?!', got '(?!__).*'; \
name what is to match
    """
    compiled = _compiled(text("pattern", pattern))
    return frozenset(topic for topic in topics if compiled.fullmatch(topic))


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_Reader(pattern).whole(), re.ASCII)


def is_valid(pattern: str) -> bool:
    """Whether RE2J takes a pattern, so that a heartbeat with it is not refused.

    Raises
    ------
    KafkaLearnError
        If it has what is not modelled.

    Examples
    --------
    >>> is_valid("orders.*"), is_valid("(?!__).*")
    (True, False)
    """
    try:
        matching(pattern, ())
    except KafkaLearnError as error:
        if INVALID not in str(error):
            raise
        return False
    return True


class _Reader:
    """Reads a pattern from left to right and writes it for Python."""

    def __init__(self, pattern: str) -> None:
        self.pattern, self.at = pattern, 0
        self.names: set[str] = set()

    def whole(self) -> str:
        written = self._alternatives()
        if self.at < len(self.pattern):
            raise self._refused("')' without '('")
        return written

    def _alternatives(self) -> str:
        """All up to the end, or to the parenthesis that closes; flags hold to there."""
        written, closing = "", ""
        pieces: list[str] = []
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                pieces.append("|")
                continue
            flags = _FLAGS.match(self.pattern, self.at)
            if flags and flags[3] == ")":
                self.at = flags.end()
                if self._peek_is_count():
                    raise self._not_modelled("a quantifier behind a flag")
                # From here on to the end of the group, over all alternatives that follow.
                rest_is_folded = "i" in flags[1] and "i" not in (flags[2] or "")
                is_unfolded = "i" in (flags[2] or "")
                if rest_is_folded or is_unfolded:
                    written += "".join(pieces) + ("(?i:" if rest_is_folded else "(?-i:")
                    closing += ")"
                    pieces = []
                    if "|" in self.pattern[self.at :]:
                        raise self._not_modelled("a flag before '|'")
                continue
            pieces.append(self._repeated())
        return written + "".join(pieces) + closing

    def _repeated(self) -> str:
        """One thing and what says how often."""
        one = self._one()
        count = self._count()
        if count is None:
            return one
        if self.at < len(self.pattern) and self.pattern[self.at] == "?":
            self.at += 1
        before = self.at
        if self._count() is not None:
            self.at = before
            raise self._refused(f"one quantifier behind another, {self.pattern[before - 1 : before + 1]!r}")
        return f"(?:{one}){count}"

    def _count(self) -> str | None:
        rest = self.pattern[self.at : self.at + 1]
        if rest and rest in "*+?":
            self.at += 1
            return rest
        found = _REPEAT.match(self.pattern, self.at)
        if not found:
            return None
        low, has_more, high = int(found[1]), found[2], found[3]
        top = int(high) if high else low
        if low > MOST_REPEATS or top > MOST_REPEATS or top < low:
            raise self._refused(f"such a count, {found[0]}")
        self.at = found.end()
        return f"{{{low}{',' if has_more else ''}{high or ''}}}"

    def _one(self) -> str:
        sign = self.pattern[self.at]
        if sign == "(":
            return self._group()
        if sign == "[":
            return self._class()
        if sign == "\\":
            return self._escape(in_class=False)
        if sign in "*+?":
            raise self._refused(f"{sign!r} with nothing before it")
        self.at += 1
        if sign == "{" and self._peek_is_count():
            raise self._not_modelled("a quantifier behind '{'")
        return sign if sign in ".^$" else re.escape(sign)

    def _group(self) -> str:
        start = self.at
        named, flags = _NAMED.match(self.pattern, start), _FLAGS.match(self.pattern, start)
        opening = "(?:"
        if named and not named[1]:
            raise self._not_modelled("(?<name>, which RE2J knows since 1.8")
        if named:
            if named[2] in self.names:
                raise self._refused(f"a second group {named[2]!r}")
            self.names.add(named[2])
            self.at = named.end()
        elif flags:
            self.at = flags.end()
            folded, unfolded = "i" in flags[1], "i" in (flags[2] or "")
            opening = "(?-i:" if unfolded else "(?i:" if folded else opening
        elif self.pattern.startswith("(?", start):
            sign = self.pattern[start : start + (4 if self.pattern.startswith("(?<", start) else 3)]
            raise self._refused(repr(sign))
        else:
            self.at += 1
        inner = self._alternatives()
        if self.at >= len(self.pattern):
            raise self._refused("'(' without ')'")
        self.at += 1
        return f"{opening}{inner})"

    def _escape(self, *, in_class: bool) -> str:
        self.at += 1
        if self.at >= len(self.pattern):
            raise self._refused("a backslash at the end")
        sign = self.pattern[self.at]
        self.at += 1
        if sign == "Q" and not in_class:
            end = self.pattern.find("\\E", self.at)
            quoted = self.pattern[self.at :] if end < 0 else self.pattern[self.at : end]
            self.at = len(self.pattern) if end < 0 else end + 2
            return "".join(map(re.escape, quoted)) if len(quoted) < 2 else self._quoted(quoted)
        if sign in "pP0x" or (sign in "1234567" and self.pattern[self.at : self.at + 1].isdigit()):
            raise self._not_modelled(f"\\{sign}")
        if sign in "dDsSwW" or (sign in "afnrtv"):
            return f"\\{sign}"
        if not in_class and sign in "bBA":
            return f"\\{sign}"
        if not in_class and sign == "z":
            return "\\Z"
        if sign.isascii() and not sign.isalnum():
            return re.escape(sign)
        raise self._refused(f"'\\{sign}'{' in a class' if in_class else ''}")

    def _quoted(self, quoted: str) -> str:
        """A text to be taken as it is; a quantifier behind it is about its last character."""
        if self._peek_is_count():
            raise self._not_modelled("a quantifier behind \\Q...\\E")
        return re.escape(quoted)

    def _peek_is_count(self) -> bool:
        return self.pattern[self.at : self.at + 1] in ("*", "+", "?") or bool(_REPEAT.match(self.pattern, self.at))

    def _class(self) -> str:
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        pieces: list[str] = []
        is_first = True
        while is_first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                raise self._refused("'[' without ']'")
            is_first = False
            posix = re.match(r"\[:(\^?)(\w*):\]", self.pattern[self.at :])
            if posix:
                if posix[2] not in POSIX or posix[1]:
                    raise self._not_modelled(posix[0])
                pieces.append(POSIX[posix[2]].replace("[", "\\["))
                self.at += posix.end()
                continue
            low = self._in_class()
            if (
                low not in CLASSES
                and self.pattern.startswith("-", self.at)
                and not self.pattern.startswith("-]", self.at)
            ):
                self.at += 1
                if self.at >= len(self.pattern):
                    raise self._refused("'[' without ']'")
                high = self._in_class()
                if len(low.lstrip("\\")) != 1 or len(high.lstrip("\\")) != 1 or not _is_range(low, high):
                    raise self._refused(f"the range {low}-{high}")
                pieces.append(f"{low}-{high}")
            else:
                pieces.append(low)
        self.at += 1
        return f"[{'^' if negated else ''}{''.join(pieces)}]"

    def _in_class(self) -> str:
        if self.pattern[self.at] == "\\":
            return self._escape(in_class=True)
        sign = self.pattern[self.at]
        self.at += 1
        return re.escape(sign) if not sign.isalnum() else sign

    def _refused(self, what: str) -> KafkaLearnError:
        return KafkaLearnError(f"{INVALID}: RE2J has no {what}, got {self.pattern!r}; name what is to match")

    def _not_modelled(self, what: str) -> KafkaLearnError:
        return KafkaLearnError(f"{what} is not modelled, got {self.pattern!r}; write the letters that a name may have")


def _is_range(low: str, high: str) -> bool:
    return high not in CLASSES and low.lstrip("\\") <= high.lstrip("\\")


# When a new topic is seen.

REFRESH_AT_MOST_EVERY_MS = 10_000
REFRESH_INTERVAL_MS = 600_000
UNRESOLVED, NEW_TOPIC, OLD = "a pattern has no result yet", "a topic was created", "the result is old"


@dataclass(frozen=True, slots=True)
class Patterns:
    """What a group's coordinator knows of its patterns.

    Parameters
    ----------
    subscribed : tuple of str
        The patterns that members have.
    resolved : mapping of str to frozenset of str
        What each matched when it was last looked at.
    refreshed_ms : int or None
        When that was; None: never.
    version : int
        Of the metadata that were looked at.
    """

    subscribed: tuple[str, ...]
    resolved: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    refreshed_ms: int | None = None
    version: int = -1


def refresh_reason(
    group: Patterns,
    now_ms: int,
    newest_topic_version: int,
    *,
    subscribed: tuple[str, ...] | None = None,
    refresh_interval_ms: int = REFRESH_INTERVAL_MS,
    release: str | Release = DEFAULT_RELEASE,
) -> str | None:
    """Why a heartbeat makes the coordinator match the topics again; None: it does not.

    Whether a pattern has no result is seen by numbers alone: as many results as patterns are taken for all of them,
    unless the heartbeat brings a pattern that no member had.

    Parameters
    ----------
    group : Patterns
        As it is before the heartbeat.
    now_ms : int
        When the heartbeat comes.
    newest_topic_version : int
        The version of the metadata that last brought a new topic.
    subscribed : tuple of str or None
        The patterns that members have with what the heartbeat changes; None: it changes none.
    refresh_interval_ms : int
        ``group.consumer.regex.refresh.interval.ms``; up to 4.0 the same ten minutes, not to be set.
    release : str or Release
        Of the broker.

    Examples
    --------
    >>> group = heartbeat(Patterns(("orders.*",)), 0, {"orders": 1})
    >>> refresh_reason(group, 5_000, 7), refresh_reason(group, 10_001, 7), refresh_reason(group, 10_001, 1)
    (None, 'a topic was created', None)
    """
    whole_number("now_ms", now_ms, at_least=0)
    if not at_least("4.0", release):
        raise KafkaLearnError(f"the broker matches patterns since 4.0, got release {release!s}")
    interval_ms = refresh_interval_ms if at_least("4.1", release) else REFRESH_INTERVAL_MS
    after = group.subscribed if subscribed is None else subscribed
    if not after:
        return None
    since_ms = None if group.refreshed_ms is None else now_ms - group.refreshed_ms
    if since_ms is not None and since_ms <= REFRESH_AT_MOST_EVERY_MS:
        return None
    if not set(after) <= set(group.subscribed) or len(set(after)) != len(group.resolved):
        return UNRESOLVED
    if group.version < newest_topic_version:
        return NEW_TOPIC
    return OLD if since_ms is None or since_ms > interval_ms else None


def heartbeat(
    group: Patterns,
    now_ms: int,
    topics: Mapping[str, int],
    *,
    subscribed: tuple[str, ...] | None = None,
    refresh_interval_ms: int = REFRESH_INTERVAL_MS,
    release: str | Release = DEFAULT_RELEASE,
) -> Patterns:
    """The group once the match that a heartbeat began is done; without one, what nobody subscribes to is forgotten.

    With the last result goes the time of the last match: so a group whose only pattern changes within the ten seconds
    is matched by its next heartbeat.

    Parameters
    ----------
    group : Patterns
        Before.
    now_ms : int
        When the heartbeat comes.
    topics : mapping of str to int
        Each topic with the version of the metadata that brought it.
    subscribed, refresh_interval_ms, release
        As for `refresh_reason`.

    Examples
    --------
    >>> group = heartbeat(Patterns(("orders.*",)), 0, {"orders": 1, "clicks": 2})
    >>> topics = {"orders": 1, "clicks": 2, "orders-eu": 9}
    >>> [sorted(heartbeat(group, at_ms, topics).resolved["orders.*"]) for at_ms in (5_000, 10_000, 15_000)]
    [['orders'], ['orders'], ['orders', 'orders-eu']]
    """
    newest = max(topics.values(), default=-1)
    after = group.subscribed if subscribed is None else subscribed
    reason = refresh_reason(
        group, now_ms, newest, subscribed=after, refresh_interval_ms=refresh_interval_ms, release=release
    )
    if reason is not None:
        resolved = {pattern: matching(pattern, topics) for pattern in after}
        return Patterns(after, MappingProxyType(resolved), now_ms, newest)
    kept = {pattern: found for pattern, found in group.resolved.items() if pattern in after}
    if not kept:
        return Patterns(after)
    return replace(group, subscribed=after, resolved=MappingProxyType(kept))


def seen_ms(created_ms: int, *, first_heartbeat_ms: int = 0, heartbeat_interval_ms: int = 5000) -> int:
    """When a group's members get the partitions of a new topic at the earliest: with the heartbeat after the match.

    The last match was at the first heartbeat, or at the heartbeat that the topic came too late for.

    Examples
    --------
    >>> seen_ms(2_000), seen_ms(60_001)
    (20000, 70000)
    """
    beats = range(first_heartbeat_ms, created_ms + 3 * REFRESH_AT_MOST_EVERY_MS, heartbeat_interval_ms)
    refreshed = next(at_ms for at_ms in beats if at_ms >= created_ms and at_ms - beats[0] > REFRESH_AT_MOST_EVERY_MS)
    return refreshed + heartbeat_interval_ms


def classic_seen_ms(created_ms: int, *, first_metadata_ms: int = 0, metadata_max_age_ms: int = 300_000) -> int:
    """When a classic client, which matches for itself, sees a new topic and asks for a rebalance.

    Examples
    --------
    >>> classic_seen_ms(2_000), classic_seen_ms(300_001)
    (300000, 600000)
    """
    whole_number("created_ms", created_ms, at_least=first_metadata_ms)
    waits = -(-(created_ms - first_metadata_ms) // metadata_max_age_ms)
    return first_metadata_ms + waits * metadata_max_age_ms
