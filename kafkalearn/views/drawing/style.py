"""One look for every picture: colours that survive grey and colour blindness, sizes for the last row.

Meaning never hangs on hue alone: fills differ in lightness and carry a hatch, what is marked has a thick border
and a pointer, lines differ in dash and marker. Every picture brings its own light panel, so that it reads the
same in a light and in a dark theme. `RC` is the same look for matplotlib; our figures apply it to themselves
and leave the global settings alone.
"""

from __future__ import annotations

from dataclasses import dataclass

from cycler import cycler

PANEL = "#fdfcf8"  # the ground of every picture
INK = "#1a1a1a"  # text and lines
MUTED = "#5f5f5f"  # what is said by the way; 6:1 against the panel
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
    """How one of several like things is told from the others: a colour and, for grey, a hatch."""

    colour: str
    hatch: str  # "", "/", "\\", "-", "x", ".": as matplotlib spells them


FILLS = (
    Fill("#dcebf7", ""),
    Fill("#f2b94b", "/"),
    Fill("#93c9b0", "-"),
    Fill("#dba6cb", "\\"),
    Fill("#7fb0dc", "x"),
    Fill("#c7b487", "."),
)
"""Light enough for black text; in grey the first three still differ, and the hatch tells all six apart."""


def fill(index: int) -> Fill:
    """The fill of thing number `index`; after six they come round again, so write its name there too.

    >>> fill(1)
    Fill(colour='#f2b94b', hatch='/')
    """
    return FILLS[index % len(FILLS)]


LINES = ("#0b5394", "#b3320a", "#3a7d44", "#7b3f8c")

RC = {
    "figure.facecolor": PANEL,
    "axes.facecolor": PANEL,
    "savefig.facecolor": PANEL,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same figure on every machine
    "font.size": 15,
    "axes.titlesize": 17,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 15,
    "xtick.labelsize": 14,
    "ytick.labelsize": 14,
    "legend.fontsize": 14,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dedbd1",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.5,
    "lines.markersize": 8,
    "hatch.linewidth": 1.2,
    "axes.prop_cycle": cycler(color=LINES)
    + cycler(linestyle=["-", "--", "-.", ":"])
    + cycler(marker=["o", "s", "^", "D"]),
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.10,
}
"""matplotlib's settings for our figures, used in a context and never globally."""
