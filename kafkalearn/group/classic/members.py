"""SyncGroup, Heartbeat, LeaveGroup, and the sessions that end without a word."""

from __future__ import annotations

from kafkalearn.group.classic.effects import (
    NONE,
    GroupWritten,
    HeartbeatAnswered,
    JoinAnswered,
    LeaveAnswered,
    SyncAnswered,
)
from kafkalearn.group.classic.events import UNKNOWN, Heartbeat, LeaveGroup, SyncGroup
from kafkalearn.group.classic.group_update import Draft
from kafkalearn.group.classic.rebalancing import (
    answer_syncs,
    complete_after_removal,
    prepare,
    rebalance_or_complete,
)
from kafkalearn.group.classic.transitions import (
    COMPLETING,
    DEAD,
    EMPTY,
    MEMBER_EXPIRED,
    MEMBER_LEFT,
    NOT_STORED,
    PREPARING,
    STABLE,
    STORED,
    SYNC_EXPIRED,
)


def _error(draft: Draft, request: SyncGroup | Heartbeat) -> str | None:
    """Why the request is refused before the group's state is looked at."""
    if not draft.is_known:
        return "UNKNOWN_MEMBER_ID"
    if draft.state == DEAD:
        return "COORDINATOR_NOT_AVAILABLE"
    if draft.state == EMPTY:
        return "UNKNOWN_MEMBER_ID"
    error = draft.error_of(request.member_id, request.instance_id)
    if error is None and request.generation != draft.generation:
        return "ILLEGAL_GENERATION"
    return error


def sync(draft: Draft, request: SyncGroup) -> None:
    """Work on a SyncGroup request."""
    error = _error(draft, request)
    if error is None and not _is_consistent(draft, request):
        error = "INCONSISTENT_GROUP_PROTOCOL"
    if error is None and draft.state == PREPARING:
        error = "REBALANCE_IN_PROGRESS"
    if error is not None:
        return draft.tell(SyncAnswered(request.client, error))
    draft.unsynced.pop(request.member_id, None)
    if not draft.unsynced:
        draft.sync_deadline_ms = None
    if draft.state == STABLE:
        if not draft.rules.is_java:
            draft.restart_timer(request.member_id)
        return draft.tell(SyncAnswered(request.client, NONE, draft.members[request.member_id].assignment))
    draft.change(request.member_id, sync_waiter=request.client)
    if draft.leader == request.member_id:
        _store(draft, request)
    return None


def _is_consistent(draft: Draft, request: SyncGroup) -> bool:
    is_type_right = request.protocol_type in (None, draft.protocol_type)
    return is_type_right and request.protocol in (None, draft.protocol)


def _store(draft: Draft, request: SyncGroup) -> None:
    """Write the leader's assignment down; who is not in it gets nothing. Then everybody is answered."""
    if request.store_error != NONE:
        for member_id in tuple(draft.members):
            draft.change(member_id, assignment=None)
        answer_syncs(draft, request.store_error)
        return prepare(draft, NOT_STORED, request.client)
    draft.tell(GroupWritten())
    given = dict(request.assignments)
    for member_id in tuple(draft.members):
        draft.change(member_id, assignment=given.get(member_id))
    answer_syncs(draft)
    return draft.go(STABLE, STORED, request.client)


def heartbeat(draft: Draft, request: Heartbeat) -> None:
    """Work on a Heartbeat request."""
    error = _error(draft, request)
    if error is None:
        counts = draft.state != COMPLETING or draft.rules.heartbeat_counts_in_completing
        if counts:
            draft.restart_timer(request.member_id)
        error = "REBALANCE_IN_PROGRESS" if draft.state == PREPARING or not counts else NONE
    draft.tell(HeartbeatAnswered(request.client, error))


def leave(draft: Draft, request: LeaveGroup) -> None:
    """Work on a LeaveGroup request."""
    if not draft.is_known:
        return draft.tell(LeaveAnswered(request.client, "UNKNOWN_MEMBER_ID"))
    if draft.state == DEAD:
        return draft.tell(LeaveAnswered(request.client, "COORDINATOR_NOT_AVAILABLE"))
    member_id = request.member_id
    if member_id == UNKNOWN and request.instance_id is not None:
        member_id = draft.static_id(request.instance_id) or UNKNOWN
    is_pending = member_id in draft.pending
    error = None if is_pending else draft.error_of(member_id, request.instance_id)
    draft.tell(LeaveAnswered(request.client, error or NONE))
    if error is not None:
        return None
    who = draft.pending[member_id][1] if is_pending else draft.members[member_id].client
    _remove(draft, member_id, "left")
    if is_pending and not draft.rules.is_java:  # Scala's coordinator starts no rebalance for who never was a member
        return complete_after_removal(draft)
    if draft.state in (STABLE, COMPLETING, PREPARING):
        rebalance_or_complete(draft, MEMBER_LEFT, who)
    return None


def _remove(draft: Draft, member_id: str, why: str) -> None:
    member = draft.members.get(member_id)
    if member is not None and member.join_waiter is not None:
        draft.tell(JoinAnswered(member.join_waiter, "UNKNOWN_MEMBER_ID", UNKNOWN))
    draft.remove(member_id, why)


def session_ended(draft: Draft, member_id: str) -> None:
    """The timer of a member, or of an id that was given out, has run out."""
    if member_id in draft.pending:
        draft.remove(member_id, "never used its member id")
        return complete_after_removal(draft)
    member = draft.members[member_id]
    draft.change(member_id, expires_ms=None)
    is_waiting = member.join_waiter is not None or member.sync_waiter is not None
    if is_waiting and not member.is_new:  # alive: it has asked, and we have not answered
        return None
    _remove(draft, member_id, "session expired")
    if draft.state in (STABLE, COMPLETING):
        return rebalance_or_complete(draft, MEMBER_EXPIRED, member.client)
    return complete_after_removal(draft)


def sync_deadline_passed(draft: Draft) -> None:
    """Whoever has the join answer and has not asked for its assignment is removed."""
    draft.sync_deadline_ms = None
    missing = tuple(draft.unsynced)
    clients = [draft.members[each].client for each in missing if each in draft.members]
    for member_id in missing:
        _remove(draft, member_id, "sent no SyncGroup in time")
    prepare(draft, SYNC_EXPIRED, ", ".join(clients))
