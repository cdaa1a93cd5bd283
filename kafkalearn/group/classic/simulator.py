"""The simulator of a classic group's coordinator: `step` dispatches events, each kind has a file of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from kafkalearn.errors import no_event
from kafkalearn.group.classic.commits import commit
from kafkalearn.group.classic.ending import delete, expire, move_away
from kafkalearn.group.classic.events import (
    ClassicEvent,
    GroupDeleted,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    SyncGroup,
    TimePassed,
)
from kafkalearn.group.classic.group_update import GroupUpdate
from kafkalearn.group.classic.joining import join
from kafkalearn.group.classic.members import heartbeat, leave, quick_heartbeat, sync
from kafkalearn.group.classic.settings import Settings
from kafkalearn.group.classic.state import Group, start
from kafkalearn.group.classic.timers import pass_time
from kafkalearn.group_states import DEAD
from kafkalearn.trace import Trace, run

_RULES: dict[type, Callable[[GroupUpdate, Any], None]] = {
    JoinGroup: join,
    SyncGroup: sync,
    Heartbeat: heartbeat,
    LeaveGroup: leave,
    OffsetCommit: commit,
    PartitionMoved: move_away,
    OffsetsExpired: expire,
    GroupDeleted: delete,
}


def step(settings: Settings, group: Group, event: ClassicEvent) -> Group:
    """The group after `event`; what it led to is in its ``effects``.

    Raises
    ------
    IllegalEvent
        If it is no event of this simulator, or makes no sense now: the offsets of a group expire that has members.

    Examples
    --------
    >>> settings = Settings()
    >>> group = step(settings, start(settings), JoinGroup("c1"))
    >>> group.effects[0].error, group.effects[0].member_id
    ('MEMBER_ID_REQUIRED', 'c1-1')
    >>> group = step(settings, group, JoinGroup("c1", "c1-1"))
    >>> group.state, step(settings, group, TimePassed(3000)).state
    ('PreparingRebalance', 'CompletingRebalance')

    References
    ----------
    Apache Kafka, ``GroupMetadataManager`` and ``ClassicGroup`` (since 4.0), ``GroupCoordinator`` and
    ``GroupMetadata`` (before).
    """
    if isinstance(event, TimePassed):
        return pass_time(settings, group, event)
    if type(event) not in _RULES:
        raise no_event(event, (*_RULES, TimePassed))
    if isinstance(event, Heartbeat) and (quick := quick_heartbeat(group, event)) is not None:
        return quick
    update = GroupUpdate(settings, _fresh_if_dead(settings, group))
    _RULES[type(event)](update, event)
    return update.freeze()


def _fresh_if_dead(settings: Settings, group: Group) -> Group:
    """A group that was deleted begins anew with the next request."""
    if group.state == DEAD and not group.has_moved:
        return replace(start(settings), now_ms=group.now_ms, id_count=group.id_count)
    return group


def simulate(
    settings: Settings, events: Iterable[ClassicEvent], initial: Group | None = None
) -> Trace[Group, ClassicEvent]:
    """A whole run of a group, from its first request on or from an `initial` state.

    >>> trace = simulate(Settings("2.1"), [JoinGroup("c1"), TimePassed(3000), SyncGroup("c1", "c1-1", 1)])
    >>> [frame.state.state for frame in trace]
    ['Empty', 'PreparingRebalance', 'CompletingRebalance', 'Stable']
    """
    return run(step, settings, start(settings) if initial is None else initial, events)
