"""Who has which partition as a picture: a lane for each member, a cell for each partition, what moved marked.

`draw_assignment` draws an assignment, alone or against the one before it. `animate_rebalance` draws a run of
`kafkalearn.assignor.rebalance`, `draw_rebalance` one moment of it, to the size that all moments need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kafkalearn.assignor import Assignment
from kafkalearn.assignor.carrying_out.effects import StoppedReading
from kafkalearn.assignor.carrying_out.events import Assigned, Event
from kafkalearn.assignor.carrying_out.state import Group
from kafkalearn.phrases import counted
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame, Trace
from kafkalearn.views.assignment.words import (
    describe_assignment,
    describe_rebalance,
    label_of,
    load_words,
    short_names,
)
from kafkalearn.views.drawing.frames import Animation, animation
from kafkalearn.views.drawing.names import cut_name, name_width
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text

LEAST_LEFT, RIGHT = 180, 110  # room for the member's name, and for its count
TOP, ROW, PAD = 96, 36, 5
MOST_NAME = 30  # characters beside a lane
LOWEST_ROW = 25  # in which the letters just fit
HIGHEST = 590  # a picture fits a window of 1280 x 800
KEPT, MOVED, NEW = fill(0), fill(1), fill(2)


@dataclass(frozen=True, slots=True)
class Cells:
    """How large the cells of a picture are, which is the same in every frame of an animation."""

    width: float
    per_row: int
    one_topic: bool
    size: float  # of the letters
    left: float  # where the first cell of a lane begins
    row: float = ROW

    @classmethod
    def fitting(cls, partitions: Iterable[TopicPartition], most: int, names: Iterable[str]) -> Cells:
        """Cells in which the longest name fits; larger ones if the longest lane, of `most` cells, leaves room.

        They begin right of the longest of the members' `names`.
        """
        partitions = list(partitions)
        left = max(LEAST_LEFT, 30 + name_width(names, BODY, MOST_NAME) + 14)
        one_topic = short_names(partitions)
        needed = 9.4 * max((len(label_of(each, one_topic)) for each in partitions), default=1) + 16
        room = WIDTH - left - RIGHT
        width = max(needed, min(1.6 * needed, room / max(most, 1)))
        size = BODY if width >= 1.3 * needed else SMALL
        return cls(width, max(1, int(room / width + 0.001)), one_topic, size, left)

    def rows(self, count: int) -> int:
        """The rows that so many cells take."""
        return max(1, -(-count // self.per_row))

    def lower(self, row_count: int, lane_count: int, below: float) -> Cells:
        """The same, with rows so low that the picture fits a window, but never lower than their letters."""
        room = HIGHEST - TOP - below - lane_count * 2 * PAD
        return replace(self, row=min(ROW, max(LOWEST_ROW, room / max(row_count, 1))))

    def lane(self, row_count: int) -> float:
        """The height of a lane of so many rows."""
        return row_count * self.row + 2 * PAD

    @property
    def base(self) -> float:
        """From the top of a lane to the line that the words of its first row stand on."""
        return PAD + self.row / 2 + 6


def draw_assignment(assignment: Assignment, before: Assignment | None = None, title: str = "") -> Picture:
    """An assignment drawn; with the one before it, what moved and what is new is marked.

    Parameters
    ----------
    assignment : Assignment
        What to draw.
    before : Assignment, optional
        Members of it who are gone are named below.
    title : str
        Written on top; without one, how many partitions and members there are.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> draw_assignment(assign("range", {"a": 1, "b": 1}, [Member("C0", ["a", "b"]), Member("C1", ["a", "b"])])).label
    '2 partitions on 2 members: C0 2, C1 0; 1 idle.'
    """
    owner_before = before.owners() if before is not None else {}
    counts = assignment.counts()
    partitions = [partition for owned in assignment.values() for partition in owned]
    cells = Cells.fitting(partitions, max(counts.values(), default=0), counts)
    heights = {member_id: cells.rows(count) for member_id, count in counts.items()}
    gone = [cut_name(member_id) for member_id in before or () if member_id not in assignment]
    cells = cells.lower(sum(heights.values()), len(heights), below=52 if gone else 18)
    parts, top = [], TOP
    for member_id, owned in assignment.items():
        looks = {partition: _look(partition, member_id, owner_before, before is not None) for partition in owned}
        had = None if before is None else len(before.get(member_id, ()))
        parts.append(_lane(cells, top, heights[member_id], member_id, looks, had))
        top += cells.lane(heights[member_id])
    if gone:
        parts.append(text(25, top + 26, f"gone: {', '.join(gone)}", BODY, colour=MUTED))
        top += 34
    label = describe_assignment(assignment, before)
    head = title or load_words(assignment)
    return picture(top + 18, text(25, 38, head, TITLE, bold=True), _legend(before is not None), *parts, label=label)


def animate_rebalance(
    trace: Trace[Group, Event], *, title: str = "", start: int = 0, stills: Sequence[int] | None = None
) -> Animation:
    """A run of `kafkalearn.assignor.rebalance` as `kafkalearn.views.play` takes it, every moment drawn.

    Parameters
    ----------
    trace : tuple of Frame
        The run.
    title, start, stills
        As in `kafkalearn.views.animation`.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, rebalance
    >>> one, two = [Member("m0", ["t"])], [Member("m0", ["t"]), Member("m1", ["t"])]
    >>> len(animate_rebalance(rebalance("cooperative-sticky", {"t": 3}, one, two)).pictures)
    4
    """
    draw = partial(draw_rebalance, trace)
    return animation(trace, draw, describe_rebalance, title=title, start=start, stills=stills)


def draw_rebalance(
    trace: Trace[Group, Event],
    frame: Frame[Group, Event],
    before: Frame[Group, Event] | None = None,
) -> Picture:
    """One moment of a rebalance: who reads what, and below it what nobody reads.

    Parameters
    ----------
    trace : tuple of Frame
        The whole run: every frame of it is drawn to the same size.
    frame, before : Frame
        A frame of it and the one before.
    """
    group = frame.state
    owner_first = group.first.owners()
    everybody = dict.fromkeys(member_id for each in trace for member_id in each.state.reading)
    most = max(each for frame in trace for each in _counts(frame.state))
    cells = Cells.fitting(trace[-1].state.partitions, most, everybody)
    most_unread = max(len(each.state.unread) for each in trace)
    rows = {name: cells.rows(max(len(each.state.reading.get(name, ())) for each in trace)) for name in everybody}
    lanes = [*rows.values(), *([cells.rows(most_unread)] if most_unread else [])]
    cells = cells.lower(sum(lanes), len(lanes), below=22)
    parts, top = [], TOP
    for member_id, row_count in rows.items():
        owned = group.reading.get(member_id)
        if owned is None:
            parts.append(_absent(cells, top, row_count, member_id, is_gone=member_id in group.left))
        else:
            looks = {partition: _look(partition, member_id, owner_first, True) for partition in owned}
            had = len(before.state.reading.get(member_id, ())) if before else None
            parts.append(_lane(cells, top, row_count, member_id, looks, had))
        top += cells.lane(row_count)
    if most_unread:
        parts.append(_unread(cells, top, cells.rows(most_unread), group, frame.event))
        top += cells.lane(cells.rows(most_unread)) + 8
    title = f"{len(group.partitions) - len(group.unread)} of {counted(len(group.partitions), 'partition')} are read"
    return picture(
        top + 14,
        text(25, 38, title, TITLE, bold=True),
        _legend(True),
        *parts,
        label=describe_rebalance(frame, before),
    )


def _look(
    partition: TopicPartition, member_id: str, owner_before: Mapping[TopicPartition, str], is_change: bool
) -> Fill:
    if not is_change or owner_before.get(partition) == member_id:
        return KEPT
    return MOVED if partition in owner_before else NEW


def _legend(is_change: bool) -> str:
    if not is_change:
        return text(25, 74, "a lane for each member, a cell for each partition", SMALL, colour=MUTED)
    parts, x = [], 25.0
    for look, words in ((KEPT, "same owner as before"), (MOVED, "moved: had another owner"), (NEW, "had no owner")):
        parts += [_cell((x, 56, 34, 26), look), text(x + 42, 75, words, SMALL)]
        x += 42 + 9.2 * len(words) + 26
    return "\n".join(parts)


def _counts(group: Group) -> list[int]:
    return [len(group.unread), *group.reading.counts().values()]


def _lane(
    cells: Cells, top: float, row_count: int, member_id: str, looks: Mapping[TopicPartition, Fill], had: int | None
) -> str:
    """A member with what it has, by topic and number."""
    parts = [_lane_frame(cells, top, row_count, member_id, INK)]
    for at, partition in enumerate(sorted(looks)):
        box, words = _place(cells, top, at), label_of(partition, cells.one_topic)
        parts.append(_cell(box, looks[partition], words, cells.size))
    if not looks:
        parts.append(text(cells.left + 6, top + cells.base, "nothing", BODY, colour=MUTED))
    change = "" if had is None or had == len(looks) else f" ({len(looks) - had:+d})"
    parts.append(text(WIDTH - 25, top + cells.base, f"{len(looks)}{change}", BODY, "end", bold=bool(change)))
    return "\n".join(parts)


def _absent(cells: Cells, top: float, row_count: int, member_id: str, is_gone: bool) -> str:
    words = "has left" if is_gone else "not here yet"
    said = text(cells.left + 6, top + cells.base, words, BODY, colour=MUTED)
    return "\n".join([_lane_frame(cells, top, row_count, member_id, MUTED), said])


def _lane_frame(cells: Cells, top: float, row_count: int, member_id: str, colour: str) -> str:
    bottom = top + cells.lane(row_count)
    name = text(30, top + cells.base, cut_name(member_id, MOST_NAME), BODY, colour=colour)
    return "\n".join([line(25, bottom, WIDTH - 25, bottom, MUTED, 1), name])


def _unread(cells: Cells, top: float, row_count: int, group: Group, event: Event | None) -> str:
    """The lane of what nobody reads, on a ground of its own."""
    height = cells.lane(row_count)
    stopped = [each for each in group.effects if isinstance(each, StoppedReading) and isinstance(event, Assigned)]
    just_now = {partition for each in stopped for partition in each.partitions}
    parts = [rect(0, top + 3, WIDTH, height, EMPTY), text(30, top + 3 + cells.base, "nobody reads", BODY, bold=True)]
    for at, partition in enumerate(group.unread):
        box = _place(cells, top + 3, at)
        parts += [
            rect(*box, PANEL),
            outlined(box, stroke=MARK if partition in just_now else MUTED, width=3 if partition in just_now else 1.5),
            text(
                box[0] + box[2] / 2,
                box[1] + box[3] / 2 + cells.size / 2.8,
                label_of(partition, cells.one_topic),
                cells.size,
                "middle",
            ),
        ]
    parts.append(text(WIDTH - 25, top + 3 + cells.base, str(len(group.unread)), BODY, "end", bold=True))
    return "\n".join(parts)


def _place(cells: Cells, top: float, at: int) -> tuple[float, float, float, float]:
    row, column = divmod(at, cells.per_row)
    return cells.left + column * cells.width, top + PAD + row * cells.row + 3, cells.width - 4, cells.row - 6


def _cell(box: tuple[float, float, float, float], look: Fill, words: str = "", size: float = SMALL) -> str:
    """A partition; one that moved has a thick border as well."""
    x, y, width, height = box
    is_moved = look == MOVED
    parts = [filled(look, box), outlined(box, stroke=MARK if is_moved else INK, width=3 if is_moved else 1.2)]
    if words:
        plate = 0.63 * size * len(words) + 4
        if look.hatch:
            parts.append(rect(x + width / 2 - plate / 2, y + height / 6, plate, height * 2 / 3, PANEL, rx=3))
        parts.append(text(x + width / 2, y + height / 2 + size / 2.8, words, size, "middle"))
    return "\n".join(parts)
