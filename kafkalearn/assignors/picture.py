"""Assignments and rebalances in words, and as pictures: a lane for each member, a cell for each partition.

In words: a sentence (`describe_assignment`, `describe_rebalance`), or a whole moment as text (`rebalance_text`).
`draw_assignment` draws an assignment, alone or against the one before it, what moved marked; `draw_assignments` draws
several of the same partitions below each other. `draw_rebalance` draws one moment of a run of
`kafkalearn.assignors.rebalance`, in the size that all its moments need.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from kafkalearn.assignors import Assignment, change, load
from kafkalearn.assignors.carrying_out import (
    AllGaveUp,
    Assigned,
    AssignedAnew,
    Event,
    Group,
    GroupChanged,
    MemberJoined,
    MemberLeft,
    StoppedReading,
    SubscriptionChanged,
)
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import kit, svg
from kafkalearn.drawing.player import Picture, picture

# In words.

MOST_NAMED = 8  # more members than that are counted, not named


def short_names(partitions: Iterable[TopicPartition]) -> bool:
    """Whether the number alone names a partition, because all are of one topic."""
    return len({partition.topic for partition in partitions}) <= 1


def label_of(partition: TopicPartition, is_short: bool) -> str:
    """A partition's name in a cell."""
    return str(partition.partition) if is_short else str(partition)


def load_words(assignment: Assignment) -> str:
    """How many partitions on how many members.

    >>> load_words(Assignment({"C0": [], "C1": []}))
    '0 partitions on 2 members'
    """
    measured = load(assignment)
    return f"{counted(measured.partition_count, 'partition')} on {counted(measured.member_count, 'member')}"


def describe_assignment(assignment: Assignment, before: Assignment | None = None) -> str:
    """A sentence about an assignment; with the one before it, what changed.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> three = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C0", "C1", "C2")])
    >>> two = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C1", "C2")])
    >>> describe_assignment(two, three)
    '4 partitions on 2 members: C1 2, C2 2. 1 kept its owner, 3 moved.'
    """
    measured, counts = load(assignment), assignment.counts()
    if len(counts) <= MOST_NAMED:
        loads = ", ".join(f"{member_id} {count}" for member_id, count in counts.items())
    else:
        loads = f"{measured.fewest} to {measured.most} each"
    idle = f"; {measured.idle_count} idle" if measured.idle_count else ""
    words = f"{load_words(assignment)}: {loads}{idle}."
    if before is None:
        return words
    made = change(before, assignment)
    parts = [
        f"{made.kept_count:,} kept {'its' if made.kept_count == 1 else 'their'} owner",
        f"{made.moved_count:,} moved",
        *([f"{made.new_count:,} had none"] if made.new_count else []),
        *([f"{made.lost_count:,} {'has' if made.lost_count == 1 else 'have'} none now"] if made.lost_count else []),
    ]
    return f"{words} {', '.join(parts)}."


def _lines(owned_by: Mapping[str, Sequence[TopicPartition]], owners: Mapping[TopicPartition, str] | None) -> list[str]:
    def shown(partition: TopicPartition, member_id: str) -> str:
        return f"{partition}{'*' if owners is not None and owners.get(partition) != member_id else ''}"

    return [
        f"{member_id} ({len(owned)}): {' '.join(shown(each, member_id) for each in owned) or 'nothing'}"
        for member_id, owned in owned_by.items()
    ]


def describe_rebalance(frame: Frame[Group, Event], before: Frame[Group, Event] | None = None) -> str:
    """A sentence or two about a moment of a rebalance (`kafkalearn.assignors.rebalance`).

    Examples
    --------
    >>> from kafkalearn.assignors import Member, rebalance
    >>> three, two = [Member(f"m{n}", ["t"]) for n in range(3)], [Member(f"m{n}", ["t"]) for n in range(2)]
    >>> for frame in rebalance("sticky", {"t": 6}, three, two):
    ...     print(describe_rebalance(frame))
    The group has settled: 6 partitions on 3 members.
    m2 leaves: nobody reads the 2 partitions it had.
    Everybody gives everything up: 4 partitions, nobody reads anything.
    All are assigned anew. 2 partitions have another owner than at the start, 4 have the one they had.
    """
    group = frame.state
    match frame.event:
        case GroupChanged():
            return _changed_words(group)
        case AllGaveUp():
            gave_up = counted(_stopped_count(group), "partition")
            return f"Everybody gives everything up: {gave_up}, nobody reads anything."
        case Assigned():
            return _assigned_words(group)
    return f"The group has settled: {load_words(group.reading)}."


def _members_with(group: Group, effect: type) -> list[str]:
    return [each.member_id for each in group.effects if isinstance(each, effect)]


def _stopped_count(group: Group) -> int:
    return sum(len(each.partitions) for each in group.effects if isinstance(each, StoppedReading))


def _changed_words(group: Group) -> str:
    said = []
    if left := _members_with(group, MemberLeft):
        verb, it = ("leaves", "it") if len(left) == 1 else ("leave", "they")
        nobody = f"nobody reads the {counted(_stopped_count(group), 'partition')} {it} had"
        said.append(f"{', '.join(left)} {verb}: {nobody}")
    if joined := _members_with(group, MemberJoined):
        verb = "joins and has" if len(joined) == 1 else "join and have"
        said.append(f"{', '.join(joined)} {verb} nothing yet")
    if changed := _members_with(group, SubscriptionChanged):
        verb = "subscribes" if len(changed) == 1 else "subscribe"
        said.append(f"{', '.join(changed)} {verb} to other topics")
    return f"{'; '.join(said) or 'Nothing has changed, but somebody asks for a rebalance'}."


def _assigned_words(group: Group) -> str:
    if who := _members_with(group, StoppedReading):
        by = f" by {', '.join(sorted(who))}" if len(who) <= MOST_NAMED else ""
        kept_count = len(group.partitions) - len(group.unread)
        return (
            f"Round {group.round_number}: {counted(_stopped_count(group), 'partition')} given up"
            f"{by} and assigned to nobody yet; {kept_count:,} are read all the time."
        )
    round_name = "One round" if group.round_number == 1 else f"Round {group.round_number}"
    head = "All are assigned anew" if AssignedAnew() in group.effects else f"{round_name}: what is free is handed out"
    made = change(group.first, group.reading)
    moved = f"{counted(made.moved_count, 'partition')} {_have(made.moved_count)} another owner"
    return f"{head}. {moved} than at the start, {made.kept_count:,} {_have(made.kept_count)} the one they had."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def rebalance_text(frame: Frame[Group, Event], before: Frame[Group, Event] | None = None) -> str:
    """A moment of a rebalance in plain text; ``*`` marks what its reader did not have at the start.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, rebalance
    >>> one, two = [Member("m0", ["t"])], [Member("m0", ["t"]), Member("m1", ["t"])]
    >>> print(rebalance_text(rebalance("cooperative-sticky", {"t": 3}, one, two)[-1]))
    Round 2: what is free is handed out. 1 partition has another owner than at the start, 2 have the one they had.
    m0 (2): t-0 t-1
    m1 (1): t-2*
    nobody reads: nothing
    """
    group = frame.state
    unread = " ".join(map(str, group.unread)) or "nothing"
    lines = _lines(group.reading, group.first.owners())
    return "\n".join([describe_rebalance(frame, before), *lines, f"nobody reads: {unread}"])


# As a picture.

LEAST_LEFT, RIGHT = 180, 110  # room for the member's name, and for its count
TOP, ROW, PAD = 96, 36, 5
MOST_NAME = 30  # characters beside a lane
LOWEST_ROW = 25  # in which the letters just fit
HIGHEST = 590  # a picture fits a window of 1280 x 800
KEPT, MOVED, NEW = svg.COPIED, svg.MOVED, svg.fill(4)


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
        left = max(LEAST_LEFT, 30 + svg.name_width(names, svg.BODY, MOST_NAME) + 14)
        one_topic = short_names(partitions)
        needed = max((svg.text_width(label_of(each, one_topic), 9.4) for each in partitions), default=9.4) + 16
        room = svg.WIDTH - left - RIGHT
        width = max(needed, min(1.6 * needed, room / max(most, 1)))
        size = svg.BODY if width >= 1.3 * needed else svg.SMALL
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
    >>> from kafkalearn.assignors import Member, assign
    >>> draw_assignment(assign("range", {"a": 1, "b": 1}, [Member("C0", ["a", "b"]), Member("C1", ["a", "b"])])).label
    '2 partitions on 2 members: C0 2, C1 0; 1 idle.'
    """
    owner_before = before.owners() if before is not None else {}
    counts = assignment.counts()
    partitions = [partition for owned in assignment.values() for partition in owned]
    cells = Cells.fitting(partitions, max(counts.values(), default=0), counts)
    heights = {member_id: cells.rows(count) for member_id, count in counts.items()}
    gone = [svg.cut_name(member_id) for member_id in before or () if member_id not in assignment]
    cells = cells.lower(sum(heights.values()), len(heights), below=52 if gone else 18)
    parts, top = [], TOP
    for member_id, owned in assignment.items():
        looks = {partition: _look(partition, member_id, owner_before, before is not None) for partition in owned}
        had = None if before is None else len(before.get(member_id, ()))
        parts.append(_lane(cells, top, heights[member_id], member_id, looks, had))
        top += cells.lane(heights[member_id])
    if gone:
        parts.append(svg.text(25, top + 26, f"gone: {', '.join(gone)}", svg.BODY, colour=svg.MUTED))
        top += 34
    label = describe_assignment(assignment, before)
    head = title or load_words(assignment)
    return picture(
        top + 18, svg.text(25, 38, head, svg.TITLE, bold=True), _legend(before is not None), *parts, label=label
    )


MOST_DEALT, MOST_ROWS, DEALT_NAMES = 24, 12, 230  # of several assignments: partitions, rows, pixels for the names


def draw_assignments(by_assignor: Mapping[str, Assignment]) -> Picture:
    """The same partitions by several assignors: a row for each of them and each topic, the cells coloured by owner.

    Parameters
    ----------
    by_assignor : mapping of str to Assignment
        By the name of each row: at least one. There is room for six members, topics of 24 partitions, and 12 rows.

    Raises
    ------
    KafkaLearnError
        If there is none, or the picture has no room for so many.

    Examples
    --------
    >>> from kafkalearn.assignors import Member, assign
    >>> pair = [Member("C0", ["a"]), Member("C1", ["a"])]
    >>> draw_assignments({name: assign(name, {"a": 3}, pair) for name in ("range", "roundrobin")}).label
    'range: C0 0 1; C1 2. roundrobin: C0 0 2; C1 1'
    """
    if not by_assignor:
        raise KafkaLearnError("there is nothing to draw: give at least one assignment by its name")
    topics: dict[str, set[int]] = {}
    for assignment in by_assignor.values():
        for each in assignment.owners():
            topics.setdefault(each.topic, set()).add(each.partition)
    members = list(dict.fromkeys(name for assignment in by_assignor.values() for name in assignment))
    longest, rows = max(map(len, topics.values()), default=0), len(by_assignor) * len(topics)
    if longest > MOST_DEALT or len(members) > len(svg.FILLS) or rows > MOST_ROWS:
        raise KafkaLearnError(
            f"the picture has room for {len(svg.FILLS)} members, {MOST_DEALT} partitions of a topic and {MOST_ROWS} "
            f"rows, got {len(members)}, {longest} and {rows}"
        )
    fills = dict(zip(members, svg.FILLS, strict=False))
    width = min(80, (svg.WIDTH - 50 - DEALT_NAMES) / max(1, longest) - 4)

    def dealt(name: str, assignment: Assignment, topic: str) -> kit.Block:
        owners, words = assignment.owners(), f"{name}, {topic}" if len(topics) > 1 else name
        cells = [
            kit.chip(
                [str(number)],
                fills.get(owners.get(TopicPartition(topic, number), ""), svg.NOTHING),
                width=width,
                height=34,
            )
            for number in sorted(topics[topic])
        ]
        said = kit.stack(kit.label(words, svg.BODY, bold=True, width=DEALT_NAMES - 4), kit.space(height=5))
        return kit.line_of(said, *cells, gap=4)

    is_short = len(topics) <= 1
    said = (
        f"{name}: {'; '.join(f'{member} {_names(owned, is_short)}' for member, owned in assignment.items())}"
        for name, assignment in by_assignor.items()
    )
    lanes = [dealt(name, assignment, topic) for name, assignment in by_assignor.items() for topic in sorted(topics)]
    key = kit.legend(fills.values(), {fill: svg.cut_name(name, 20) for name, fill in fills.items()})
    return kit.sheet(kit.stack(*lanes, key, gap=8), ". ".join(said), left=25)


def _names(owned: Iterable[TopicPartition], is_short: bool) -> str:
    return " ".join(label_of(each, is_short) for each in sorted(owned)) or "nothing"


def draw_rebalance(
    trace: Trace[Group, Event], frame: Frame[Group, Event], before: Frame[Group, Event] | None = None
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
    states = [each.state for each in trace]
    most = max(count for each in states for count in (len(each.unread), *each.reading.counts().values()))
    everybody = dict.fromkeys(member_id for each in states for member_id in each.reading)
    cells = Cells.fitting(states[-1].partitions, most, everybody)
    most_unread = max(len(each.unread) for each in states)
    rows = {name: cells.rows(max(len(each.reading.get(name, ())) for each in states)) for name in everybody}
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
    label = describe_rebalance(frame, before)
    return picture(top + 14, svg.text(25, 38, title, svg.TITLE, bold=True), _legend(True), *parts, label=label)


def _look(
    partition: TopicPartition, member_id: str, owner_before: Mapping[TopicPartition, str], is_change: bool
) -> svg.Fill:
    if not is_change or owner_before.get(partition) == member_id:
        return KEPT
    return MOVED if partition in owner_before else NEW


def _legend(is_change: bool) -> str:
    if not is_change:
        return svg.text(25, 74, "a lane for each member, a cell for each partition", svg.SMALL, colour=svg.MUTED)
    parts, x = [], 25.0
    for look, words in ((KEPT, "same owner as before"), (MOVED, "moved: had another owner"), (NEW, "had no owner")):
        parts += [_cell((x, 56, 34, 26), look), svg.text(x + 42, 75, words, svg.SMALL)]
        x += 42 + svg.text_width(words, 9.2) + 26
    return "\n".join(parts)


def _lane(
    cells: Cells, top: float, row_count: int, member_id: str, looks: Mapping[TopicPartition, svg.Fill], had: int | None
) -> str:
    """A member with what it has, by topic and number."""
    parts = [_lane_frame(cells, top, row_count, member_id, svg.INK)]
    for at, partition in enumerate(sorted(looks)):
        box, words = _place(cells, top, at), label_of(partition, cells.one_topic)
        parts.append(_cell(box, looks[partition], words, cells.size))
    if not looks:
        parts.append(svg.text(cells.left + 6, top + cells.base, "nothing", svg.BODY, colour=svg.MUTED))
    change = "" if had is None or had == len(looks) else f" ({len(looks) - had:+d})"
    parts.append(
        svg.text(svg.WIDTH - 25, top + cells.base, f"{len(looks)}{change}", svg.BODY, "end", bold=bool(change))
    )
    return "\n".join(parts)


def _absent(cells: Cells, top: float, row_count: int, member_id: str, is_gone: bool) -> str:
    words = "has left" if is_gone else "not here yet"
    said = svg.text(cells.left + 6, top + cells.base, words, svg.BODY, colour=svg.MUTED)
    return "\n".join([_lane_frame(cells, top, row_count, member_id, svg.MUTED), said])


def _lane_frame(cells: Cells, top: float, row_count: int, member_id: str, colour: str) -> str:
    bottom = top + cells.lane(row_count)
    name = svg.text(30, top + cells.base, svg.cut_name(member_id, MOST_NAME), svg.BODY, colour=colour)
    return "\n".join([svg.line(25, bottom, svg.WIDTH - 25, bottom, svg.FAINT, svg.HAIR), name])


def _unread(cells: Cells, top: float, row_count: int, group: Group, event: Event | None) -> str:
    """The lane of what nobody reads, on a ground of its own."""
    height = cells.lane(row_count)
    stopped = [each for each in group.effects if isinstance(each, StoppedReading) and isinstance(event, Assigned)]
    just_now = {partition for each in stopped for partition in each.partitions}
    parts = [
        svg.rect(0, top + 3, svg.WIDTH, height, svg.EMPTY),
        svg.text(30, top + 3 + cells.base, "nobody reads", svg.BODY, bold=True),
    ]
    for at, partition in enumerate(group.unread):
        box, words = _place(cells, top + 3, at), label_of(partition, cells.one_topic)
        stroke, width = (svg.MARK, svg.STRONG) if partition in just_now else (svg.MUTED, svg.HAIR)
        parts += [
            svg.rect(*box, svg.PANEL),
            svg.outlined(box, stroke=stroke, stroke_width=width),
            _inside(box, words, cells.size),
        ]
    parts.append(svg.text(svg.WIDTH - 25, top + 3 + cells.base, str(len(group.unread)), svg.BODY, "end", bold=True))
    return "\n".join(parts)


def _place(cells: Cells, top: float, at: int) -> svg.Box:
    row, column = divmod(at, cells.per_row)
    return cells.left + column * cells.width, top + PAD + row * cells.row + 3, cells.width - 4, cells.row - 6


def _cell(box: svg.Box, look: svg.Fill, words: str = "", size: float = svg.SMALL) -> str:
    """A partition; one that moved has a marked border as well."""
    parts = [svg.filled(look, box), svg.outlined(box, **svg.edge(look == MOVED))]
    if words:
        parts.append(_inside(box, words, size))
    return "\n".join(parts)


def _inside(box: svg.Box, words: str, size: float) -> str:
    x, y, width, height = box
    return svg.text(x + width / 2, y + height / 2 + size / 2.8, words, size, "middle")
