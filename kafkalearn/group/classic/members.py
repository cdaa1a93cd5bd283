"""SyncGroup, Heartbeat, LeaveGroup, and the sessions that end because nothing was heard."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.classic.effects import (
    LEFT,
    NONE,
    GroupWritten,
    HeartbeatAnswered,
    JoinAnswered,
    LeaveAnswered,
    SyncAnswered,
)
from kafkalearn.group.classic.events import UNKNOWN, Heartbeat, LeaveGroup, SyncGroup
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group.classic.rebalancing import (
    answer_syncs,
    complete_after_removal,
    prepare,
    rebalance_or_complete,
)
from kafkalearn.group.classic.state import Group
from kafkalearn.group.classic.transitions import MEMBER_EXPIRED, MEMBER_LEFT, NOT_STORED, STORED, SYNC_EXPIRED
from kafkalearn.group_states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE


def _error(group: GroupUpdate, request: SyncGroup | Heartbeat) -> str | None:
    """Why the request is refused before the group's state is looked at."""
    if not group.is_known:
        return "UNKNOWN_MEMBER_ID"
    if group.state == DEAD:
        return "COORDINATOR_NOT_AVAILABLE"
    if group.state == EMPTY:
        return "UNKNOWN_MEMBER_ID"
    error = group.error_of(request.member_id, request.instance_id)
    if error is None and request.generation != group.generation:
        return "ILLEGAL_GENERATION"
    return error


def sync(group: GroupUpdate, request: SyncGroup) -> None:
    """Work on a SyncGroup request."""
    error = _error(group, request)
    if error is None and not _is_consistent(group, request):
        error = "INCONSISTENT_GROUP_PROTOCOL"
    if error is None and group.state == PREPARING:
        error = "REBALANCE_IN_PROGRESS"
    if error is not None:
        return group.emit(SyncAnswered(request.client, error))
    group.unsynced.pop(request.member_id, None)
    if not group.unsynced:
        group.sync_deadline_ms = None
    if group.state == STABLE:
        if not group.rules.is_java:
            group.restart_timer(request.member_id)
        return group.emit(SyncAnswered(request.client, NONE, group.members[request.member_id].assignment))
    group.change(request.member_id, sync_waiter=request.client)
    if group.leader == request.member_id:
        _store(group, request)
    return None


def _is_consistent(group: GroupUpdate, request: SyncGroup) -> bool:
    is_type_right = request.protocol_type in (None, group.protocol_type)
    return is_type_right and request.protocol in (None, group.protocol)


def _store(group: GroupUpdate, request: SyncGroup) -> None:
    """Write the leader's assignment down; a member that is not in it gets nothing. Then everybody is answered."""
    if request.store_error != NONE:
        for member_id in tuple(group.members):
            group.change(member_id, assignment=None)
        answer_syncs(group, request.store_error)
        return prepare(group, NOT_STORED, request.client)
    group.emit(GroupWritten())
    given = dict(request.assignments)
    for member_id in tuple(group.members):
        group.change(member_id, assignment=given.get(member_id))
    answer_syncs(group)
    return group.change_state(STABLE, STORED, request.client)


def heartbeat(group: GroupUpdate, request: Heartbeat) -> None:
    """Work on a Heartbeat request."""
    error = _error(group, request)
    if error is None:
        counts = group.state != COMPLETING or group.rules.heartbeat_counts_in_completing
        if counts:
            group.restart_timer(request.member_id)
        error = "REBALANCE_IN_PROGRESS" if group.state == PREPARING or not counts else NONE
    group.emit(HeartbeatAnswered(request.client, error))


def quick_heartbeat(group: Group, request: Heartbeat) -> Group | None:
    """The same for the most frequent case, made cheap: nothing changes but the member's timer; None: another case."""
    if group.state != STABLE or request.generation != group.generation or request.instance_id is not None:
        return None
    member = group.member(request.member_id)
    if member is None:
        return None
    renewed = member._replace(expires_ms=group.now_ms + member.session_timeout_ms)
    place = group.members.index(member)
    members = (*group.members[:place], renewed, *group.members[place + 1 :])
    return replace(group, members=members, effects=(HeartbeatAnswered(request.client, NONE),))


def leave(group: GroupUpdate, request: LeaveGroup) -> None:
    """Work on a LeaveGroup request."""
    if not group.is_known:
        of_others = ("UNKNOWN_MEMBER_ID",) * len(request.others)
        return group.emit(LeaveAnswered(request.client, "UNKNOWN_MEMBER_ID", of_others))
    if group.state == DEAD:
        return group.emit(LeaveAnswered(request.client, "COORDINATOR_NOT_AVAILABLE"))
    left: list[tuple[str, bool]] = []
    before, those = len(group.effects), ((request.member_id, request.instance_id), *request.others)
    errors = [_take_out(group, *each, left) for each in those]
    group.effects.insert(before, LeaveAnswered(request.client, errors[0], tuple(errors[1:])))
    if not left:
        return None
    if all(is_pending for _, is_pending in left) and not group.rules.is_java:
        return complete_after_removal(group)  # Scala's coordinator starts no rebalance for a pending id
    if group.state in (STABLE, COMPLETING, PREPARING):
        rebalance_or_complete(group, MEMBER_LEFT, ", ".join(who for who, _ in left))
    return None


def _take_out(group: GroupUpdate, member_id: str, instance_id: str | None, left: list[tuple[str, bool]]) -> str:
    """Remove one that leaves, and note its client and whether its id was unused; the error of the answer."""
    if member_id == UNKNOWN and instance_id is not None:
        member_id = group.static_id(instance_id) or UNKNOWN
    is_pending = member_id in group.pending
    error = None if is_pending else group.error_of(member_id, instance_id)
    if error is not None:
        return error
    left.append((group.pending[member_id][1] if is_pending else group.members[member_id].client, is_pending))
    _remove(group, member_id, LEFT)
    return NONE


def _remove(group: GroupUpdate, member_id: str, why: str) -> None:
    member = group.members.get(member_id)
    if member is not None and member.join_waiter is not None:
        group.emit(JoinAnswered(member.join_waiter, "UNKNOWN_MEMBER_ID", UNKNOWN))
    group.remove(member_id, why)


def session_ended(group: GroupUpdate, member_id: str) -> None:
    """The timer of a member, or of an id that was given out, has run out."""
    if member_id in group.pending:
        group.remove(member_id, "never used its member id")
        return complete_after_removal(group)
    member = group.members[member_id]
    group.change(member_id, expires_ms=None)
    is_waiting = member.join_waiter is not None or member.sync_waiter is not None
    if is_waiting and not member.is_new:  # it is alive: it waits for our answer
        return None
    _remove(group, member_id, "session expired")
    if group.state in (STABLE, COMPLETING):
        return rebalance_or_complete(group, MEMBER_EXPIRED, member.client)
    return complete_after_removal(group)


def sync_deadline_passed(group: GroupUpdate) -> None:
    """Remove the members that have their join answer and have not asked for their assignment."""
    group.sync_deadline_ms = None
    missing = tuple(group.unsynced)
    clients = [group.members[each].client for each in missing if each in group.members]
    for member_id in missing:
        _remove(group, member_id, "sent no SyncGroup in time")
    prepare(group, SYNC_EXPIRED, ", ".join(clients))
