"""SVG primitives of every picture: shapes, a page, one style, and the frames of a trace."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from html import escape as html_escape
from itertools import product
from math import ceil
from typing import TypeAlias, TypedDict

from kafkalearn.base import facts
from kafkalearn.drawing.tokens import (
    BODY,
    CHART,
    COMMITTED,
    COPIED,
    EMPTY,
    FAINT,
    FILLS,
    HAIR,
    INK,
    LEADER,
    LINE,
    LINES,
    LOST,
    MARK,
    MONO,
    MOVED,
    MUTED,
    NOTHING,
    OPEN,
    PANEL,
    READ,
    SANS,
    SMALL,
    STRONG,
    TITLE,
    TOMBSTONE,
    TWICE,
    Fill,
)

__all__ = [  # the tokens, which pictures take from here
    "BODY",
    "CHART",
    "COMMITTED",
    "COPIED",
    "EMPTY",
    "FAINT",
    "FILLS",
    "HAIR",
    "INK",
    "LEADER",
    "LINE",
    "LINES",
    "LOST",
    "MARK",
    "MONO",
    "MOVED",
    "MUTED",
    "NOTHING",
    "OPEN",
    "PANEL",
    "READ",
    "SANS",
    "SMALL",
    "STRONG",
    "TITLE",
    "TOMBSTONE",
    "TWICE",
    "Fill",
]

WIDTH = 1000  # of every drawing; the page scales it


def fill(index: int) -> Fill:
    """The fill of thing number `index`; after six they come round again, so write its name there too.

    >>> fill(1)
    Fill(colour='#f0b35d', hatch='/')
    """
    return FILLS[index % len(FILLS)]


def chart_fill(index: int) -> Fill:
    """The fill of bar number `index` of a chart, as `fill` is of a thing in a picture.

    >>> chart_fill(1) == chart_fill(7), chart_fill(1).colour
    (True, '#f2b94b')
    """
    return CHART[index % len(CHART)]


# Shapes as text: each function returns a line of SVG, or a few; `kafkalearn.drawing.player` puts them together.
#
# The same arguments give the same characters on every machine: numbers have at most two decimals, and nothing has
# an id, so that any number of pictures can share a page. Every shape is one line of text; two frames of a run share
# most of their lines, and `kafkalearn.drawing.player` stores a shared line once.

CONTROL_PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
"""For ``str.translate``: Unicode has a picture for each control character."""

Box: TypeAlias = tuple[float, float, float, float]  # x, y, width, height
Placed: TypeAlias = tuple[float, float, str]  # x, y, words
Attribute: TypeAlias = float | str | None  # None leaves it out


class Edge(TypedDict):
    """Style of a border, for `rect`."""

    stroke: str
    stroke_width: float


class Stress(TypedDict):
    """Style of text, for `text`."""

    colour: str
    bold: bool


def number(value: float) -> str:
    """Format a coordinate: at most two decimals, no trailing zeros.

    >>> number(3.0), number(1 / 3), number(-0.001)
    ('3', '0.33', '0')
    """
    digits = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if digits == "-0" else digits


def escape(words: str) -> str:
    """Text that XML accepts on one line: markup escaped, control characters made visible.

    >>> escape("a<b\\n")
    'a&lt;b␊'
    """
    return html_escape("".join(_legal(character) for character in words.translate(CONTROL_PICTURES)))


def _legal(character: str) -> str:
    is_outside = unicodedata.category(character) in ("Cc", "Cs") or ord(character) & 0xFFFE == 0xFFFE
    return "\ufffd" if is_outside else character


def element(tag: str, content: str | None = None, /, **attributes: Attribute) -> str:
    """One SVG element on one line; ``font_size=3`` becomes ``font-size="3"``, and None leaves it out.

    >>> element("line", x1=0, x2=2.5, stroke_width=None)
    '<line x1="0" x2="2.5"/>'
    """
    words = [tag]
    for name, value in attributes.items():
        if value is not None:
            shown = number(value) if isinstance(value, int | float) else value
            words.append(f'{name.rstrip("_").replace("_", "-")}="{shown}"')
    opened = " ".join(words)
    return f"<{opened}/>" if content is None else f"<{opened}>{content}</{tag}>"


def rect(x: float, y: float, width: float, height: float, fill: str = "none", **attributes: Attribute) -> str:
    """A rectangle; ``stroke=``, ``stroke_width=``, ``rx=`` as in SVG."""
    return element("rect", x=x, y=y, width=width, height=height, fill=fill, **attributes)


def edge(is_marked: bool, stroke: str = FAINT) -> Edge:
    """The border of a rectangle: a hair, and in the mark's colour around what happens now.

    >>> edge(False)["stroke_width"], edge(True)["stroke_width"]
    (1, 1.5)
    """
    return {"stroke": MARK, "stroke_width": STRONG} if is_marked else {"stroke": stroke, "stroke_width": HAIR}


def card(box: Box, is_marked: bool = False, is_on: bool = True) -> str:
    """What holds others, such as a broker: a soft ground; who does not run is an outline alone.

    >>> "stroke" in card((0, 0, 9, 9)), "dasharray" in card((0, 0, 9, 9), is_on=False)
    (False, True)
    """
    dashed = {} if is_on else {"stroke": MUTED, "stroke_width": HAIR, "stroke_dasharray": "4 4"}
    look = {"stroke": MARK, "stroke_width": STRONG} if is_marked else dashed
    return rect(*box, EMPTY if is_on else "none", rx=8, **look)


def line(x1: float, y1: float, x2: float, y2: float, stroke: str = INK, width: float = LINE) -> str:
    """A straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, stroke=stroke, stroke_width=width)


def stress(is_marked: bool, colour: str = INK) -> Stress:
    """Text style: bold and highlighted when `is_marked`.

    >>> stress(False) == {"colour": INK, "bold": False}, stress(True) == {"colour": MARK, "bold": True}
    (True, True)
    """
    return {"colour": MARK if is_marked else colour, "bold": is_marked}


def text(
    x: float,
    y: float,
    words: str,
    size: float = BODY,
    anchor: str = "start",
    colour: str = INK,
    bold: bool = False,
    mono: bool = False,
) -> str:
    """Words whose baseline starts, ends or is centred (``anchor="start" | "end" | "middle"``) at a point.

    >>> text(5, 9, "LEO", size=12)
    '<text x="5" y="9" font-size="12">LEO</text>'
    """
    return element(
        "text",
        escape(words),
        x=x,
        y=y,
        text_anchor=None if anchor == "start" else anchor,
        font_family=MONO if mono else None,
        font_weight="bold" if bold else None,
        font_size=size,
        fill=None if colour == INK else colour,
        style="white-space:pre" if "  " in words else None,
    )


def polygon(points: Sequence[tuple[float, float]], fill: str = INK) -> str:
    """A filled shape with straight edges."""
    return element("polygon", points=" ".join(f"{number(x)},{number(y)}" for x, y in points), fill=fill)


def arrow(x1: float, y1: float, x2: float, y2: float, stroke: str = INK, width: float = LINE) -> str:
    """A line with a head at its end."""
    length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
    along_x, along_y = (x2 - x1) / length, (y2 - y1) / length
    head = 8
    neck_x, neck_y = x2 - along_x * head, y2 - along_y * head
    sides = [
        (neck_x - along_y * head / 2, neck_y + along_x * head / 2),
        (neck_x + along_y * head / 2, neck_y - along_x * head / 2),
    ]
    return "\n".join([line(x1, y1, neck_x, neck_y, stroke, width), polygon([(x2, y2), *sides], stroke)])


def pointer(x: float, y: float, colour: str = MARK, size: float = 7, is_below: bool = False) -> str:
    """A triangle that points to a place: down, from above it, or up from below.

    >>> pointer(20, 30, size=10), pointer(20, 30, size=10, is_below=True)
    ('<polygon points="20,30 10,16 30,16" fill="#b3320a"/>', '<polygon points="20,30 10,44 30,44" fill="#b3320a"/>')
    """
    foot = y + 1.4 * size * (1 if is_below else -1)
    return polygon([(x, y), (x - size, foot), (x + size, foot)], colour)


def filled(fill: Fill, *boxes: Box) -> str:
    """Rectangles, each (x, y, width, height), in a fill; its pattern is seen only where a page asks for contrast."""
    if not boxes:
        return ""
    strokes = "".join(_hatch(box, fill.hatch) for box in boxes)
    ground = element("path", d=_outlines(boxes), fill=fill.colour)
    hatch = element("path", d=strokes, stroke=INK, stroke_opacity=0, class_="kl-hatch")
    return f"{ground}\n{hatch}" if strokes else ground


def outlined(*boxes: Box, stroke: str = FAINT, stroke_width: float = HAIR) -> str:
    """The edges of rectangles, each (x, y, width, height)."""
    if not boxes:
        return ""
    return element("path", d=_outlines(boxes), fill="none", stroke=stroke, stroke_width=stroke_width)


def _outlines(boxes: Sequence[Box]) -> str:
    return "".join(
        f"M{number(x)} {number(y)}h{number(width)}v{number(height)}h{number(-width)}z" for x, y, width, height in boxes
    )


def group(*elements: str, **attributes: Attribute) -> str:
    """Elements that share attributes: what many have in common is written once."""
    opened = element("g", "", **attributes).removesuffix("</g>")
    return "\n".join([opened, *(each for each in elements if each), "</g>"])


def words_at(places: Sequence[Placed], size: float = BODY, **attributes: Attribute) -> str:
    """Short texts, each (x, y, words) and centred on its x, all of one look."""
    texts = [element("text", escape(words), x=x, y=y) for x, y, words in places]
    return "" if not texts else group(*texts, font_size=size, text_anchor="middle", **attributes)


def _hatch(box: Box, hatch: str, gap: float = 7) -> str:
    """The strokes of a hatch, cut at the edges by arithmetic: an SVG pattern would need an id."""
    x, y, width, height = box
    if hatch == "-":
        marks = [(x, y + down, width, 0) for down in _steps(gap / 2, height, gap)]
    elif hatch in ("|", "+"):
        marks = [(x + across, y, 0, height) for across in _steps(gap / 2, width, gap)]
        marks += [(x, y + down, width, 0) for down in _steps(gap / 2, height, gap) if hatch == "+"]
    elif hatch == ".":
        places = product(_steps(gap / 2, width - 1, gap), _steps(gap / 2, height - 1, gap))
        marks = [(x + across, y + down, 2, 0) for across, down in places]
    else:
        marks = [(x + left, y + top, run, rise) for left, top, run, rise in _slants(width, height, hatch, gap)]
    return "".join(f"M{number(left)} {number(top)}l{number(run)} {number(rise)}" for left, top, run, rise in marks)


def _slants(width: float, height: float, hatch: str, gap: float) -> list[Box]:
    """Strokes at 45 degrees: each enters at the left or the top edge and leaves at the right or the bottom."""
    strokes = []
    for start in _steps(gap - height, width, gap):
        left, right = max(start, 0), min(start + height, width)
        if hatch in ("\\", "x"):
            strokes.append((left, left - start, right - left, right - left))
        if hatch in ("/", "x"):
            strokes.append((left, height - left + start, right - left, left - right))
    return strokes


def _steps(start: float, stop: float, step: float) -> list[float]:
    return [start + index * step for index in range(max(0, ceil((stop - start) / step)))]


# Words that must fit: as much room as they need, and the middle or the end left out of what is too long.

LETTER = 0.63 * SMALL  # how wide a letter of a small text is at most, in pixels
MOST_NAME = 44  # characters beside a lane: a member id that a coordinator made has about so many


def text_width(words: str, letter: float = LETTER) -> float:
    """Estimate the width of text in pixels, from its number of letters.

    >>> text_width("HW"), text_width("HW", letter=9)
    (18.9, 18)
    """
    return letter * len(words)


def name_width(names: Iterable[str], size: float = SMALL, most: int = MOST_NAME) -> float:
    """The pixels that the longest of these names takes, cut as `cut_name` does.

    >>> round(name_width(["b0", "billing-0"], size=10), 1)
    56.7
    """
    return max((text_width(name[:most], 0.63 * size) for name in names), default=0)


def cut_name(name: str, most: int = MOST_NAME) -> str:
    """Truncate a name in the middle, to what a picture has room for.

    >>> cut_name("billing-0"), cut_name("consumer-billing-7-a9c1d07e", most=15)
    ('billing-0', 'consume…a9c1d07e')
    """
    return facts.cut_name(name, most)


def cut_end(words: str, most: int) -> str:
    """Truncate text at its end.

    >>> cut_end("rebalance", 9), cut_end("rebalances", 9)
    ('rebalance', 'rebalanc…')
    """
    return words if len(words) <= most else f"{words[: most - 1]}…"


def two_lines(words: str, most: int) -> list[str]:
    """A sentence in at most two lines, parted at a blank; of a longer one the beginning.

    >>> two_lines("c1 reads", 12), two_lines("c1 releases orders-0 and orders-1", 12)
    (['c1 reads'], ['c1 releases', 'orders-0 an…'])
    """
    if len(words) <= most:
        return [words]
    cut = max(words.rfind(" ", 0, most), 1)
    return [words[:cut], cut_end(words[cut:].strip(), most)]
