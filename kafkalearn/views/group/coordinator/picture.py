"""A classic coordinator at work as a picture: the request, its effects, and a row for each member with its timer.

A frame of `kafkalearn.group.classic.simulate` becomes one drawing: ``play(trace, draw_coordinator)``.
"""

from __future__ import annotations

from kafkalearn.group.classic.events import ClassicEvent
from kafkalearn.group.classic.state import Group, Member
from kafkalearn.group.world.consumers import JOINING
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.names import cut_end
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, READ, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import edge, filled, line, rect, text
from kafkalearn.views.group.coordinator.words import (
    describe_coordinator,
    effect_lines,
    member_state,
    request_text,
    session_text,
    waits_text,
)
from kafkalearn.views.group.lanes import DOING_FILLS, STATE_FILLS
from kafkalearn.views.group.words import time_text

MOST_MEMBERS, MOST_EFFECTS, MOST_WAITS = 4, 4, 3
EFFECTS_TOP, ROWS_TOP, ROW_HEIGHT = 116, 246, 46
STATE_LEFT, BAR_LEFT, BAR_WIDTH = 250, 560, 220
LINE_LENGTH = 96


def draw_coordinator(frame: Frame[Group, ClassicEvent], before: Frame[Group, ClassicEvent] | None = None) -> Picture:
    """One moment of a run of `kafkalearn.group.classic`, drawn.

    Parameters
    ----------
    frame, before : Frame
        A frame of the trace and the one before it; what changed between them has a thick border.

    Examples
    --------
    >>> from kafkalearn.group.classic import JoinGroup, Settings, simulate
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
