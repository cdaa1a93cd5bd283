"""Time passes: the join phase ends, syncs are due, sessions end, each at its own moment."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group.classic.effects import Effect
from kafkalearn.group.classic.events import TimePassed
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group.classic.members import session_ended, sync_deadline_passed
from kafkalearn.group.classic.rebalancing import join_deadline_passed
from kafkalearn.group.classic.settings import Settings
from kafkalearn.group.classic.state import Group

JOIN_PHASE, SYNCS, SESSION = range(3)
"""The kinds of timers; of several that are due at one moment, the first kind fires first."""


def pass_time(settings: Settings, group: Group, event: TimePassed) -> Group:
    """The group after a time, with each timer that ran out on the way."""
    until_ms = group.now_ms + event.ms
    effects: list[Effect] = []
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
        group = update.freeze()
    return replace(group, now_ms=until_ms, effects=tuple(effects))


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

    >>> from kafkalearn.group.classic.state import Group
    >>> next_deadline_ms(Group(pending=(("c1-1", 6000, "c1"),)))
    6000
    """
    due = next_timer(group)
    return None if due is None else due[0]
