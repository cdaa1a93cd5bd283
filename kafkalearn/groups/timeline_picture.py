"""A group on one page: the states of a classic group as a diagram, and a whole scenario over time.

The diagram is drawn from the table of transitions that the simulator obeys.
"""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import wrap
from typing import Protocol

from kafkalearn.base.durations import seconds
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import WIDE, Block, free, label, row, sheet, space, stack, timeline
from kafkalearn.drawing.player import Picture
from kafkalearn.groups.classic.model import TRANSITIONS, Transition
from kafkalearn.groups.defaults import CLASSIC_STATES, COMPLETING, DEAD, EMPTY, PREPARING, STABLE
from kafkalearn.groups.picture import (
    STATE_FILLS,
    group_lane,
    legends,
    member_lane,
    time_axis,
    unread_lane,
)
from kafkalearn.scenarios.outcome import Outcome

BOX_WIDTH, BOX_HEIGHT = 250, 50  # pixels: of a state
CENTRES = {
    EMPTY: (125, 25),
    PREPARING: (484, 25),
    COMPLETING: (843, 25),
    STABLE: (843, 145),
    DEAD: (125, 145),
}
APART = 15  # pixels between the two directions of a pair
NUMBERS, LINE_LENGTH, SHORT = 80, 84, 36  # pixels of the numbers of ways; letters right of them, and in half a line
Point = tuple[float, float]


class HasState(Protocol):
    """A moment of a group, of the coordinator alone or of a scenario."""

    @property
    def state(self) -> str:
        """One of Kafka's names of states."""


def draw_group_states(
    frame: Frame[HasState, object] | None = None,
    before: Frame[HasState, object] | None = None,
    transitions: Iterable[Transition] = TRANSITIONS,
) -> Picture:
    """The states and every way between them, numbered; below, the causes of each.

    Parameters
    ----------
    frame, before : Frame, optional
        Of a run of `kafkalearn.groups.classic`, or of an outcome's trace: its state is marked, and the way it came.
    transitions : iterable of Transition
        The table; without one, the whole.

    Examples
    --------
    >>> draw_group_states().label[:74]
    'The states of a classic group: Empty, PreparingRebalance, CompletingRebala'
    """
    ways = _ways(transitions)
    now = None if frame is None else frame.state.state
    was = None if before is None else before.state.state
    came = (was, now) if was is not None and now is not None and was != now else None
    page = stack(
        label("The states of a classic group", svg.TITLE, bold=True),
        space(height=10),
        free(
            WIDE,
            max(y for _, y in CENTRES.values()) + BOX_HEIGHT / 2,
            lambda x, y: [_way(at, pair, ways, pair == came, (x, y)) for at, pair in enumerate(ways, start=1)],
            lambda x, y: [_state(name, name == now, (x, y)) for name in CLASSIC_STATES],
        ),
        space(height=12),
        *_causes(ways, came),
    )
    return sheet(page, _states_label(now, came))


def _states_label(now: str | None, came: tuple[str, str] | None) -> str:
    label = f"The states of a classic group: {', '.join(CLASSIC_STATES)}"
    if now is not None:
        label += f"; it is {now} now"
    return f"{label}, and came from {came[0]}" if came else label


def _ways(transitions: Iterable[Transition]) -> dict[tuple[str, str], list[str]]:
    """The causes of each way from a state to another: first the ways that have one cause, in the order of the table."""
    ways: dict[tuple[str, str], list[str]] = {}
    for before, after, cause in transitions:
        ways.setdefault((before, after), []).append(cause)
    return dict(sorted(ways.items(), key=lambda way: len(way[1]) > 1))


def _centre(name: str, origin: Point) -> Point:
    x, y = CENTRES[name]
    return origin[0] + x, origin[1] + y


def _state(name: str, is_now: bool, origin: Point) -> str:
    x, y = _centre(name, origin)
    box = (x - BOX_WIDTH / 2, y - BOX_HEIGHT / 2, BOX_WIDTH, BOX_HEIGHT)
    return "\n".join(
        [
            svg.filled(STATE_FILLS[name], box),
            svg.rect(*box, **svg.edge(is_now), rx=4),
            svg.text(x, y + 6, name, svg.BODY, "middle", bold=True),
        ]
    )


def _way(at: int, pair: tuple[str, str], ways: dict[tuple[str, str], list[str]], is_now: bool, origin: Point) -> str:
    """An arrow from edge to edge with its number; where there is a way back, beside the middle."""
    start, end = _centre(pair[0], origin), _centre(pair[1], origin)
    length = ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5
    along = ((end[0] - start[0]) / length, (end[1] - start[1]) / length)
    aside = APART if (pair[1], pair[0]) in ways else 0
    shift = (-along[1] * -aside, along[0] * -aside)
    tail = _edge((start[0] + shift[0], start[1] + shift[1]), start, along)
    head = _edge((end[0] + shift[0], end[1] + shift[1]), end, (-along[0], -along[1]))
    colour, width = (svg.MARK, svg.STRONG) if is_now else (svg.MUTED, svg.LINE)
    middle = (tail[0] * 0.55 + head[0] * 0.45, tail[1] * 0.55 + head[1] * 0.45)
    return "\n".join([svg.arrow(*tail, *head, colour, width), _badge(at, middle, colour)])


def _edge(point: Point, centre: Point, along: Point) -> Point:
    """Where a line from a point inside a box leaves the box."""
    reaches = []
    for axis, half in ((0, BOX_WIDTH / 2 + 3), (1, BOX_HEIGHT / 2 + 3)):
        if abs(along[axis]) > 1e-9:
            wall = centre[axis] + (half if along[axis] > 0 else -half)
            reaches.append((wall - point[axis]) / along[axis])
    reach = min(reaches)
    return point[0] + along[0] * reach, point[1] + along[1] * reach


def _badge(at: int, middle: Point, colour: str) -> str:
    circle = svg.element(
        "circle",
        cx=svg.number(middle[0]),
        cy=svg.number(middle[1]),
        r=13,
        fill=svg.PANEL,
        stroke=colour,
        stroke_width=svg.LINE,
    )
    return "\n".join([circle, svg.text(middle[0], middle[1] + 6, str(at), svg.SMALL + 1, "middle", colour, bold=True)])


def _causes(ways: dict[tuple[str, str], list[str]], came: tuple[str, str] | None) -> list[Block]:
    """The numbers of ways with their causes: ways with the same ones together, two short ones beside each other."""
    numbered: dict[str, list[int]] = {}
    for at, causes in enumerate(ways.values(), start=1):
        numbered.setdefault("; ".join(causes), []).append(at)
    marked = list(ways).index(came) + 1 if came in ways else None
    short, long = [], []
    for words, numbers in numbered.items():
        ink = svg.MARK if marked in numbers else svg.INK
        number = label(", ".join(map(str, numbers)), svg.BODY, ink, bold=True, width=NUMBERS)
        causes = stack(*(label(each, svg.BODY, ink) for each in wrap(words, LINE_LENGTH)))
        is_short = len(words) < SHORT
        (short if is_short else long).append(_beside(number, causes, WIDE / 2 if is_short else WIDE))
    return [*(row(*short[at : at + 2], space(), gap=0) for at in range(0, len(short), 2)), *long]


def _beside(number: Block, causes: Block, width: float) -> Block:
    return free(width, causes.height, number.draw, lambda x, y: causes.draw(x + NUMBERS, y))


MOST_LANES, FEW, LANES_HEIGHT = 14, 8, 282  # members that are shown, and the pixels that they share
TITLE_LENGTH, LANE_LENGTH = 68, 88  # characters that fit into the width


def draw_timeline(outcome: Outcome, from_ms: int = 0, to_ms: int | None = None) -> Picture:
    """A whole scenario on one page: the group's states, what each consumer did, the partitions that nobody read.

    Parameters
    ----------
    outcome : Outcome
        What `kafkalearn.scenarios.simulate` gave.
    from_ms, to_ms : int
        The stretch to be shown; without them all of it.

    Raises
    ------
    KafkaLearnError
        If the stretch is empty or lies outside of the scenario.

    Examples
    --------
    >>> from kafkalearn.scenarios import simulate
    >>> draw_timeline(simulate("at 0 s: c1 and c2 join")).label
    '1 rebalance in 120 s; c1 stood still for 6.012 s, c2 for 6.012 s; nobody read for 6.012 s'
    """
    until_ms = outcome.end_ms if to_ms is None else to_ms
    if not 0 <= from_ms < until_ms <= outcome.end_ms:
        raise KafkaLearnError(f"the stretch must lie from 0 to {outcome.end_ms} ms, got {from_ms} to {until_ms}")
    axis = time_axis(from_ms, until_ms)
    names = outcome.scenario.members[:MOST_LANES]
    hidden_count = len(outcome.scenario.members) - len(names)
    more = f"{hidden_count} more members" if hidden_count else ""
    gap = 4 if len(names) > FEW else 8
    tall = min(26, LANES_HEIGHT // max(len(names), 1) - gap)
    members = stack(*(member_lane(outcome, name, axis, tall, until_ms) for name in names), gap=gap)
    page = stack(
        label(_title(outcome), svg.TITLE, bold=True, width=WIDE),
        row(label(_subtitle(outcome), svg.BODY, svg.MUTED), label(more, svg.BODY, svg.MUTED), width=WIDE),
        space(height=8),
        timeline(
            axis,
            stack(
                group_lane(outcome, axis, 34, until_ms),
                members,
                unread_lane(outcome, axis, 44),
                space(),
                gap=12,
            ),
        ),
        space(height=10),
        legends(outcome),
    )
    return sheet(page, _timeline_label(outcome))


def _title(outcome: Outcome) -> str:
    is_mixed = outcome.scenario.is_mixed
    kind = "both protocols" if is_mixed else f"{outcome.protocol} protocol"
    has_assignor = outcome.protocol == "classic" and not is_mixed
    shown = f" ({outcome.settings.of(None).assignors[0]})" if has_assignor else ""
    rebalances = counted(outcome.rebalance_count, "rebalance")
    words = f"{rebalances}: Kafka {outcome.settings.release}, {kind}{shown}"
    return words if len(words) <= TITLE_LENGTH else f"{words[: TITLE_LENGTH - 2]} …"


def _subtitle(outcome: Outcome) -> str:
    given = [f"{name} {value}" for name, value in outcome.settings.values.items() if "strategy" not in name]
    changed = f"; {', '.join(given)}" if given else ""
    words = f"{outcome.records_not_read:,} records not read meanwhile{changed}"
    return words if len(words) <= LANE_LENGTH else words[: LANE_LENGTH - 2] + " …"


def _timeline_label(outcome: Outcome) -> str:
    stood = [f"{name} for {seconds(ms)}" for name, ms in outcome.member_standstill_ms.items()]
    members = ", ".join(stood).replace(" for", " stood still for", 1) or "nobody ever joins"
    return (
        f"{counted(outcome.rebalance_count, 'rebalance')} in {seconds(outcome.end_ms)}; {members}; "
        f"nobody read for {seconds(outcome.group_standstill_ms)}"
    )
