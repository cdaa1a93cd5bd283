"""From the start of a rebalance to the join answers: the join phase, its delays, and its end."""

from __future__ import annotations

from kafkalearn.group.classic.effects import NONE, GroupWritten, JoinAnswered, SyncAnswered
from kafkalearn.group.classic.group_update import Draft
from kafkalearn.group.classic.state import Member
from kafkalearn.group.classic.transitions import (
    COMPLETING,
    DEAD,
    EMPTY,
    JOINED,
    LAST_ONE_GONE,
    NOBODY_JOINED,
    PREPARING,
    STABLE,
)


def rebalance_or_complete(draft: Draft, cause: str, who: str) -> None:
    """Start a rebalance; if the group is in one already, see whether everybody is there."""
    if draft.state in (EMPTY, STABLE, COMPLETING):
        prepare(draft, cause, who)
    else:
        complete_if_all_joined(draft)


def prepare(draft: Draft, cause: str, who: str) -> None:
    """The group wants everybody's JoinGroup; whoever waits for an assignment is told to join again."""
    if draft.state == COMPLETING:
        for member_id in tuple(draft.members):
            draft.change(member_id, assignment=None)
        answer_syncs(draft, "REBALANCE_IN_PROGRESS")
    draft.unsynced = {}
    draft.sync_deadline_ms = None
    was_empty = draft.state == EMPTY
    draft.go(PREPARING, cause, who)
    if was_empty and draft.rules.has_initial_delay:
        draft.delay_ms = draft.settings.group_initial_rebalance_delay_ms
        draft.remaining_delay_ms = max(draft.rebalance_timeout_ms - draft.delay_ms, 0)
        draft.join_deadline_ms = draft.now_ms + draft.delay_ms
    elif draft.have_all_joined:
        complete(draft)
    else:
        draft.join_deadline_ms = draft.now_ms + draft.rebalance_timeout_ms


def complete_if_all_joined(draft: Draft) -> None:
    """End the join phase early; the initial delay is always waited for."""
    if draft.is_preparing and draft.delay_ms is None and draft.have_all_joined:
        complete(draft)


def complete_after_removal(draft: Draft) -> None:
    """As above, after a timer has removed somebody; the Java coordinator then forgets the initial delay."""
    if draft.rules.is_java and draft.is_preparing and draft.have_all_joined:
        complete(draft)
    else:
        complete_if_all_joined(draft)


def join_deadline_passed(draft: Draft) -> None:
    """The window of the initial delay is over, or the rebalance timeout."""
    if draft.delay_ms is not None and draft.has_newcomer and draft.remaining_delay_ms:
        draft.has_newcomer = False
        window_ms = min(draft.settings.group_initial_rebalance_delay_ms, draft.remaining_delay_ms)
        draft.remaining_delay_ms = max(draft.remaining_delay_ms - draft.delay_ms, 0)
        draft.delay_ms = window_ms
        draft.join_deadline_ms = draft.now_ms + window_ms
    else:
        complete(draft)


def complete(draft: Draft) -> None:
    """End the join phase: the next generation, with those who are here, and static members who are not."""
    draft.join_deadline_ms = None
    for member in tuple(draft.members.values()):
        if member.join_waiter is None and not member.is_static:
            draft.remove(member.member_id, "did not rejoin in time")
    if not draft.members:
        _end_without_members(draft)
    elif _elect_leader(draft):
        _end_with_members(draft)
    else:  # only static members are left, and none has rejoined: wait for their sessions to end
        draft.remaining_delay_ms = 0
        draft.join_deadline_ms = draft.now_ms + draft.rebalance_timeout_ms


def _elect_leader(draft: Draft) -> bool:
    """The old leader if it has rejoined, else the first who has."""
    if draft.members[draft.leader].join_waiter is None:
        rejoined = [each.member_id for each in draft.members.values() if each.join_waiter is not None]
        if not rejoined:
            return False
        draft.leader = rejoined[0]
    return True


def _end_without_members(draft: Draft) -> None:
    draft.generation += 1
    draft.protocol = None
    draft.delay_ms = None
    if draft.rules.has_empty:
        draft.go(EMPTY, NOBODY_JOINED)
    else:
        draft.go(DEAD, LAST_ONE_GONE)
    draft.tell(GroupWritten(is_tombstone=not draft.rules.has_empty))


def _end_with_members(draft: Draft) -> None:
    draft.generation += 1
    draft.delay_ms = None
    draft.protocol = draft.elected_protocol
    draft.go(COMPLETING, JOINED)
    for member in tuple(draft.members.values()):
        answer_join(draft, member)
        draft.change(member.member_id, is_new=False)
        draft.restart_timer(member.member_id)
    draft.unsynced = dict.fromkeys(draft.members)
    if draft.rules.sync_expires:
        draft.sync_deadline_ms = draft.now_ms + draft.rebalance_timeout_ms


def answer_join(draft: Draft, member: Member) -> None:
    """Answer a parked JoinGroup with the present generation."""
    if member.join_waiter is not None:
        draft.tell(present_generation(draft, member, member.join_waiter))
        draft.change(member.member_id, join_waiter=None)


def present_generation(draft: Draft, member: Member, client: str) -> JoinAnswered:
    """The answer to JoinGroup that tells the generation, and the leader who is in it."""
    is_leader = draft.leader == member.member_id
    return JoinAnswered(
        client,
        NONE,
        member.member_id,
        draft.generation,
        draft.protocol,
        draft.leader,
        members=metadata(draft) if is_leader else (),
    )


def metadata(draft: Draft) -> tuple[tuple[str, str | None, object], ...]:
    """What the leader needs to assign: each member's id, instance id and metadata for the chosen protocol."""
    return tuple(
        (each.member_id, each.instance_id, dict(each.protocols)[draft.protocol]) for each in draft.members.values()
    )


def answer_syncs(draft: Draft, error: str = NONE) -> None:
    """Answer every parked SyncGroup; the sessions of those who waited begin anew."""
    for member in tuple(draft.members.values()):
        if member.sync_waiter is not None:
            assignment = member.assignment if error == NONE else None
            draft.tell(SyncAnswered(member.sync_waiter, error, assignment))
            draft.change(member.member_id, sync_waiter=None)
            draft.restart_timer(member.member_id)
