"""A heartbeat: refuse it, or join or update, compute a target if one is due, reconcile, answer."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.consumer import effects as written
from kafkalearn.group.consumer.effects import NONE, Effect, HeartbeatAnswered, RecordWritten, tombstone
from kafkalearn.group.consumer.events import ConsumerGroupHeartbeat
from kafkalearn.group.consumer.heartbeats.reconciling import reconcile
from kafkalearn.group.consumer.heartbeats.requests import refusal
from kafkalearn.group.consumer.heartbeats.subscriptions import has_new_topics, look
from kafkalearn.group.consumer.heartbeats.targets import aim
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import CLASSIC, CONSUMER, JOIN, LEAVE_FOR_A_WHILE, Group, Held, Member

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
    is_new_subscription = has_new_topics(before, updated)
    after = reconcile(settings, group, updated, target, event.owned, is_new_subscription)

    group, records = _created(found.group)
    if replaced is not None:
        group, more = _with_replaced(group, replaced, before)
        records += more
    if updated != before:
        group = group.with_written(updated)
        records.append(RecordWritten(written.MEMBER_METADATA))
    group = target.applied_to(group)
    records += [*found.records, *target.records]
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
    return replace(group, effects=(*records, answer))


def _is_full(event: ConsumerGroupHeartbeat) -> bool:
    """A join, or a request with all its fields, as clients send it after a lost answer."""
    fields = (event.rebalance_timeout_ms, event.topics, event.owned)
    return event.member_epoch == JOIN or all(field is not None for field in fields)


def _member_of(group: Group, event: ConsumerGroupHeartbeat, replaced: Member | None) -> Member:
    """The member that sent it: a known one, a new one, or one that takes the place of a static member."""
    if replaced is None:
        return group.find(event.member_id) or Member(event.member_id)
    return replace(replaced, member_id=event.member_id, epoch=JOIN, previous_epoch=0, revocation_ends_at_ms=None)


def _updated(member: Member, event: ConsumerGroupHeartbeat) -> Member:
    """The member with what the request changes; what it leaves out stays."""
    timeout_ms = event.rebalance_timeout_ms
    return replace(
        member,
        topics=member.topics if event.topics is None or set(event.topics) == set(member.topics) else event.topics,
        instance_id=member.instance_id if event.instance_id is None else event.instance_id,
        assignor=member.assignor if event.assignor is None else event.assignor,
        rebalance_timeout_ms=member.rebalance_timeout_ms if timeout_ms is None else timeout_ms,
    )


def _created(group: Group) -> tuple[Group, list[Effect]]:
    """The group, with a beginning if there was none; one that held the offsets of a client without a group goes."""
    records: list[Effect] = [tombstone(written.CLASSIC_GROUP)] if group.group_type == CLASSIC else []
    return replace(group, group_type=CONSUMER, is_deleted=False), records


def _with_replaced(group: Group, replaced: Member, member: Member) -> tuple[Group, list[Effect]]:
    """The group with a member in the place of a static one, whose target it takes over.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.replaceMember``.
    """
    target = (member.member_id, group.target(replaced.member_id))
    group = group.without_member(replaced.member_id).with_written(member).with_targets([target])
    return group.with_written(member), list(REPLACEMENT)


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
    Apache Kafka 4.3, ``GroupMetadataManager.consumerGroupFenceMembers``.
    """
    group = group.without_member(member_id)
    seen = group.subscribed_topics
    records: list[Effect] = [*REMOVAL]
    if seen != group.seen_topics and settings.rules.writes_topic_metadata:
        records.append(RecordWritten(written.TOPIC_METADATA))
    records.append(RecordWritten(written.GROUP_METADATA))
    return replace(group, group_epoch=group.group_epoch + 1, seen_topics=seen), tuple(records)
