"""Lanes over time: the states of a group on top, under it what each consumer did, and the partitions nobody read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TypeAlias

from kafkalearn import group_states
from kafkalearn.group.world.consumers import CONSUMING, GONE, IDLE, JOINING, PAUSED, WORKING
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.views.drawing.names import cut_name
from kafkalearn.views.drawing.style import BODY, EMPTY, FAINT, INK, MUTED, PANEL, READ, SMALL, Fill
from kafkalearn.views.drawing.svg import Box, filled, line, outlined, rect, text
from kafkalearn.views.group.words import DOING_WORDS, unread_partitions

LEFT, RIGHT = 150, 970
NAME_LENGTH = 11  # characters of a name beside a lane
NARROWEST = 2.0  # pixels: a rebalance of a second must be seen in a run of ten minutes

DOING_FILLS = {
    CONSUMING: Fill(READ, ""),
    IDLE: Fill(EMPTY, "."),
    JOINING: Fill("#f2b94b", "/"),
    PAUSED: Fill("#dba6cb", "x"),
    WORKING: Fill("#93c9b0", "-"),
    GONE: Fill(PANEL, ""),
}
STATE_FILLS = {  # other colours and hatches than those of members: a state of the group is another thing
    group_states.EMPTY: Fill("#ffffff", ""),
    group_states.STABLE: Fill("#dbe8b8", ""),
    group_states.PREPARING: Fill("#ee8f73", "\\"),
    group_states.COMPLETING: Fill("#b9a7d8", "+"),
    group_states.ASSIGNING: Fill("#f7c9b8", "\\"),
    group_states.RECONCILING: Fill("#cbbfe6", "|"),
    group_states.DEAD: Fill("#8a8a8a", ""),
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

    def box(self, start_ms: int, end_ms: int, top: float, height: float) -> Box | None:
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


Span: TypeAlias = tuple[int, int, Fill]
"""From, to, and how it looks."""


def band(axis: Axis, top: float, height: float, spans: Iterable[Span]) -> str:
    """Stretches of time in a lane; rare fills lie on top, so that they are seen."""
    boxes: dict[Fill, list[Box]] = {}
    for start_ms, end_ms, fill in _seen(axis, list(spans)):
        box = axis.box(start_ms, end_ms, top, height)
        if box is not None:
            boxes.setdefault(fill, []).append(box)
    by_width = sorted(boxes.items(), key=lambda item: -sum(box[2] for box in item[1]))
    edge = outlined((LEFT, top, RIGHT - LEFT, height), stroke=FAINT)
    return "\n".join([*(filled(fill, *its) for fill, its in by_width), edge])


def _seen(axis: Axis, spans: Sequence[Span]) -> list[Span]:
    """The stretches without those that are too short to be seen beside a longer one of the same trouble.

    A rebalance of two seconds ends in a state of 4 ms. Both are wider in the picture than they are, so one would lie
    on the other; the long one is kept. Beside the commonest fill of the lane everything is kept.
    """
    lengths: dict[Fill, int] = {}
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
            text(LEFT - 8, top + 12, str(most), SMALL, "end", MUTED),
            outlined((LEFT, top, RIGHT - LEFT, height), stroke=FAINT),
            filled(Fill(MUTED, ""), *boxes),
        ]
    )


def lane_name(name: str, top: float, height: float, bold: bool = False) -> str:
    """The words at the left of a lane; of a long name both ends, in small letters."""
    size = BODY if height > 20 and len(name) <= NAME_LENGTH else SMALL
    return text(12 if size == SMALL else 22, top + height / 2 + 6, cut_name(name, 14), size, bold=bold)


def time_axis(axis: Axis, top: float, grid_top: float) -> str:
    """The times under the lanes, with thin lines up through them."""
    ticks = axis.ticks()
    return "\n".join(
        [
            *(line(x, grid_top, x, top, FAINT, 1) for x, _ in ticks),
            line(LEFT, top, RIGHT, top, INK, 1.5),
            *(line(x, top, x, top + 6, INK, 1.5) for x, _ in ticks),
            *(text(x, top + 22, words, SMALL, "middle") for x, words in ticks),
        ]
    )


def legend(top: float, lane: str, fills: dict[str, Fill]) -> str:
    """What the fills of a kind of lane stand for, in one row."""
    parts, x = [text(22, top + 15, f"{lane}:", SMALL, colour=MUTED)], 125.0
    for name, fill in fills.items():
        parts += [
            filled(fill, (x, top, 26, 18)),
            rect(x, top, 26, 18, stroke=INK, stroke_width=1),
            text(x + 33, top + 15, name, SMALL),
        ]
        x += 33 + 8.7 * len(name) + 22
    return "\n".join(parts)


def doings(outcome: Outcome) -> dict[str, Fill]:
    """The fills of what somebody does somewhere in the run."""
    seen = {row["doing"] for row in outcome.activity}
    return {DOING_WORDS[name].split(",")[0]: fill for name, fill in DOING_FILLS.items() if name in seen - {GONE}}
