"""A topic and the groups that read it, in words and as a picture: a lane for each partition, a bar for each group.

`draw_consuming` draws one moment of a run, to the size that all its moments need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap

from kafkalearn.base.errors import counted
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.consuming.lag import lags
from kafkalearn.consuming.simulator import (
    Appended,
    Committed,
    ConsumingEvent,
    Group,
    Join,
    Leave,
    Poll,
    Polled,
    Produce,
    Topic,
)
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import WIDE, Block, at_ends, beside, cells, free, label, rule, sheet, space, stack
from kafkalearn.drawing.player import LINE_LENGTH, Picture

MOST_VALUES = 6  # records more than that are counted, not named


def describe_consuming(frame: Frame[Topic, ConsumingEvent], before: Frame[Topic, ConsumingEvent] | None = None) -> str:
    """A sentence or two about a frame of `kafkalearn.consuming`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.consuming import Settings, simulate
    >>> events = [Join("billing", "b0"), Join("billing", "b1"), Produce("A1", key=b"A"), Poll("billing", "b0")]
    >>> for frame in simulate(Settings(partition_count=1), events):
    ...     print(describe_consuming(frame))
    The topic orders has 1 partition and no group reads it.
    b0 joins billing, which rebalances: b0 has 0.
    b1 joins billing, which rebalances: b0 has 0, b1 has nothing.
    A1 goes to partition 0, offset 0.
    b0 reads of partition 0: A1. billing commits 1 there.
    """
    topic = frame.state
    match frame.event:
        case Produce(value):
            (appended,) = (each for each in topic.effects if isinstance(each, Appended))
            return f"{value or 'A record'} goes to partition {appended.partition}, offset {appended.offset}."
        case Join(group_id, member_id):
            return f"{member_id} joins {group_id}, which rebalances: {_owned_words(topic.existing_group(group_id))}."
        case Leave(group_id, member_id):
            group = topic.existing_group(group_id)
            rest = f"which rebalances: {_owned_words(group)}" if group.member_ids else "which has no members any more"
            return f"{member_id} leaves {group_id}, {rest}."
        case Poll(group_id, member_id) if not topic.effects:
            group = topic.existing_group(group_id)
            why = "owns nothing" if member_id in group.idle_member_ids else "has read all there is"
            return f"{member_id} polls and gets nothing: it {why}."
        case Poll():
            return _poll_words(topic)
    return f"The topic {topic.name} has {counted(len(topic.logs), 'partition')} and no group reads it."


def _poll_words(topic: Topic) -> str:
    (polled,) = (each for each in topic.effects if isinstance(each, Polled))
    (committed,) = (each for each in topic.effects if isinstance(each, Committed))
    values = [topic.logs[polled.partition][offset].value or "a record" for offset in polled.offsets]
    what = ", ".join(values) if len(values) <= MOST_VALUES else f"{len(values)} records"
    return (
        f"{polled.member_id} reads of partition {polled.partition}: {what}. "
        f"{polled.group_id} commits {committed.offset} there."
    )


def _owned_words(group: Group) -> str:
    return ", ".join(f"{each} has {' '.join(map(str, group.owned(each))) or 'nothing'}" for each in group.member_ids)


def consuming_text(frame: Frame[Topic, ConsumingEvent], before: Frame[Topic, ConsumingEvent] | None = None) -> str:
    """A frame of `kafkalearn.consuming` in plain text: the partitions with their records, and where each group is.

    Examples
    --------
    >>> from kafkalearn.consuming import Settings, simulate
    >>> events = [Join("billing", "b0"), Produce("A1"), Produce("B1"), Produce("A2"), Poll("billing", "b0")]
    >>> print(consuming_text(simulate(Settings(partition_count=2), events)[-1]))
    b0 reads of partition 0: A1. billing commits 1 there.
    partition 0: A1 A2
    partition 1: B1
    billing, generation 1: b0 has 0 1
      partition 0: committed 1, lag 1
      partition 1: committed nothing yet
    """
    topic = frame.state
    lines = [describe_consuming(frame)]
    for number, log in enumerate(topic.logs):
        lines.append(f"partition {number}: {' '.join(record.value or '?' for record in log) or 'empty'}")
    for group in topic.groups:
        lines.append(f"{group.group_id}, generation {group.generation}: {_owned_words(group) or 'no members'}")
        for each in lags(topic, group.group_id):
            committed = "nothing yet" if each.committed is None else f"{each.committed}, lag {each.lag}"
            lines.append(f"  partition {each.partition}: committed {committed}")
    return "\n".join(lines)


HEAD, LINE_HEIGHT = 60, 26  # pixels of the title and of the margins, of a line below the partitions
HIGHEST = 590  # a picture fits a window of 1280 x 800
LEAST_NAMES, WORDS = 150, 105  # pixels: of names on the left, of ends and lags on the right
SMALLEST_CELL, LARGEST_CELL = 40, 62
MOST_VALUE = 24  # characters of a record in its cell


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
    below = max(len(_idle_lines(each.state)) for each in trace)
    rows = _Rows.fitting(len(topic.logs), len(group_ids), HIGHEST - HEAD - below * LINE_HEIGHT)
    places = _Places.fitting(trace)
    shown = range(rows.lane_count)
    hidden = "" if rows.lane_count == len(topic.logs) else f", partitions 0 to {rows.lane_count - 1}"
    idle = [label(words, svg.BODY, bold=True) for words in _idle_lines(topic)]
    page = stack(
        at_ends(
            label(f"{svg.cut_name(topic.name)}: who has read what{hidden}", svg.TITLE, bold=True),
            label("bar: read and committed", colour=svg.MUTED, at_end=True),
        ),
        space(height=8),
        *(_partition(topic, number, group_ids, (rows, places), is_marked=before is not None) for number in shown),
        free(WIDE, below * LINE_HEIGHT, stack(*idle).draw),
    )
    return sheet(page, describe_consuming(frame), top=10, below=8)


def _partition(
    topic: Topic, number: int, group_ids: Sequence[str], sizes: tuple[_Rows, _Places], *, is_marked: bool
) -> Block:
    """A partition: its log, and a bar for each group."""
    rows, places = sizes
    bars = []
    for at, group_id in enumerate(group_ids):
        begin = _read_from(topic, group_id, number) if is_marked else None
        group = topic.group(group_id)
        length = len(topic.logs[number])
        shown = None if group is None else _bar(group, number, length, at, places, rows.bar, begin)
        bars.append(shown or space(height=rows.bar))
    gap = space(height=(rows.gap - 1) / 2)
    return stack(_log(topic, places, number, rows.log), *bars, gap, rule(), gap)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The heights of a partition's log, of the bar of each group below it, and of the gap to the next partition."""

    log: float
    bar: float
    gap: float
    lane_count: int
    lane: float

    @classmethod
    def fitting(cls, partition_count: int, group_count: int, room: float) -> _Rows:
        """As high as there is room for; so low that the letters just fit, then as many partitions as fit."""
        high, low = (sum((log, bar * group_count, gap)) for log, bar, gap in (_HIGH, _LOW))
        part = min(1.0, max(0.0, (room / partition_count - low) / (high - low)))
        log, bar, gap = (small + part * (large - small) for small, large in zip(_LOW, _HIGH, strict=True))
        lane = log + bar * group_count + gap
        return cls(log, bar, gap, max(1, min(partition_count, int(room / lane + 0.001))), lane)


_HIGH, _LOW = (40, 27, 16), (27, 20, 5)  # of a log, a bar and a gap


class _Places:
    """Where the record of an offset is drawn: the newest of a long log, right of the longest name."""

    def __init__(self, names: float, width: float, shown: int) -> None:
        self.names, self.width, self.shown = names, width, shown

    @classmethod
    def fitting(cls, trace: Trace[Topic, ConsumingEvent]) -> _Places:
        last = trace[-1].state
        names = {member_id for frame in trace for group in frame.state.groups for member_id in group.member_ids}
        left = max(LEAST_NAMES, svg.name_width(names) + 24)
        longest = max((len(record.value) for log in last.logs for record in log), default=2)
        most = max(map(len, last.logs), default=1) or 1
        needed = max(SMALLEST_CELL, 11.4 * min(longest, MOST_VALUE) + 14)
        room = WIDE - left - WORDS
        width = min(room, max(needed, min(LARGEST_CELL, room / most)))
        return cls(left, width, max(1, int(room // width)))

    def first(self, log_length: int) -> int:
        return max(0, log_length - self.shown)

    def x(self, offset: int, log_length: int) -> float:
        return max(0, offset - self.first(log_length)) * self.width

    def lane(self, name: Block, what: Block, words: Block, height: float) -> Block:
        """A name, what there is of it, and words at the right end."""
        return at_ends(beside(free(self.names, name.height, name.draw), what), words, height=height)


def _log(topic: Topic, places: _Places, number: int, height: float) -> Block:
    log = topic.logs[number]
    shown = range(places.first(len(log)), len(log))
    first = shown.start
    records = cells(
        len(shown),
        places.width,
        {svg.Fill(svg.PANEL, ""): range(len(shown))},
        {offset - first: svg.cut_name(log[offset].value, MOST_VALUE) for offset in shown},
        height=height - 5,
        marked=[offset - first for offset in shown if Appended(number, offset) in topic.effects],
    )
    name = label(f"partition {number}", svg.BODY, bold=True)
    return places.lane(name, records, label(f"end {len(log)}", svg.BODY, at_end=True), height)


def _bar(
    group: Group, number: int, log_length: int, at: int, places: _Places, height: float, begin: int | None
) -> Block:
    """How far a group has read a partition, what it has just read marked; its reader on the left, its lag right."""
    position, owner, high = group.positions[number], group.owner(number), height - 6
    name = label(svg.cut_name(owner) if owner else "(nobody)", colour=svg.INK if owner else svg.MUTED)
    end = 0.0 if position is None else places.x(position, log_length)

    def draw(x: float, y: float) -> list[str]:
        left = x + 2
        drawn = [svg.rect(left, y, places.shown * places.width - 4, high, svg.EMPTY)]
        if end:
            drawn.append(svg.filled(svg.fill(at + 1), (left, y, end - 4, high)))
        if begin is not None and position is not None:
            start = places.x(begin, log_length)
            box = (left + start, y, max(end - start - 4, 4), high)
            drawn.append(svg.outlined(box, stroke=svg.MARK, stroke_width=svg.STRONG))
        return drawn

    committed = group.committed[number]
    lag = "" if position is None else "lag -" if committed is None else f"lag {log_length - committed}"
    track = free(places.shown * places.width, high, draw)
    return places.lane(name, track, label(lag, at_end=True), height)


def _read_from(topic: Topic, group_id: str, number: int) -> int | None:
    """The first offset that a group has just read in this partition; None: it has read nothing."""
    polled = next((each for each in topic.effects if isinstance(each, Polled)), None)
    is_here = polled is not None and (polled.group_id, polled.partition) == (group_id, number)
    return polled.offsets[0] if is_here else None


def _idle_lines(topic: Topic) -> list[str]:
    """Who owns nothing, in as many lines as it takes."""
    idle = [svg.cut_name(member_id) for group in topic.groups for member_id in group.idle_member_ids]
    words = f"{'idle, owns' if len(idle) == 1 else 'idle, own'} nothing: {', '.join(idle)}"
    return wrap(words, LINE_LENGTH - 6) if idle else []
