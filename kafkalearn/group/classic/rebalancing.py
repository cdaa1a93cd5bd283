"""From the start of a rebalance to the join answers: the join phase, its delays, and its end."""

from __future__ import annotations

from kafkalearn.group.classic.effects import NONE, GroupWritten, JoinAnswered, SyncAnswered
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group.classic.state import Member
from kafkalearn.group.classic.transitions import JOINED, LAST_ONE_GONE, NOBODY_JOINED
from kafkalearn.group_states import COMPLETING, DEAD, EMPTY, PREPARING, STABLE


def rebalance_or_complete(group: GroupUpdate, cause: str, who: str) -> None:
    """Start a rebalance; if the group is in one already, see whether everybody is there."""
    if group.state in (EMPTY, STABLE, COMPLETING):
        prepare(group, cause, who)
    else:
        complete_if_all_joined(group)


def prepare(group: GroupUpdate, cause: str, who: str) -> None:
    """Ask everybody for a JoinGroup; the members that wait for an assignment have to join again."""
    if group.state == COMPLETING:
        for member_id in tuple(group.members):
            group.change(member_id, assignment=None)
        answer_syncs(group, "REBALANCE_IN_PROGRESS")
    group.unsynced = {}
    group.sync_deadline_ms = None
    was_empty = group.state == EMPTY
    group.change_state(PREPARING, cause, who)
    if was_empty and group.rules.has_initial_delay:
        group.delay_ms = group.settings.group_initial_rebalance_delay_ms
        group.remaining_delay_ms = max(group.rebalance_timeout_ms - group.delay_ms, 0)
        group.join_deadline_ms = group.now_ms + group.delay_ms
    elif group.have_all_joined:
        complete(group)
    else:
        group.join_deadline_ms = group.now_ms + group.rebalance_timeout_ms


def complete_if_all_joined(group: GroupUpdate) -> None:
    """End the join phase early; the initial delay is always waited for."""
    if group.is_preparing and group.delay_ms is None and group.have_all_joined:
        complete(group)


def complete_after_removal(group: GroupUpdate) -> None:
    """The same after a timer has removed a member; the Java coordinator then forgets the initial delay."""
    if group.rules.is_java and group.is_preparing and group.have_all_joined:
        complete(group)
    else:
        complete_if_all_joined(group)


def join_deadline_passed(group: GroupUpdate) -> None:
    """The window of the initial delay, or the rebalance timeout, is over."""
    if group.delay_ms is not None and group.has_newcomer and group.remaining_delay_ms:
        group.has_newcomer = False
        window_ms = min(group.settings.group_initial_rebalance_delay_ms, group.remaining_delay_ms)
        group.remaining_delay_ms = max(group.remaining_delay_ms - group.delay_ms, 0)
        group.delay_ms = window_ms
        group.join_deadline_ms = group.now_ms + window_ms
    else:
        complete(group)


def complete(group: GroupUpdate) -> None:
    """End the join phase: the next generation has the members that joined, and static members that did not."""
    group.join_deadline_ms = None
    for member in tuple(group.members.values()):
        if member.join_waiter is None and not member.is_static:
            group.remove(member.member_id, "did not rejoin in time")
    if not group.members:
        _end_without_members(group)
    elif _elect_leader(group):
        _end_with_members(group)
    else:  # only static members are left, and none has rejoined: wait for their sessions to end
        group.remaining_delay_ms = 0
        group.join_deadline_ms = group.now_ms + group.rebalance_timeout_ms


def _elect_leader(group: GroupUpdate) -> bool:
    """Whether there is a leader: the old one if it has rejoined, else the next member that has."""
    if group.leader is None or group.members[group.leader].join_waiter is None:
        rejoined = [each for each in group.members_in_order if group.members[each].join_waiter is not None]
        if not rejoined:
            return False
        group.leader = rejoined[0]
    return True


def _end_without_members(group: GroupUpdate) -> None:
    group.generation += 1
    group.protocol = None
    group.delay_ms = None
    if group.rules.has_empty:
        group.change_state(EMPTY, NOBODY_JOINED)
    else:
        group.change_state(DEAD, LAST_ONE_GONE)
    group.emit(GroupWritten(is_tombstone=not group.rules.has_empty))


def _end_with_members(group: GroupUpdate) -> None:
    group.generation += 1
    group.delay_ms = None
    group.protocol = group.elected_protocol
    group.change_state(COMPLETING, JOINED)
    for member in tuple(group.members.values()):
        answer_join(group, member)
        group.change(member.member_id, is_new=False)
        group.restart_timer(member.member_id)
    group.unsynced = dict.fromkeys(group.members)
    if group.rules.sync_expires:
        group.sync_deadline_ms = group.now_ms + group.rebalance_timeout_ms


def answer_join(group: GroupUpdate, member: Member) -> None:
    """Answer a parked JoinGroup with the present generation."""
    if member.join_waiter is not None:
        group.emit(present_generation(group, member, member.join_waiter))
        group.change(member.member_id, join_waiter=None)


def present_generation(group: GroupUpdate, member: Member, client: str) -> JoinAnswered:
    """The answer to JoinGroup with the generation; for the leader, also with its members."""
    is_leader = group.leader == member.member_id
    return JoinAnswered(
        client,
        NONE,
        member.member_id,
        group.generation,
        group.protocol,
        group.leader,
        members=metadata(group) if is_leader else (),
    )


def metadata(group: GroupUpdate) -> tuple[tuple[str, str | None, object], ...]:
    """What the leader needs to assign: each member's id, instance id and metadata for the chosen protocol."""
    chosen = group.protocol
    assert chosen is not None  # there is a generation, or there is nothing to assign
    return tuple((each.member_id, each.instance_id, dict(each.protocols)[chosen]) for each in group.members.values())


def answer_syncs(group: GroupUpdate, error: str = NONE) -> None:
    """Answer every parked SyncGroup; the sessions of those who waited begin anew."""
    for member in tuple(group.members.values()):
        if member.sync_waiter is not None:
            assignment = member.assignment if error == NONE else None
            group.emit(SyncAnswered(member.sync_waiter, error, assignment))
            group.change(member.member_id, sync_waiter=None)
            group.restart_timer(member.member_id)
