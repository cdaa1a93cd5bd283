"""A topic and the groups that read it as a picture: a lane for each partition, and below it a bar for each group.

The whole trace comes first, so that it can be bound once: ``play(trace, partial(draw_consuming, trace))``.
"""

from __future__ import annotations

from kafkalearn.consuming.effects import Appended, Polled
from kafkalearn.consuming.events import ConsumingEvent
from kafkalearn.consuming.state import Group, Topic
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
    trace: Trace[Topic, ConsumingEvent],
    frame: Frame[Topic, ConsumingEvent],
    before: Frame[Topic, ConsumingEvent] | None = None,
) -> Picture:
    """One moment of a topic and its groups, drawn.

    Parameters
    ----------
    trace : tuple of Frame
        The whole run: every frame of it is drawn to the same size.
    frame, before : Frame
        A frame of it and the one before; without that one, what has just been read is not marked.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Settings, simulate
    >>> trace = simulate(Settings(partition_count=2), [Join("billing", "b0")])
    >>> draw_consuming(trace, trace[1]).label
    'b0 joins billing, which rebalances: b0 has 0 1.'
    """
    topic = frame.state
    group_ids = [group.group_id for group in trace[-1].state.groups]
    lane_height = LOG_HEIGHT + BAR_HEIGHT * len(group_ids) + GAP
    cells = _Cells.fitting(trace[-1].state)
    parts = []
    for number in range(len(topic.logs)):
        top = TOP + number * lane_height
        parts.append(_log(topic, cells, number, top))
        for at, group_id in enumerate(group_ids):
            begin = _read_from(topic, group_id, number) if before else None
            bar_top = top + LOG_HEIGHT + at * BAR_HEIGHT
            parts.append(_bar(topic.group(group_id), len(topic.logs[number]), cells, number, at, bar_top, begin))
        parts.append(line(25, top + lane_height - GAP / 2, WIDTH - 25, top + lane_height - GAP / 2, MUTED, 1))
    bottom = TOP + len(topic.logs) * lane_height
    return picture(
        bottom + 36,
        text(25, 38, f"{topic.name}: who has read what", TITLE, bold=True),
        text(WIDTH - 25, 38, "bar: read and committed", SMALL, "end", MUTED),
        *parts,
        text(25, bottom + 18, _idle_words(topic), BODY, bold=True),
        label=describe_consuming(frame),
    )


class _Cells:
    """Where the record of an offset is drawn: the newest of a long log."""

    def __init__(self, width: float, shown: int) -> None:
        self.width, self.shown = width, shown

    @classmethod
    def fitting(cls, last: Topic) -> _Cells:
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


def _log(topic: Topic, cells: _Cells, number: int, top: float) -> str:
    log = topic.logs[number]
    parts = [text(30, top + 26, f"partition {number}", BODY, bold=True)]
    for offset in range(cells.first(len(log)), len(log)):
        record, x = log[offset], cells.x(offset, len(log))
        is_new = Appended(number, offset) in topic.effects
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
    group: Group | None, log_length: int, cells: _Cells, number: int, at: int, top: float, begin: int | None
) -> str:
    """How far a group has read a partition, what it has just read marked; its reader on the left, its lag right."""
    if group is None:
        return ""
    position, owner = group.positions[number], group.owner(number)
    parts = [text(30, top + 19, _short(owner) if owner else "(nobody)", SMALL, colour=INK if owner else MUTED)]
    box = (LEFT, top + 4, cells.shown * cells.width - 3, BAR_HEIGHT - 8)
    parts.append(rect(*box, EMPTY))
    if position is not None:
        end = cells.x(position, log_length)
        if end > LEFT:
            parts.append(filled(fill(at + 1), (LEFT, top + 4, end - LEFT - 3, BAR_HEIGHT - 8)))
        if begin is not None:
            x = cells.x(begin, log_length)
            parts.append(outlined((x, top + 4, max(end - x - 3, 4), BAR_HEIGHT - 8), stroke=MARK, width=4))
        committed = group.committed[number]
        lag = "-" if committed is None else str(log_length - committed)
        parts.append(text(WIDTH - 25, top + 19, f"lag {lag}", SMALL, "end"))
    return "\n".join(parts)


def _read_from(topic: Topic, group_id: str, number: int) -> int | None:
    """The first offset that a group has just read in this partition; None: it has read nothing."""
    polled = next((each for each in topic.effects if isinstance(each, Polled)), None)
    is_here = polled is not None and (polled.group_id, polled.partition) == (group_id, number)
    return polled.offsets[0] if is_here else None


def _idle_words(topic: Topic) -> str:
    idle = [member_id for group in topic.groups for member_id in group.idle_member_ids]
    return f"idle, owns nothing: {', '.join(idle)}" if idle else ""


def _short(member_id: str) -> str:
    return member_id if len(member_id) <= MOST_NAME else f"{member_id[: MOST_NAME - 1]}…"
