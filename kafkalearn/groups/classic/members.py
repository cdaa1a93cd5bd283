"""Members of a classic group that is formed: SyncGroup, Heartbeat, LeaveGroup, commits, session timeouts, its end."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.groups.classic import model
from kafkalearn.groups.classic.joining import (
    SHORTEST_ROUND_MS,
    GroupUpdate,
    answer_syncs,
    complete_after_removal,
    join_deadline_passed,
    prepare,
    rebalance_or_complete,
    session_error,
)
from kafkalearn.groups.classic.model import Group, Settings
from kafkalearn.groups.defaults import COMPLETING, DEAD, EMPTY, PREPARING, STABLE, known_version


def _error(group: GroupUpdate, request: model.SyncGroup | model.Heartbeat) -> str | None:
    """Why the request is refused before the group's state is looked at."""
    if not group.is_known or group.state == EMPTY:
        return "UNKNOWN_MEMBER_ID"
    error = group.error_of(request.member_id, request.instance_id)
    if error is None and request.generation != group.generation:
        return "ILLEGAL_GENERATION"
    return error


def sync(group: GroupUpdate, request: model.SyncGroup) -> None:
    """Work on a SyncGroup request."""
    error = _error(group, request)
    is_type_right = request.protocol_type in (None, group.protocol_type)
    if error is None and not (is_type_right and request.protocol in (None, group.protocol)):
        error = "INCONSISTENT_GROUP_PROTOCOL"
    if error is None and group.state == PREPARING:
        error = "REBALANCE_IN_PROGRESS"
    if error is not None:
        return group.emit(model.SyncAnswered(request.client, error))
    group.unsynced.pop(request.member_id, None)
    if not group.unsynced:
        group.sync_deadline_ms = None
    if group.state == STABLE:
        if not group.rules.is_java:
            group.restart_timer(request.member_id)
        return group.emit(model.SyncAnswered(request.client, model.NONE, group.members[request.member_id].assignment))
    group.change(request.member_id, sync_waiter=request.client)
    if group.leader == request.member_id:
        _store(group, request)
    return None


def _store(group: GroupUpdate, request: model.SyncGroup) -> None:
    """Write the leader's assignment down; a member that is not in it gets nothing. Then everybody is answered."""
    if request.store_error != model.NONE:
        for member_id in tuple(group.members):
            group.change(member_id, assignment=None)
        answer_syncs(group, request.store_error)
        return prepare(group, model.NOT_STORED, request.client)
    group.emit(model.GroupWritten())
    given = dict(request.assignments)
    for member_id in tuple(group.members):
        group.change(member_id, assignment=given.get(member_id))
    answer_syncs(group)
    return group.change_state(STABLE, model.STORED, request.client)


def heartbeat(group: GroupUpdate, request: model.Heartbeat) -> None:
    """Work on a Heartbeat request."""
    error = _error(group, request)
    if error is None:
        counts = group.state != COMPLETING or group.rules.heartbeat_counts_in_completing
        if counts:
            group.restart_timer(request.member_id)
        error = "REBALANCE_IN_PROGRESS" if group.state == PREPARING or not counts else model.NONE
    group.emit(model.HeartbeatAnswered(request.client, error))


def quick_heartbeat(group: Group, request: model.Heartbeat) -> Group | None:
    """The same for the most frequent case, made cheap: nothing changes but the member's timer; None: another case."""
    if group.state != STABLE or request.generation != group.generation or request.instance_id is not None:
        return None
    member = group.member(request.member_id)
    if member is None:
        return None
    renewed = member._replace(expires_ms=group.now_ms + member.session_timeout_ms)
    place = group.members.index(member)
    members = (*group.members[:place], renewed, *group.members[place + 1 :])
    return replace(group, members=members, effects=(model.HeartbeatAnswered(request.client, model.NONE),))


def leave(group: GroupUpdate, request: model.LeaveGroup) -> None:
    """Work on a LeaveGroup request."""
    if not group.is_known:
        of_others = ("UNKNOWN_MEMBER_ID",) * len(request.others)
        return group.emit(model.LeaveAnswered(request.client, "UNKNOWN_MEMBER_ID", of_others))
    left: list[tuple[str, bool]] = []
    before, those = len(group.effects), ((request.member_id, request.instance_id), *request.others)
    errors = [_take_out(group, *each, left) for each in those]
    group.effects.insert(before, model.LeaveAnswered(request.client, errors[0], tuple(errors[1:])))
    if not left:
        return None
    if all(is_pending for _, is_pending in left) and not group.rules.is_java:
        return complete_after_removal(group)  # Scala's coordinator starts no rebalance for a pending id
    if group.state in (STABLE, COMPLETING, PREPARING):
        rebalance_or_complete(group, model.MEMBER_LEFT, ", ".join(who for who, _ in left))
    return None


def _take_out(group: GroupUpdate, member_id: str, instance_id: str | None, left: list[tuple[str, bool]]) -> str:
    """Remove one that leaves, and note its client and whether its id was unused; the error of the answer."""
    if member_id == model.UNKNOWN and instance_id is not None:
        member_id = group.static_id(instance_id) or model.UNKNOWN
    is_pending = member_id in group.pending
    error = None if is_pending else group.error_of(member_id, instance_id)
    if error is not None:
        return error
    left.append((group.pending[member_id][1] if is_pending else group.members[member_id].client, is_pending))
    _remove(group, member_id, model.LEFT)
    return model.NONE


def _remove(group: GroupUpdate, member_id: str, why: str) -> None:
    member = group.members.get(member_id)
    if member is not None and member.join_waiter is not None:
        group.emit(model.JoinAnswered(member.join_waiter, "UNKNOWN_MEMBER_ID", model.UNKNOWN))
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
        return rebalance_or_complete(group, model.MEMBER_EXPIRED, member.client)
    return complete_after_removal(group)


def sync_deadline_passed(group: GroupUpdate) -> None:
    """Remove the members that have their join answer and have not asked for their assignment."""
    group.sync_deadline_ms = None
    missing = tuple(group.unsynced)
    clients = [group.members[each].client for each in missing if each in group.members]
    for member_id in missing:
        _remove(group, member_id, "sent no SyncGroup in time")
    prepare(group, model.SYNC_EXPIRED, ", ".join(clients))


# OffsetCommit: whether a group takes a commit, which keeps its member alive as a heartbeat does.

FIRST_THAT_KNOWS_MISSING_GROUPS = 9  # the version of OffsetCommit


def commit(group: GroupUpdate, request: model.OffsetCommit) -> None:
    """Work on an OffsetCommit request.

    A client without a generation may write offsets for a group without members; one that is not there comes into
    being, and nothing but the offsets is written of it.

    References
    ----------
    Apache Kafka 4.3, ``OffsetMetadataManager.commitOffset`` and ``validateOffsetCommit``,
    ``ClassicGroup.validateOffsetCommit``; to 3.9 ``GroupCoordinator.doCommitOffsets``.
    """
    version = known_version(request, request.version, "OffsetCommit", group.settings.release)
    if not group.is_known and request.generation >= 0:
        knows = group.rules.is_java and version >= FIRST_THAT_KNOWS_MISSING_GROUPS
        return group.emit(model.CommitAnswered(request.client, "GROUP_ID_NOT_FOUND" if knows else "ILLEGAL_GENERATION"))
    group.is_known = True
    error = _commits_error(group, request)
    if error == model.NONE and group.state in (STABLE, PREPARING):
        group.restart_timer(request.member_id)
    return group.emit(model.CommitAnswered(request.client, error))


def _commits_error(group: GroupUpdate, request: model.OffsetCommit) -> str:
    """Why a commit is not taken. The same question stands in ``offsets.store.requests``, which has the list of all."""
    if request.generation < 0 and group.state == EMPTY:
        return model.NONE
    if request.generation < 0 and request.member_id == model.UNKNOWN and request.instance_id is None:
        return "UNKNOWN_MEMBER_ID"
    error = group.error_of(request.member_id, request.instance_id)
    if error is None and request.generation != group.generation:
        error = "ILLEGAL_GENERATION"
    if error is None and group.state == COMPLETING:
        error = "REBALANCE_IN_PROGRESS"
    return model.NONE if error is None else error


# How a group ends on a broker.

NOT_COORDINATOR = "NOT_COORDINATOR"


def refuse_moved(group: GroupUpdate, event: model.ClassicEvent) -> None:
    """Answer a request to a broker that has lost the partition: whatever it is, somebody else coordinates.

    References
    ----------
    Apache Kafka: ``GroupCoordinator.validateGroupStatus`` up to 3.9, since 4.0 ``CoordinatorRuntime``, where only the
    session timeout of a JoinGroup is looked at before (``GroupCoordinatorService.joinGroup``).
    """
    match event:
        case model.JoinGroup():
            error = session_error(group, event) if group.rules.is_java else None
            group.emit(model.JoinAnswered(event.client, error or NOT_COORDINATOR, event.member_id))
        case model.SyncGroup():
            group.emit(model.SyncAnswered(event.client, NOT_COORDINATOR))
        case model.Heartbeat():
            group.emit(model.HeartbeatAnswered(event.client, NOT_COORDINATOR))
        case model.LeaveGroup():
            group.emit(model.LeaveAnswered(event.client, NOT_COORDINATOR))
        case model.OffsetCommit():
            group.emit(model.CommitAnswered(event.client, NOT_COORDINATOR))
        case model.GroupDeleted():
            group.emit(model.DeleteAnswered(NOT_COORDINATOR))
        case _:
            raise IllegalEvent(f"{event!r}: the group's partition is on another broker, this one holds nothing of it")


def move_away(group: GroupUpdate, event: model.PartitionMoved) -> None:
    """Send everybody who waits to look for the new coordinator; nothing is written."""
    if group.state == DEAD:
        raise IllegalEvent(f"{event!r}: the group is Dead already")
    for member in tuple(group.members.values()):
        if member.join_waiter is not None:
            group.emit(model.JoinAnswered(member.join_waiter, NOT_COORDINATOR, member.member_id))
        if member.sync_waiter is not None:
            group.emit(model.SyncAnswered(member.sync_waiter, NOT_COORDINATOR))
    group.change_state(DEAD, model.MOVED)
    group.has_moved = True
    _forget(group)


def expire(group: GroupUpdate, event: model.OffsetsExpired) -> None:
    """Write a tombstone for an empty group and forget it."""
    if group.state != EMPTY or not group.is_known:
        what = f"in state {group.state}" if group.is_known else "unknown"
        raise IllegalEvent(f"{event!r}: only a known group in state Empty goes this way, it is {what}")
    _end(group, model.EXPIRED)


def delete(group: GroupUpdate, event: model.GroupDeleted) -> None:
    """The same at the request of an administrator; the answer says if there is no such group, or not an empty one."""
    if not group.is_known:
        return group.emit(model.DeleteAnswered("GROUP_ID_NOT_FOUND"))
    if group.state != EMPTY:
        return group.emit(model.DeleteAnswered("NON_EMPTY_GROUP"))
    _end(group, model.DELETED)
    return group.emit(model.DeleteAnswered(model.NONE))


def _end(group: GroupUpdate, cause: str) -> None:
    group.change_state(DEAD, cause)
    group.emit(model.GroupWritten(is_tombstone=True))
    _forget(group)


def _forget(group: GroupUpdate) -> None:
    for each in (group.members, group.pending, group.unsynced):
        each.clear()
    group.leader = group.protocol = group.join_deadline_ms = group.sync_deadline_ms = group.delay_ms = None


# Time passes; each timer fires at its own moment.

JOIN_PHASE, SYNCS, SESSION = range(3)
"""The kinds of timers; of several that are due at one moment, the first kind fires first."""


def pass_time(settings: Settings, group: Group, event: model.TimePassed) -> Group:
    """The group after a time, with each timer that ran out on the way."""
    until_ms = group.now_ms + event.ms
    effects: list[model.Effect] = []
    while (due := next_timer(group)) is not None and due[0] <= until_ms:
        at_ms, kind, member_id = due
        update = GroupUpdate(settings, group)
        update.now_ms = at_ms
        if kind == JOIN_PHASE:
            join_deadline_passed(update)
        elif kind == SYNCS:
            sync_deadline_passed(update)
        else:
            session_ended(update, member_id)
        effects.extend(update.effects)
        group = without_idle_rounds(update.freeze(), until_ms)
    return replace(group, now_ms=until_ms, effects=tuple(effects))


def without_idle_rounds(group: Group, until_ms: int) -> Group:
    """The group with its join deadline moved on, up to a time, over the rounds that lead to nothing.

    Where only static members are left and none has rejoined, each rebalance timeout is followed by another one, until
    a session ends. Clients choose it: of 1 ms there are millions in a session of half an hour.
    """
    deadline_ms = group.join_deadline_ms
    is_idle = group.members and all(each.is_static and each.join_waiter is None for each in group.members)
    if deadline_ms is None or not is_idle or group.remaining_delay_ms:
        return group
    next_other = next_timer(replace(group, join_deadline_ms=None))
    end_ms = until_ms if next_other is None else min(until_ms, next_other[0])
    round_ms = max(SHORTEST_ROUND_MS, *(each.rebalance_timeout_ms for each in group.members))
    return replace(group, join_deadline_ms=deadline_ms + max(end_ms - deadline_ms, 0) // round_ms * round_ms)


def next_timer(group: Group) -> tuple[int, int, str] | None:
    """(when, kind, member id) of the timer that fires next; None if none is running."""
    earliest: tuple[int, int, str] | None = None
    if group.join_deadline_ms is not None:
        earliest = (group.join_deadline_ms, JOIN_PHASE, "")
    if group.sync_deadline_ms is not None and (earliest is None or group.sync_deadline_ms < earliest[0]):
        earliest = (group.sync_deadline_ms, SYNCS, "")
    ends_ms = [member.expires_ms for member in group.members if member.expires_ms is not None]
    first_ms = min(ends_ms, default=None)
    if first_ms is not None and (earliest is None or first_ms < earliest[0]):
        first = next(member for member in group.members if member.expires_ms == first_ms)
        earliest = (first_ms, SESSION, first.member_id)
    for member_id, expires_ms, _ in group.pending:
        if earliest is None or expires_ms < earliest[0]:
            earliest = (expires_ms, SESSION, member_id)
    return earliest


def next_deadline_ms(group: Group) -> int | None:
    """When the next timer of a group is due; None if none is running.

    >>> next_deadline_ms(Group(pending=(("c1-1", 6000, "c1"),)))
    6000
    """
    due = next_timer(group)
    return None if due is None else due[0]
