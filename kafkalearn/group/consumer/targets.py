"""The target assignment: computed by the coordinator when the group epoch is higher and the interval allows it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kafkalearn.assignor.members import Member as Subscriber
from kafkalearn.assignor.registry import assign
from kafkalearn.group.consumer import effects as written
from kafkalearn.group.consumer.effects import Effect, RecordWritten
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import Group


def update_target(settings: Settings, group: Group) -> tuple[Group, list[Effect]]:
    """The group with a new target assignment if one is due and may be computed now; and the records of it.

    References
    ----------
    Apache Kafka 4.3, ``GroupMetadataManager.maybeUpdateTargetAssignment`` and ``canComputeNextTargetAssignment``
    (KIP-1263), ``TargetAssignmentBuilder``.
    """
    if group.assignment_epoch >= group.group_epoch or not _may_compute(settings, group):
        return group, []
    before = dict(group.targets)
    assignment = assign(
        preferred_assignor(settings, group),
        dict(group.topics),
        [
            Subscriber(
                member.member_id,
                member.topics,
                owned=_still_there(group, member.member_id),
                instance_id=member.instance_id,
            )
            for member in group.members
        ],
        side="broker",
        release=settings.release,
        topic_ids=dict(settings.topic_ids) or None,
    )
    after = {member_id: tuple(assignment.get(member_id, ())) for member_id in group.member_ids}
    changed = [member_id for member_id in after if _as_set(after[member_id]) != _as_set(before.get(member_id))]
    group = replace(
        group,
        targets=tuple(after.items()),
        assignment_epoch=group.group_epoch,
        assigned_at_ms=group.now_ms,
    )
    records = [RecordWritten(written.TARGET_MEMBER) for _ in changed]
    return group, [*records, RecordWritten(written.TARGET_METADATA)]


def _may_compute(settings: Settings, group: Group) -> bool:
    if group.assigned_at_ms is None:
        return True
    return group.now_ms >= group.assigned_at_ms + settings.assignment_interval_ms


def preferred_assignor(settings: Settings, group: Group) -> str:
    """The assignor that most members ask for; the broker's first one if nobody asks.

    Between two that are asked for equally often Kafka takes either; here it is the one named first.
    """
    votes = Counter(member.assignor for member in group.members if member.assignor is not None)
    return votes.most_common(1)[0][0] if votes else settings.assignors[0]


def _still_there(group: Group, member_id: str) -> tuple:
    """A member's target so far, without what has been deleted."""
    counts = dict(group.topics)
    return tuple(each for each in group.target(member_id) if each.partition < counts.get(each.topic, 0))


def _as_set(partitions: tuple | None) -> frozenset | None:
    return None if partitions is None else frozenset(partitions)
