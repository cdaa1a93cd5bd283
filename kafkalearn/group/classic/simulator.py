"""The simulator of a classic group's coordinator: `step` tells the events apart, each request has a file of rules."""

from __future__ import annotations

from functools import partial

from kafkalearn.arguments import whole_number
from kafkalearn.errors import IllegalEvent
from kafkalearn.group.classic.effects import (
    ANSWERS,
    NONE,
    Answer,
    GroupWritten,
    HeartbeatAnswered,
    JoinAnswered,
    SyncAnswered,
)
from kafkalearn.group.classic.events import (
    ClassicEvent,
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetsExpired,
    PartitionMoved,
    SyncGroup,
    TimePassed,
)
from kafkalearn.group.classic.group_update import Draft
from kafkalearn.group.classic.joining import join
from kafkalearn.group.classic.members import heartbeat, leave, session_ended, sync, sync_deadline_passed
from kafkalearn.group.classic.rebalancing import join_deadline_passed
from kafkalearn.group.classic.settings import Settings
from kafkalearn.group.classic.state import Group, start
from kafkalearn.group.classic.transitions import DEAD, DELETED, EMPTY, EXPIRED, MOVED, STABLE
from kafkalearn.trace import Trace, run

_REQUESTS = {JoinGroup: join, SyncGroup: sync, Heartbeat: heartbeat, LeaveGroup: leave}


def step(settings: Settings, group: Group, event: ClassicEvent) -> Group:
    """The group after `event`; what it led to is in ``effects``.

    Raises
    ------
    IllegalEvent
        If the event makes no sense now: a group is deleted that has members, time runs backwards.

    Examples
    --------
    >>> group = step(Settings(), start(), JoinGroup("c1"))
    >>> group.effects[0].error, group.effects[0].member_id
    ('MEMBER_ID_REQUIRED', 'c1-1')
    >>> group = step(Settings(), group, JoinGroup("c1", "c1-1"))
    >>> group.state, step(Settings(), group, TimePassed(3000)).state
    ('PreparingRebalance', 'CompletingRebalance')

    References
    ----------
    Apache Kafka, ``GroupMetadataManager`` and ``ClassicGroup`` (since 4.0), ``GroupCoordinator`` and
    ``GroupMetadata`` (before).
    """
    match event:
        case Heartbeat():
            quick = _quick_heartbeat(group, event)
            if quick is not None:
                return quick
        case TimePassed(ms):
            return _pass_time(settings, group, whole_number("ms", ms, at_least=0))
    draft = Draft(settings, _fresh_if_gone(group, event))
    match event:
        case JoinGroup() | SyncGroup() | Heartbeat() | LeaveGroup():
            _REQUESTS[type(event)](draft, event)
        case PartitionMoved():
            _move_away(draft)
        case OffsetsExpired() | GroupDeleted():
            _drop(draft, event)
        case _:
            raise IllegalEvent(f"{event!r} is no event of this simulator; see kafkalearn.group.classic.events")
    return draft.freeze()


def _quick_heartbeat(group: Group, event: Heartbeat) -> Group | None:
    """The most frequent case, made cheap: nothing changes but the member's timer."""
    if group.state != STABLE or event.generation != group.generation or event.instance_id is not None:
        return None
    member = group.member(event.member_id)
    if member is None:
        return None
    renewed = member._replace(expires_ms=group.now_ms + member.session_timeout_ms)
    members = tuple(renewed if each is member else each for each in group.members)
    return group._replace(members=members, effects=(HeartbeatAnswered(event.client, NONE),))


def _fresh_if_gone(group: Group, event: ClassicEvent) -> Group:
    """A group that was deleted begins anew with whoever asks to join."""
    if group.state == DEAD and not group.has_moved:
        return start()._replace(now_ms=group.now_ms, id_count=group.id_count)
    return group


def _move_away(draft: Draft) -> None:
    """Everybody who waits is sent to look for the new coordinator; nothing is written."""
    if draft.state == DEAD:
        raise IllegalEvent("PartitionMoved(): the group is Dead already")
    for member in tuple(draft.members.values()):
        if member.join_waiter is not None:
            draft.tell(JoinAnswered(member.join_waiter, "NOT_COORDINATOR", member.member_id))
        if member.sync_waiter is not None:
            draft.tell(SyncAnswered(member.sync_waiter, "NOT_COORDINATOR"))
    draft.go(DEAD, MOVED)
    draft.has_moved = True
    _forget(draft)


def _drop(draft: Draft, event: OffsetsExpired | GroupDeleted) -> None:
    if draft.state != EMPTY or not draft.is_known:
        what = f"in state {draft.state}" if draft.is_known else "unknown"
        raise IllegalEvent(f"{event!r}: only a known group in state Empty goes this way, it is {what}")
    draft.go(DEAD, DELETED if isinstance(event, GroupDeleted) else EXPIRED)
    draft.tell(GroupWritten(is_tombstone=True))
    _forget(draft)


def _forget(draft: Draft) -> None:
    draft.members, draft.pending, draft.unsynced = {}, {}, {}
    draft.leader = draft.protocol = draft.join_deadline_ms = draft.sync_deadline_ms = draft.delay_ms = None


def next_deadline_ms(group: Group) -> int | None:
    """When the next timer of a group is due; None if none is running.

    >>> next_deadline_ms(step(Settings(), start(), JoinGroup("c1", session_timeout_ms=6000)))
    6000
    """
    due = _next_timer(group)
    return None if due is None else due[0]


def _next_timer(group: Group) -> tuple[int, int, str] | None:
    """(when, kind, member id) of the timer that fires first: the join phase, then the syncs, then the sessions."""
    earliest = None
    if group.join_deadline_ms is not None:
        earliest = (group.join_deadline_ms, 0, "")
    if group.sync_deadline_ms is not None and (earliest is None or group.sync_deadline_ms < earliest[0]):
        earliest = (group.sync_deadline_ms, 1, "")
    for member in group.members:
        if member.expires_ms is not None and (earliest is None or member.expires_ms < earliest[0]):
            earliest = (member.expires_ms, 2, member.member_id)
    for member_id, expires_ms, _ in group.pending:
        if earliest is None or expires_ms < earliest[0]:
            earliest = (expires_ms, 2, member_id)
    return earliest


def _pass_time(settings: Settings, group: Group, ms: int) -> Group:
    until_ms = group.now_ms + ms
    effects: list = []
    due = _next_timer(group)
    while due is not None and due[0] <= until_ms:
        draft = Draft(settings, group)
        draft.now_ms = due[0]
        if due[1] == 0:
            join_deadline_passed(draft)
        elif due[1] == 1:
            sync_deadline_passed(draft)
        else:
            session_ended(draft, due[2])
        effects.extend(draft.effects)
        group = draft.freeze()
        due = _next_timer(group)
    return group._replace(now_ms=until_ms, effects=tuple(effects))


def coordinate(settings: Settings, events: list[ClassicEvent] | tuple[ClassicEvent, ...]) -> Trace[Group, ClassicEvent]:
    """The whole run of a group from its first request on.

    >>> trace = coordinate(Settings("2.1"), [JoinGroup("c1"), TimePassed(3000), SyncGroup("c1", "c1-1", 1)])
    >>> [frame.state.state for frame in trace]
    ['Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable']
    """
    return run(partial(step, settings), start(), events)


def answers(group: Group) -> tuple[Answer, ...]:
    """What the last event had answered, in order."""
    return tuple(effect for effect in group.effects if isinstance(effect, ANSWERS))
