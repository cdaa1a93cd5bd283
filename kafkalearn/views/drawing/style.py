"""One look for every picture: colours that survive grey and colour blindness, sizes for the last row.

Meaning never hangs on hue alone: fills differ in lightness and carry a hatch, what is marked has a thick border
and a pointer, lines differ in dash and marker. Every picture brings its own light panel, so that it reads the
same in a light and in a dark theme. `kafkalearn.views.figures.RC` is the same look for matplotlib.
"""

from __future__ import annotations

from dataclasses import dataclass

PANEL = "#fdfcf8"  # the ground of every picture
INK = "#1a1a1a"  # text and lines
MUTED = "#5f5f5f"  # less important text; contrast 6:1 with the panel
FAINT = "#c9c6bc"  # frames of what has not happened yet
EMPTY = "#efece3"  # a place that holds nothing
READ = "#cfe2f3"  # what has been dealt with
MARK = "#b3320a"  # what happens now: dark enough to stand out in grey, always with a thick border as well

SANS = "'DejaVu Sans', Verdana, 'Noto Sans', Arial, sans-serif"
MONO = "'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono', monospace"

TITLE = 24  # pixels in a picture 1000 wide
BODY = 18
SMALL = 15  # the smallest there is

WIDTH = 1000  # of every drawing; the page scales it


@dataclass(frozen=True, slots=True)
class Fill:
    """How one of several like things differs from the others: by a colour and, in grey, by a hatch."""

    colour: str
    hatch: str  # "", "/", "\\", "-", "x", ".", "|", "+": as matplotlib spells them


FILLS = (
    Fill("#dcebf7", ""),
    Fill("#f2b94b", "/"),
    Fill("#93c9b0", "-"),
    Fill("#dba6cb", "\\"),
    Fill("#7fb0dc", "x"),
    Fill("#c7b487", "."),
)
"""Light enough for black text; in grey the first three still differ, and by their hatch all six differ."""


def fill(index: int) -> Fill:
    """The fill of thing number `index`; after six they come round again, so write its name there too.

    >>> fill(1)
    Fill(colour='#f2b94b', hatch='/')
    """
    return FILLS[index % len(FILLS)]


LINES = ("#0b5394", "#b3320a", "#3a7d44", "#7b3f8c")
