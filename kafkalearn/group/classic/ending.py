"""How a group ends on a broker: it is deleted, its last offset expires, or its partition moves away."""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.classic.effects import NONE, DeleteAnswered, GroupWritten, JoinAnswered, SyncAnswered
from kafkalearn.group.classic.events import GroupDeleted, OffsetsExpired, PartitionMoved
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group.classic.transitions import DELETED, EXPIRED, MOVED
from kafkalearn.group_states import DEAD, EMPTY


def move_away(group: GroupUpdate, event: PartitionMoved) -> None:
    """Send everybody who waits to look for the new coordinator; nothing is written."""
    if group.state == DEAD:
        raise IllegalEvent(f"{event!r}: the group is Dead already")
    for member in tuple(group.members.values()):
        if member.join_waiter is not None:
            group.emit(JoinAnswered(member.join_waiter, "NOT_COORDINATOR", member.member_id))
        if member.sync_waiter is not None:
            group.emit(SyncAnswered(member.sync_waiter, "NOT_COORDINATOR"))
    group.change_state(DEAD, MOVED)
    group.has_moved = True
    _forget(group)


def expire(group: GroupUpdate, event: OffsetsExpired) -> None:
    """Write a tombstone for an empty group and forget it."""
    if group.state != EMPTY or not group.is_known:
        what = f"in state {group.state}" if group.is_known else "unknown"
        raise IllegalEvent(f"{event!r}: only a known group in state Empty goes this way, it is {what}")
    _end(group, EXPIRED)


def delete(group: GroupUpdate, event: GroupDeleted) -> None:
    """The same at the request of an administrator; the answer says if there is no such group, or not an empty one."""
    if group.has_moved:
        return group.emit(DeleteAnswered("NOT_COORDINATOR"))
    if not group.is_known:
        return group.emit(DeleteAnswered("GROUP_ID_NOT_FOUND"))
    if group.state != EMPTY:
        return group.emit(DeleteAnswered("NON_EMPTY_GROUP"))
    _end(group, DELETED)
    return group.emit(DeleteAnswered(NONE))


def _end(group: GroupUpdate, cause: str) -> None:
    group.change_state(DEAD, cause)
    group.emit(GroupWritten(is_tombstone=True))
    _forget(group)


def _forget(group: GroupUpdate) -> None:
    for each in (group.members, group.pending, group.unsynced):
        each.clear()
    group.leader = group.protocol = group.join_deadline_ms = group.sync_deadline_ms = group.delay_ms = None
