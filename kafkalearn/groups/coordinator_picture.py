"""The coordinator of a classic group, request by request: picture and words."""

from __future__ import annotations

from kafkalearn.base.trace import Frame
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.drawing.svg import (
    BODY,
    EMPTY,
    INK,
    MARK,
    MUTED,
    PANEL,
    READ,
    SMALL,
    TITLE,
    WIDTH,
    Fill,
    cut_end,
    edge,
    filled,
    line,
    rect,
    text,
)
from kafkalearn.groups.classic.model import (
    ClassicEvent,
    CommitAnswered,
    DeleteAnswered,
    Effect,
    Group,
    GroupDeleted,
    GroupWritten,
    Heartbeat,
    HeartbeatAnswered,
    JoinAnswered,
    JoinGroup,
    LeaveAnswered,
    LeaveGroup,
    Member,
    MemberRemoved,
    OffsetCommit,
    OffsetsExpired,
    PartitionMoved,
    StateChanged,
    SyncAnswered,
    SyncGroup,
    TimePassed,
)
from kafkalearn.groups.defaults import PREPARING
from kafkalearn.groups.picture import DOING_FILLS, STATE_FILLS, time_text
from kafkalearn.scenarios.consumers import JOINING

# A classic coordinator at work, in words: the request that came, its effects, and whom the group waits for.

OTHER_EVENTS = {
    PartitionMoved: "The partition of __consumer_offsets moves to another broker",
    OffsetsExpired: "The last offset of the group expires",
    GroupDeleted: "An administrator deletes the group",
}


def request_text(event: ClassicEvent | None) -> str:
    """The event that has come to the coordinator.

    >>> request_text(JoinGroup("c1")), request_text(TimePassed(2500))
    ('c1 sends JoinGroup without a member id', '2.5 s pass')
    """
    match event:
        case None:
            return "The coordinator knows nothing of the group"
        case JoinGroup(client, member_id):
            return f"{client} sends JoinGroup " + (f"as {member_id}" if member_id else "without a member id")
        case SyncGroup(client, _, generation, assignments):
            brings = ", with everybody's assignment" if assignments else ""
            return f"{client} sends SyncGroup for generation {generation}{brings}"
        case Heartbeat(client, _, generation):
            return f"{client} sends Heartbeat for generation {generation}"
        case LeaveGroup(client):
            return f"{client} sends LeaveGroup"
        case OffsetCommit(client):
            return f"{client} sends OffsetCommit"
        case TimePassed(ms):
            return f"{time_text(ms)} pass"
    return OTHER_EVENTS[type(event)]


def effect_text(effect: Effect) -> str:
    """One effect."""
    match effect:
        case JoinAnswered(client, "NONE", member_id, generation, protocol, leader):
            role = "it leads" if leader == member_id else f"{leader} leads"
            skips = ", and need not assign" if effect.is_assignment_skipped else ""
            return f"{client} is answered: generation {generation}, {protocol}, {role}{skips}"
        case JoinAnswered(client, "MEMBER_ID_REQUIRED", member_id):
            return f"{client} is given the id {member_id}: MEMBER_ID_REQUIRED"
        case SyncAnswered(client, "NONE", assignment):
            return f"{client} is assigned {assignment_text(assignment)}"
        case JoinAnswered(client, error) | SyncAnswered(client, error):
            return f"{client} is answered {error}"
        case HeartbeatAnswered(client, error) | LeaveAnswered(client, error) | CommitAnswered(client, error):
            return f"{client} is answered {error}"
        case DeleteAnswered(error):
            return f"the administrator is answered {error}"
        case StateChanged(before=before, after=after, cause=cause):
            return f"{before} → {after}: {cause}"
        case MemberRemoved(member_id=member_id, why=why):
            return f"{member_id} is removed: {why}"
    assert isinstance(effect, GroupWritten)
    return "a tombstone is written" if effect.is_tombstone else "the group is written to __consumer_offsets"


def assignment_text(assignment: object) -> str:
    """An assignment, whatever it is made of."""
    if not assignment:
        return "nothing"
    return " ".join(map(str, assignment)) if isinstance(assignment, tuple) else str(assignment)


def describe_coordinator(frame: Frame[Group, ClassicEvent], before: Frame[Group, ClassicEvent] | None = None) -> str:
    """What has just happened in a run of `kafkalearn.groups.classic`, in one line.

    >>> from kafkalearn.groups.classic import Settings, simulate
    >>> describe_coordinator(simulate(Settings(), [JoinGroup("c1", "c1-7")])[1])
    'c1 sends JoinGroup as c1-7: c1 is answered UNKNOWN_MEMBER_ID.'
    """
    effects = "; ".join(effect_lines(frame))
    return f"{request_text(frame.event)}{f': {effects}' if effects else ''}."


def effect_lines(frame: Frame[Group, ClassicEvent]) -> list[str]:
    """All effects of an event, each in words; a request that is parked has to wait."""
    event, effects = frame.event, frame.state.effects
    lines = [effect_text(effect) for effect in effects]
    if not isinstance(event, JoinGroup | SyncGroup):
        return lines
    answers = (effect for effect in effects if isinstance(effect, JoinAnswered | SyncAnswered))
    is_answered = any(answer.client == event.client for answer in answers)
    return lines if is_answered else [*lines, f"{event.client} has to wait for its answer"]


def member_state(group: Group, member: Member) -> str:
    """What the coordinator waits for, or the member does."""
    if member.join_waiter is not None:
        return "JoinGroup waits"
    if member.sync_waiter is not None:
        return "SyncGroup waits"
    if group.state == PREPARING:
        return "must join again"
    if member.member_id in group.unsynced:
        return "must sync"
    return f"has {assignment_text(member.assignment)}"


def session_text(group: Group, member: Member) -> str:
    """How long its session lasts if nothing is heard of it."""
    if member.expires_ms is None:
        return "alive while it waits"
    return f"{time_text(member.expires_ms - group.now_ms)} left"


def waits_text(group: Group) -> list[str]:
    """What else has a deadline."""
    lines = []
    if group.join_deadline_ms is not None:
        what = "the initial delay's window" if group.delay_ms is not None else "the join phase"
        lines.append(f"{what} ends in {time_text(group.join_deadline_ms - group.now_ms)} at the latest")
    if group.sync_deadline_ms is not None:
        lines.append(f"every SyncGroup must be here in {time_text(group.sync_deadline_ms - group.now_ms)}")
    for member_id, expires_ms, _ in group.pending:
        lines.append(f"the id {member_id} must be used in {time_text(expires_ms - group.now_ms)}")
    return lines


def coordinator_text(frame: Frame[Group, ClassicEvent], before: Frame[Group, ClassicEvent] | None = None) -> str:
    """A frame of a run of `kafkalearn.groups.classic` as a few lines of text.

    >>> from kafkalearn.groups.classic import Settings, simulate
    >>> print(coordinator_text(simulate(Settings("2.1"), [JoinGroup("c1"), TimePassed(1000)])[-1]))
    1 s pass.
    PreparingRebalance, generation 0, at 1 s
      c1-1 (leader): JoinGroup waits; 299 s left
      the initial delay's window ends in 2 s at the latest
    """
    group = frame.state
    lines = [
        describe_coordinator(frame, before),
        f"{group.state}, generation {group.generation}, at {time_text(group.now_ms)}",
    ]
    for member in group.members:
        leader = " (leader)" if member.member_id == group.leader else ""
        lines.append(f"  {member.member_id}{leader}: {member_state(group, member)}; {session_text(group, member)}")
    return "\n".join([*lines, *(f"  {line}" for line in waits_text(group))])


# A classic coordinator at work as a picture: the request, its effects, and a row for each member with its timer.
#
# A frame of `kafkalearn.groups.classic.simulate` becomes one drawing: ``play(trace, draw_coordinator)``.

MOST_MEMBERS, MOST_EFFECTS, MOST_WAITS = 4, 4, 3
EFFECTS_TOP, ROWS_TOP, ROW_HEIGHT = 116, 246, 46
STATE_LEFT, BAR_LEFT, BAR_WIDTH = 250, 560, 220
LINE_LENGTH = 96


def draw_coordinator(frame: Frame[Group, ClassicEvent], before: Frame[Group, ClassicEvent] | None = None) -> Picture:
    """One moment of a run of `kafkalearn.groups.classic`, drawn.

    Parameters
    ----------
    frame, before : Frame
        A frame of the trace and the one before it; what changed between them has a thick border.

    Examples
    --------
    >>> from kafkalearn.groups.classic import JoinGroup, Settings, simulate
    >>> draw_coordinator(simulate(Settings(), [JoinGroup("c1")])[1]).label[:66]
    'c1 sends JoinGroup without a member id: c1 is given the id c1-1: M'
    """
    group = frame.state
    rows_bottom = ROWS_TOP + MOST_MEMBERS * ROW_HEIGHT
    waits = waits_text(group)[:MOST_WAITS]
    return picture(
        rows_bottom + 18 + 24 * MOST_WAITS,
        _heading(group, before),
        text(22, 90, f"{request_text(frame.event)}", BODY + 1, bold=True),
        *_effects(effect_lines(frame)),
        _columns(),
        *(
            _row(group, each, before, ROWS_TOP + at * ROW_HEIGHT)
            for at, each in enumerate(group.members[:MOST_MEMBERS])
        ),
        *_no_members(group),
        *(text(22, rows_bottom + 24 + 24 * at, words, BODY - 1) for at, words in enumerate(waits)),
        label=describe_coordinator(frame, before),
    )


def _heading(group: Group, before: Frame[Group, ClassicEvent] | None) -> str:
    words = f"{group.state}, generation {group.generation}"
    has_changed = before is not None and (before.state.state, before.state.generation) != (
        group.state,
        group.generation,
    )
    width = 15.5 * len(words) + 30
    protocol = f"   {group.protocol}" if group.protocol else ""
    return "\n".join(
        [
            text(22, 42, time_text(group.now_ms), TITLE, bold=True),
            filled(STATE_FILLS[group.state], (190, 14, width, 42)),
            rect(190, 14, width, 42, stroke=MARK if has_changed else INK, stroke_width=4 if has_changed else 1.5),
            rect(204, 21, width - 28, 28, PANEL, rx=3),
            text(190 + width / 2, 43, words, TITLE - 2, "middle", bold=True),
            text(190 + width + 6, 43, protocol, BODY, colour=MUTED),
        ]
    )


def _effects(lines: list[str]) -> list[str]:
    if len(lines) > MOST_EFFECTS:
        lines = [*lines[: MOST_EFFECTS - 1], f"and {len(lines) - MOST_EFFECTS + 1} more"]
    cut = [cut_end(words, LINE_LENGTH) for words in lines]
    return [text(40, EFFECTS_TOP + 24 * at, f"→ {words}", BODY - 1) for at, words in enumerate(cut)]


def _columns() -> str:
    top = ROWS_TOP - 12
    return "\n".join(
        [
            text(22, top, "member", SMALL, colour=MUTED),
            text(STATE_LEFT, top, "what it waits for, or has", SMALL, colour=MUTED),
            text(BAR_LEFT, top, "session: what is left of it", SMALL, colour=MUTED),
            line(22, top + 8, WIDTH - 22, top + 8, MUTED, 1),
        ]
    )


def _no_members(group: Group) -> list[str]:
    if not group.members:
        return [text(22, ROWS_TOP + 30, "no members", BODY, colour=MUTED)]
    more = len(group.members) - MOST_MEMBERS
    return [text(WIDTH - 22, ROWS_TOP - 12, f"and {more} more", SMALL, "end", MUTED)] if more > 0 else []


def _row(group: Group, member: Member, before: Frame[Group, ClassicEvent] | None, top: float) -> str:
    old = None if before is None else before.state.member(member.member_id)
    state = member_state(group, member)
    is_new = before is not None and (old is None or member_state(before.state, old) != state)
    is_waiting = state.endswith("waits")
    look = DOING_FILLS[JOINING] if is_waiting else Fill(READ if state.startswith("has") else EMPTY, "")
    box = (STATE_LEFT, top + 4, 280, 36)
    is_leader = member.member_id == group.leader
    name = cut_end(member.member_id, 14)
    return "\n".join(
        [
            text(22, top + 28, name, BODY, bold=True),
            text(STATE_LEFT - 12, top + 28, "leads", SMALL, "end", MUTED) if is_leader else "",
            filled(look, box),
            rect(*box, **edge(is_new, width=1.2)),
            rect(STATE_LEFT + 8, top + 9, 264, 26, PANEL, rx=3) if is_waiting else "",
            text(STATE_LEFT + 140, top + 28, cut_end(state, 26), BODY, "middle"),
            *_session(group, member, top),
        ]
    )


def _session(group: Group, member: Member, top: float) -> list[str]:
    """A bar that runs empty; none while its request waits and keeps it alive."""
    left_ms = 0 if member.expires_ms is None else member.expires_ms - group.now_ms
    share = min(left_ms / max(member.session_timeout_ms, 1), 1)
    words = text(BAR_LEFT + BAR_WIDTH + 12, top + 28, session_text(group, member), BODY - 1)
    if member.expires_ms is None or (member.is_new and member.join_waiter is not None):
        return [words]
    return [
        filled(Fill(READ, ""), (BAR_LEFT, top + 12, BAR_WIDTH * share, 20)),
        rect(BAR_LEFT, top + 12, BAR_WIDTH, 20, stroke=INK, stroke_width=1.2),
        words,
    ]
