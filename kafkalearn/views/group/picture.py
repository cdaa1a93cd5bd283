"""A consumer group as a picture: the moment, the way to it on a time line, and the whole run on one page.

A frame of an outcome's trace becomes one drawing; the outcome comes first, so that it can be bound once:
``play(outcome.trace, partial(draw_group, outcome))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from kafkalearn.group.world.consumers import CONSUMING, GONE
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.group.world.recorder import MemberMoment, Moment
from kafkalearn.phrases import counted
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.frames import Animation, animation
from kafkalearn.views.drawing.names import cut_name
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH
from kafkalearn.views.drawing.svg import edge, filled, line, pointer, rect, text
from kafkalearn.views.group.lanes import (
    DOING_FILLS,
    STATE_FILLS,
    Axis,
    doings,
    group_band,
    legend,
    member_band,
    time_axis,
)
from kafkalearn.views.group.words import (
    DOING_WORDS,
    counter,
    describe_group,
    partition_names,
    time_text,
    unread_partitions,
)

MOST_MEMBERS = 8
FEW_MEMBERS = 4  # so many have lanes of their own below; of more, only the group has
ROW_TOP, ROW_HEIGHT, LOW_ROW_HEIGHT = 112, 42, 34
CHIP_LEFT, CHIP_GAP = 360, 6
BAND_HEIGHT, LANE_HEIGHT, LANE_GAP = 26, 17, 4
LINE_LENGTH = 88  # characters of small text that fit into the width


def draw_group(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None = None) -> Picture:
    """One moment of a scenario: who does what and owns what, the group's state, and the time line up to now.

    Parameters
    ----------
    outcome : Outcome
        What `kafkalearn.group.simulate` gave.
    frame, before : Frame
        A frame of its trace and the one before it; what changed between them has a thick border.

    Examples
    --------
    >>> from kafkalearn.group import simulate
    >>> outcome = simulate("at 0 s: c1 joins")
    >>> draw_group(outcome, outcome.trace[4]).label
    "At 3.01 s: Stable: the leader's assignment is stored (c1). Generation 1; 0 of 6 partitions are read."
    """
    moment = frame.state
    shown = _shown(outcome, moment, before)
    states = {row["state"] for row in outcome.timeline}
    height = ROW_HEIGHT if len(shown) <= FEW_MEMBERS else LOW_ROW_HEIGHT
    lanes = [each.name for each in shown] if len(shown) <= FEW_MEMBERS else []
    below = ROW_TOP + len(shown) * height
    lanes_top = below + 62
    bottom = lanes_top + BAND_HEIGHT + 8 + len(lanes) * (LANE_HEIGHT + LANE_GAP)
    return picture(
        bottom + 96,
        _heading(outcome, frame, before),
        *(_row(outcome, each, before, ROW_TOP + at * height, height) for at, each in enumerate(shown)),
        _unread_line(outcome, moment, below + 30, len(moment.members) - len(shown)),
        _timeline(outcome, lanes, lanes_top, bottom, moment.time_ms),
        legend(bottom + 38, "the group", {name: fill for name, fill in STATE_FILLS.items() if name in states}),
        legend(bottom + 66, "members", doings(outcome)),
        label=describe_group(outcome, frame, before),
    )


def animate_group(
    outcome: Outcome, *, title: str = "", start: int = 0, stills: Sequence[int] | None = None
) -> Animation:
    """Every moment of a scenario drawn, for `play`.

    Parameters
    ----------
    outcome : Outcome
        What `kafkalearn.group.simulate` gave.
    title, start, stills
        As in `kafkalearn.views.drawing.frames.animation`.

    Examples
    --------
    >>> from kafkalearn.group import simulate
    >>> len(animate_group(simulate("at 0 s: c1 joins")).pictures)
    7
    """
    draw, describe = partial(draw_group, outcome), partial(describe_group, outcome)
    return animation(outcome.trace, draw, describe, title=title, start=start, stills=stills)


def _shown(outcome: Outcome, moment: Moment, before: Frame[Moment, str] | None) -> list[MemberMoment]:
    """The members that fit; of many, those that change here first, in their usual order."""
    if len(moment.members) <= MOST_MEMBERS:
        return list(moment.members)
    changed = [each.name for each in moment.members if before is None or before.state.member(each.name) != each]
    chosen = list(dict.fromkeys([*changed, *(each.name for each in moment.members)]))[:MOST_MEMBERS]
    return [each for each in moment.members if each.name in chosen]


def _heading(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None) -> str:
    moment = frame.state
    has_changed = before is not None and (before.state.state, before.state.generation) != moment[1:3]
    words = f"{moment.state}, {counter(outcome)} {moment.generation}"
    leader = f"   led by {moment.leader}" if moment.leader else ""
    width = 15.5 * len(words) + 30
    return "\n".join(
        [
            text(22, 42, time_text(moment.time_ms), TITLE, bold=True),
            filled(STATE_FILLS[moment.state], (190, 14, width, 42)),
            rect(190, 14, width, 42, stroke=MARK if has_changed else INK, stroke_width=4 if has_changed else 1.5),
            rect(204, 21, width - 28, 28, PANEL, rx=3),
            text(190 + width / 2, 43, words, TITLE - 2, "middle", bold=True),
            text(190 + width + 6, 43, leader, BODY, colour=MUTED),
            *_event(frame.event or ""),
        ]
    )


def _event(words: str) -> list[str]:
    """What happened, in at most two lines."""
    lines, rest = [], words
    while rest and len(lines) < 2:
        cut = len(rest) if len(rest) <= LINE_LENGTH else rest.rfind(" ", 0, LINE_LENGTH)
        lines.append(rest[:cut])
        rest = rest[cut:].strip()
    if rest:
        lines[-1] += " …"
    return [text(22, 84 + 21 * at, each, BODY - 1) for at, each in enumerate(lines)]


def _row(outcome: Outcome, member: MemberMoment, before: Frame[Moment, str] | None, top: float, height: float) -> str:
    """A consumer: its name, what it does, what it owns, and what it has just lost."""
    had = before.state.member(member.name) if before is not None else member
    is_new = had.doing != member.doing
    box = (132, top + 2, 214, height - 8)
    ink = MUTED if member.doing == GONE else INK
    return "\n".join(
        [
            text(
                22,
                top + height / 2 + 4,
                cut_name(member.name, 11),
                BODY if len(member.name) < 9 else SMALL,
                colour=ink,
                bold=True,
            ),
            filled(DOING_FILLS[member.doing], box),
            rect(*box, **edge(is_new, width=1.2)),
            rect(138, top + 5, 202, height - 14, PANEL, rx=3) if DOING_FILLS[member.doing].hatch else "",
            text(239, top + height / 2 + 4, DOING_WORDS[member.doing], BODY - 1, "middle", ink),
            *_chips(outcome, member, had, top + height / 2 - 17),
        ]
    )


def _chips(outcome: Outcome, member: MemberMoment, had: MemberMoment, top: float) -> list[str]:
    """The partitions as small boxes: thick if gained just now, struck through if just lost."""
    gone = tuple(each for each in had.owned if each not in member.owned)
    every = [*member.owned, *gone]
    names = dict(zip(every, partition_names(outcome, tuple(every)), strict=True))
    width = max([34.0, *(11.0 * len(name) + 12 for name in names.values())])
    room = int((WIDTH - 22 - CHIP_LEFT) // (width + CHIP_GAP))
    if len(every) > room:
        words = counted(len(member.owned), "partition") + (f", {len(gone)} just lost" if gone else "")
        return [text(CHIP_LEFT, top + 22, words, BODY)]
    return [
        _chip(name, CHIP_LEFT + at * (width + CHIP_GAP), top, width, member, had, partition)
        for at, (partition, name) in enumerate(names.items())
    ]


def _chip(
    name: str, x: float, y: float, width: float, member: MemberMoment, had: MemberMoment, partition: TopicPartition
) -> str:
    is_lost, is_gained = partition not in member.owned, partition not in had.owned
    is_read = member.doing == CONSUMING and not is_lost
    border = edge(is_gained, MUTED if is_lost else INK)
    fill = DOING_FILLS[CONSUMING].colour if is_read else PANEL
    return "\n".join(
        [
            rect(x, y, width, 28, fill, rx=4, stroke_dasharray="4 3" if is_lost else None, **border),
            text(x + width / 2, y + 20, name, BODY - 1, "middle", MUTED if is_lost else INK),
            line(x + 3, y + 25, x + width - 3, y + 3, MARK, 2.5) if is_lost else "",
        ]
    )


def _unread_line(outcome: Outcome, moment: Moment, baseline: float, hidden_count: int) -> str:
    unread = unread_partitions(moment)
    names = " ".join(partition_names(outcome, unread))
    if len(names) > 60:
        names = f"{len(unread)} of {len(moment.partitions)} partitions"
    words = f"read by nobody: {names}" if unread else "all partitions are read"
    twice = sum(count > 1 for count in moment.readers().values())
    words += f"; {twice} read by two" if twice else ""
    more = f"   ({hidden_count} more members are not shown)" if hidden_count else ""
    return text(22, baseline, words + more, BODY, bold=bool(unread))


def _timeline(outcome: Outcome, names: list[str], top: float, bottom: float, now_ms: int) -> str:
    axis = Axis(0, outcome.end_ms)
    first = top + BAND_HEIGHT + 8
    return "\n".join(
        [
            time_axis(axis, bottom, top),
            group_band(outcome, axis, top, BAND_HEIGHT, now_ms),
            *(
                member_band(outcome, name, axis, first + at * (LANE_HEIGHT + LANE_GAP), LANE_HEIGHT, now_ms)
                for at, name in enumerate(names)
            ),
            line(axis.x(now_ms), top - 4, axis.x(now_ms), bottom, MARK, 3),
            pointer(axis.x(now_ms), top - 3, size=8),
        ]
    )
