"""What holds in every state of a consumer group, and what its users hope for.

Two more laws hold of runs, not of states: no epoch falls while its member stays, and a group whose members go on
sending heartbeats becomes Stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from kafkalearn.group.consumer.effects import MemberFenced
from kafkalearn.group.consumer.settings import Settings
from kafkalearn.group.consumer.state import LEAVE_FOR_A_WHILE, UNREVOKED_PARTITIONS, Group
from kafkalearn.group_states import STABLE
from kafkalearn.promises import Promises, Since, judges
from kafkalearn.topic_partition import TopicPartition

NONE_FENCED = "no member is fenced"
ALL_OWNED = "every partition that the group subscribes to belongs to a member"
STAYS_STABLE = "a group that is Stable stays so"


def _is_once(partitions: Iterable[TopicPartition]) -> bool:
    return all(count == 1 for count in Counter(partitions).values())


def _epochs_are_in_order(settings: Settings, group: Group) -> bool:
    highest = max((member.epoch for member in group.members), default=0)
    return highest <= group.assignment_epoch <= group.group_epoch


def _revoking_has_an_end(settings: Settings, group: Group) -> bool:
    return all(
        (member.state == UNREVOKED_PARTITIONS) == (member.revocation_ends_at_ms is not None)
        for member in group.members
        if member.epoch != LEAVE_FOR_A_WHILE
    )


def _held_since_a_known_epoch(settings: Settings, group: Group) -> bool:
    return all(
        held.epoch <= max(member.epoch, 0)
        for member in group.members
        for held in (*member.assigned, *member.pending_revocation)
    )


def _all_are_owned(settings: Settings, group: Group) -> bool:
    owned = {partition for member in group.members for partition in member.assigned_partitions}
    return all(
        TopicPartition(topic.name, number) in owned
        for topic in group.subscribed_topics
        for number in range(topic.partition_count)
    )


INVARIANTS: Promises = {
    "a partition is never held by two members": lambda settings, group: _is_once(
        partition for member in group.members for partition in member.assigned_partitions + member.pending_partitions
    ),
    "a partition is in one target at most": lambda settings, group: _is_once(
        partition for _, target in group.targets for partition in target
    ),
    "member epoch <= assignment epoch <= group epoch": _epochs_are_in_order,
    "a member that has to give up partitions has a time to do so": _revoking_has_an_end,
    "what is held was given at an epoch the member has reached": _held_since_a_known_epoch,
}
"""What holds in every state that the simulator reaches."""

PROMISES: Promises = {
    NONE_FENCED: lambda settings, group: not any(isinstance(effect, MemberFenced) for effect in group.effects),
    ALL_OWNED: _all_are_owned,
    STAYS_STABLE: Since(lambda settings, before, group: before.state != STABLE or group.state == STABLE),
}
"""What users hope for. Silence and slow members break the first, a member that joins the others, for a while."""

check, broken = judges(INVARIANTS, PROMISES)
