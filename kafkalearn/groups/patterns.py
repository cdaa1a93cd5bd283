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

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from kafkalearn.base.checks import iterable, mapping, sequence, text, whole_number
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.groups.re2j import INVALID, compiled
from kafkalearn.releases.lines import DEFAULT_RELEASE, Release, at_least


def matching(pattern: str, topics: Iterable[str]) -> frozenset[str]:
    """The topics whose whole name a pattern matches, as the broker says.

    Raises
    ------
    KafkaLearnError
        If RE2J refuses the pattern, with the reason; or if it has what is not modelled: Unicode classes, octal numbers,
        POSIX classes without a meaning for names, and what `kafkalearn.groups.re2j` has no room for.

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
    automaton = compiled(text("pattern", pattern))
    named = iterable("topics", topics, of="names of topics")
    return frozenset(topic for topic in named if automaton.matches(text("topic", topic)))


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
    _require_group(group)
    whole_number("now_ms", now_ms, at_least=0)
    whole_number("newest_topic_version", newest_topic_version, at_least=-1)
    whole_number("refresh_interval_ms", refresh_interval_ms, at_least=0)
    after = group.subscribed if subscribed is None else sequence("subscribed", subscribed, of="patterns")
    for each in after:
        text("pattern", each)
    if not at_least("4.0", release):
        raise KafkaLearnError(f"the broker matches patterns since 4.0, got release {release!s}")
    interval_ms = refresh_interval_ms if at_least("4.1", release) else REFRESH_INTERVAL_MS
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


def _require_group(group: object) -> None:
    if not isinstance(group, Patterns):
        raise KafkaLearnError(f"group must be Patterns, a group's patterns with what they matched, got {shown(group)}")


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
    _require_group(group)
    versions = mapping("topics", topics, of="topic to the version of the metadata that brought it").values()
    newest = max((whole_number("version of a topic", each, at_least=0) for each in versions), default=-1)
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
    whole_number("first_heartbeat_ms", first_heartbeat_ms, at_least=0)
    whole_number("heartbeat_interval_ms", heartbeat_interval_ms, at_least=1)
    earliest_ms = max(
        whole_number("created_ms", created_ms, at_least=0), first_heartbeat_ms + REFRESH_AT_MOST_EVERY_MS + 1
    )
    beats = -((first_heartbeat_ms - earliest_ms) // heartbeat_interval_ms)  # the first at or after it
    return first_heartbeat_ms + (beats + 1) * heartbeat_interval_ms


def classic_seen_ms(created_ms: int, *, first_metadata_ms: int = 0, metadata_max_age_ms: int = 300_000) -> int:
    """When a classic client, which matches for itself, sees a new topic and asks for a rebalance.

    Examples
    --------
    >>> classic_seen_ms(2_000), classic_seen_ms(300_001)
    (300000, 600000)
    """
    whole_number("first_metadata_ms", first_metadata_ms, at_least=0)
    whole_number("metadata_max_age_ms", metadata_max_age_ms, at_least=1)
    whole_number("created_ms", created_ms, at_least=first_metadata_ms)
    waits = -(-(created_ms - first_metadata_ms) // metadata_max_age_ms)
    return first_metadata_ms + waits * metadata_max_age_ms
