"""How a group ends on a broker: it is deleted, its last offset expires, or its partition moves away."""

from __future__ import annotations

from kafkalearn.errors import IllegalEvent
from kafkalearn.group.classic.effects import GroupWritten, JoinAnswered, SyncAnswered
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


def drop(group: GroupUpdate, event: OffsetsExpired | GroupDeleted) -> None:
    """Write a tombstone for an empty group and forget it."""
    if group.state != EMPTY or not group.is_known:
        what = f"in state {group.state}" if group.is_known else "unknown"
        raise IllegalEvent(f"{event!r}: only a known group in state Empty goes this way, it is {what}")
    group.change_state(DEAD, DELETED if isinstance(event, GroupDeleted) else EXPIRED)
    group.emit(GroupWritten(is_tombstone=True))
    _forget(group)


def _forget(group: GroupUpdate) -> None:
    group.members, group.pending, group.unsynced = {}, {}, {}
    group.leader = group.protocol = group.join_deadline_ms = group.sync_deadline_ms = group.delay_ms = None
