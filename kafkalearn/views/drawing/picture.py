"""A whole picture: shapes on a light panel of their own, as text that notebooks show."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape as html_escape
from html import unescape
from textwrap import wrap

from kafkalearn.views.drawing.style import BODY, INK, PANEL, SANS, WIDTH
from kafkalearn.views.drawing.svg import escape, number, rect, text

LINE_LENGTH = 84  # characters of bold body text that fit into the width


class Picture(str):
    """SVG text that a notebook shows as a picture, also where nothing runs or scripts are stripped."""

    __slots__ = ()

    @property
    def label(self) -> str:
        """What the picture shows, in words."""
        return unescape(_between(self, 'aria-label="', '"'))

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in pixels."""
        return float(_between(self, ' width="', '"')), float(_between(self, ' height="', '"'))

    @property
    def html(self) -> str:
        """An ``<img>`` that holds the whole picture: sanitisers that strip inline SVG let it pass."""
        code = b64encode(self.encode()).decode()
        label = html_escape(self.label)
        return f'<img alt="{label}" style="max-width:100%" src="data:image/svg+xml;base64,{code}">'

    def __repr__(self) -> str:
        """The label: IPython shows a str by its repr, whatever else it offers."""
        return self.label

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        return {"image/svg+xml": str(self), "text/html": self.html, "text/plain": self.label}


def picture(height: float, *elements: str, label: str, width: float = WIDTH) -> Picture:
    """A whole picture on its own light panel.

    Parameters
    ----------
    height, width : float
        In pixels; the page scales it down where there is less room.
    *elements : str
        What the functions of `kafkalearn.views.drawing.svg` return; later ones lie on top.
    label : str
        What it shows, for those who hear it.

    Examples
    --------
    >>> drawing = picture(20, rect(0, 0, 10, 10, fill="red"), label="a red square", width=30)
    >>> drawing.label, drawing.size
    ('a red square', (30.0, 20.0))
    >>> print(*drawing.splitlines()[1:], sep=chr(10))
    <rect x="0" y="0" width="30" height="20" fill="#fdfcf8"/>
    <rect x="0" y="0" width="10" height="10" fill="red"/>
    </svg>
    """
    shape = f'viewBox="0 0 {number(width)} {number(height)}" width="{number(width)}" height="{number(height)}"'
    look = f'role="img" font-family="{SANS}" fill="{INK}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {shape} {look} aria-label="{escape(label)}">'
    ground = rect(0, 0, width, height, fill=PANEL)
    return Picture("\n".join([head, ground, *(each for each in elements if each), "</svg>"]))


def stack(pictures: Sequence[Picture], captions: Sequence[str], label: str, gap: float = 14) -> Picture:
    """Several pictures under each other, each with its words above it: a run on one page."""
    elements, top, width = [], 0.0, max(each.size[0] for each in pictures)
    for each, caption in zip(pictures, captions, strict=True):
        for words in wrap(caption, LINE_LENGTH):
            top += 26
            elements.append(text(16, top, words, BODY, bold=True))
        top += 10 if caption else 0
        elements.append(each.replace("<svg ", f'<svg x="0" y="{number(top)}" ', 1))
        top += each.size[1] + gap
    return picture(top - gap, *elements, label=label, width=width)


def _between(whole: str, start: str, end: str) -> str:
    begin = whole.index(start) + len(start)
    return whole[begin : whole.index(end, begin)]
