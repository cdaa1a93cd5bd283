"""Design tokens of every picture: colours, what each of them means, widths of lines, sizes of letters.

One colour has one meaning in the whole course, and each has one that stands for it in the dark; the sheet of the book
and of the lab (``face.css``) is held to `DARK` by a test. Lines are hairs, fills are soft, and nothing is hatched, but
where the reader's system asks for contrast, on paper, and on a screen without colours: there a fill shows its pattern.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fill:
    """A soft colour, and the pattern that takes its place where colours cannot be told apart."""

    colour: str
    hatch: str  # "", "/", "\\", "-", "x", ".", "|", "+": as matplotlib spells them


PANEL = "#fdfcf8"  # the ground of every picture
INK = "#1a1a1a"  # text, and the few lines that are read
MUTED = "#5f5f5f"  # less important text; contrast 6:1 with the panel
FAINT = "#c9c6bc"  # hairs: edges of boxes, axes
EMPTY = "#efece3"  # a place that holds nothing, and who does not run
READ = "#b7d5f1"  # what has been dealt with
MARK = "#b3320a"  # what happens now

LEADER = "#0b5394"  # who leads
NOTHING = Fill(EMPTY, "")  # a place without anything in it
COMMITTED = Fill("#95d4b3", "")  # nobody can lose it any more
OPEN = Fill("#f5d792", "/")  # written and not committed, of a log or of a transaction; asked and not answered
COPIED = Fill("#d0e6f5", "")  # a copy of what another has
LOST = Fill("#eea38f", "x")  # was there, and is not
TOMBSTONE = Fill("#ab9ed0", "\\")  # says that a key is deleted
MOVED = Fill("#f0b35d", "/")  # has another owner than before
TWICE = Fill("#d29dc5", "\\")  # done again

SAID = {
    LEADER: ("leads", "leader", "leaders"),
    COMMITTED.colour: ("committed",),
    OPEN.colour: ("not committed", "never committed", "waits", "in flight"),
    READ: ("read", "reads"),
    LOST.colour: ("lost",),
    TOMBSTONE.colour: ("tombstone", "tombstones"),
    TWICE.colour: ("twice", "again"),
}
"""Words of the sentence below a picture that mean what a colour means: where the picture has it, they have it, too."""

FILLS = (
    Fill("#d0e6f5", ""),
    Fill("#f0b35d", "/"),
    Fill("#95d4b3", "-"),
    Fill("#d29dc5", "\\"),
    Fill("#88bbed", "x"),
    Fill("#cfbe97", "."),
)
"""What tells several like things apart, such as brokers: each in its own colour, with its name beside it."""

LINES = ("#0b5394", "#b3320a", "#3a7d44", "#7b3f8c")

HAIR, LINE, STRONG = 1, 1.25, 1.5  # pixels: edges; lines that are read; what happens now
TITLE, BODY, SMALL = 24, 18, 15  # pixels of letters in a picture 1000 wide; the last is the smallest there is

SANS = "'Atkinson Hyperlegible Next', 'DejaVu Sans', Verdana, 'Noto Sans', Arial, sans-serif"
MONO = "'DejaVu Sans Mono', Menlo, Consolas, 'Noto Sans Mono', monospace"

DARK = {
    PANEL: "#16181b",
    "#ffffff": "#0f1113",
    INK: "#e8e6e1",
    MUTED: "#b3b0a8",
    "#8a8a8a": "#8f8f8f",
    "#8a877d": "#9a968c",
    FAINT: "#4a4d52",
    "#dedbd1": "#34383d",
    "#d8d5cb": "#3b3f45",
    EMPTY: "#262a2f",
    READ: "#214160",
    MARK: "#ff9a73",
    LEADER: "#9cc4ee",
    "#3a7d44": "#8fd6a0",
    "#7b3f8c": "#dba6f0",
    "#d0e6f5": "#1c3246",
    "#f0b35d": "#6f440d",
    "#95d4b3": "#1d4f3d",
    "#d29dc5": "#7f4c74",
    "#88bbed": "#14588b",
    "#cfbe97": "#52482e",
    OPEN.colour: "#473509",
    LOST.colour: "#89402f",
    TOMBSTONE.colour: "#665e8f",
    "#f2b94b": "#7a4f00",
    "#93c9b0": "#1f5a43",
    "#dba6cb": "#6d3560",
    "#7fb0dc": "#1d5283",
    "#c7b487": "#5a4c20",
    "#f7dfa8": "#5f4712",
    "#dbe8b8": "#465423",
    "#cbbfe6": "#4a3d70",
    "#b9a7d8": "#54417f",
    "#f7c9b8": "#6b3a2b",
    "#f0b7a4": "#7a3b29",
}
"""What stands for each colour in the dark."""

CHART = tuple(Fill(each, "") for each in ("#7fb0dc", "#f2b94b", "#3a7d44", "#dba6cb", "#0b5394", "#c7b487"))
"""The same in charts of matplotlib, where bars stand alone on the panel: neighbours differ without colours, too."""
