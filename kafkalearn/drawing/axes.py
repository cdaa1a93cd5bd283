"""What stands along an axis: the records of a log by their offsets, and what happens by its time.

A log is a row of cells along an `Axis` of offsets: `lane` draws them, finds by their offsets which are new since the
frame before, and leaves those that are gone as ghosts; `mark` is a line between two offsets. A `TimeAxis` has moments;
`kafkalearn.drawing.kit.timeline` draws one below its lanes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kafkalearn.drawing import svg

LINE_HEIGHT = 20  # pixels: between the lines of a cell


@dataclass(frozen=True, slots=True)
class RecordCell:
    """A record in its place: its words, in a line or several; its fill; at its foot a stripe of another fill."""

    words: str
    fill: svg.Fill
    stripe: svg.Fill | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """Offsets from left to right: `count` of them from `first` on, each so many pixels wide.

    >>> axis = Axis(left=100, first=5, count=10, unit=40)
    >>> axis.x(7), axis.x(2), axis.x(99), axis.middle(5)
    (180, 100, 500, 120.0)
    """

    left: float
    first: int
    count: int
    unit: float

    @property
    def offsets(self) -> range:
        """Those that are shown."""
        return range(self.first, self.first + self.count)

    def x(self, offset: int) -> float:
        """Where an offset begins; what is not shown lies at the edges."""
        return self.left + min(max(offset - self.first, 0), self.count) * self.unit

    def middle(self, offset: int) -> float:
        """The middle of its cell."""
        return self.x(offset) + self.unit / 2

    def box(self, offset: int, top: float, height: float) -> svg.Box:
        """Its cell."""
        return self.x(offset) + 1, top, self.unit - 2, height

    def numbers(self, y: float) -> str:
        """The offsets as numbers on a line."""
        return svg.words_at([(self.middle(each), y, str(each)) for each in self.offsets], svg.SMALL, fill=svg.MUTED)


def lane(
    axis: Axis,
    cells: Mapping[int, RecordCell],
    before: Mapping[int, RecordCell],
    top: float,
    height: float,
    *,
    ghosts: Mapping[int, str] | None = None,
) -> list[str]:
    """The cells of a log: new ones marked, and those that are gone since `before` as ghosts where they were.

    Parameters
    ----------
    axis : Axis
        Where the offsets are.
    cells, before : mapping of int to RecordCell
        By offset; new is a cell whose words are not those of the frame before.
    ghosts : mapping of int to str, optional
        Words of what was lost earlier, by offset: drawn where nothing else stands.

    Examples
    --------
    >>> axis, a, b = Axis(0, 0, 4, 40), RecordCell("a", svg.COMMITTED), RecordCell("b", svg.OPEN)
    >>> drawn = chr(10).join(lane(axis, {0: a}, {0: a, 1: b}, 0, 30))
    >>> drawn.count("stroke-dasharray"), drawn.count(svg.MARK)
    (1, 3)
    """
    shown = {at: each for at, each in cells.items() if at in axis.offsets}
    free_places = {at for at in axis.offsets if at not in cells}
    gone = {at: each.words for at, each in before.items() if at in free_places}
    lost = {at: words for at, words in (ghosts or {}).items() if at in free_places - gone.keys()}
    by_fill: dict[svg.Fill, list[svg.Box]] = {}
    for at, each in shown.items():
        by_fill.setdefault(each.fill, []).append(axis.box(at, top, height))
    stripes = [(each.stripe, axis.box(at, top + height - 4, 4)) for at, each in shown.items() if each.stripe]
    new = [at for at, each in shown.items() if at not in before or before[at].words != each.words]
    letters = [line for at, each in shown.items() for line in _lines(each.words, axis.box(at, top, height))]
    return [
        *(svg.filled(fill, *boxes) for fill, boxes in by_fill.items()),
        *(svg.filled(fill, box) for fill, box in stripes),
        svg.words_at(letters, svg.SMALL),
        svg.outlined(*(axis.box(at, top, height) for at in new), stroke=svg.MARK, stroke_width=svg.STRONG),
        *(ghost(axis.box(at, top, height), words, svg.MARK) for at, words in gone.items()),
        *(ghost(axis.box(at, top, height), words) for at, words in lost.items()),
    ]


def _lines(words: str, box: svg.Box) -> list[svg.Placed]:
    """The lines of a cell's words, about its middle."""
    x, y, width, height = box
    lines = words.split("\n")
    first = y + height / 2 + 6 - LINE_HEIGHT * (len(lines) - 1) / 2
    return [(x + width / 2, first + LINE_HEIGHT * at, each) for at, each in enumerate(lines)]


def ghost(box: svg.Box, words: str, colour: str = svg.MUTED) -> str:
    """What is lost, where it was: an outline, its words struck through, several lines of them aslant."""
    (left, top, width, height), lines = box, _lines(words, box)
    look = {"stroke": colour, "stroke_width": svg.LINE, "stroke_dasharray": "3 3"}
    slant = 0 if len(lines) == 1 else height / 2 - 4
    middle = top + height / 2
    return "\n".join(
        [
            svg.rect(*box, rx=4, **look),
            *(svg.text(x, y, each, svg.SMALL, "middle", colour) for x, y, each in lines),
            svg.line(left + 4, middle + slant, left + width - 4, middle - slant, colour),
        ]
    )


def mark(
    axis: Axis,
    offset: int | None,
    name: str,
    span: tuple[float, float],
    words_y: float,
    *,
    is_new: bool,
    is_open: bool = False,
) -> str:
    """A line between two offsets with its name and number; dashed where the next record goes (`is_open`).

    Where there is no `offset`, nothing is drawn.
    """
    if offset is None:
        return ""
    x, colour = axis.x(offset), svg.MARK if is_new else svg.INK
    words = f"{name} {offset}" if offset >= axis.first else f"\u25c2 {name} {offset}"
    dashes = "4 3" if is_open else None
    look = {"stroke": colour, "stroke_width": svg.STRONG, "stroke_dasharray": dashes}
    return "\n".join(
        [
            svg.element("line", x1=x, y1=span[0], x2=x, y2=span[1], **look),
            svg.text(x, words_y, words, svg.SMALL + 1, "middle", colour, bold=True),
        ]
    )


# Time.

STEPS_MS = (
    *(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 30_000),
    *(60_000 * minutes for minutes in (1, 2, 5, 10, 20, 30, 60, 120, 240, 720, 1440)),
)
MOST_TICKS = 10
NARROWEST = 2.0  # pixels: what lasts a second must be seen in a run of ten minutes


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Moments from left to right.

    >>> axis = TimeAxis(left=100, right=500, from_ms=0, to_ms=4000)
    >>> axis.x(1000), axis.x(9000), axis.ticks()[1]
    (200.0, 500.0, (150.0, '0.5 s'))
    """

    left: float
    right: float
    from_ms: int
    to_ms: int

    def x(self, ms: float) -> float:
        """The place of a moment; what lies outside is at the edge."""
        inside = min(max(ms, self.from_ms), self.to_ms)
        return self.left + (self.right - self.left) * (inside - self.from_ms) / (self.to_ms - self.from_ms)

    def box(self, start_ms: int, end_ms: int, top: float, height: float) -> svg.Box | None:
        """A stretch of time in a lane, wide enough to be seen; None if it lies outside."""
        if end_ms <= self.from_ms or start_ms >= self.to_ms:
            return None
        left = min(self.x(start_ms), self.right - NARROWEST)
        return left, top, max(self.x(end_ms) - left, NARROWEST), height

    def ticks(self) -> list[tuple[float, str]]:
        """Round times and their names."""
        span_ms = self.to_ms - self.from_ms
        step_ms = next((each for each in STEPS_MS if span_ms / each <= MOST_TICKS), STEPS_MS[-1])
        first = -(-self.from_ms // step_ms) * step_ms
        in_minutes = step_ms % 60_000 == 0
        names = (lambda ms: f"{ms // 60_000} min") if in_minutes else (lambda ms: f"{ms / 1000:g} s")
        return [(self.x(ms), names(ms)) for ms in range(first, self.to_ms + 1, step_ms)]
