"""A consumer group in a scenario: a moment of it in words and as a picture, and lanes over time for the whole run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from kafkalearn.base.durations import seconds
from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import chip, ghost
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.groups import defaults as group_states
from kafkalearn.scenarios.consumers import CONSUMING, GONE, IDLE, JOINING, PAUSED, WORKING, MemberMoment, Moment
from kafkalearn.scenarios.outcome import Outcome

DOING_WORDS = {
    CONSUMING: "reads",
    IDLE: "has nothing to read",
    JOINING: "waits, reads nothing",
    PAUSED: "stands still",
    WORKING: "works on one poll",
    GONE: "is not running",
}


def partition_names(outcome: Outcome, partitions: tuple[TopicPartition, ...]) -> list[str]:
    """Short names: of the only topic, the numbers."""
    has_one = len(outcome.scenario.topics) == 1
    return [str(each.partition) if has_one else str(each) for each in partitions]


def counter(outcome: Outcome) -> str:
    """The name of the number that rises with each rebalance."""
    return "generation" if outcome.protocol == "classic" else "group epoch"


def describe_group(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None = None) -> str:
    """What has just happened in a frame of an outcome's trace, and the state of the group.

    >>> from kafkalearn.scenarios import simulate
    >>> outcome = simulate("at 0 s: c1 joins")
    >>> describe_group(outcome, outcome.trace[3])
    'At 3.006 s: CompletingRebalance: the join phase ends. Generation 1; 0 of 6 partitions are read.'
    """
    moment = frame.state
    read_count = len(moment.readers())
    what = frame.event or ("nobody has started" if frame.index == 0 else "a member has changed what it does")
    read = f"{read_count} of {len(moment.partitions)} partitions {'is' if read_count == 1 else 'are'} read"
    group = f"{capitalised(counter(outcome))} {moment.generation}; {read}."
    return f"At {seconds(moment.time_ms)}: {what}. {group}{_changes(outcome, frame, before)}"


def _changes(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None) -> str:
    """The partitions that each member has gained and lost since the frame before."""
    if before is None:
        return ""
    changes = []
    for member in frame.state.members:
        had = before.state.member(member.name).owned
        gained = tuple(each for each in member.owned if each not in had)
        lost = tuple(each for each in had if each not in member.owned)
        if gained:
            changes.append(f"{member.name} gains {', '.join(partition_names(outcome, gained))}")
        if lost:
            changes.append(f"{member.name} loses {', '.join(partition_names(outcome, lost))}")
    return f" {'; '.join(changes)}." if changes else ""


def group_text(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None = None) -> str:
    """A frame of an outcome's trace as a few lines of text.

    >>> from kafkalearn.scenarios import simulate
    >>> outcome = simulate("at 0 s: c1, c2 join")
    >>> print(group_text(outcome, outcome.at(10_000)))
    At 6.012 s: c1 is assigned 3 partitions; c2 is assigned 3 partitions. Generation 1; 6 of 6 partitions are read.
    Stable, generation 1, led by c1
      c1 reads: 0 1 2
      c2 reads: 3 4 5
    """
    moment = frame.state
    leader = f", led by {moment.leader}" if moment.leader else ""
    lines = [describe_group(outcome, frame, before), f"{moment.state}, {counter(outcome)} {moment.generation}{leader}"]
    lines += [f"  {member_text(outcome, each)}" for each in moment.members]
    unread = unread_partitions(moment)
    if unread:
        lines.append(f"  read by nobody: {' '.join(partition_names(outcome, unread))}")
    return "\n".join(lines)


def member_text(outcome: Outcome, member: MemberMoment) -> str:
    """One consumer in a line."""
    owned = " ".join(partition_names(outcome, member.owned))
    return f"{member.name} {DOING_WORDS[member.doing]}" + (f": {owned}" if owned else "")


def unread_partitions(moment: Moment) -> tuple[TopicPartition, ...]:
    """The partitions that nobody reads at a moment."""
    readers = moment.readers()
    return tuple(each for each in moment.partitions if each not in readers)


# Lanes over time: the states of a group on top, under it what each consumer did, and the partitions nobody read.

LEFT, RIGHT = 150, 970
NAME_LENGTH = 11  # characters of a name beside a lane
NARROWEST = 2.0  # pixels: a rebalance of a second must be seen in a run of ten minutes

DOING_FILLS = {
    CONSUMING: svg.Fill(svg.READ, ""),
    IDLE: svg.Fill(svg.EMPTY, "."),
    JOINING: svg.Fill(svg.OPEN.colour, "/"),
    PAUSED: svg.Fill("#ecd0e3", "x"),
    WORKING: svg.Fill("#b5d0ec", "-"),
    GONE: svg.Fill(svg.PANEL, ""),
}
STATE_FILLS = {  # other colours and hatches than those of members: a state of the group is another thing
    group_states.EMPTY: svg.Fill("#ffffff", ""),
    group_states.STABLE: svg.Fill("#dbe8b8", ""),
    group_states.PREPARING: svg.Fill("#f0b7a4", "\\"),
    group_states.COMPLETING: svg.Fill("#b9a7d8", "+"),
    group_states.ASSIGNING: svg.Fill("#f7c9b8", "\\"),
    group_states.RECONCILING: svg.Fill("#cbbfe6", "|"),
    group_states.DEAD: svg.Fill(svg.FAINT, ""),
}
STEPS_MS = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000),
    *(60_000 * minutes for minutes in (1, 2, 5, 10, 20, 30, 60, 120, 240, 720, 1440)),
)
MOST_TICKS = 10


class Axis:
    """Where a moment lies between the left and the right edge."""

    def __init__(self, from_ms: int, to_ms: int) -> None:
        """A stretch of time."""
        self.from_ms, self.to_ms = from_ms, max(to_ms, from_ms + 1)

    def x(self, ms: float) -> float:
        """The place of a moment; what lies outside is at the edge."""
        inside = min(max(ms, self.from_ms), self.to_ms)
        return LEFT + (RIGHT - LEFT) * (inside - self.from_ms) / (self.to_ms - self.from_ms)

    def box(self, start_ms: int, end_ms: int, top: float, height: float) -> svg.Box | None:
        """A stretch of time in a lane, wide enough to be seen; None if it lies outside."""
        if end_ms <= self.from_ms or start_ms >= self.to_ms:
            return None
        left = min(self.x(start_ms), RIGHT - NARROWEST)
        return left, top, max(self.x(end_ms) - left, NARROWEST), height

    def ticks(self) -> list[tuple[float, str]]:
        """Round times and their names."""
        span_ms = self.to_ms - self.from_ms
        step_ms = next((each for each in STEPS_MS if span_ms / each <= MOST_TICKS), STEPS_MS[-1])
        first = -(-self.from_ms // step_ms) * step_ms
        in_minutes = step_ms % 60_000 == 0
        names = (lambda ms: f"{ms // 60_000} min") if in_minutes else (lambda ms: f"{ms / 1000:g} s")
        return [(self.x(ms), names(ms)) for ms in range(first, self.to_ms + 1, step_ms)]


Span: TypeAlias = tuple[int, int, svg.Fill]
"""From, to, and how it looks."""


def band(axis: Axis, top: float, height: float, spans: Iterable[Span]) -> str:
    """Stretches of time in a lane; rare fills lie on top, so that they are seen."""
    boxes: dict[svg.Fill, list[svg.Box]] = {}
    for start_ms, end_ms, fill in _seen(axis, list(spans)):
        box = axis.box(start_ms, end_ms, top, height)
        if box is not None:
            boxes.setdefault(fill, []).append(box)
    by_width = sorted(boxes.items(), key=lambda item: -sum(box[2] for box in item[1]))
    frame = svg.outlined((LEFT, top, RIGHT - LEFT, height), stroke=svg.FAINT)
    return "\n".join([*(svg.filled(fill, *its) for fill, its in by_width), frame])


def _seen(axis: Axis, spans: Sequence[Span]) -> list[Span]:
    """The stretches without those that are too short to be seen beside a longer one of the same trouble.

    A rebalance of two seconds ends in a state of 4 ms. Both are wider in the picture than they are, so one would lie
    on the other; the long one is kept. Beside the commonest fill of the lane everything is kept.
    """
    lengths: dict[svg.Fill, int] = {}
    for start_ms, end_ms, fill in spans:
        lengths[fill] = lengths.get(fill, 0) + end_ms - start_ms
    commonest = max(lengths, key=lengths.__getitem__, default=None)

    def is_hidden(at: int) -> bool:
        start_ms, end_ms, _ = spans[at]
        if axis.x(end_ms) - axis.x(start_ms) >= NARROWEST:
            return False
        neighbours = [spans[place] for place in (at - 1, at + 1) if 0 <= place < len(spans)]
        return any(
            other_end - other_start > end_ms - start_ms and fill != commonest
            for other_start, other_end, fill in neighbours
            if other_end >= start_ms and other_start <= end_ms
        )

    return [span for at, span in enumerate(spans) if not is_hidden(at)]


def group_band(outcome: Outcome, axis: Axis, top: float, height: float, until_ms: int) -> str:
    """The states of the group."""
    rows = [row for row in outcome.timeline if row["from_ms"] < until_ms]
    spans = [(row["from_ms"], min(row["to_ms"], until_ms), STATE_FILLS[row["state"]]) for row in rows]
    return "\n".join([lane_name("the group", top, height, bold=True), band(axis, top, height, spans)])


def member_band(outcome: Outcome, name: str, axis: Axis, top: float, height: float, until_ms: int) -> str:
    """What one consumer did."""
    rows = [row for row in outcome.activity if row["member"] == name and row["from_ms"] < until_ms]
    spans = [
        (row["from_ms"], min(row["to_ms"], until_ms), DOING_FILLS[row["doing"]]) for row in rows if row["doing"] != GONE
    ]
    return "\n".join([lane_name(name, top, height), band(axis, top, height, spans)])


def unread_steps(outcome: Outcome, axis: Axis, top: float, height: float) -> str:
    """How many partitions nobody read, as columns that grow from the ground."""
    most = max(len(frame.state.partitions) for frame in outcome.trace)
    has_started, boxes = False, []
    for one, other in pairwise(frame.state for frame in outcome.trace):
        has_started = has_started or any(each.doing != GONE for each in one.members)
        count = len(unread_partitions(one)) if has_started else 0
        tall = height * count / most
        box = axis.box(one.time_ms, other.time_ms, top + height - tall, tall)
        if count and box and other.time_ms > one.time_ms:
            boxes.append(box)
    return "\n".join(
        [
            lane_name("not read", top, height),
            svg.text(LEFT - 8, top + 12, str(most), svg.SMALL, "end", svg.MUTED),
            svg.outlined((LEFT, top, RIGHT - LEFT, height), stroke=svg.FAINT),
            svg.filled(svg.Fill(svg.MUTED, ""), *boxes),
        ]
    )


def lane_name(name: str, top: float, height: float, bold: bool = False) -> str:
    """The words at the left of a lane; of a long name both ends, in small letters."""
    size = svg.BODY if height > 20 and len(name) <= NAME_LENGTH else svg.SMALL
    return svg.text(22, top + height / 2 + 6, svg.cut_name(name, 13), size, bold=bold)


def time_axis(axis: Axis, top: float, grid_top: float) -> str:
    """The times under the lanes, with thin lines up through them."""
    ticks = axis.ticks()
    return "\n".join(
        [
            *(svg.line(x, grid_top, x, top, svg.FAINT, 1) for x, _ in ticks),
            svg.line(LEFT, top, RIGHT, top, svg.INK),
            *(svg.line(x, top, x, top + 6, svg.INK) for x, _ in ticks),
            *(svg.text(x, top + 22, words, svg.SMALL, "middle") for x, words in ticks),
        ]
    )


def legend(top: float, lane: str, fills: dict[str, svg.Fill]) -> str:
    """What the fills of a kind of lane stand for, in one row."""
    parts, x = [svg.text(22, top + 15, f"{lane}:", svg.SMALL, colour=svg.MUTED)], 125.0
    widest = x + sum(33 + svg.text_width(name, 8.7) + 22 for name in fills) - 22
    gap = (
        22 if widest <= svg.WIDTH else 22 - (widest - svg.WIDTH) / (len(fills) - 1)
    )  # both protocols' states in one run
    for name, fill in fills.items():
        parts += [
            svg.filled(fill, (x, top, 26, 18)),
            svg.rect(x, top, 26, 18, stroke=svg.FAINT, stroke_width=svg.HAIR),
            svg.text(x + 33, top + 15, name, svg.SMALL),
        ]
        x += 33 + svg.text_width(name, 8.7) + gap
    return "\n".join(parts)


def doings(outcome: Outcome) -> dict[str, svg.Fill]:
    """The fills of what somebody does somewhere in the run."""
    seen = {row["doing"] for row in outcome.activity} - {GONE}
    return {DOING_WORDS[name].split(",")[0]: fill for name, fill in DOING_FILLS.items() if name in seen}


def legends(outcome: Outcome, top: float) -> str:
    """What the fills of a run stand for: those of the group, and below them those of its members."""
    seen = {row["state"] for row in outcome.timeline}
    states = {name: fill for name, fill in STATE_FILLS.items() if name in seen}
    return "\n".join([legend(top, "the group", states), legend(top + 28, "members", doings(outcome))])


# A moment as a picture. The outcome comes first, so that it can be bound once:
# ``play(outcome.trace, partial(draw_group, outcome))``.

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
        What `kafkalearn.scenarios.simulate` gave.
    frame, before : Frame
        A frame of its trace and the one before it; what changed between them has a marked border.

    Examples
    --------
    >>> from kafkalearn.scenarios import simulate
    >>> outcome = simulate("at 0 s: c1 joins")
    >>> draw_group(outcome, outcome.trace[4]).label
    "At 3.01 s: Stable: the leader's assignment is stored (c1). Generation 1; 0 of 6 partitions are read."
    """
    moment = frame.state
    shown = _shown(outcome, moment, before)
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
        legends(outcome, bottom + 38),
        label=describe_group(outcome, frame, before),
    )


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
    width = svg.text_width(words, 15.5) + 30
    return "\n".join(
        [
            svg.text(22, 42, seconds(moment.time_ms), svg.TITLE, bold=True),
            svg.filled(STATE_FILLS[moment.state], (190, 14, width, 42)),
            svg.rect(190, 14, width, 42, **svg.edge(has_changed)),
            svg.text(190 + width / 2, 43, words, svg.TITLE - 2, "middle", bold=True),
            svg.text(190 + width + 6, 43, leader, svg.BODY, colour=svg.MUTED),
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
    return [svg.text(22, 84 + 21 * at, each, svg.BODY - 1) for at, each in enumerate(lines)]


def _row(outcome: Outcome, member: MemberMoment, before: Frame[Moment, str] | None, top: float, height: float) -> str:
    """A consumer: its name, what it does, what it owns, and what it has just lost."""
    had = before.state.member(member.name) if before is not None else member
    is_new = had.doing != member.doing
    box = (132, top + 2, 214, height - 8)
    ink = svg.MUTED if member.doing == GONE else svg.INK
    look, size = DOING_FILLS[member.doing], svg.BODY if len(member.name) < 9 else svg.SMALL
    middle = top + height / 2
    return "\n".join(
        [
            svg.text(22, middle + 4, svg.cut_name(member.name, 11), size, colour=ink, bold=True),
            svg.filled(look, box),
            svg.rect(*box, **svg.edge(is_new)),
            svg.text(239, middle + 4, DOING_WORDS[member.doing], svg.BODY - 1, "middle", ink),
            *_chips(outcome, member, had, middle - 17),
        ]
    )


def _chips(outcome: Outcome, member: MemberMoment, had: MemberMoment, top: float) -> list[str]:
    """The partitions as small boxes: marked if gained just now, struck through if just lost."""
    gone = tuple(each for each in had.owned if each not in member.owned)
    every = [*member.owned, *gone]
    names = dict(zip(every, partition_names(outcome, tuple(every)), strict=True))
    width = max([34.0, *(svg.text_width(name, 11.0) + 12 for name in names.values())])
    room = int((svg.WIDTH - 22 - CHIP_LEFT) // (width + CHIP_GAP))
    if len(every) > room:
        words = counted(len(member.owned), "partition") + (f", {len(gone)} just lost" if gone else "")
        return [svg.text(CHIP_LEFT, top + 22, words, svg.BODY)]
    return [
        _chip(name, CHIP_LEFT + at * (width + CHIP_GAP), top, width, member, had, partition)
        for at, (partition, name) in enumerate(names.items())
    ]


def _chip(
    name: str, x: float, y: float, width: float, member: MemberMoment, had: MemberMoment, partition: TopicPartition
) -> str:
    is_lost, is_gained = partition not in member.owned, partition not in had.owned
    if is_lost:
        return ghost((x, y, width, 28), name, svg.MARK)
    fill = svg.Fill(DOING_FILLS[CONSUMING].colour if member.doing == CONSUMING else svg.EMPTY, "")
    return "\n".join(chip([name], fill, width=width, height=28, is_new=is_gained).draw(x, y)).strip()


def _unread_line(outcome: Outcome, moment: Moment, baseline: float, hidden_count: int) -> str:
    unread = unread_partitions(moment)
    names = " ".join(partition_names(outcome, unread))
    if len(names) > 60:
        names = f"{len(unread)} of {len(moment.partitions)} partitions"
    words = f"read by nobody: {names}" if unread else "all partitions are read"
    twice = sum(count > 1 for count in moment.readers().values())
    words += f"; {twice} read by two" if twice else ""
    more = f"   ({hidden_count} more members are not shown)" if hidden_count else ""
    return svg.text(22, baseline, words + more, svg.BODY, bold=bool(unread))


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
            svg.line(axis.x(now_ms), top - 4, axis.x(now_ms), bottom, svg.MARK),
            svg.pointer(axis.x(now_ms), top - 3, size=8),
        ]
    )
