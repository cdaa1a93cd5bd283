"""Assignments and rebalances in words, and as pictures: a lane for each member, a cell for each partition.

In words: a sentence (`describe_assignment`, `describe_rebalance`), or a whole moment as text (`rebalance_text`).
`draw_assignment` draws an assignment, alone or against the one before it, what moved marked; `draw_assignments` draws
several of the same partitions below each other. `draw_rebalance` draws one moment of a run of
`kafkalearn.assignors.rebalance`, in the size that all its moments need.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
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
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    at_ends,
    beside,
    by_fill,
    cells,
    chip,
    free,
    label,
    legend,
    line_of,
    rule,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture

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

LEAST_NAMES, COUNTS = 164, 94  # pixels: of members' names, and of how many partitions each has
HEAD, ROW, PAD = 92, 36, 5  # pixels: above and below all lanes, of a row of cells, above and below those of a lane
MOST_NAME = 30  # characters beside a lane
LOWEST_ROW = 25  # in which the letters just fit
HIGHEST = 590  # a picture fits a window of 1280 x 800
KEPT, MOVED, NEW, UNREAD = svg.COPIED, svg.MOVED, svg.fill(4), svg.Fill(svg.PANEL, "")
MEANS = {KEPT: "same owner as before", MOVED: "moved: had another owner", NEW: "had no owner"}


@dataclass(frozen=True, slots=True)
class _Grid:
    """The cells of a picture, as large in every frame of an animation."""

    names: float  # where they begin, right of the longest name
    unit: float
    per_row: int
    row: float
    has_one_topic: bool

    @classmethod
    def fitting(cls, partitions: Sequence[TopicPartition], lanes: Mapping[str, int], below: float = 0) -> _Grid:
        """Cells in which the longest name fits, larger where the longest lane has room; rows so low that all lanes fit.

        Parameters
        ----------
        lanes : mapping of str to int
            By its name, how many cells a lane has at most.
        below : float
            Pixels of what stands below them.
        """
        has_one_topic = short_names(partitions)
        names = max(LEAST_NAMES, svg.name_width(lanes, svg.BODY, MOST_NAME) + 14)
        needed = max((svg.text_width(label_of(each, has_one_topic)) for each in partitions), default=svg.LETTER) + 16
        room = WIDE - names - COUNTS
        unit = max(needed, min(1.6 * needed, room / max([1, *lanes.values()])))
        made = cls(names, unit, max(1, int(room / unit + 0.001)), ROW, has_one_topic)
        high = HIGHEST - HEAD - below - len(lanes) * (2 * PAD + 1)
        rows = sum(map(made.rows, lanes.values()))
        return replace(made, row=min(ROW, max(LOWEST_ROW, high / max(rows, 1))))

    def rows(self, count: int) -> int:
        """The rows that so many cells take."""
        return max(1, -(-count // self.per_row))

    def cells(self, looks: Mapping[TopicPartition, svg.Fill], marked: Container[TopicPartition]) -> Block:
        """A cell for each partition, by topic and number."""
        ordered, rows = sorted(looks), []
        for begin in range(0, len(ordered), self.per_row):
            shown = ordered[begin : begin + self.per_row]
            words = {at: label_of(each, self.has_one_topic) for at, each in enumerate(shown)}
            filled = by_fill(looks[each] for each in shown)
            new = [at for at, each in enumerate(shown) if each in marked]
            row = cells(len(shown), self.unit, filled, words, height=self.row - 6, marked=new)
            rows.append(beside(row, height=self.row))
        return stack(*rows)

    def lane(self, name: Block, inside: Block | str, most: int, count: Block | None = None) -> Block:
        """A name, cells or words right of it, and a count at the right end; as high as `most` cells need."""
        ends = at_ends(name, count or space(), height=self.row)
        if isinstance(inside, str):
            inside = beside(label(inside, svg.BODY, svg.MUTED), height=self.row)
        return free(WIDE, self.rows(most) * self.row + 2 * PAD, ends.at(0, PAD), inside.at(self.names, PAD))


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
    counts, owners = assignment.counts(), None if before is None else before.owners()
    gone = [svg.cut_name(member_id) for member_id in before or () if member_id not in assignment]
    grid = _Grid.fitting([each for owned in assignment.values() for each in owned], counts, 34 if gone else 0)
    lanes = []
    for member_id, owned in assignment.items():
        had = None if before is None else len(before.get(member_id, ()))
        lanes += [_member(grid, member_id, _looks(owned, member_id, owners), counts[member_id], had), rule()]
    if gone:
        lanes += [space(height=8), label(f"gone: {', '.join(gone)}", svg.BODY, svg.MUTED)]
    head = _head(title or load_words(assignment), is_change=before is not None)
    return sheet(stack(head, *lanes), describe_assignment(assignment, before))


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
    width = min(80, (WIDE - DEALT_NAMES) / max(1, longest) - 4)

    def dealt(name: str, assignment: Assignment, topic: str) -> Block:
        owners, words = assignment.owners(), f"{name}, {topic}" if len(topics) > 1 else name
        chips = [
            chip(
                [str(number)],
                fills.get(owners.get(TopicPartition(topic, number), ""), svg.NOTHING),
                width=width,
                height=34,
            )
            for number in sorted(topics[topic])
        ]
        said = stack(label(words, svg.BODY, bold=True, width=DEALT_NAMES - 4), space(height=5))
        return line_of(said, *chips, gap=4)

    is_short = len(topics) <= 1
    said = (
        f"{name}: {'; '.join(f'{member} {_names(owned, is_short)}' for member, owned in assignment.items())}"
        for name, assignment in by_assignor.items()
    )
    lanes = [dealt(name, assignment, topic) for name, assignment in by_assignor.items() for topic in sorted(topics)]
    key = legend(fills.values(), {fill: svg.cut_name(name, 20) for name, fill in fills.items()})
    return sheet(stack(*lanes, key, gap=8), ". ".join(said))


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
    group, states = frame.state, [each.state for each in trace]
    everybody = dict.fromkeys(member_id for each in states for member_id in each.reading)
    most = {name: max(len(each.reading.get(name, ())) for each in states) for name in everybody}
    most_unread = max(len(each.unread) for each in states)
    grid = _Grid.fitting(states[-1].partitions, most | ({"": most_unread} if most_unread else {}))
    lanes, owners = [], group.first.owners()
    for member_id, count in most.items():
        owned = group.reading.get(member_id)
        if owned is None:
            words = "has left" if member_id in group.left else "not here yet"
            lanes += [grid.lane(_name(member_id, svg.MUTED), words, count), rule()]
        else:
            had = len(before.state.reading.get(member_id, ())) if before else None
            lanes += [_member(grid, member_id, _looks(owned, member_id, owners), count, had), rule()]
    if most_unread:
        lanes.append(_unread(grid, group, frame.event, most_unread))
    read_count = len(group.partitions) - len(group.unread)
    title = f"{read_count} of {counted(len(group.partitions), 'partition')} are read"
    return sheet(stack(_head(title, is_change=True), *lanes), describe_rebalance(frame, before), below=8)


def _head(title: str, *, is_change: bool) -> Block:
    """The title, and what the fills mean."""
    hint = label("a lane for each member, a cell for each partition", colour=svg.MUTED)
    means = legend(MEANS, MEANS, width=WIDE - 60) if is_change else hint
    return stack(label(title, svg.TITLE, bold=True), space(height=6), means, space(height=6))


def _looks(
    owned: Iterable[TopicPartition], member_id: str, owners: Mapping[TopicPartition, str] | None
) -> dict[TopicPartition, svg.Fill]:
    """Whether a member had each of its partitions before; all look alike where no `owners` of before are known."""
    if owners is None:
        return dict.fromkeys(owned, KEPT)
    return {each: KEPT if owners.get(each) == member_id else MOVED if each in owners else NEW for each in owned}


def _name(member_id: str, colour: str = svg.INK) -> Block:
    return label(svg.cut_name(member_id, MOST_NAME), svg.BODY, colour)


def _member(grid: _Grid, member_id: str, looks: Mapping[TopicPartition, svg.Fill], most: int, had: int | None) -> Block:
    """A member with what it has; a partition that moved has a marked border as well."""
    moved = {each for each, look in looks.items() if look == MOVED}
    change = "" if had is None or had == len(looks) else f" ({len(looks) - had:+d})"
    count = label(f"{len(looks)}{change}", svg.BODY, bold=bool(change), at_end=True)
    return grid.lane(_name(member_id), grid.cells(looks, moved) if looks else "nothing", most, count)


def _unread(grid: _Grid, group: Group, event: Event | None, most: int) -> Block:
    """The lane of what nobody reads, on a ground of its own."""
    stopped = [each for each in group.effects if isinstance(each, StoppedReading) and isinstance(event, Assigned)]
    just_now = {partition for each in stopped for partition in each.partitions}
    unread = grid.cells(dict.fromkeys(group.unread, UNREAD), just_now)
    count = label(str(len(group.unread)), svg.BODY, bold=True, at_end=True)
    lane = grid.lane(label("nobody reads", svg.BODY, bold=True), unread, most, count)
    return free(WIDE, lane.height, lambda x, y: [svg.rect(0, y, svg.WIDTH, lane.height, svg.EMPTY)], lane.draw)
