"""How a group changes its protocol: what is asked of it before, what it is made into, and the records of that."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from kafkalearn.base.java import FIRST_SLOTS, hash_order
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.classic.joining import GroupUpdate, prepare
from kafkalearn.groups.consumer import by_pattern
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.consumer.events import RecordWritten, tombstone
from kafkalearn.groups.consumer.heartbeats import heartbeat, refusal
from kafkalearn.groups.consumer.state import CLASSIC, CONSUMER, ClassicSide, Held, Member, new_group
from kafkalearn.groups.consumer.state import Group as ConsumerGroup
from kafkalearn.groups.defaults import EMPTY, STABLE
from kafkalearn.groups.mixed import model
from kafkalearn.groups.mixed.model import Effect, Group, Settings

# Up: the first new member joins a classic group.


def new_member(settings: Settings, group: Group, event: consumer.ConsumerGroupHeartbeat) -> Group:
    """A ConsumerGroupHeartbeat to a group that is not one of the newer protocol, or is not there.

    An empty classic group is removed and a consumer group begins anew. One with members is taken over as it is, if
    the policy and its members allow it. Members that wait for an answer of the classic coordinator get one first, also
    if the heartbeat is refused in the end.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.getOrMaybeCreateConsumerGroup``, ``validateOnlineUpgrade`` and
    ``convertToConsumerGroup`` (KIP-848, KAFKA-18134).
    """
    error = refusal(settings.consumer, group.consumer, event)
    if error != consumer.NONE:
        return replace(group, effects=(consumer.HeartbeatAnswered(event.member_id, error),))
    if group.group_type is None or (group.classic.state == EMPTY and not group.classic.members):
        return _with_consumer(settings, group, heartbeat(settings.consumer, group.consumer, event))
    old = group.classic
    if not may_be_upgraded(settings, old):
        return replace(group, effects=(consumer.HeartbeatAnswered(event.member_id, "GROUP_ID_NOT_FOUND"),))
    old, answers = _send_back(old)
    group = replace(group, classic=old)
    error = _why_not_taken(old)
    if error != consumer.NONE:
        return replace(group, effects=(*answers, consumer.HeartbeatAnswered(event.member_id, error)))
    taken = upgraded(settings, old, group.consumer)
    error = refusal(settings.consumer, taken, event)
    if error != consumer.NONE:
        return replace(group, effects=(*answers, consumer.HeartbeatAnswered(event.member_id, error)))
    after = heartbeat(settings.consumer, taken, event)
    effects: tuple[Effect, ...] = (
        *answers,
        model.ProtocolChanged(CLASSIC, CONSUMER),
        *upgrade_records(settings, taken),
        *after.effects,
    )
    return replace(_with_consumer(settings, group, replayed(taken, after)), effects=effects)


def may_be_upgraded(settings: Settings, group: classic.Group) -> bool:
    """Whether the policy, the type of the members and their number allow it."""
    has_room = len(group.members) <= settings.consumer.max_size
    return settings.may_upgrade and group.protocol_type == "consumer" and has_room


def _why_not_taken(old: classic.Group) -> str:
    """The error where members cannot be read in their order: what an assignor of one's own added would be lost.

    Kafka reads a member's topics from what it sent for the assignor of the last generation. In a rebalance that leads
    to another one a member may not have it; before the first generation there is none. Then Kafka fails.
    """
    by_id = {each.member_id: each for each in old.members}
    for member_id in hash_order(by_id):
        each = by_id[member_id]
        if model.assigned_of(each.assignment).has_user_data:
            return "GROUP_ID_NOT_FOUND"
        if old.protocol is None or old.protocol not in dict(each.protocols):
            return "UNKNOWN_SERVER_ERROR"
    return consumer.NONE


def _send_back(group: classic.Group) -> tuple[classic.Group, tuple[Effect, ...]]:
    """Everybody who waits for an answer is asked to join again."""
    error = "REBALANCE_IN_PROGRESS"
    joins = [each for each in group.members if each.join_waiter is not None]
    syncs = [each for each in group.members if each.sync_waiter is not None]
    answers = (
        *(classic.JoinAnswered(each.join_waiter or "", error, each.member_id) for each in joins),
        *(classic.SyncAnswered(each.sync_waiter or "", error) for each in syncs),
    )
    members = tuple(each._replace(join_waiter=None, sync_waiter=None) for each in group.members)
    return replace(group, members=members), answers


def upgraded(settings: Settings, old: classic.Group, rest: ConsumerGroup) -> ConsumerGroup:
    """A classic group as a consumer group: its generation is the epoch, its assignment the target; all are Stable.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``ConsumerGroup.fromClassicGroup``.
    """
    epoch, chosen = old.generation, old.protocol
    group = replace(rest, group_type=CONSUMER, is_deleted=False, group_epoch=epoch, assignment_epoch=epoch, effects=())
    by_id = {each.member_id: each for each in old.members}
    for member_id in hash_order(by_id):
        each = by_id[member_id]
        assert chosen is not None  # there is one where there are members: `_why_not_taken`
        topics = model.subscription_of(dict(each.protocols)[chosen]).topics
        there = [
            place for place in model.assigned_of(each.assignment).partitions if place.topic in group.partition_counts
        ]
        member = Member(
            member_id, tuple(dict.fromkeys(topics)), each.instance_id, None, each.rebalance_timeout_ms, epoch, epoch,
            assigned=tuple(sorted(Held(topic, partition, epoch) for topic, partition in there)),
            session_ends_at_ms=group.now_ms + each.session_timeout_ms,
            classic=ClassicSide(each.client, each.session_timeout_ms, each.protocols),
        )  # fmt: skip
        group = group.with_written(member).with_targets([(member_id, member.assigned_partitions)])
    return replace(group, seen_topics=group.subscribed_topics)


def replayed(taken: ConsumerGroup, after: ConsumerGroup) -> ConsumerGroup:
    """The group with its members in the order of the records that it was made from, as the coordinator replays them."""
    group = replace(after, members=(), static_ids=(), slot_count=FIRST_SLOTS)
    old = [each.member_id for each in taken.in_broker_order if after.find(each.member_id) is not None]
    new = [each for each in after.member_ids if each not in old]
    for member_id in (*old, *old, *new, *new):  # each has a record of itself, and one of what it has
        group = group.with_written(after.member(member_id))
    return group


def upgrade_records(settings: Settings, group: ConsumerGroup) -> tuple[RecordWritten, ...]:
    """What is written when a classic group becomes a consumer group, before what its new member brings."""
    count = len(group.members)
    return (
        tombstone(consumer.CLASSIC_GROUP),
        *(RecordWritten(consumer.MEMBER_METADATA),) * count,
        *(RecordWritten(consumer.TOPIC_METADATA),) * settings.consumer.rules.writes_topic_metadata,
        RecordWritten(consumer.GROUP_METADATA),
        *(RecordWritten(consumer.TARGET_MEMBER),) * count,
        RecordWritten(consumer.TARGET_METADATA),
        *(RecordWritten(consumer.CURRENT_ASSIGNMENT),) * count,
    )


def _with_consumer(settings: Settings, group: Group, after: ConsumerGroup) -> Group:
    """The group as a consumer group; of the classic one the count of ids stays."""
    if after.group_type != CONSUMER:
        return replace(group, consumer=replace(after, effects=()), effects=after.effects)
    old = replace(classic.start(settings.classic), id_count=group.classic.id_count, now_ms=after.now_ms)
    return Group(old, replace(after, effects=()), effects=after.effects)


# Down: the last new member leaves, is fenced, or is replaced.


def may_be_downgraded(
    settings: Settings, group: ConsumerGroup, gone: Collection[str], is_replaced: bool = False
) -> bool:
    """Whether those who stay are all classic, and only they are: without the ones that go it would be mixed no more.

    Nobody need stay where a classic member takes the place of the one that goes.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.validateOnlineDowngradeWithFencedMembers`` and
    ``validateOnlineDowngradeWithReplacedMember``.
    """
    stay = [each for each in group.members if each.member_id not in gone]
    goes_a_new_one = any(model.is_new(each) for each in group.members if each.member_id in gone)
    are_classic = bool(stay or is_replaced) and not any(map(model.is_new, stay)) and goes_a_new_one
    return are_classic and settings.may_downgrade and len(stay) + is_replaced <= settings.classic.group_max_size


def downgrade(settings: Settings, group: Group, gone: Collection[str], cause: str) -> Group:
    """The group as a classic one, which begins a rebalance at once: its members have to join again.

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``GroupMetadataManager.convertToClassicGroup``, ``ClassicGroup.fromConsumerGroup``.
    """
    old = group.consumer
    records = downgrade_records(old)
    after = downgraded(settings, group, [each for each in old.in_broker_order if each.member_id not in gone])
    written = model.as_written(after)
    update = GroupUpdate(settings.classic, after)
    prepare(update, cause, ", ".join(sorted(gone)))
    after = update.freeze()
    effects = (model.ProtocolChanged(CONSUMER, CLASSIC), *records, classic.GroupWritten(), *after.effects)
    return Group(replace(after, effects=()), forgotten(settings, old), written, effects=effects)


def downgrade_records(group: ConsumerGroup) -> tuple[Effect, ...]:
    """The tombstones of a consumer group; one record of the classic group follows."""
    count = len(group.members)
    return (
        *(tombstone(consumer.CURRENT_ASSIGNMENT),) * count,
        *(tombstone(consumer.TARGET_MEMBER),) * count,
        tombstone(consumer.TARGET_METADATA),
        *(tombstone(consumer.MEMBER_METADATA),) * count,
        *by_pattern.forgotten([each.pattern for each in group.matched]),
        tombstone(consumer.TOPIC_METADATA),
        tombstone(consumer.GROUP_METADATA),
    )


def downgraded(
    settings: Settings, group: Group, members: list[Member], targets: dict[str, str] | None = None
) -> classic.Group:
    """A Stable classic group of these members: the group epoch is its generation, the target its assignment.

    `targets` names those who take over the target of another member.
    """
    old, of_others = group.consumer, targets or {}
    made = [
        classic.Member(
            each.member_id,
            each.classic.client,
            each.instance_id,
            each.classic.session_timeout_ms,
            each.rebalance_timeout_ms,
            each.classic.protocols,
            assignment=old.target(of_others.get(each.member_id, each.member_id)),
            expires_ms=old.now_ms + each.classic.session_timeout_ms,
        )
        for each in members
        if each.classic is not None
    ]
    after = classic.Group(
        state=STABLE,
        generation=old.group_epoch,
        leader=made[0].member_id,
        protocol_type="consumer",
        members=tuple(made),
        now_ms=old.now_ms,
        id_count=group.classic.id_count,
        is_known=True,
    )
    return replace(after, protocol=GroupUpdate(settings.classic, after).elected_protocol)


def forgotten(settings: Settings, old: ConsumerGroup) -> ConsumerGroup:
    """What stays when a consumer group is none any more: the topics of the cluster, and the committed offsets."""
    return replace(
        new_group(settings.consumer, old.topics),
        former_topics=old.former_topics,
        group_type=CLASSIC,
        committed=old.committed,
        now_ms=old.now_ms,
    )
