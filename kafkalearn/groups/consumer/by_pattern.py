"""Members that subscribe by pattern: which heartbeat makes their coordinator match the topics, and what comes of it.

A member sends a pattern as text. The coordinator takes it, answers, and only then matches the topics of the cluster,
in another thread; `match` is that, as if it were done before the next request comes. So:

- The first member of a pattern is answered nothing. What was matched raises the group epoch, and counts for the next
  heartbeat of anybody.
- A later member of the same pattern finds the match there: the epoch goes up with its own heartbeat (`bumps`).
- All patterns of a group are matched together, at most every ten seconds, for the reasons that
  `kafkalearn.groups.patterns.refresh_reason` has. A pattern that comes in between waits, with nothing to read.
- A member that changes its pattern to one without a match subscribes to nothing meanwhile. Since 4.2 it has to give up
  *all* that it has, at once, also what the new pattern matches as well.
- With the last member of a pattern what it has matched is forgotten (`without`).

A topic that is deleted, or has got more partitions, needs no match: a match is a list of names.

Simplified: a match is always done before the next request; and the topics of the cluster are those of the settings. A
real pattern ``.*`` matches ``__consumer_offsets``, too. Authorizers are not modelled.

References
----------
Apache Kafka 4.4, ``GroupMetadataManager.maybeUpdateRegularExpressions`` and ``handleRegularExpressionsResult``,
``ConsumerGroup.subscriptionType``; KIP-848, KAFKA-17592.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from kafkalearn.base.java import hash_order
from kafkalearn.groups.consumer.events import (
    GROUP_METADATA,
    REGULAR_EXPRESSION,
    TOPIC_METADATA,
    Effect,
    RecordWritten,
    Settings,
    tombstone,
)
from kafkalearn.groups.consumer.state import Group, Matched, Member
from kafkalearn.groups.patterns import Patterns, matching, refresh_reason

LOOKS_EVERY_MS = 2**31 - 1  # between two looks at the topics of the cluster, unless they change: 25 days, in 4.0 to 4.4


def patterns_of(members: Iterable[Member]) -> tuple[str, ...]:
    """The patterns that members have, as often as they have them.

    >>> patterns_of([Member("A", pattern="o.*"), Member("B"), Member("C", pattern="o.*")])
    ('o.*', 'o.*')
    """
    return tuple(member.pattern for member in members if member.pattern)


def bumps(settings: Settings, group: Group, before: Member, updated: Member) -> bool:
    """Whether a heartbeat's pattern raises the group epoch at once: it has a match already, or is taken back.

    In 4.0 a pattern that is taken back did not: the member kept what it had matched until something else happened.

    Parameters
    ----------
    settings : Settings
        Whose rules are followed.
    group : Group
        Before the heartbeat.
    before, updated : Member
        The member before its heartbeat, and with what the heartbeat changes.
    """
    if before.pattern == updated.pattern:
        return False
    if updated.pattern == "":
        return settings.rules.counts_patterns_back
    return updated.pattern in dict(group.matched)


def left_by(group: Group, before: Member, updated: Member) -> tuple[str, ...]:
    """The pattern that nobody has any more with this heartbeat, if there is one."""
    is_last = before.pattern != updated.pattern and patterns_of(group.members).count(before.pattern) == 1
    return (before.pattern,) if before.pattern and is_last else ()


def left_with(group: Group, gone: Collection[str]) -> tuple[str, ...]:
    """The patterns that nobody has any more without the members of these ids, in the order of Java's map."""
    stay = patterns_of(member for member in group.members if member.member_id not in gone)
    theirs = patterns_of(member for member in group.members if member.member_id in gone)
    return tuple(each for each in hash_order(dict.fromkeys(theirs)) if each not in stay)


def forgotten(patterns: Collection[str]) -> tuple[Effect, ...]:
    """The records that remove what patterns have matched; Kafka writes them whether there was a match or not."""
    return tuple(tombstone(REGULAR_EXPRESSION) for _ in patterns)


def without(group: Group, patterns: Collection[str]) -> Group:
    """The group without what these patterns have matched; with the last match its time is forgotten, too."""
    kept = tuple(each for each in group.matched if each.pattern not in patterns)
    return replace(group, matched=kept, matched_at_ms=group.matched_at_ms if kept else None)


def match(settings: Settings, before: Group, group: Group) -> tuple[Group, tuple[Effect, ...]]:
    """The group once the match is done that a heartbeat has begun, and its records; none if it has begun none.

    The group epoch goes up if a pattern has matched other topics than before, or if the topics that the group
    subscribes to have changed meanwhile.

    Parameters
    ----------
    settings : Settings
        Whose rules and interval are followed.
    before : Group
        Before the heartbeat: what decides whether there is a reason.
    group : Group
        After it.
    """
    after = patterns_of(group.members)
    reason = refresh_reason(
        Patterns(
            patterns_of(before.members),
            {each.pattern: frozenset(each.topics) for each in before.matched},
            before.matched_at_ms,
            before.matched_version,
        ),
        group.now_ms,
        group.topic_version,
        subscribed=after,
        refresh_interval_ms=settings.regex_refresh_interval_ms,
        release=settings.release,
    )
    if reason is None:
        return group, ()
    names = [topic.name for topic in group.topics]
    found = tuple(Matched(each, tuple(sorted(matching(each, names)))) for each in dict.fromkeys(after))
    old = dict(group.matched)
    is_other = any(old.get(pattern, ()) != topics for pattern, topics in found)
    group = replace(group, matched=found, matched_at_ms=group.now_ms, matched_version=group.topic_version)
    records: list[Effect] = [RecordWritten(REGULAR_EXPRESSION) for _ in found]
    seen = group.subscribed_topics
    if seen != group.seen_topics and settings.rules.writes_topic_metadata:
        records.append(RecordWritten(TOPIC_METADATA))
    if is_other or seen != group.seen_topics:
        records.append(RecordWritten(GROUP_METADATA))
        look_at_ms = group.now_ms + LOOKS_EVERY_MS
        group = replace(group, group_epoch=group.group_epoch + 1, seen_topics=seen, look_at_ms=look_at_ms)
    return group, tuple(records)
