"""The social card: what a messenger shows of a link to the book; its picture is ours, drawn when the book is made."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from fontTools.ttLib import TTFont
from resvg_py import svg_to_bytes

from kafkalearn import drawing
from kafkalearn.drawing import svg
from kafkalearn.journey.film import whole_path
from tools.addresses import addresses

CARD = "card.png"
WIDTH, HEIGHT = 1200, 630  # what messengers cut nothing from
_MOMENT, _SCALE, _MARGIN = 6, 1.34, 36
_FONTS = [Path(drawing.__file__).with_name(f"font-{weight}.ttf") for weight in ("regular", "bold")]
_SIZED = re.compile(r'<svg([^>]*?) width="[^"]*" height="[^"]*"')
_WORDS = (  # where a line stands, its letters, and what it says
    (200, 64, "The inside of"),
    (272, 64, "Apache Kafka"),
    (350, 34, "Predict, then run: stepped"),
    (394, 34, "by hand, broken on purpose,"),
    (438, 34, "asked of ten million rows."),
)


def card() -> bytes:
    """The card as PNG: the name of the book, and the whole path of a record at a telling moment."""
    drawn = whole_path().story.pictures[_MOMENT]
    width = drawn.size[0] * _SCALE
    words = "".join(
        f'<text x="{2 * _MARGIN}" y="{y}" font-size="{size}" font-weight="{700 if size > 50 else 400}">{each}</text>'
        for y, size, each in _WORDS
    )
    place = f'x="{WIDTH - _MARGIN - width}" y="{_MARGIN / 2}" width="{width}" height="{drawn.size[1] * _SCALE}"'
    scaled = _SIZED.sub(lambda found: f"<svg {place}{found[1]}", str(drawn), count=1)
    whole = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="{svg.PANEL}"/>'
        f'<g font-family="Atkinson Hyperlegible Next" fill="{svg.INK}">{words}</g>'
        f"{scaled}</svg>"
    )
    with TemporaryDirectory() as folder:
        for path in _FONTS:
            font = TTFont(path)
            font["name"].setName(path.stem, 6, 3, 1, 0x409)  # without this name of its own resvg takes no font
            font.save(Path(folder) / path.name)
        return bytes(svg_to_bytes(svg_string=whole, width=WIDTH, font_dirs=[folder], skip_system_fonts=True))


def card_of(title: str, about: str) -> str:
    """What the head of a page says to who shows a link to it.

    Its picture has a whole address where `tools.addresses` knows the book's: most who show links read no other.
    """
    site = addresses().get("Documentation", "")
    told = {"title": title, "description": about, "type": "website", "image": f"{site}/{CARD}" if site else CARD}
    tags = "".join(f'<meta property="og:{name}" content="{escape(words)}">' for name, words in told.items())
    return f'{tags}<meta name="twitter:card" content="summary_large_image">'
