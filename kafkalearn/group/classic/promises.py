"""What holds in every state of a classic group, and what its users hope for."""

from __future__ import annotations

from kafkalearn.group.classic.effects import LEFT, MemberRemoved
from kafkalearn.group.classic.settings import Settings
from kafkalearn.group.classic.state import Group, Member
from kafkalearn.group_states import CLASSIC_STATES, COMPLETING, DEAD, EMPTY, PREPARING, STABLE
from kafkalearn.promises import Promises, Since, judges

NONE_REMOVED = "no member is removed that did not leave"
STAYS_STABLE = "a group that is Stable stays so"


def _has_members_and_protocol(settings: Settings, group: Group) -> bool:
    if group.state not in (STABLE, COMPLETING):
        return True
    return bool(group.members) and all(group.protocol in member.protocol_names for member in group.members)


def _is_waiting(member: Member) -> bool:
    return member.join_waiter is not None or member.sync_waiter is not None


def _is_over(settings: Settings, group: Group, member: Member) -> bool:
    """Whether it should have ended; one of 0 ms, where the broker allows it, ends at once: as soon as time passes."""
    if member.expires_ms is None:
        return False
    may_end_at_once = settings.group_min_session_timeout_ms == 0
    return member.expires_ms < group.now_ms or (member.expires_ms == group.now_ms and not may_end_at_once)


def _is_same_group(before: Group) -> bool:
    """Whether what comes next is still the same group: one that is Dead begins anew."""
    return before.is_known and before.state != DEAD


INVARIANTS: Promises = {
    "the state is one of Kafka's": lambda settings, group: group.state in CLASSIC_STATES,
    "a member id belongs to one member": lambda settings, group: (
        len({member.member_id for member in group.members}) == len(group.members)
    ),
    "an instance id belongs to one member": lambda settings, group: (
        len({member.instance_id for member in group.members if member.is_static})
        == sum(member.is_static for member in group.members)
    ),
    "an id in use is not pending": lambda settings, group: (
        not {member_id for member_id, _, _ in group.pending} & {member.member_id for member in group.members}
    ),
    "a group with members has one leader among them": lambda settings, group: (
        group.leader in {member.member_id for member in group.members} if group.members else group.leader is None
    ),
    "an empty group has no members and waits for nobody": lambda settings, group: (
        group.state not in (EMPTY, DEAD) or (not group.members and group.join_deadline_ms is None)
    ),
    "a generation has members, and a protocol that all of them know": _has_members_and_protocol,
    "in a generation every join has its answer": lambda settings, group: (
        group.state not in (STABLE, COMPLETING) or all(member.join_waiter is None for member in group.members)
    ),
    "the join phase has an end": lambda settings, group: group.state != PREPARING or group.join_deadline_ms is not None,
    "a sync waits only until the assignment is there": lambda settings, group: (
        group.state == COMPLETING or all(member.sync_waiter is None for member in group.members)
    ),
    "only a generation waits for syncs": lambda settings, group: (
        group.sync_deadline_ms is None or group.state in (STABLE, COMPLETING)
    ),
    "a member whose session is over is gone": lambda settings, group: (
        not any(_is_over(settings, group, member) for member in group.members)
    ),
    "a member waits for an answer, or its session has an end": lambda settings, group: all(
        _is_waiting(member) or member.expires_ms is not None for member in group.members
    ),
    "the generation never falls": Since(
        lambda settings, before, group: not _is_same_group(before) or group.generation >= before.generation
    ),
    "time never runs backwards": Since(
        lambda settings, before, group: not _is_same_group(before) or group.now_ms >= before.now_ms
    ),
}
"""What holds in every state that the simulator reaches."""

PROMISES: Promises = {
    NONE_REMOVED: lambda settings, group: all(
        effect.why == LEFT for effect in group.effects if isinstance(effect, MemberRemoved)
    ),
    STAYS_STABLE: Since(lambda settings, before, group: before.state != STABLE or group.state == STABLE),
}
"""What users hope for: members that are silent for too long, come or go break it."""

check, broken = judges(INVARIANTS, PROMISES)
