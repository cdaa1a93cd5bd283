"""A heartbeat: refuse it, or join or update, compute a target if one is due, reconcile, answer."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.consumer import effects as written
from kafkalearn.group.consumer.effects import NONE, Effect, HeartbeatAnswered, RecordWritten, tombstone
from kafkalearn.group.consumer.events import ConsumerGroupHeartbeat
from kafkalearn.group.consumer.reconciling import reconcile
from kafkalearn.group.consumer.requests import refusal
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import JOIN, LEAVE_FOR_A_WHILE, Group, Held, Member
from kafkalearn.group.consumer.targets import update_target

REMOVAL = (
    tombstone(written.CURRENT_ASSIGNMENT),
    tombstone(written.TARGET_MEMBER),
    tombstone(written.MEMBER_METADATA),
)
"""The records that remove a member."""


def heartbeat(settings: Settings, group: Group, event: ConsumerGroupHeartbeat) -> Group:
    """The group after a heartbeat, with the answer among its effects.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.consumerGroupHeartbeat``.
    """
    error = refusal(settings, group, event)
    if error != NONE:
        return replace(group, effects=(HeartbeatAnswered(event.member_id, error),))
    if event.member_epoch < JOIN:
        return _leave(settings, group, event)
    holders = group.holders  # as they were before a static member is replaced
    group, before, records = _member_of(group, event)
    updated = _updated(before, event)
    group, more = _look_at_subscriptions(settings, group.with_member(updated), before, updated)
    records += more
    group, more = update_target(settings, group)
    records += more
    after = reconcile(settings, group, updated, holders, event.owned, has_new_topics=_differ(before, updated))
    if after != updated:
        records.append(RecordWritten(written.CURRENT_ASSIGNMENT))
    after = replace(after, session_ends_at_ms=group.now_ms + settings.session_timeout_ms)
    answer = HeartbeatAnswered(
        event.member_id,
        NONE,
        after.epoch,
        settings.heartbeat_interval_ms,
        after.assigned_partitions if _is_full(event) or before.assigned != after.assigned else None,
    )
    return replace(group.with_member(after), effects=(*records, answer))


def _is_full(event: ConsumerGroupHeartbeat) -> bool:
    """A join, or a request with all its fields, as clients send it after a lost answer."""
    fields = (event.rebalance_timeout_ms, event.topics, event.owned)
    return event.member_epoch == JOIN or all(field is not None for field in fields)


def _member_of(group: Group, event: ConsumerGroupHeartbeat) -> tuple[Group, Member, list[Effect]]:
    """The member that sent it: a known one, a new one, or one that takes the place of a static member."""
    away = group.find_static(event.instance_id)
    if event.member_epoch == JOIN and away is not None:
        member = replace(away, member_id=event.member_id, epoch=JOIN, previous_epoch=0)
        target = (event.member_id, group.target(away.member_id))
        group = group.without_member(away.member_id).with_member(member)
        group = replace(group, targets=(*group.targets, target))
        kept = (written.MEMBER_METADATA, written.TARGET_MEMBER, written.CURRENT_ASSIGNMENT)
        return group, member, [*REMOVAL, *map(RecordWritten, kept)]
    member = group.find(event.member_id) or Member(event.member_id)
    return group, member, []


def _updated(member: Member, event: ConsumerGroupHeartbeat) -> Member:
    """The member with what the request changes; what it leaves out stays."""
    changes = {
        "instance_id": event.instance_id,
        "rebalance_timeout_ms": event.rebalance_timeout_ms,
        "assignor": event.assignor,
    }
    updated = replace(member, **{name: value for name, value in changes.items() if value is not None})
    has_new_topics = event.topics is not None and set(event.topics) != set(member.topics)
    return replace(updated, topics=tuple(event.topics)) if has_new_topics else updated


def _differ(before: Member, updated: Member) -> bool:
    return set(before.topics) != set(updated.topics)


def _look_at_subscriptions(
    settings: Settings, group: Group, before: Member, updated: Member
) -> tuple[Group, list[Effect]]:
    """The group epoch goes up if the subscription of the member, or of the topics subscribed to, has changed."""
    records: list[Effect] = [] if updated == before else [RecordWritten(written.MEMBER_METADATA)]
    must_bump = _differ(before, updated)
    if not (must_bump or group.must_look):
        return group, records
    seen = group.subscribed_topics
    if seen != group.seen_topics and settings.rules.writes_topic_metadata:
        records.append(RecordWritten(written.TOPIC_METADATA))
    if must_bump or seen != group.seen_topics:
        group = replace(group, group_epoch=group.group_epoch + 1)
        records.append(RecordWritten(written.GROUP_METADATA))
    return replace(group, seen_topics=seen, must_look=False), records


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
        return replace(group.with_member(away), effects=(RecordWritten(written.CURRENT_ASSIGNMENT), answer))
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
