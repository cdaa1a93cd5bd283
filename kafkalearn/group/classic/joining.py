"""JoinGroup: newcomers, members that come again, static members that come back under a new id."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.classic.effects import NONE, GroupWritten, JoinAnswered, SyncAnswered
from kafkalearn.group.classic.events import UNKNOWN, JoinGroup
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group.classic.rebalancing import (
    complete_if_all_joined,
    present_generation,
    rebalance_or_complete,
)
from kafkalearn.group.classic.state import Member
from kafkalearn.group.classic.transitions import (
    LEADER_REJOINED,
    MEMBER_ADDED,
    METADATA_CHANGED,
    STATIC_REPLACED,
    VOTE_CHANGED,
)
from kafkalearn.group_states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE

NEW_MEMBER_TIMEOUT_MS = 300_000  # how long a member may wait for its first answer, since 2.1
FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4
FIRST_VERSION_THAT_SKIPS_THE_ASSIGNMENT = 9


def join(group: GroupUpdate, request: JoinGroup) -> None:
    """Work on a JoinGroup request."""
    low, high = group.settings.group_min_session_timeout_ms, group.settings.group_max_session_timeout_ms
    if not low <= request.session_timeout_ms <= high:
        return _refuse(group, request, "INVALID_SESSION_TIMEOUT", request.member_id)
    if not group.is_known and request.member_id != UNKNOWN:
        return _refuse(group, request, "UNKNOWN_MEMBER_ID", request.member_id)
    is_created = not group.is_known
    group.is_known = True
    if not _has_room(group, request.member_id):
        group.remove(request.member_id, "the group is full")
        _refuse(group, request, "GROUP_MAX_SIZE_REACHED", UNKNOWN)
    elif group.state == DEAD:
        _refuse(group, request, "COORDINATOR_NOT_AVAILABLE", request.member_id)
    elif not _supports(group, request):
        _refuse(group, request, "INCONSISTENT_GROUP_PROTOCOL", request.member_id)
    elif request.member_id == UNKNOWN:
        _join_without_id(group, request)
    else:
        _join_with_id(group, request)
    if is_created and group.rules.is_java:
        group.emit(GroupWritten())  # the first JoinGroup, even a refused one, writes the group as empty


def _refuse(group: GroupUpdate, request: JoinGroup, error: str, member_id: str) -> None:
    group.emit(JoinAnswered(request.client, error, member_id))


def _has_room(group: GroupUpdate, member_id: str) -> bool:
    """Whether the group may have this member as well; while members join, those count that have joined."""
    most = group.settings.group_max_size
    if group.state in (EMPTY, DEAD):
        return True
    if group.is_preparing:
        member = group.members.get(member_id)
        return (member is not None and member.join_waiter is not None) or group.waiting_count < most
    return member_id in group.members or len(group.members) < most


def _supports(group: GroupUpdate, request: JoinGroup) -> bool:
    """Whether the type is the group's, and one of the assignors is known to all its members."""
    if group.state == EMPTY:
        return bool(request.protocol_type and request.protocols)
    if request.protocol_type != group.protocol_type:
        return False
    if not group.members:
        return bool(request.protocols)
    return any(name in group.common_protocols for name, _ in request.protocols)


def _join_without_id(group: GroupUpdate, request: JoinGroup) -> None:
    if request.instance_id is not None and group.rules.has_static_members:
        old_id = group.static_id(request.instance_id)
        new_id = group.new_id(request.instance_id, request.drawn_id)
        if old_id is None:
            return _add(group, request, new_id)
        return _replace_static(group, request, old_id, new_id)
    new_id = group.new_id(request.client, request.drawn_id)
    if group.rules.needs_member_id and request.version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED:
        group.pending[new_id] = (group.now_ms + request.session_timeout_ms, request.client)
        return _refuse(group, request, "MEMBER_ID_REQUIRED", new_id)
    return _add(group, request, new_id)


def _join_with_id(group: GroupUpdate, request: JoinGroup) -> None:
    if request.member_id in group.pending:
        if request.instance_id is not None:
            raise IllegalEvent(f"{request}: the id was given to a dynamic member, it cannot come as a static one")
        return _add(group, request, request.member_id)
    error = group.error_of(request.member_id, request.instance_id)
    if error is None and group.state == EMPTY:
        error = "UNKNOWN_MEMBER_ID"
    if error is not None:
        return _refuse(group, request, error, request.member_id)
    return _rejoin(group, request, group.members[request.member_id])


def _rejoin(group: GroupUpdate, request: JoinGroup, member: Member) -> None:
    has_changed = member.protocols != request.protocols
    is_leader = group.leader == member.member_id
    if group.state == PREPARING:
        _update(group, request, member)
        complete_if_all_joined(group)
    elif has_changed or (group.state == STABLE and is_leader):
        _update(group, request, member)
        is_forced = group.state == STABLE and is_leader
        rebalance_or_complete(group, LEADER_REJOINED if is_forced else METADATA_CHANGED, member.client)
    else:  # its answer must have been lost: send it again
        group.emit(present_generation(group, member, request.client))


def _add(group: GroupUpdate, request: JoinGroup, member_id: str) -> None:
    if group.is_preparing and group.delay_ms is not None and (group.rules.is_java or group.generation == 0):
        group.has_newcomer = True
    if not group.members:
        group.protocol_type = request.protocol_type
    group.leader = group.leader or member_id
    group.pending.pop(member_id, None)
    group.put(
        Member(
            member_id,
            request.client,
            request.instance_id if group.rules.has_static_members else None,
            request.session_timeout_ms,
            request.rebalance_timeout_ms,
            request.protocols,
            is_new=True,
            join_waiter=request.client,
            expires_ms=group.now_ms + NEW_MEMBER_TIMEOUT_MS if group.rules.new_members_expire else None,
        )
    )
    rebalance_or_complete(group, MEMBER_ADDED, request.client)


def _update(group: GroupUpdate, request: JoinGroup, member: Member) -> None:
    group.change(
        member.member_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        protocols=request.protocols,
        join_waiter=request.client,
    )


def _replace_static(group: GroupUpdate, request: JoinGroup, old_id: str, new_id: str) -> None:
    """A new process takes the place of a static member; a request that still waits under the old id is fenced."""
    old_leader, old = group.leader, group.members[old_id]
    if old.join_waiter is not None:
        group.emit(JoinAnswered(old.join_waiter, "FENCED_INSTANCE_ID", old_id))
    if old.sync_waiter is not None:
        group.emit(SyncAnswered(old.sync_waiter, "FENCED_INSTANCE_ID"))
    new = old._replace(member_id=new_id, client=request.client, is_new=False, join_waiter=None, sync_waiter=None)
    group.members = {each.member_id: each for each in (new if it is old else it for it in group.members.values())}
    if group.leader == old_id:
        group.leader = new_id
    group.restart_timer(new_id)  # of the old session timeout still
    _update(group, request, group.members[new_id])
    if group.state == STABLE and group.elected_protocol == group.protocol:
        _answer_static(group, request, new_id, old_leader)
    elif group.state in (STABLE, COMPLETING):
        cause = VOTE_CHANGED if group.state == STABLE else STATIC_REPLACED
        rebalance_or_complete(group, cause, request.client)
    else:
        complete_if_all_joined(group)


def _answer_static(group: GroupUpdate, request: JoinGroup, new_id: str, old_leader: str | None) -> None:
    """No rebalance: the new id is written down, and the member goes on in the present generation."""
    group.emit(GroupWritten())
    member = group.members[new_id]
    if group.rules.has_skip_assignment and request.version >= FIRST_VERSION_THAT_SKIPS_THE_ASSIGNMENT:
        answer = replace(
            present_generation(group, member, request.client), is_assignment_skipped=group.leader == new_id
        )
    else:  # it gets the old leader, so that it does not assign
        answer = JoinAnswered(request.client, NONE, new_id, group.generation, group.protocol, old_leader)
    group.emit(answer)
    group.change(new_id, join_waiter=None)
