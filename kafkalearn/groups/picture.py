"""A consumer group in a scenario: a moment of it in words and as a picture, and lanes over time for the whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from textwrap import wrap
from typing import TypeAlias

from kafkalearn.base.durations import seconds
from kafkalearn.base.errors import capitalised, counted
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import NARROWEST, TimeAxis, ghost
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    chip,
    free,
    label,
    legend,
    line_of,
    row,
    sheet,
    space,
    stack,
    timeline,
)
from kafkalearn.drawing.player import Picture
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

LEFT, RIGHT = 150, 970  # pixels: where the time of lanes begins and ends
NAME_LENGTH = 11  # characters of a name beside a lane

DOING_FILLS = {
    CONSUMING: svg.Fill(svg.READ, ""),
    IDLE: svg.Fill(svg.EMPTY, "."),
    JOINING: svg.Fill(svg.OPEN.colour, "/"),
    PAUSED: svg.Fill("#d29dc5", "x"),
    WORKING: svg.Fill("#88bbed", "-"),
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


def time_axis(from_ms: int, to_ms: int) -> TimeAxis:
    """The time of lanes."""
    return TimeAxis(LEFT, RIGHT, from_ms, max(to_ms, from_ms + 1))


Span: TypeAlias = tuple[int, int, svg.Fill]
"""From, to, and how it looks."""


def band(axis: TimeAxis, top: float, height: float, spans: Iterable[Span]) -> str:
    """Stretches of time in a lane; rare fills lie on top, so that they are seen."""
    boxes: dict[svg.Fill, list[svg.Box]] = {}
    for start_ms, end_ms, fill in _seen(axis, list(spans)):
        box = axis.box(start_ms, end_ms, top, height)
        if box is not None:
            boxes.setdefault(fill, []).append(box)
    by_width = sorted(boxes.items(), key=lambda item: -sum(box[2] for box in item[1]))
    frame = svg.outlined((LEFT, top, RIGHT - LEFT, height), stroke=svg.FAINT)
    return "\n".join([*(svg.filled(fill, *its) for fill, its in by_width), frame])


def _seen(axis: TimeAxis, spans: Sequence[Span]) -> list[Span]:
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


def group_lane(outcome: Outcome, axis: TimeAxis, height: float, until_ms: int) -> Block:
    """The states of the group."""
    rows = [row for row in outcome.timeline if row["from_ms"] < until_ms]
    spans = [(row["from_ms"], min(row["to_ms"], until_ms), STATE_FILLS[row["state"]]) for row in rows]
    return _lane("the group", height, lambda y: [band(axis, y, height, spans)], bold=True)


def member_lane(outcome: Outcome, name: str, axis: TimeAxis, height: float, until_ms: int) -> Block:
    """What one consumer did."""
    rows = [row for row in outcome.activity if row["member"] == name and row["from_ms"] < until_ms]
    spans = [
        (row["from_ms"], min(row["to_ms"], until_ms), DOING_FILLS[row["doing"]]) for row in rows if row["doing"] != GONE
    ]
    return _lane(name, height, lambda y: [band(axis, y, height, spans)])


def unread_lane(outcome: Outcome, axis: TimeAxis, height: float) -> Block:
    """How many partitions nobody read, as columns that grow from the ground."""
    most = max(len(frame.state.partitions) for frame in outcome.trace)
    has_started, columns = False, []
    for one, other in pairwise(frame.state for frame in outcome.trace):
        has_started = has_started or any(each.doing != GONE for each in one.members)
        count = len(unread_partitions(one)) if has_started else 0
        if count and other.time_ms > one.time_ms:
            columns.append((one.time_ms, other.time_ms, height * count / most))

    def draw(y: float) -> list[str]:
        boxes = (axis.box(start_ms, end_ms, y + height - tall, tall) for start_ms, end_ms, tall in columns)
        return [
            svg.text(LEFT - 8, y + 12, str(most), svg.SMALL, "end", svg.MUTED),
            svg.outlined((LEFT, y, RIGHT - LEFT, height), stroke=svg.FAINT),
            svg.filled(svg.Fill(svg.MUTED, ""), *(box for box in boxes if box)),
        ]

    return _lane("not read", height, draw)


def _lane(name: str, height: float, inside: Callable[[float], list[str]], *, bold: bool = False) -> Block:
    """A lane with its name on the left; of a long name both ends, in small letters."""
    size = svg.BODY if height > 20 and len(name) <= NAME_LENGTH else svg.SMALL
    words = svg.cut_name(name, 13)
    return free(
        WIDE,
        height,
        lambda x, y: [svg.text(x, y + height / 2 + 6, words, size, bold=bold)],
        lambda _, y: inside(y),
    )


def legend_of(lanes: str, fills: dict[str, svg.Fill]) -> Block:
    """What the fills of a kind of lanes stand for, in one row."""
    names = {fill: words for words, fill in fills.items()}
    return row(
        label(f"{lanes}:", colour=svg.MUTED, width=103), legend(fills.values(), names, width=WIDE - 111), space()
    )


def doings(outcome: Outcome) -> dict[str, svg.Fill]:
    """The fills of what somebody does somewhere in the run."""
    seen = {row["doing"] for row in outcome.activity} - {GONE}
    return {DOING_WORDS[name].split(",")[0]: fill for name, fill in DOING_FILLS.items() if name in seen}


def legends(outcome: Outcome) -> Block:
    """What the fills of a run stand for: those of the group, and below them those of its members."""
    seen = {row["state"] for row in outcome.timeline}
    states = {name: fill for name, fill in STATE_FILLS.items() if name in seen}
    return stack(legend_of("the group", states), legend_of("members", doings(outcome)), gap=4)


# A moment as a picture. The outcome comes first, so that it can be bound once:
# ``play(outcome.trace, partial(draw_group, outcome))``.

MOST_MEMBERS = 8
FEW_MEMBERS = 4  # so many have lanes of their own below; of more, only the group has
NAMES, DOING = 116, 228  # pixels: of the names of members, and of what they do
ROW_HEIGHT, LOW_ROW_HEIGHT, CHIP_HEIGHT, CHIP_GAP = 40, 34, 28, 6
BAND_HEIGHT, LANE_HEIGHT, LANE_GAP = 26, 18, 3
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
    has_few = len(shown) <= FEW_MEMBERS
    height = ROW_HEIGHT if has_few else LOW_ROW_HEIGHT
    axis = time_axis(0, outcome.end_ms)
    lanes = [member_lane(outcome, each.name, axis, LANE_HEIGHT, moment.time_ms) for each in shown if has_few]
    group = group_lane(outcome, axis, BAND_HEIGHT, moment.time_ms)
    page = stack(
        _heading(outcome, frame, before),
        _event(frame.event or ""),
        *(_row(outcome, each, before, height) for each in shown),
        space(height=6),
        _unread_line(outcome, moment, len(moment.members) - len(shown)),
        space(height=20),
        timeline(axis, stack(group, space(height=5), *lanes, space(height=3), gap=LANE_GAP), now_ms=moment.time_ms),
        space(height=10),
        legends(outcome),
    )
    return sheet(page, describe_group(outcome, frame, before))


def _shown(outcome: Outcome, moment: Moment, before: Frame[Moment, str] | None) -> list[MemberMoment]:
    """The members that fit; of many, those that change here first, in their usual order."""
    if len(moment.members) <= MOST_MEMBERS:
        return list(moment.members)
    changed = [each.name for each in moment.members if before is None or before.state.member(each.name) != each]
    chosen = list(dict.fromkeys([*changed, *(each.name for each in moment.members)]))[:MOST_MEMBERS]
    return [each for each in moment.members if each.name in chosen]


def _heading(outcome: Outcome, frame: Frame[Moment, str], before: Frame[Moment, str] | None) -> Block:
    moment = frame.state
    has_changed = before is not None and (before.state.state, before.state.generation) != moment[1:3]
    words = f"{moment.state}, {counter(outcome)} {moment.generation}"
    leader = f"led by {moment.leader}" if moment.leader else ""
    width, height = svg.text_width(words, 15.5) + 30, 38
    state = free(
        width,
        height,
        lambda x, y: [svg.filled(STATE_FILLS[moment.state], (x, y, width, height))],
        lambda x, y: [svg.rect(x, y, width, height, **svg.edge(has_changed))],
        lambda x, y: [svg.text(x + width / 2, y + 27, words, svg.TITLE - 2, "middle", bold=True)],
    )
    time = label(seconds(moment.time_ms), svg.TITLE, bold=True, width=160)
    return row(time, state, label(leader, svg.BODY, svg.MUTED), space(), gap=10)


def _event(words: str) -> Block:
    """What happened, in at most two lines."""
    lines = wrap(words, LINE_LENGTH)
    if len(lines) > 2:
        lines[1] += " …"
    return free(WIDE, 54, lambda x, y: stack(*(label(each, svg.BODY - 1) for each in lines[:2])).draw(x, y + 4))


def _row(outcome: Outcome, member: MemberMoment, before: Frame[Moment, str] | None, height: float) -> Block:
    """A consumer: its name, what it does, what it owns, and what it has just lost."""
    had = before.state.member(member.name) if before is not None else member
    ink = svg.MUTED if member.doing == GONE else svg.INK
    size = svg.BODY if len(member.name) < 9 else svg.SMALL
    middle = height / 2
    chips = _chips(outcome, member, had)

    def doing(x: float, y: float) -> list[str]:
        box = (x + NAMES, y + 2, DOING - 14, height - 6)
        return [
            svg.filled(DOING_FILLS[member.doing], box),
            svg.rect(*box, **svg.edge(had.doing != member.doing)),
            svg.text(box[0] + box[2] / 2, y + middle + 5, DOING_WORDS[member.doing], svg.BODY - 1, "middle", ink),
        ]

    return free(
        WIDE,
        height,
        lambda x, y: [svg.text(x, y + middle + 5, svg.cut_name(member.name, 11), size, colour=ink, bold=True)],
        doing,
        lambda x, y: chips.draw(x + NAMES + DOING, y + middle - CHIP_HEIGHT / 2 - 1),
    )


def _chips(outcome: Outcome, member: MemberMoment, had: MemberMoment) -> Block:
    """The partitions as small boxes: marked if gained just now, struck through if just lost."""
    gone = tuple(each for each in had.owned if each not in member.owned)
    every = [*member.owned, *gone]
    names = dict(zip(every, partition_names(outcome, tuple(every)), strict=True))
    width = max([34.0, *(svg.text_width(name, 11.0) + 12 for name in names.values())])
    if len(every) > (WIDE - NAMES - DOING) // (width + CHIP_GAP):
        words = counted(len(member.owned), "partition") + (f", {len(gone)} just lost" if gone else "")
        return label(words, svg.BODY)
    shown = [_chip(name, width, member, had, partition) for partition, name in names.items()]
    return line_of(*shown, gap=CHIP_GAP)


def _chip(name: str, width: float, member: MemberMoment, had: MemberMoment, partition: TopicPartition) -> Block:
    if partition not in member.owned:
        return free(width, CHIP_HEIGHT, lambda x, y: [ghost((x, y, width, CHIP_HEIGHT), name, svg.MARK)])
    fill = svg.Fill(DOING_FILLS[CONSUMING].colour if member.doing == CONSUMING else svg.EMPTY, "")
    return chip([name], fill, width=width, height=CHIP_HEIGHT, is_new=partition not in had.owned)


def _unread_line(outcome: Outcome, moment: Moment, hidden_count: int) -> Block:
    unread = unread_partitions(moment)
    names = " ".join(partition_names(outcome, unread))
    if len(names) > 60:
        names = f"{len(unread)} of {len(moment.partitions)} partitions"
    words = f"read by nobody: {names}" if unread else "all partitions are read"
    twice = sum(count > 1 for count in moment.readers().values())
    words += f"; {twice} read by two" if twice else ""
    more = f"   ({hidden_count} more members are not shown)" if hidden_count else ""
    return label(words + more, svg.BODY, bold=bool(unread), width=WIDE)
