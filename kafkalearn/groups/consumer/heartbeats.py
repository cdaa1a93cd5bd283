"""A rebalance of a KIP-848 group: what its coordinator does with a heartbeat, from subscription to assignment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from dataclasses import dataclass, replace

from kafkalearn.assignors.members import GroupSpec
from kafkalearn.assignors.members import Member as Subscriber
from kafkalearn.assignors.registry import find_assignor
from kafkalearn.base.java import FIRST_SLOTS, JavaHashMap, hash_order, map_copy_capacity, timeline_order, utf16_key
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.consumer import events as written
from kafkalearn.groups.consumer.by_pattern import (
    LOOKS_EVERY_MS,
    bumps,
    forgotten,
    left_by,
    left_with,
    match,
    patterns_of,
    without,
)
from kafkalearn.groups.consumer.events import (
    NONE,
    ConsumerGroupHeartbeat,
    Effect,
    HeartbeatAnswered,
    RecordWritten,
    Settings,
    tombstone,
)
from kafkalearn.groups.consumer.state import (
    CLASSIC,
    CONSUMER,
    JOIN,
    LEAVE,
    LEAVE_FOR_A_WHILE,
    STABLE,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    Group,
    Held,
    Member,
    Target,
    partitions_of,
)
from kafkalearn.groups.patterns import INVALID, is_valid

# What is refused, in Kafka's order.

TRIMMED = "".join(map(chr, range(0x21)))  # what Java's String.trim takes off: the blank and all below it


def refusal(settings: Settings, group: Group, event: ConsumerGroupHeartbeat) -> str:
    """The error that a heartbeat is answered with; ``"NONE"`` if it is accepted.

    References
    ----------
    Apache Kafka 4.3, ``GroupCoordinatorService.throwIfConsumerGroupHeartbeatRequestIsInvalid``,
    ``GroupMetadataManager.consumerGroupHeartbeat`` and ``consumerGroupLeave``.
    """
    if _is_malformed(event):
        return "INVALID_REQUEST"
    if event.assignor is not None and event.assignor not in settings.assignors:
        return "UNSUPPORTED_ASSIGNOR"
    if group.group_type != CONSUMER and event.member_epoch != JOIN:
        return "GROUP_ID_NOT_FOUND"
    is_full = len(group.members) >= settings.max_size and group.find(event.member_id) is None
    takes_a_place = settings.rules.replaces_when_full and group.static_id(event.instance_id) is not None
    if is_full and event.member_epoch >= JOIN and not takes_a_place:
        return "GROUP_MAX_SIZE_REACHED"
    if event.instance_id is not None:
        return _refusal_of_static(settings, group, event)
    member = group.find(event.member_id)
    if member is None:
        return _refusal_of_pattern(event) if event.member_epoch == JOIN else "UNKNOWN_MEMBER_ID"
    return _refusal_of_epoch(settings, member, event)


def _is_malformed(event: ConsumerGroupHeartbeat) -> bool:
    if _is_blank(event.member_id) or _is_blank(event.instance_id) or event.member_epoch < LEAVE_FOR_A_WHILE:
        return True
    if event.member_epoch == JOIN:
        names_nothing = event.topics is None and event.pattern is None
        return event.owned != () or names_nothing or event.rebalance_timeout_ms is None
    return event.member_epoch == LEAVE_FOR_A_WHILE and event.instance_id is None


def _is_blank(value: str | None) -> bool:
    return value is not None and not value.strip(TRIMMED)


def _refusal_of_static(settings: Settings, group: Group, event: ConsumerGroupHeartbeat) -> str:
    holder = group.static_id(event.instance_id)
    member = group.find(holder)
    if holder is not None and member is None:
        return "UNKNOWN_MEMBER_ID"  # it had two instance ids, and only the last one went with it
    if event.member_epoch == JOIN:
        is_free = member is None or member.epoch == LEAVE_FOR_A_WHILE or member.classic is not None
        return _refusal_of_pattern(event) if is_free else "UNRELEASED_INSTANCE_ID"
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if member.member_id != event.member_id:
        return "FENCED_INSTANCE_ID"
    return _refusal_of_epoch(settings, member, event)


def _refusal_of_epoch(settings: Settings, member: Member, event: ConsumerGroupHeartbeat) -> str:
    sent = event.member_epoch
    if sent in (LEAVE, LEAVE_FOR_A_WHILE):
        return NONE
    if sent == member.epoch or (sent == JOIN and settings.rules.may_always_rejoin):
        return _refusal_of_pattern(event)
    owns_no_more = event.owned is not None and set(event.owned) <= set(member.assigned_partitions)
    has_missed_an_answer = sent == member.previous_epoch and owns_no_more
    return _refusal_of_pattern(event) if sent < member.epoch and has_missed_an_answer else "FENCED_MEMBER_EPOCH"


def _refusal_of_pattern(event: ConsumerGroupHeartbeat) -> str:
    return NONE if not event.pattern or is_valid(event.pattern) else INVALID


# Subscriptions: whether the heartbeat changes what the group reads, and whether its members subscribe alike.


@dataclass(frozen=True, slots=True)
class Look:
    """What a heartbeat found out about the subscriptions of the group."""

    group: Group  # its epoch one higher if they changed
    are_alike: bool  # what the assignor is given
    records: tuple[Effect, ...]
    left: tuple[str, ...]  # the pattern that nobody has any more with it


def has_new_topics(before: Member, updated: Member) -> bool:
    """Whether a member subscribes to other topics than before; their order is nothing."""
    return set(before.topics) != set(updated.topics)


def has_new_subscription(before: Member, updated: Member) -> bool:
    """Whether a member subscribes to other topics than before, by name or by pattern."""
    return before.pattern != updated.pattern or has_new_topics(before, updated)


def look(settings: Settings, group: Group, before: Member, updated: Member) -> Look:
    """The group epoch goes up if the subscription of the member, or of the topics subscribed to, has changed.

    Since 4.4 also if another assignor is preferred: until then a change of mind waited for the next other reason.

    A heartbeat that has no reason to look takes the subscriptions for what they were before it. So a member that
    joins with no topics, while a target is due, is taken for one like the others, and gets a share that nobody
    reads: a quirk of all releases so far.

    Parameters
    ----------
    settings : Settings
        Whose rules are followed.
    group : Group
        Before the heartbeat.
    before, updated : Member
        The member before its heartbeat, a fresh one if it is new, and with what the heartbeat changes.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``GroupMetadataManager.consumerGroupHeartbeat`` and ``updateSubscriptionMetadata``.
    """
    subscribers = Counter(topic for member in group.members for topic in member.topics)
    left = left_by(group, before, updated)
    must_bump = has_new_topics(before, updated) or bumps(settings, group, before, updated) or group.group_epoch == 0
    if settings.rules.counts_assignors and not must_bump:
        must_bump = preferred_assignor(settings, group, before, updated) != standing_assignor(settings, group)
    if not (must_bump or group.must_look):
        return Look(group, _are_alike(subscribers, patterns_of(group.members), len(group.members)), (), left)
    subscribers.subtract(before.topics)
    subscribers.update(updated.topics)
    holder = group.static_id(updated.instance_id)
    is_one_more = group.find(updated.member_id) is None and holder is None
    others = [each for each in group.members if each.member_id not in (updated.member_id, holder)]
    patterns = patterns_of([*others, updated])
    are_alike = _are_alike(subscribers, patterns, len(group.members) + is_one_more)
    matched = without(group, left).matched_names
    seen = tuple(topic for topic in group.topics if subscribers[topic.name] > 0 or topic.name in matched)
    records: list[Effect] = []
    if seen != group.seen_topics and settings.rules.writes_topic_metadata:
        records.append(RecordWritten(written.TOPIC_METADATA))
    if must_bump or seen != group.seen_topics:
        group = replace(group, group_epoch=group.group_epoch + 1)
        records.append(RecordWritten(written.GROUP_METADATA))
    group = replace(group, seen_topics=seen, look_at_ms=group.now_ms + LOOKS_EVERY_MS)
    return Look(group, are_alike, tuple(records), left)


def _are_alike(subscribers: Counter[str], patterns: tuple[str, ...], member_count: int) -> bool:
    """Whether all name the same topics, or all have the same pattern and name none."""
    if patterns:
        return patterns.count(patterns[0]) == member_count and not any(count > 0 for count in subscribers.values())
    return all(count == member_count for count in subscribers.values() if count > 0)


# The target assignment, computed when the group epoch is above that of the last one and the interval allows it.


@dataclass(frozen=True, slots=True)
class Aim:
    """The target that a member is moved to by its heartbeat."""

    epoch: int
    partitions: tuple[TopicPartition, ...]
    changed: tuple[Target, ...] | None  # the targets that a new assignment changes; None: it is the last one
    records: tuple[Effect, ...] = ()

    def applied_to(self, group: Group) -> Group:
        """The group with the new assignment, if there is one."""
        if self.changed is None:
            return group
        return replace(group.with_targets(self.changed), assignment_epoch=self.epoch, assigned_at_ms=group.now_ms)


def aim(
    settings: Settings,
    group: Group,
    before: Member,
    updated: Member,
    are_alike: bool,
    event: ConsumerGroupHeartbeat,
) -> Aim:
    """A new target assignment if one is due and may be computed now, else the last one.

    The last target is looked up by the instance id if the member has one. Under an instance id that it brings for
    the first time there is none: a dynamic member that has not reached its target and joins again as a static one
    has to reach an empty target, a quirk of all releases so far.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.maybeUpdateTargetAssignment`` and ``canComputeNextTargetAssignment``
    (KIP-1263), ``TargetAssignmentBuilder``, ``ConsumerGroup.targetAssignment``.
    """
    if group.assignment_epoch >= group.group_epoch or not _may_compute(settings, group):
        holder = updated.member_id if updated.instance_id is None else group.static_id(updated.instance_id)
        return Aim(group.assignment_epoch, () if holder is None else group.target(holder), None)
    targets = _new_targets(settings, group, before, updated, are_alike, event)
    former = dict(group.targets)
    holder = group.static_id(updated.instance_id)
    if settings.rules.replaces_before_targets and holder in former:
        former[updated.member_id] = former.pop(holder)
    changed = tuple(
        (member_id, target)
        for member_id, target in targets.items()
        if member_id not in former or set(target) != set(former[member_id])
    )
    records = (*(RecordWritten(written.TARGET_MEMBER) for _ in changed), RecordWritten(written.TARGET_METADATA))
    return Aim(group.group_epoch, targets[updated.member_id], changed, records)


def _may_compute(settings: Settings, group: Group) -> bool:
    if group.assigned_at_ms is None:
        return True
    return group.now_ms >= group.assigned_at_ms + settings.assignment_interval_ms


def _new_targets(
    settings: Settings,
    group: Group,
    before: Member,
    updated: Member,
    are_alike: bool,
    event: ConsumerGroupHeartbeat,
) -> dict[str, tuple[TopicPartition, ...]]:
    """What the assignor answers, for the members in the order of the coordinator's map of them.

    It puts the members of the group into a fresh map, as it walks its own; then, as it was sent, the one of the
    heartbeat; and it takes out the static member whose place that one takes. Since 4.4 that one is not put in at all.
    """
    subscribers: JavaHashMap[str, Subscriber] = JavaHashMap()
    holder = group.static_id(updated.instance_id) or updated.member_id  # another one: the member takes its place
    is_replaced = holder != updated.member_id
    for member in group.in_broker_order:
        if not (is_replaced and settings.rules.replaces_before_targets and member.member_id == holder):
            subscribers[member.member_id] = _subscriber(group, member, member.member_id, None)
    for member_id in hash_order(dict.fromkeys([updated.member_id, holder])):
        if member_id == updated.member_id:
            subscribers[member_id] = _subscriber(group, updated, holder, event.topics)
        else:
            subscribers.pop(member_id, None)
    assignor = find_assignor(preferred_assignor(settings, group, before, updated), side="broker")
    assignment = assignor.rule(
        GroupSpec(
            group.partition_counts,
            tuple(subscribers.values()),
            release=settings.release,
            topic_ids=_topic_ids(settings, group),
            is_in_map_order=True,
            are_alike=are_alike,
            in_targets={partition for _, target in group.targets for partition in target},
        )
    )
    return {member_id: tuple(assignment.get(member_id, ())) for member_id in subscribers}


def _subscriber(group: Group, member: Member, owner: str, sent: tuple[str, ...] | None) -> Subscriber:
    """A member as the assignor sees it: a subscription stands in its record in order, but comes in any.

    What a pattern has matched is a set in Java; of the two sets the larger one comes first.
    """
    named = sent or sorted(member.topics, key=utf16_key)
    matched = hash_order(dict(group.matched).get(member.pattern, ()))
    both = (*named, *matched) if len(named) > len(matched) else (*matched, *named)
    topics = tuple(dict.fromkeys(both))
    return Subscriber(member.member_id, topics, owned=group.target(owner), instance_id=member.instance_id)


def _topic_ids(settings: Settings, group: Group) -> dict[str, str] | None:
    if not settings.topic_ids:
        return None
    topics = (*group.topics, *group.former_topics)
    return {topic.name: topic.topic_id for topic in topics if topic.topic_id is not None}


def standing_assignor(settings: Settings, group: Group) -> str:
    """The assignor that most members have asked for so far; the broker's first one if nobody has.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``ConsumerGroup.preferredServerAssignor``.
    """
    votes = _votes(group)
    return max(timeline_order(votes, FIRST_SLOTS), key=votes.__getitem__) if votes else settings.assignors[0]


def _votes(group: Group) -> Counter[str]:
    """How many members ask for each assignor."""
    return Counter(member.assignor for member in group.members if member.assignor is not None)


def preferred_assignor(settings: Settings, group: Group, before: Member, updated: Member) -> str:
    """The assignor that most members ask for; the broker's first one if nobody asks.

    Of two that are asked for equally often it is the one that comes first in a copy of the broker's map of votes,
    from which the old vote of this member has been taken and into which its new one has been put: a name that was
    not there comes before the others in its bucket.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``ConsumerGroup.computePreferredServerAssignor``.
    """
    standing = _votes(group)
    votes: JavaHashMap[str, int] = JavaHashMap(map_copy_capacity(len(standing)))
    votes.update({name: standing[name] for name in timeline_order(standing, FIRST_SLOTS)})
    if before.assignor in votes:
        votes[before.assignor] -= 1
        if not votes[before.assignor]:
            del votes[before.assignor]
    if updated.assignor is not None:
        votes[updated.assignor] = votes.compute_if_absent(updated.assignor, lambda: 0) + 1
    return max(votes, key=votes.__getitem__) if votes else settings.assignors[0]


# Reconciling: each member is moved from what it has to its target, in its own time. First it gives up partitions
# (UNREVOKED_PARTITIONS); only when it has confirmed that, it gets more. It waits for partitions that others have not
# given up yet (UNRELEASED_PARTITIONS). So nothing is ever owned twice, and no member waits for all others.


def reconcile(
    settings: Settings,
    group: Group,
    member: Member,
    target: Aim,
    owned: tuple[TopicPartition, ...] | None,
    is_new_subscription: bool,
) -> Member:
    """The member one step nearer to its target.

    Parameters
    ----------
    settings : Settings
        Whose rules are followed.
    group : Group
        Before this heartbeat: who held what.
    member : Member
        The one whose heartbeat it is.
    target : Aim
        The target, and its epoch.
    owned : tuple of TopicPartition or None
        What the client reports to own; None: it still owns all.
    is_new_subscription : bool
        Whether its subscription changed with this heartbeat.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``CurrentAssignmentBuilder.build`` and ``computeNextAssignment``.
    """
    must_drop = is_new_subscription and settings.rules.drops_unsubscribed
    if member.is_at(target.epoch) and not must_drop:
        return member
    names = group.names_of(member)
    subscribed = group.partition_counts.keys() & names
    has_none = not names
    if member.state == STABLE and member.epoch == target.epoch:
        after = _dropped(settings, member, subscribed, owned, has_none)
    elif member.state == UNREVOKED_PARTITIONS and _still_owns(owned, member.pending_revocation):
        after = _dropped(settings, member, subscribed, owned, has_none) if must_drop else member
    else:
        after = _next(settings, group, member, target, subscribed, owned)
    if after == member:
        return member
    # The time for that starts again with each new assignment; a classic member has its JoinGroup to send instead.
    is_giving_up = after.state == UNREVOKED_PARTITIONS and member.classic is None
    return replace(after, revocation_ends_at_ms=group.now_ms + after.rebalance_timeout_ms if is_giving_up else None)


def _still_owns(owned: tuple[TopicPartition, ...] | None, pending: tuple[Held, ...]) -> bool:
    return owned is None or not set(owned).isdisjoint(partitions_of(pending))


def _next(
    settings: Settings,
    group: Group,
    member: Member,
    target: Aim,
    subscribed: Set[str],
    owned: tuple[TopicPartition, ...] | None,
) -> Member:
    rules = settings.rules
    wanted = {each for each in target.partitions if each.topic in subscribed or not rules.drops_unsubscribed}
    keep = tuple(held for held in member.assigned if held[:2] in wanted)
    revoke = tuple(held for held in member.assigned if held[:2] not in wanted)
    if revoke and _still_owns(owned, revoke):
        has_revoked = member.state == UNREVOKED_PARTITIONS and rules.counts_revocations
        return replace(
            member,
            state=UNREVOKED_PARTITIONS,
            previous_epoch=member.epoch,
            epoch=member.epoch + has_revoked,
            assigned=keep,
            pending_revocation=revoke,
        )
    missing = wanted - set(partitions_of(keep))
    holders = group.holders
    own_pending = set(member.pending_partitions) if rules.may_take_back else set()
    add = {partition for partition in missing if partition not in holders or partition in own_pending}
    added = tuple(Held(topic, partition, target.epoch) for topic, partition in add)
    return replace(
        member,
        state=STABLE if add == missing else UNRELEASED_PARTITIONS,
        previous_epoch=member.epoch,
        epoch=target.epoch,
        assigned=tuple(sorted(keep + added)),
        pending_revocation=(),
    )


def _dropped(
    settings: Settings, member: Member, subscribed: Set[str], owned: tuple[TopicPartition, ...] | None, has_none: bool
) -> Member:
    """The member without the topics it no longer subscribes to; no other partition moves.

    References
    ----------
    Apache Kafka 4.2 and 4.3, ``CurrentAssignmentBuilder.updateCurrentAssignment``.
    """
    keep = tuple(held for held in member.assigned if held.topic in subscribed)
    dropped = tuple(held for held in member.assigned if held.topic not in subscribed)
    has_left_all = has_none and not member.pending_revocation  # then Kafka does not look whether it had any
    if not dropped and not has_left_all:
        return member
    after = replace(member, previous_epoch=member.epoch) if settings.rules.forgets_previous_epoch else member
    pending = tuple(sorted(member.pending_revocation + dropped))
    if pending and _still_owns(owned, pending):
        return replace(after, state=UNREVOKED_PARTITIONS, assigned=keep, pending_revocation=pending)
    return replace(after, assigned=keep)


# The heartbeat as a whole.

REMOVAL = (
    tombstone(written.CURRENT_ASSIGNMENT),
    tombstone(written.TARGET_MEMBER),
    tombstone(written.MEMBER_METADATA),
)
"""The records that remove a member."""

REPLACEMENT = (
    *REMOVAL,
    *map(RecordWritten, (written.MEMBER_METADATA, written.TARGET_MEMBER, written.CURRENT_ASSIGNMENT)),
)
"""The records that put another member in the place of a static one."""


def heartbeat(settings: Settings, group: Group, event: ConsumerGroupHeartbeat) -> Group:
    """The group after a heartbeat, with the answer among its effects.

    Everything is worked out from the group as it was; what is written changes it afterwards.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.consumerGroupHeartbeat``.
    """
    error = refusal(settings, group, event)
    if error != NONE:
        return replace(group, effects=(HeartbeatAnswered(event.member_id, error),))
    if event.member_epoch < JOIN:
        return _leave(settings, group, event)
    replaced = group.find(group.static_id(event.instance_id)) if event.member_epoch == JOIN else None
    before = _member_of(group, event, replaced)
    updated = _updated(before, event)
    found = look(settings, group, before, updated)
    target = aim(settings, found.group, before, updated, found.are_alike, event)
    is_new_subscription = has_new_subscription(before, updated)
    after = reconcile(settings, group, updated, target, event.owned, is_new_subscription)

    records: list[Effect] = []
    known = group
    if group.group_type == CLASSIC:  # the offsets of a client without a group go
        records.append(tombstone(written.CLASSIC_GROUP))
    group = replace(found.group, group_type=CONSUMER, is_deleted=False)
    if replaced is not None:
        group = with_replaced(group, replaced, before)
        records += REPLACEMENT
    if updated != before:
        if settings.rules.keeps_one_instance_id:
            group = group.without_static_id(before.instance_id)
        group = group.with_written(updated)
        records.append(RecordWritten(written.MEMBER_METADATA))
    group = target.applied_to(without(group, found.left))
    records += [*forgotten(found.left), *found.records, *target.records]
    if after != updated:
        group = group.with_written(after)
        records.append(RecordWritten(written.CURRENT_ASSIGNMENT))
    group = group.with_member(replace(after, session_ends_at_ms=group.now_ms + settings.session_timeout_ms))
    answer = HeartbeatAnswered(
        event.member_id,
        NONE,
        after.epoch,
        settings.heartbeat_interval_ms,
        after.assigned_partitions if _is_full(event) or before.assigned != after.assigned else None,
    )
    group, matched = match(settings, known, group)
    return replace(group, effects=(*records, answer, *matched))


def _is_full(event: ConsumerGroupHeartbeat) -> bool:
    """A join, or a request with all its fields, as clients send it after a lost answer."""
    topics = event.pattern if event.topics is None else event.topics
    fields = (event.rebalance_timeout_ms, topics, event.owned)
    return event.member_epoch == JOIN or all(field is not None for field in fields)


def _member_of(group: Group, event: ConsumerGroupHeartbeat, replaced: Member | None) -> Member:
    """The member that sent it: a known one, a new one, or one that takes the place of a static member."""
    if replaced is None:
        return group.find(event.member_id) or Member(event.member_id)
    return in_place_of(replaced, event.member_id)


def in_place_of(replaced: Member, member_id: str) -> Member:
    """A member that takes the place of a static one under a new id, before anything of its own is known.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.getOrMaybeSubscribeStaticConsumerGroupMember``.
    """
    return replace(
        replaced,
        member_id=member_id,
        epoch=JOIN,
        previous_epoch=0,
        revocation_ends_at_ms=None,
        join_ends_at_ms=None,
        sync_ends_at_ms=None,
    )


def _updated(member: Member, event: ConsumerGroupHeartbeat) -> Member:
    """The member with what the request changes; what it leaves out stays."""
    timeout_ms = event.rebalance_timeout_ms
    return replace(
        member,
        topics=member.topics if event.topics is None or set(event.topics) == set(member.topics) else event.topics,
        instance_id=member.instance_id if event.instance_id is None else event.instance_id,
        assignor=member.assignor if event.assignor is None else event.assignor,
        pattern=member.pattern if event.pattern is None else event.pattern,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms is None else timeout_ms,
        classic=None,
    )


def with_replaced(group: Group, replaced: Member, member: Member) -> Group:
    """The group with a member in the place of a static one, whose target it takes over.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.replaceMember``.
    """
    target = (member.member_id, group.target(replaced.member_id))
    group = group.without_member(replaced.member_id).with_written(member).with_targets([target])
    return group.with_written(member)


def _leave(settings: Settings, group: Group, event: ConsumerGroupHeartbeat) -> Group:
    answer = HeartbeatAnswered(event.member_id, NONE, event.member_epoch, heartbeat_interval_ms=0)
    if event.member_epoch == LEAVE_FOR_A_WHILE:
        member = group.member(event.member_id)
        away = replace(
            member,
            epoch=LEAVE_FOR_A_WHILE,
            assigned=tuple(Held(topic, partition, 0) for topic, partition, _ in member.assigned),
            pending_revocation=(),
            revocation_ends_at_ms=None,
        )
        return replace(group.with_written(away), effects=(RecordWritten(written.CURRENT_ASSIGNMENT), answer))
    group, records = remove(settings, group, event.member_id)
    return replace(group, effects=(*records, answer))


def remove(settings: Settings, group: Group, member_id: str) -> tuple[Group, tuple[Effect, ...]]:
    """The group without a member, its epoch one higher, and the records of that.

    References
    ----------
    Apache Kafka 4.3 and 4.4, ``GroupMetadataManager.consumerGroupFenceMembers``.
    """
    left = left_with(group, (member_id,))
    group = without(group.without_member(member_id), left)
    seen = group.subscribed_topics
    records: list[Effect] = [*REMOVAL, *forgotten(left)]
    if seen != group.seen_topics and settings.rules.writes_topic_metadata:
        records.append(RecordWritten(written.TOPIC_METADATA))
    records.append(RecordWritten(written.GROUP_METADATA))
    group = replace(group, group_epoch=group.group_epoch + 1, seen_topics=seen)
    if settings.rules.ends_when_empty and not group.members:  # the next target need not wait
        records.append(RecordWritten(written.TARGET_METADATA))
        group = replace(group, assignment_epoch=group.group_epoch, assigned_at_ms=None)
    return group, tuple(records)
