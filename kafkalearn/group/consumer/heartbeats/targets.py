"""The target assignment: computed by the coordinator when the group epoch is higher and the interval allows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace

from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member as Subscriber
from kafkalearn.assignor.registry import find_assignor
from kafkalearn.group.consumer import effects as written
from kafkalearn.group.consumer.effects import Effect, RecordWritten
from kafkalearn.group.consumer.events import ConsumerGroupHeartbeat
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group, Member, Target
from kafkalearn.java_collections import (
    FIRST_SLOTS,
    JavaHashMap,
    hash_order,
    map_copy_capacity,
    timeline_order,
    utf16_key,
)
from kafkalearn.topic_partition import TopicPartition


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
    heartbeat; and it takes out the static member whose place that one takes.
    """
    subscribers: JavaHashMap[str, Subscriber] = JavaHashMap()
    for member in group.in_broker_order:
        subscribers[member.member_id] = _subscriber(group, member, member.member_id, None)
    holder = group.static_id(updated.instance_id) or updated.member_id  # another one: the member takes its place
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
    """A member as the assignor sees it: a subscription stands in its record in order, but comes in any."""
    topics = sent or sorted(member.topics, key=utf16_key)
    return Subscriber(member.member_id, topics, owned=group.target(owner), instance_id=member.instance_id)


def _topic_ids(settings: Settings, group: Group) -> dict[str, str] | None:
    if not settings.topic_ids:
        return None
    topics = (*group.topics, *group.former_topics)
    return {topic.name: topic.topic_id for topic in topics if topic.topic_id is not None}


def preferred_assignor(settings: Settings, group: Group, before: Member, updated: Member) -> str:
    """The assignor that most members ask for; the broker's first one if nobody asks.

    Of two that are asked for equally often it is the one that comes first in a copy of the broker's map of votes,
    from which the old vote of this member has been taken and into which its new one has been put: a name that was
    not there comes before the others in its bucket.

    References
    ----------
    Apache Kafka 4.0 to 4.3, ``ConsumerGroup.computePreferredServerAssignor``.
    """
    standing = Counter(member.assignor for member in group.members if member.assignor is not None)
    votes: JavaHashMap[str, int] = JavaHashMap(map_copy_capacity(len(standing)))
    votes.update({name: standing[name] for name in timeline_order(standing, FIRST_SLOTS)})
    if before.assignor in votes:
        votes[before.assignor] -= 1
        if not votes[before.assignor]:
            del votes[before.assignor]
    if updated.assignor is not None:
        votes[updated.assignor] = votes.compute_if_absent(updated.assignor, lambda: 0) + 1
    return max(votes, key=votes.__getitem__) if votes else settings.assignors[0]
