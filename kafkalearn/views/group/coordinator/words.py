"""A classic coordinator at work, in words: the request that came, its effects, and whom the group waits for."""

from __future__ import annotations

from kafkalearn.group.classic.effects import (
    CommitAnswered,
    DeleteAnswered,
    Effect,
    GroupWritten,
    HeartbeatAnswered,
    JoinAnswered,
    LeaveAnswered,
    MemberRemoved,
    StateChanged,
    SyncAnswered,
)
from kafkalearn.group.classic.events import (
    ClassicEvent,
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    SyncGroup,
    TimePassed,
)
from kafkalearn.group.classic.state import Group, Member
from kafkalearn.group_states import PREPARING
from kafkalearn.trace import Frame
from kafkalearn.views.group.words import time_text

OTHER_EVENTS = {
    PartitionMoved: "The partition of __consumer_offsets moves to another broker",
    OffsetsExpired: "The last offset of the group expires",
    GroupDeleted: "An administrator deletes the group",
}


def request_text(event: ClassicEvent | None) -> str:
    """The event that has come to the coordinator.

    >>> request_text(JoinGroup("c1")), request_text(TimePassed(2500))
    ('c1 sends JoinGroup without a member id', '2.5 s pass')
    """
    match event:
        case None:
            return "The coordinator knows nothing of the group"
        case JoinGroup(client, member_id):
            return f"{client} sends JoinGroup " + (f"as {member_id}" if member_id else "without a member id")
        case SyncGroup(client, _, generation, assignments):
            brings = ", with everybody's assignment" if assignments else ""
            return f"{client} sends SyncGroup for generation {generation}{brings}"
        case Heartbeat(client, _, generation):
            return f"{client} sends Heartbeat for generation {generation}"
        case LeaveGroup(client):
            return f"{client} sends LeaveGroup"
        case OffsetCommit(client):
            return f"{client} sends OffsetCommit"
        case TimePassed(ms):
            return f"{time_text(ms)} pass"
    return OTHER_EVENTS[type(event)]


def effect_text(effect: Effect) -> str:
    """One effect."""
    match effect:
        case JoinAnswered(client, "NONE", member_id, generation, protocol, leader):
            role = "it leads" if leader == member_id else f"{leader} leads"
            skips = ", and need not assign" if effect.is_assignment_skipped else ""
            return f"{client} is answered: generation {generation}, {protocol}, {role}{skips}"
        case JoinAnswered(client, "MEMBER_ID_REQUIRED", member_id):
            return f"{client} is given the id {member_id}: MEMBER_ID_REQUIRED"
        case SyncAnswered(client, "NONE", assignment):
            return f"{client} is assigned {assignment_text(assignment)}"
        case JoinAnswered(client, error) | SyncAnswered(client, error):
            return f"{client} is answered {error}"
        case HeartbeatAnswered(client, error) | LeaveAnswered(client, error) | CommitAnswered(client, error):
            return f"{client} is answered {error}"
        case DeleteAnswered(error):
            return f"the administrator is answered {error}"
        case StateChanged(before=before, after=after, cause=cause):
            return f"{before} → {after}: {cause}"
        case MemberRemoved(member_id=member_id, why=why):
            return f"{member_id} is removed: {why}"
    assert isinstance(effect, GroupWritten)
    return "a tombstone is written" if effect.is_tombstone else "the group is written to __consumer_offsets"


def assignment_text(assignment: object) -> str:
    """An assignment, whatever it is made of."""
    if not assignment:
        return "nothing"
    return " ".join(map(str, assignment)) if isinstance(assignment, tuple) else str(assignment)


def describe_coordinator(frame: Frame[Group, ClassicEvent], before: Frame[Group, ClassicEvent] | None = None) -> str:
    """What has just happened in a run of `kafkalearn.group.classic`, in one line.

    >>> from kafkalearn.group.classic import Settings, simulate
    >>> describe_coordinator(simulate(Settings(), [JoinGroup("c1", "c1-7")])[1])
    'c1 sends JoinGroup as c1-7: c1 is answered UNKNOWN_MEMBER_ID.'
    """
    effects = "; ".join(effect_lines(frame))
    return f"{request_text(frame.event)}{f': {effects}' if effects else ''}."


def effect_lines(frame: Frame[Group, ClassicEvent]) -> list[str]:
    """All effects of an event, each in words; a request that is parked has to wait."""
    event, effects = frame.event, frame.state.effects
    lines = [effect_text(effect) for effect in effects]
    if not isinstance(event, JoinGroup | SyncGroup):
        return lines
    answers = (effect for effect in effects if isinstance(effect, JoinAnswered | SyncAnswered))
    is_answered = any(answer.client == event.client for answer in answers)
    return lines if is_answered else [*lines, f"{event.client} has to wait for its answer"]


def member_state(group: Group, member: Member) -> str:
    """What the coordinator waits for, or the member does."""
    if member.join_waiter is not None:
        return "JoinGroup waits"
    if member.sync_waiter is not None:
        return "SyncGroup waits"
    if group.state == PREPARING:
        return "must join again"
    if member.member_id in group.unsynced:
        return "must sync"
    return f"has {assignment_text(member.assignment)}"


def session_text(group: Group, member: Member) -> str:
    """How long its session lasts if nothing is heard of it."""
    if member.expires_ms is None:
        return "alive while it waits"
    return f"{time_text(member.expires_ms - group.now_ms)} left"


def waits_text(group: Group) -> list[str]:
    """What else has a deadline."""
    lines = []
    if group.join_deadline_ms is not None:
        what = "the initial delay's window" if group.delay_ms is not None else "the join phase"
        lines.append(f"{what} ends in {time_text(group.join_deadline_ms - group.now_ms)} at the latest")
    if group.sync_deadline_ms is not None:
        lines.append(f"every SyncGroup must be here in {time_text(group.sync_deadline_ms - group.now_ms)}")
    for member_id, expires_ms, _ in group.pending:
        lines.append(f"the id {member_id} must be used in {time_text(expires_ms - group.now_ms)}")
    return lines


def coordinator_text(frame: Frame[Group, ClassicEvent], before: Frame[Group, ClassicEvent] | None = None) -> str:
    """A frame of a run of `kafkalearn.group.classic` as a few lines of text.

    >>> from kafkalearn.group.classic import Settings, simulate
    >>> print(coordinator_text(simulate(Settings("2.1"), [JoinGroup("c1"), TimePassed(1000)])[-1]))
    1 s pass.
    PreparingRebalance, generation 0, at 1 s
      c1-1 (leader): JoinGroup waits; 299 s left
      the initial delay's window ends in 2 s at the latest
    """
    group = frame.state
    lines = [
        describe_coordinator(frame, before),
        f"{group.state}, generation {group.generation}, at {time_text(group.now_ms)}",
    ]
    for member in group.members:
        leader = " (leader)" if member.member_id == group.leader else ""
        lines.append(f"  {member.member_id}{leader}: {member_state(group, member)}; {session_text(group, member)}")
    return "\n".join([*lines, *(f"  {line}" for line in waits_text(group))])
