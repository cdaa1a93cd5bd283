"""A topic and the groups that read it as a picture: a lane for each partition, and below it a bar for each group.

The settings and the whole trace come first, so that they can be bound once:
``play(trace, partial(draw_consuming, settings, trace))``.
"""

from __future__ import annotations

from kafkalearn.consuming import ConsumingEvent, Group, Produce, Settings, State
from kafkalearn.trace import Frame, Trace
from kafkalearn.views.consuming.words import describe_consuming
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH, fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text

TOP, LOG_HEIGHT, BAR_HEIGHT, GAP = 64, 40, 27, 16
LEFT, RIGHT = 175, 130
SMALLEST_CELL, LARGEST_CELL = 40, 62
MOST_NAME = 14


def draw_consuming(
    settings: Settings,
    trace: Trace[State, ConsumingEvent],
    frame: Frame[State, ConsumingEvent],
    before: Frame[State, ConsumingEvent] | None = None,
) -> Picture:
    """One moment of a topic and its groups, drawn.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    trace : tuple of Frame
        The whole run: every frame of it is drawn to the same size.
    frame, before : Frame
        A frame of it and the one before.

    Examples
    --------
    >>> from functools import partial
    >>> from kafkalearn.consuming import Join, start, step
    >>> from kafkalearn.trace import run
    >>> settings = Settings(partition_count=2)
    >>> trace = run(partial(step, settings), start(settings), [Join("billing", "b0")])
    >>> draw_consuming(settings, trace, trace[1]).label
    'b0 joins billing, which rebalances: b0 has 0 1.'
    """
    state = frame.state
    group_ids = [group.group_id for group in trace[-1].state.groups]
    lane_height = LOG_HEIGHT + BAR_HEIGHT * len(group_ids) + GAP
    cells = _Cells.fitting(trace[-1].state)
    parts = []
    for number in range(settings.partition_count):
        top = TOP + number * lane_height
        parts.append(_log(state, cells, number, top, frame.event))
        for at, group_id in enumerate(group_ids):
            bar_top = top + LOG_HEIGHT + at * BAR_HEIGHT
            parts.append(_bar(state.group(group_id), state, cells, number, at, bar_top, before))
        parts.append(line(25, top + lane_height - GAP / 2, WIDTH - 25, top + lane_height - GAP / 2, MUTED, 1))
    bottom = TOP + settings.partition_count * lane_height
    return picture(
        bottom + 36,
        text(25, 38, f"{settings.topic}: who has read what", TITLE, bold=True),
        text(WIDTH - 25, 38, "bar: read and committed", SMALL, "end", MUTED),
        *parts,
        text(25, bottom + 18, _idle_words(state), BODY, bold=True),
        label=describe_consuming(settings, frame, before),
    )


class _Cells:
    """Where the record of an offset is drawn: the newest of a long log."""

    def __init__(self, width: float, shown: int) -> None:
        self.width, self.shown = width, shown

    @classmethod
    def fitting(cls, last: State) -> _Cells:
        longest = max((len(record.value) for log in last.logs for record in log), default=2)
        most = max(map(len, last.logs), default=1) or 1
        needed = max(SMALLEST_CELL, 9.6 * longest + 14)
        room = WIDTH - LEFT - RIGHT
        width = max(needed, min(LARGEST_CELL, room / most))
        return cls(width, int(room // width))

    def first(self, log_length: int) -> int:
        return max(0, log_length - self.shown)

    def x(self, offset: int, log_length: int) -> float:
        return LEFT + max(0, offset - self.first(log_length)) * self.width


def _log(state: State, cells: _Cells, number: int, top: float, event: ConsumingEvent | None) -> str:
    log = state.logs[number]
    parts = [text(30, top + 26, f"partition {number}", BODY, bold=True)]
    for offset in range(cells.first(len(log)), len(log)):
        record, x = log[offset], cells.x(offset, len(log))
        is_new = isinstance(event, Produce) and record.number == state.record_count - 1
        parts += [
            rect(x, top + 3, cells.width - 3, LOG_HEIGHT - 8, PANEL),
            outlined(
                (x, top + 3, cells.width - 3, LOG_HEIGHT - 8),
                stroke=MARK if is_new else INK,
                width=4 if is_new else 1.3,
            ),
            text(x + (cells.width - 3) / 2, top + 26, record.value, BODY, "middle"),
        ]
    parts.append(text(WIDTH - 25, top + 26, f"end {len(log)}", BODY, "end"))
    return "\n".join(parts)


def _bar(
    group: Group | None, state: State, cells: _Cells, number: int, at: int, top: float, before: Frame | None
) -> str:
    """How far a group has read a partition; its reader on the left, its lag on the right."""
    if group is None:
        return ""
    log_length, position = len(state.logs[number]), group.positions[number]
    owner = group.owner(number)
    parts = [text(30, top + 19, _short(owner) if owner else "(nobody)", SMALL, colour=INK if owner else MUTED)]
    box = (LEFT, top + 4, cells.shown * cells.width - 3, BAR_HEIGHT - 8)
    parts.append(rect(*box, EMPTY))
    if position is not None:
        end = cells.x(position, log_length)
        if end > LEFT:
            parts.append(filled(fill(at + 1), (LEFT, top + 4, end - LEFT - 3, BAR_HEIGHT - 8)))
        begin = _read_from(group, number, before)
        if begin is not None:
            x = cells.x(begin, log_length)
            parts.append(outlined((x, top + 4, max(end - x - 3, 4), BAR_HEIGHT - 8), stroke=MARK, width=4))
        committed = group.committed[number]
        lag = "-" if committed is None else str(log_length - committed)
        parts.append(text(WIDTH - 25, top + 19, f"lag {lag}", SMALL, "end"))
    return "\n".join(parts)


def _read_from(group: Group, number: int, before: Frame | None) -> int | None:
    """The first offset that has just been read in this partition; None: nothing was."""
    earlier = before.state.group(group.group_id) if before else None
    read = group.readings[len(earlier.readings) :] if earlier else ()
    return next((each.offset for each in read if each.partition == number), None)


def _idle_words(state: State) -> str:
    idle = [member_id for group in state.groups for member_id in group.idle_member_ids]
    return f"idle, owns nothing: {', '.join(idle)}" if idle else ""


def _short(member_id: str) -> str:
    return member_id if len(member_id) <= MOST_NAME else f"{member_id[: MOST_NAME - 1]}…"
