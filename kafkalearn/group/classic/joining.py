"""JoinGroup: newcomers, members that come again, static members that come back under a new id."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.classic.effects import NONE, GroupWritten, JoinAnswered, SyncAnswered
from kafkalearn.group.classic.events import UNKNOWN, JoinGroup
from kafkalearn.group.classic.group_update import Draft
from kafkalearn.group.classic.rebalancing import (
    complete_if_all_joined,
    present_generation,
    rebalance_or_complete,
)
from kafkalearn.group.classic.state import Member
from kafkalearn.group.classic.transitions import (
    COMPLETING,
    DEAD,
    EMPTY,
    LEADER_REJOINED,
    MEMBER_ADDED,
    METADATA_CHANGED,
    PREPARING,
    STABLE,
    STATIC_REPLACED,
    VOTE_CHANGED,
)

NEW_MEMBER_TIMEOUT_MS = 300_000  # how long a member may wait for its first answer, since 2.1
FIRST_VERSION_WITH_MEMBER_ID_REQUIRED = 4
FIRST_VERSION_THAT_SKIPS_THE_ASSIGNMENT = 9


def join(draft: Draft, request: JoinGroup) -> None:
    """Work on a JoinGroup request."""
    low, high = draft.settings.group_min_session_timeout_ms, draft.settings.group_max_session_timeout_ms
    if not low <= request.session_timeout_ms <= high:
        return _refuse(draft, request, "INVALID_SESSION_TIMEOUT", request.member_id)
    if not draft.is_known and request.member_id != UNKNOWN:
        return _refuse(draft, request, "UNKNOWN_MEMBER_ID", request.member_id)
    is_created = not draft.is_known
    draft.is_known = True
    if not _has_room(draft, request.member_id):
        draft.remove(request.member_id, "the group is full")
        _refuse(draft, request, "GROUP_MAX_SIZE_REACHED", UNKNOWN)
    elif draft.state == DEAD:
        _refuse(draft, request, "COORDINATOR_NOT_AVAILABLE", request.member_id)
    elif not _supports(draft, request):
        _refuse(draft, request, "INCONSISTENT_GROUP_PROTOCOL", request.member_id)
    elif request.member_id == UNKNOWN:
        _join_without_id(draft, request)
    else:
        _join_with_id(draft, request)
    if is_created and draft.rules.is_java:
        draft.tell(GroupWritten())  # with its first JoinGroup, also a refused one, the group is written as empty


def _refuse(draft: Draft, request: JoinGroup, error: str, member_id: str) -> None:
    draft.tell(JoinAnswered(request.client, error, member_id))


def _has_room(draft: Draft, member_id: str) -> bool:
    """Whether the group may have this member as well; while members join, those who are here count."""
    most = draft.settings.group_max_size
    if draft.state in (EMPTY, DEAD):
        return True
    if draft.is_preparing:
        member = draft.members.get(member_id)
        return (member is not None and member.join_waiter is not None) or draft.waiting_count < most
    return member_id in draft.members or len(draft.members) < most


def _supports(draft: Draft, request: JoinGroup) -> bool:
    """Whether the type is the group's, and one of the assignors is known to all its members."""
    if draft.state == EMPTY:
        return bool(request.protocol_type and request.protocols)
    if request.protocol_type != draft.protocol_type:
        return False
    if not draft.members:
        return bool(request.protocols)
    return any(name in draft.common_protocols for name, _ in request.protocols)


def _join_without_id(draft: Draft, request: JoinGroup) -> None:
    if request.instance_id is not None and draft.rules.has_static_members:
        old_id = draft.static_id(request.instance_id)
        new_id = draft.new_id(request.instance_id)
        if old_id is None:
            return _add(draft, request, new_id)
        return _replace_static(draft, request, old_id, new_id)
    new_id = draft.new_id(request.client)
    if draft.rules.needs_member_id and request.version >= FIRST_VERSION_WITH_MEMBER_ID_REQUIRED:
        draft.pending[new_id] = (draft.now_ms + request.session_timeout_ms, request.client)
        return _refuse(draft, request, "MEMBER_ID_REQUIRED", new_id)
    return _add(draft, request, new_id)


def _join_with_id(draft: Draft, request: JoinGroup) -> None:
    if request.member_id in draft.pending:
        if request.instance_id is not None:
            raise IllegalEvent(f"{request}: the id was given to a dynamic member, it cannot come as a static one")
        return _add(draft, request, request.member_id)
    error = draft.error_of(request.member_id, request.instance_id)
    if error is None and draft.state == EMPTY:
        error = "UNKNOWN_MEMBER_ID"
    if error is not None:
        return _refuse(draft, request, error, request.member_id)
    return _rejoin(draft, request, draft.members[request.member_id])


def _rejoin(draft: Draft, request: JoinGroup, member: Member) -> None:
    has_changed = member.protocols != request.protocols
    is_leader = draft.leader == member.member_id
    if draft.state == PREPARING:
        _update(draft, request, member)
        complete_if_all_joined(draft)
    elif has_changed or (draft.state == STABLE and is_leader):
        _update(draft, request, member)
        is_forced = draft.state == STABLE and is_leader
        rebalance_or_complete(draft, LEADER_REJOINED if is_forced else METADATA_CHANGED, member.client)
    else:  # its answer must have been lost: here it is again
        draft.tell(present_generation(draft, member, request.client))


def _add(draft: Draft, request: JoinGroup, member_id: str) -> None:
    if draft.is_preparing and draft.delay_ms is not None and (draft.rules.is_java or draft.generation == 0):
        draft.has_newcomer = True
    if not draft.members:
        draft.protocol_type = request.protocol_type
    draft.leader = draft.leader or member_id
    draft.pending.pop(member_id, None)
    draft.put(
        Member(
            member_id,
            request.client,
            request.instance_id if draft.rules.has_static_members else None,
            request.session_timeout_ms,
            request.rebalance_timeout_ms,
            request.protocols,
            is_new=True,
            join_waiter=request.client,
            expires_ms=draft.now_ms + NEW_MEMBER_TIMEOUT_MS if draft.rules.new_members_expire else None,
        )
    )
    rebalance_or_complete(draft, MEMBER_ADDED, request.client)


def _update(draft: Draft, request: JoinGroup, member: Member) -> None:
    draft.change(
        member.member_id,
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        protocols=request.protocols,
        join_waiter=request.client,
    )


def _replace_static(draft: Draft, request: JoinGroup, old_id: str, new_id: str) -> None:
    """A new process takes over the place of a static member; whoever still waits under the old id is fenced."""
    old_leader, old = draft.leader, draft.members[old_id]
    if old.join_waiter is not None:
        draft.tell(JoinAnswered(old.join_waiter, "FENCED_INSTANCE_ID", old_id))
    if old.sync_waiter is not None:
        draft.tell(SyncAnswered(old.sync_waiter, "FENCED_INSTANCE_ID"))
    new = old._replace(member_id=new_id, client=request.client, is_new=False, join_waiter=None, sync_waiter=None)
    draft.members = {each.member_id: each for each in (new if it is old else it for it in draft.members.values())}
    if draft.leader == old_id:
        draft.leader = new_id
    draft.restart_timer(new_id)  # of the old session timeout still
    _update(draft, request, draft.members[new_id])
    if draft.state == STABLE and draft.elected_protocol == draft.protocol:
        _answer_static(draft, request, new_id, old_leader)
    elif draft.state in (STABLE, COMPLETING):
        cause = VOTE_CHANGED if draft.state == STABLE else STATIC_REPLACED
        rebalance_or_complete(draft, cause, request.client)
    else:
        complete_if_all_joined(draft)


def _answer_static(draft: Draft, request: JoinGroup, new_id: str, old_leader: str | None) -> None:
    """No rebalance: the new id is written down, and the member goes on in the present generation."""
    draft.tell(GroupWritten())
    member = draft.members[new_id]
    if draft.rules.has_skip_assignment and request.version >= FIRST_VERSION_THAT_SKIPS_THE_ASSIGNMENT:
        answer = replace(
            present_generation(draft, member, request.client), is_assignment_skipped=draft.leader == new_id
        )
    else:  # it is shown the old leader, so that it does not take itself for one and assign
        answer = JoinAnswered(request.client, NONE, new_id, draft.generation, draft.protocol, old_leader)
    draft.tell(answer)
    draft.change(new_id, join_waiter=None)
