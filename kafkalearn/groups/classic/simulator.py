"""The simulator of a classic group's coordinator: `step` has a rule for each event; and what holds of its states.

>>> from kafkalearn.groups.classic import JoinGroup, SyncGroup, TimePassed
>>> trace = simulate(Settings(), [JoinGroup("c1", version=3), TimePassed(3000), SyncGroup("c1", "c1-1", 1)])
>>> [frame.state.state for frame in trace]
['Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from kafkalearn.base.errors import no_event
from kafkalearn.base.promises import Promises, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.groups.classic import members, model
from kafkalearn.groups.classic.joining import GroupUpdate, join
from kafkalearn.groups.classic.model import ClassicEvent, Group, Settings
from kafkalearn.groups.defaults import CLASSIC_STATES, COMPLETING, DEAD, EMPTY, PREPARING, STABLE

_RULES: dict[type, Callable[[GroupUpdate, Any], None]] = {
    model.JoinGroup: join,
    model.SyncGroup: members.sync,
    model.Heartbeat: members.heartbeat,
    model.LeaveGroup: members.leave,
    model.OffsetCommit: members.commit,
    model.PartitionMoved: members.move_away,
    model.OffsetsExpired: members.expire,
    model.GroupDeleted: members.delete,
}


def step(settings: Settings, group: Group, event: ClassicEvent) -> Group:
    """The group after `event`; what it led to is in its ``effects``.

    Raises
    ------
    IllegalEvent
        If it is not an event of this simulator, or makes no sense now: the offsets of a group expire that has members.

    Examples
    --------
    >>> from kafkalearn.groups.classic import JoinGroup, TimePassed, start
    >>> settings = Settings()
    >>> group = step(settings, start(settings), JoinGroup("c1"))
    >>> group.effects[0].error, group.effects[0].member_id
    ('MEMBER_ID_REQUIRED', 'c1-1')
    >>> group = step(settings, group, JoinGroup("c1", "c1-1"))
    >>> group.state, step(settings, group, TimePassed(3000)).state
    ('PreparingRebalance', 'CompletingRebalance')

    References
    ----------
    Apache Kafka, ``GroupMetadataManager`` and ``ClassicGroup`` (since 4.0), ``GroupCoordinator`` and
    ``GroupMetadata`` (before).
    """
    if isinstance(event, model.TimePassed):
        return members.pass_time(settings, group, event)
    if type(event) not in _RULES:
        raise no_event(event, (*_RULES, model.TimePassed))
    if isinstance(event, model.Heartbeat) and (quick := members.quick_heartbeat(group, event)) is not None:
        return quick
    if group.state == DEAD and not group.has_moved:  # it was deleted, and begins anew
        group = replace(model.start(settings), now_ms=group.now_ms, id_count=group.id_count)
    update = GroupUpdate(settings, group)
    if group.has_moved:
        members.refuse_moved(update, event)
    else:
        _RULES[type(event)](update, event)
    return update.freeze()


NONE_REMOVED = "no member is removed that did not leave"
STAYS_STABLE = "a group that is Stable stays so"


def _has_members_and_protocol(settings: Settings, group: Group) -> bool:
    if group.state not in (STABLE, COMPLETING):
        return True
    return bool(group.members) and all(group.protocol in member.protocol_names for member in group.members)


def _is_over(settings: Settings, group: Group, member: model.Member) -> bool:
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
        member.join_waiter is not None or member.sync_waiter is not None or member.expires_ms is not None
        for member in group.members
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
        effect.why == model.LEFT for effect in group.effects if isinstance(effect, model.MemberRemoved)
    ),
    STAYS_STABLE: Since(lambda settings, before, group: before.state != STABLE or group.state == STABLE),
}
"""What users hope for: members that are silent for too long, come or go break it."""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
