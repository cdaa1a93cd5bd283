"""What a coordinator refuses: the checks of a heartbeat, in Kafka's order."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.group.consumer.effects import NONE
from kafkalearn.group.consumer.events import ConsumerGroupHeartbeat
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import CONSUMER, JOIN, LEAVE, LEAVE_FOR_A_WHILE, Group, Member
from kafkalearn.topic_partition import TopicPartition

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
    if is_full and event.member_epoch >= JOIN:
        return "GROUP_MAX_SIZE_REACHED"
    if event.instance_id is not None:
        return _refusal_of_static(settings, group, event)
    member = group.find(event.member_id)
    if member is None:
        return NONE if event.member_epoch == JOIN else "UNKNOWN_MEMBER_ID"
    return _refusal_of_epoch(settings, member, event)


def _is_malformed(event: ConsumerGroupHeartbeat) -> bool:
    if _is_blank(event.member_id) or _is_blank(event.instance_id) or event.member_epoch < LEAVE_FOR_A_WHILE:
        return True
    if event.member_epoch == JOIN:
        return event.owned != () or event.topics is None or event.rebalance_timeout_ms is None
    return event.member_epoch == LEAVE_FOR_A_WHILE and event.instance_id is None


def _is_blank(value: str | None) -> bool:
    return value is not None and not value.strip(TRIMMED)


def _refusal_of_static(settings: Settings, group: Group, event: ConsumerGroupHeartbeat) -> str:
    holder = group.static_id(event.instance_id)
    member = group.find(holder)
    if holder is not None and member is None:
        return "UNKNOWN_MEMBER_ID"  # it had two instance ids, and only the last one went with it
    if event.member_epoch == JOIN:
        is_free = member is None or member.epoch == LEAVE_FOR_A_WHILE
        return NONE if is_free else "UNRELEASED_INSTANCE_ID"
    if member is None:
        return "UNKNOWN_MEMBER_ID"
    if member.member_id != event.member_id:
        return "FENCED_INSTANCE_ID"
    return _refusal_of_epoch(settings, member, event)


def _refusal_of_epoch(settings: Settings, member: Member, event: ConsumerGroupHeartbeat) -> str:
    sent = event.member_epoch
    if sent in (LEAVE, LEAVE_FOR_A_WHILE) or sent == member.epoch:
        return NONE
    if sent == JOIN and settings.rules.may_always_rejoin:
        return NONE
    has_missed_an_answer = sent == member.previous_epoch and _is_within(event.owned, member.assigned_partitions)
    return NONE if sent < member.epoch and has_missed_an_answer else "FENCED_MEMBER_EPOCH"


def _is_within(owned: Iterable[TopicPartition] | None, assigned: tuple[TopicPartition, ...]) -> bool:
    return owned is not None and set(owned) <= set(assigned)
