"""Classic members of a consumer group: their JoinGroup, SyncGroup, Heartbeat and LeaveGroup.

A JoinGroup is one step of reconciling, as a heartbeat is for a new member: its answer has the member epoch as
generation and no leader, so that nobody assigns. The SyncGroup after it fetches what the member has. A Heartbeat is
answered REBALANCE_IN_PROGRESS when the member could get on by joining again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.classic.joining import FIRST_VERSION_WITH_MEMBER_ID_REQUIRED, GroupUpdate, prepare, taken_id
from kafkalearn.groups.classic.model import NONE, UNKNOWN, JoinAnswered, LeaveAnswered, SyncAnswered
from kafkalearn.groups.consumer import by_pattern, heartbeats
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.consumer.events import ConsumerGroupHeartbeat, RecordWritten
from kafkalearn.groups.consumer.state import (
    CLASSIC,
    CONSUMER,
    JOIN,
    UNRELEASED_PARTITIONS,
    UNREVOKED_PARTITIONS,
    ClassicSide,
    Member,
)
from kafkalearn.groups.consumer.state import Group as ConsumerGroup
from kafkalearn.groups.mixed.model import Effect, Group, ProtocolChanged, Settings, as_written, is_new, subscription_of
from kafkalearn.groups.mixed.switching import downgrade, downgrade_records, downgraded, forgotten, may_be_downgraded

# JoinGroup.


def join(settings: Settings, group: Group, request: classic.JoinGroup) -> Group:
    """The group after a JoinGroup to a consumer group that has members.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.classicGroupJoinToConsumerGroup``.
    """
    members, version = group.consumer, classic.join_version(settings.classic, request)
    low, high = settings.classic.group_min_session_timeout_ms, settings.classic.group_max_session_timeout_ms
    if not low <= request.session_timeout_ms <= high:
        return _refuse_join(group, request, "INVALID_SESSION_TIMEOUT", request.member_id)
    has_no_id = request.member_id == UNKNOWN
    number = group.classic.id_count + 1
    while members.find(f"{request.client}-{number}") is not None:  # a member may have come with any id
        number += 1
    if has_no_id and request.drawn_id is not None and members.find(request.drawn_id) is not None:
        raise taken_id(request.drawn_id)
    member_id = (request.drawn_id or f"{request.client}-{number}") if has_no_id else request.member_id
    holder = members.static_id(request.instance_id)
    takes_a_place = settings.consumer.rules.replaces_when_full and holder is not None
    if members.find(member_id) is None and len(members.members) >= settings.consumer.max_size and not takes_a_place:
        return _refuse_join(group, request, "GROUP_MAX_SIZE_REACHED", UNKNOWN)
    may_come = settings.policy != "disabled" or not settings.rules.keeps_classic_out
    if not (may_come and _supports(members, request)):
        return _refuse_join(group, request, "INCONSISTENT_GROUP_PROTOCOL", request.member_id)
    if has_no_id and request.drawn_id is None:
        group = replace(group, classic=replace(group.classic, id_count=number))
    if has_no_id and request.instance_id is None and version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED:
        return _refuse_join(group, request, "MEMBER_ID_REQUIRED", member_id)
    replaced = None
    if request.instance_id is not None:
        if has_no_id:
            replaced = members.find(holder)
        elif holder != member_id:
            error = "UNKNOWN_MEMBER_ID" if holder is None else "FENCED_INSTANCE_ID"
            return _refuse_join(group, request, error, request.member_id)
    return _take_in(settings, group, request, member_id, replaced)


def _refuse_join(group: Group, request: classic.JoinGroup, error: str, member_id: str) -> Group:
    return replace(group, effects=(JoinAnswered(request.client, error, member_id),))


def _supports(group: ConsumerGroup, request: classic.JoinGroup) -> bool:
    """Whether the member has an assignor that all classic members have; new ones have none of these."""
    if request.protocol_type != "consumer":
        return False
    known = [{name for name, _ in each.classic.protocols} for each in group.members if each.classic is not None]
    return any(all(name in names for names in known) for name, _ in request.protocols)


def _take_in(
    settings: Settings, group: Group, request: classic.JoinGroup, member_id: str, replaced: Member | None
) -> Group:
    """One step of reconciling, as a heartbeat of a new member has it."""
    rules, members, now_ms = settings.consumer, group.consumer, group.now_ms
    before = members.find(member_id) or Member(member_id)
    if replaced is not None:
        before = heartbeats.in_place_of(replaced, member_id)
    sent = subscription_of(request.protocols[0][1])
    topics = tuple(dict.fromkeys(sent.topics))
    updated = replace(
        before,
        topics=before.topics if set(topics) == set(before.topics) else topics,
        instance_id=request.instance_id or before.instance_id,
        rebalance_timeout_ms=classic.rebalance_timeout_ms(settings.classic, request),
        pattern="",
        classic=ClassicSide(request.client, request.session_timeout_ms, request.protocols),
    )
    found = heartbeats.look(rules, members, before, updated)
    is_last = replaced is not None and may_be_downgraded(settings, members, [replaced.member_id], is_replaced=True)
    if replaced is not None and is_last:
        return _downgrade_with(settings, group, request, replaced, before, updated, found)
    event = ConsumerGroupHeartbeat(member_id, JOIN, topics)
    target: heartbeats.Aim = heartbeats.aim(rules, found.group, before, updated, found.are_alike, event)
    after = heartbeats.reconcile(
        rules, members, updated, target, sent.owned, heartbeats.has_new_subscription(before, updated)
    )

    records: list[Effect] = []
    changed = found.group
    if replaced is not None:
        changed = heartbeats.with_replaced(changed, replaced, before)
        records += heartbeats.REPLACEMENT
    if updated != before:
        changed = changed.with_written(updated)
        records.append(RecordWritten(consumer.MEMBER_METADATA))
    changed = target.applied_to(by_pattern.without(changed, found.left))
    records += [*by_pattern.forgotten(found.left), *found.records, *target.records]
    if after != updated:
        changed = changed.with_written(after)
        records.append(RecordWritten(consumer.CURRENT_ASSIGNMENT))
    changed = changed.with_member(
        replace(
            after,
            session_ends_at_ms=now_ms + request.session_timeout_ms,
            join_ends_at_ms=None,
            sync_ends_at_ms=now_ms + classic.rebalance_timeout_ms(settings.classic, request),
        )
    )
    changed, matched = by_pattern.match(rules, members, changed)
    effects = (*records, _taken_in(request, after), *matched)
    return replace(group, consumer=replace(changed, effects=()), effects=effects)


def _taken_in(request: classic.JoinGroup, member: Member) -> JoinAnswered:
    """The answer to a JoinGroup: the member epoch for a generation, and no leader."""
    return JoinAnswered(request.client, NONE, member.member_id, member.epoch, request.protocols[0][0])


def _downgrade_with(
    settings: Settings,
    group: Group,
    request: classic.JoinGroup,
    replaced: Member,
    before: Member,
    updated: Member,
    found: heartbeats.Look,
) -> Group:
    """A classic member takes the place of the last new one, a static one: the last target is its assignment.

    No new target is worked out. Where one would be due, the classic group begins a rebalance instead, and the member
    is answered generation 0, with which it can do nothing but join again.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.classicGroupJoinToConsumerGroup`` and ``convertToClassicGroup``.
    """
    old = group.consumer
    has_changed = heartbeats.has_new_subscription(before, updated)
    is_stale = old.assignment_epoch < found.group.group_epoch if settings.rules.knows_stale_target else has_changed
    after = updated
    if not is_stale:
        target = heartbeats.Aim(old.assignment_epoch, old.target(replaced.member_id), None)
        owned = subscription_of(request.protocols[0][1]).owned
        after = heartbeats.reconcile(settings.consumer, old, updated, target, owned, has_changed)
    stay = [each for each in old.in_broker_order if each.member_id != replaced.member_id]
    made = downgraded(settings, group, [*stay, after], {after.member_id: replaced.member_id})
    written = as_written(made)
    if is_stale:
        update = GroupUpdate(settings.classic, made)
        prepare(update, classic.METADATA_CHANGED, after.member_id)
        made = update.freeze()
    effects: tuple[Effect, ...] = (
        *heartbeats.REPLACEMENT,
        *(RecordWritten(consumer.MEMBER_METADATA),) * (updated != before),
        *by_pattern.forgotten(found.left),
        *found.records,
        *(RecordWritten(consumer.CURRENT_ASSIGNMENT),) * (after != updated),
        ProtocolChanged(CONSUMER, CLASSIC),
        *downgrade_records(old),
        classic.GroupWritten(),
        *made.effects,
        _taken_in(request, after),
    )
    return Group(replace(made, effects=()), forgotten(settings, old), written, effects=effects)


# SyncGroup and Heartbeat.


def _error_of(members: ConsumerGroup, member_id: str, instance_id: str | None, generation: int) -> str:
    """Why a request of a classic member is refused; NONE if it is not."""
    holder = members.static_id(instance_id)
    if instance_id is not None and holder != member_id:
        return "UNKNOWN_MEMBER_ID" if holder is None else "FENCED_INSTANCE_ID"
    member = members.find(member_id)
    if member is None or is_new(member):
        return "UNKNOWN_MEMBER_ID"
    return NONE if member.epoch == generation else "ILLEGAL_GENERATION"


def _must_join(group: Group, member: Member) -> Group:
    """The member is asked to join again; from the first time on it has its rebalance timeout for that."""
    if member.join_ends_at_ms is not None:
        return group
    member = replace(member, join_ends_at_ms=group.now_ms + member.rebalance_timeout_ms)
    return replace(group, consumer=group.consumer.with_member(member))


def _session_renewed(group: Group, member: Member) -> Member:
    assert member.classic is not None
    return replace(member, session_ends_at_ms=group.now_ms + member.classic.session_timeout_ms)


def sync(settings: Settings, group: Group, request: classic.SyncGroup) -> Group:
    """The answer to a SyncGroup: what the member has; what a client assigns in it is not looked at.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.classicGroupSyncToConsumerGroup``.
    """
    members = group.consumer
    error = _error_of(members, request.member_id, request.instance_id, request.generation)
    if error != NONE:
        return replace(group, effects=(SyncAnswered(request.client, error),))
    member = members.member(request.member_id)
    assert member.classic is not None
    if request.protocol_type not in (None, "consumer") or request.protocol not in (
        None,
        member.classic.protocols[0][0],
    ):
        return replace(group, effects=(SyncAnswered(request.client, "INCONSISTENT_GROUP_PROTOCOL"),))
    if _newest_epoch(settings, members) > member.epoch and member.state != UNREVOKED_PARTITIONS:
        return replace(_must_join(group, member), effects=(SyncAnswered(request.client, "REBALANCE_IN_PROGRESS"),))
    member = replace(_session_renewed(group, member), sync_ends_at_ms=None)
    answer = SyncAnswered(request.client, NONE, member.assigned_partitions)
    return replace(group, consumer=members.with_member(member), effects=(answer,))


def heartbeat(settings: Settings, group: Group, request: classic.Heartbeat) -> Group:
    """The answer to a Heartbeat: join again, if the member could then get on.

    That is so if the group has a newer epoch, if the member has to give up partitions, or if nobody holds any longer
    what it waits for.

    Since 4.3 a newer epoch is not enough: there must be a target for it.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.classicGroupHeartbeatToConsumerGroup``.
    """
    members = group.consumer
    error = _error_of(members, request.member_id, request.instance_id, request.generation)
    if error == NONE:
        member = _session_renewed(group, members.member(request.member_id))
        group = replace(group, consumer=members.with_member(member))
        is_free = member.state == UNRELEASED_PARTITIONS and not _waits_for_others(members, member)
        if member.epoch < _newest_epoch(settings, members) or member.state == UNREVOKED_PARTITIONS or is_free:
            error, group = "REBALANCE_IN_PROGRESS", _must_join(group, member)
    return replace(group, effects=(classic.HeartbeatAnswered(request.client, error),))


def _newest_epoch(settings: Settings, members: ConsumerGroup) -> int:
    """The epoch that a classic member is sent to reach."""
    return members.assignment_epoch if settings.rules.waits_for_target else members.group_epoch


def _waits_for_others(members: ConsumerGroup, member: Member) -> bool:
    missing = set(members.target(member.member_id)) - set(member.assigned_partitions)
    return not missing.isdisjoint(members.holders)


# LeaveGroup.


def leave(settings: Settings, group: Group, request: classic.LeaveGroup) -> Group:
    """The group without those that leave; a tool can take out new members so, too.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.classicGroupLeaveToConsumerGroup``.
    """
    gone: dict[str, None] = {}
    errors = []
    for member_id, instance_id in ((request.member_id, request.instance_id), *request.others):
        error, found = _who_leaves(group.consumer, member_id, instance_id)
        errors.append(error)
        if found is not None:
            gone[found] = None
    answer = LeaveAnswered(request.client, errors[0], tuple(errors[1:]))
    if not gone:
        return replace(group, effects=(answer,))
    after = without(settings, group, tuple(gone), classic.MEMBER_LEFT)
    return replace(after, effects=(*after.effects, answer))


def _who_leaves(members: ConsumerGroup, member_id: str, instance_id: str | None) -> tuple[str, str | None]:
    """The error for one that leaves, and its member id if it is none."""
    if instance_id is not None:
        holder = members.static_id(instance_id)
        if holder is None:
            return "UNKNOWN_MEMBER_ID", None
        if member_id not in (UNKNOWN, holder):
            return "FENCED_INSTANCE_ID", None
        member_id = holder
    return ("UNKNOWN_MEMBER_ID", None) if members.find(member_id) is None else (NONE, member_id)


def without(settings: Settings, group: Group, gone: Sequence[str], cause: str) -> Group:
    """The group without some members, its epoch one higher; or a classic group, if only classic members stay."""
    members = group.consumer
    if may_be_downgraded(settings, members, gone):
        return downgrade(settings, group, gone, cause)
    records: list[Effect] = []
    left = by_pattern.left_with(members, gone)
    for member_id in gone:
        members = members.without_member(member_id)
        records += heartbeats.REMOVAL
    members = by_pattern.without(members, left)
    records += by_pattern.forgotten(left)
    seen, rules = members.subscribed_topics, settings.consumer.rules
    if seen != members.seen_topics and rules.writes_topic_metadata:
        records.append(RecordWritten(consumer.TOPIC_METADATA))
    records.append(RecordWritten(consumer.GROUP_METADATA))
    members = replace(members, group_epoch=members.group_epoch + 1, seen_topics=seen, group_type=CONSUMER)
    if rules.ends_when_empty and not members.members:
        records.append(RecordWritten(consumer.TARGET_METADATA))
        members = replace(members, assignment_epoch=members.group_epoch, assigned_at_ms=None)
    return replace(group, consumer=members, effects=tuple(records))
