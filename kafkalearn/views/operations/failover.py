"""A broker dies and its groups move, drawn: a row for each client, a column for each second, and what it heard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

from kafkalearn.errors import KafkaLearnError
from kafkalearn.operations.failover import Failover, Settings
from kafkalearn.operations.failover.effects import Heard
from kafkalearn.operations.failover.events import Event
from kafkalearn.phrases import capitalised
from kafkalearn.trace import Frame, Trace
from kafkalearn.views.drawing.frames import Animation, animation
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, FILLS, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text
from kafkalearn.views.operations.failover_words import broker_words, describe_failover, event_words

LEFT, GRID_LEFT, GRID_ROOM = 20, 205, 770
BROKER_TOP, BROKER_HEIGHT, GRID_TOP, ROW_HEIGHT, CELL_HEIGHT = 54, 30, 34, 46, 34
MOST_SECONDS = 60

SERVED, ALONE, SENT_AWAY, WAITS = FILLS[2], FILLS[1], FILLS[3], FILLS[4]
LOOKS = {"NONE": SERVED, "no connection": ALONE, "COORDINATOR_LOAD_IN_PROGRESS": WAITS}
LEGEND = (
    (SERVED, "served", 20), (ALONE, "no connection", 140), (SENT_AWAY, "sent away, or nobody coordinates", 330),
    (WAITS, "COORDINATOR_LOAD_IN_PROGRESS", 660),
)  # fmt: skip

Cells = tuple[tuple[str, int, str], ...]  # client, second, error


def animate_failover(
    settings: Settings, trace: Trace[Failover, Event], *, title: str = "", stills: Sequence[int] | None = None
) -> Animation:
    """A run for `play`: in each frame all that clients have heard so far.

    Examples
    --------
    >>> from kafkalearn.operations.failover import BrokerDied, SecondPassed, simulate
    >>> trace = simulate(Settings(), [BrokerDied(1), SecondPassed()])
    >>> animate_failover(Settings(), trace).captions[1]
    'Broker 1 dies: nobody asks.'

    Raises
    ------
    KafkaLearnError
        If the run is longer than a minute: its seconds would be too narrow to read.
    """
    last_s = trace[-1].state.second
    if last_s > MOST_SECONDS:
        raise KafkaLearnError(f"the picture has room for {MOST_SECONDS} seconds, got {last_s}; take a part of the run")
    heard = list(accumulate((_cells(frame) for frame in trace), initial=()))[1:]
    first = trace[0].index

    def draw(frame: Frame[Failover, Event], before: Frame[Failover, Event] | None) -> Picture:
        return _draw(settings, frame, before, heard[frame.index - first], last_s)

    def describe(frame: Frame[Failover, Event], before: Frame[Failover, Event] | None) -> str:
        return describe_failover(settings, frame, before)

    return animation(trace, draw, describe, title=title, stills=stills)


def _cells(frame: Frame[Failover, Event]) -> Cells:
    """Of each client what it heard last in this second."""
    last = {each.client: each.error for each in frame.state.effects if isinstance(each, Heard)}
    return tuple((client, frame.state.second, error) for client, error in last.items())


def _draw(
    settings: Settings, frame: Frame[Failover, Event], before: Frame[Failover, Event] | None, heard: Cells, last_s: int
) -> Picture:
    state = frame.state
    grid_top = BROKER_TOP + BROKER_HEIGHT * len(settings.broker_ids) + GRID_TOP
    unit = GRID_ROOM / max(last_s, 1)
    rows = {each.name: grid_top + ROW_HEIGHT * place for place, each in enumerate(state.clients)}
    bottom = grid_top + ROW_HEIGHT * len(rows)
    return picture(
        bottom + 66,
        text(LEFT, 34, capitalised(event_words(frame)), TITLE, bold=True),
        *_brokers(settings, state, (before or frame).state),
        *_axis(grid_top, bottom, unit, last_s),
        *(shape for name, top in rows.items() for shape in _row(name, top, heard, unit, state.second)),
        *_legend(bottom + 30),
        label=describe_failover(settings, frame, before),
    )


def _brokers(settings: Settings, state: Failover, was: Failover) -> Iterator[str]:
    for place, broker_id in enumerate(settings.broker_ids):
        y = BROKER_TOP + BROKER_HEIGHT * place
        words, old = broker_words(state, broker_id), broker_words(was, broker_id)
        is_new = words != old
        ground = PANEL if state.is_up(broker_id) else EMPTY
        yield rect(LEFT, y, WIDTH - 2 * LEFT, BROKER_HEIGHT - 6, ground, rx=5, stroke=MARK if is_new else MUTED,
                   stroke_width=3 if is_new else 1)  # fmt: skip
        yield text(LEFT + 12, y + 18, f"broker {broker_id} {words}", SMALL, colour=MARK if is_new else INK, bold=is_new)


def _axis(top: float, bottom: float, unit: float, last_s: int) -> Iterator[str]:
    step = 1 if last_s <= 20 else 5
    for second in range(step, last_s + 1, step):
        yield text(GRID_LEFT + (second - 0.5) * unit, top - 8, str(second), SMALL, "middle", MUTED)
    yield text(LEFT, top - 8, "second", SMALL, colour=MUTED)
    yield line(GRID_LEFT, top, GRID_LEFT, bottom - 6, MUTED, 1)


def _row(name: str, top: float, heard: Cells, unit: float, now_s: int) -> Iterator[str]:
    yield text(LEFT, top + 24, name, BODY, bold=True)
    found = {second: error for client, second, error in heard if client == name}
    by_look: dict[Fill, list[tuple[float, float, float, float]]] = {}
    for second, error in found.items():
        box = (GRID_LEFT + (second - 1) * unit + 1, top + 4, unit - 2, CELL_HEIGHT)
        by_look.setdefault(LOOKS.get(error, SENT_AWAY), []).append(box)
    for look, boxes in by_look.items():
        yield filled(look, *boxes)
        yield outlined(*boxes, stroke=INK, width=1)
    if now_s in found:
        yield rect(GRID_LEFT + (now_s - 1) * unit, top + 3, unit, CELL_HEIGHT + 2, stroke=MARK, stroke_width=3)


def _legend(top: float) -> Iterator[str]:
    for look, words, x in LEGEND:
        box = (x, top, 22, 16)
        yield filled(look, box)
        yield outlined(box, stroke=INK, width=1)
        yield text(x + 29, top + 14, words, SMALL, colour=MUTED)
