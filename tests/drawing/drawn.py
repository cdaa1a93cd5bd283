"""What holds of every picture, whatever it shows: its elements, its words, and that it can be read where it is."""

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import matplotlib
from PIL import ImageFont

from kafkalearn import drawing as of_drawing
from kafkalearn.drawing.svg import BODY, SMALL

HIGHEST = 590  # of a picture of 1000: what a laptop's window and a projector show


def elements_of(drawing, tag=None):
    """Its elements, or those of one tag."""
    return list(ElementTree.fromstring(drawing).iter(tag and f"{{http://www.w3.org/2000/svg}}{tag}"))


def words_of(drawing):
    """What is written in it, text by text."""
    return [each.text for each in elements_of(drawing, "text") if each.text]


def assert_well_drawn(drawings, most_high=HIGHEST):
    """All of one size that fits a window, with a label of one line; no ids, no small print, nothing beyond an edge."""
    assert len({drawing.size for drawing in drawings}) == 1
    for drawing in drawings:
        width, height = drawing.size
        assert height <= most_high
        assert drawing.label
        assert "\n" not in drawing.label
        for each in elements_of(drawing):
            assert each.attrib.keys().isdisjoint({"id", "href"})
            assert float(each.get("font-size", SMALL)) >= SMALL
            if each.get("y"):
                assert 0 <= float(each.get("y")) <= height
            if each.get("x") and each.get("width"):
                assert 0 <= float(each.get("x")) <= float(each.get("x")) + float(each.get("width")) <= width


def assert_a_run_well_drawn(drawings):
    """The same, and each looks different from the one before."""
    assert_well_drawn(drawings)
    assert all(one != other for one, other in pairwise(drawings))


# How near words come to the frame that they stand in: in the letters of the face, and in those where there is no face.

NAMESPACE = "{http://www.w3.org/2000/svg}"
INHERITED = ("font-size", "text-anchor", "font-weight", "font-family")
BOX = re.compile(r"M([\d.-]+) ([\d.-]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
SHARPER = 4  # widths are measured in letters of so many times the size


@cache
def font(name, size):
    ours, others = Path(of_drawing.__file__).parent, Path(matplotlib.get_data_path(), "fonts", "ttf")
    folder = ours if name.startswith("font-") else others
    return ImageFont.truetype(str(folder / f"{name}.ttf"), SHARPER * size)


def widths(words, look):
    """The pixels that words take, in each of the fonts that they may be shown in."""
    size, is_bold = float(look.get("font-size", BODY)), look.get("font-weight") == "bold"
    if "Mono" in look.get("font-family", ""):
        return [font("DejaVuSansMono-Bold" if is_bold else "DejaVuSansMono", size).getlength(words) / SHARPER]
    of_the_face = 17 if size in (14, 15) else size  # as face.css has it
    names = [("font-bold", of_the_face), ("DejaVuSans-Bold", size)] if is_bold else [
        ("font-regular", of_the_face),
        ("DejaVuSans", size),
    ]  # fmt: skip
    return [font(name, its_size).getlength(words) / SHARPER for name, its_size in names]


def _frames_and_words(element, x, y, look):
    """The frames, (x, y, width, height), and the texts, (x, y, words, look), within an element."""
    look = look | {name: element.get(name) for name in INHERITED if element.get(name)}
    moved = re.match(r"translate\(([\d.-]+)[ ,]+([\d.-]+)\)", element.get("transform", ""))
    x, y = (x + float(moved[1]), y + float(moved[2])) if moved else (x, y)
    own_x, own_y = x + float(element.get("x", 0)), y + float(element.get("y", 0))
    frames, texts = [], []
    match element.tag.removeprefix(NAMESPACE):
        case "svg":
            x, y = own_x, own_y
        case "rect" if element.get("stroke"):
            frames = [(own_x, own_y, float(element.get("width")), float(element.get("height")))]
        case "path" if element.get("fill") == "none":
            boxes = (map(float, found.groups()) for found in BOX.finditer(element.get("d")))
            frames = [(x + left, y + top, width, height) for left, top, width, height in boxes]
        case "text" if element.text:
            texts = [(own_x, own_y, element.text, look)]
    for each in element:
        more = _frames_and_words(each, x, y, look)
        frames, texts = frames + more[0], texts + more[1]
    return frames, texts


def words_at_a_frame(drawing, least):
    """What comes nearer than so many pixels to the sides of the smallest frame around it, with the pixels."""
    frames, texts = _frames_and_words(ElementTree.fromstring(drawing), 0, 0, {})
    found = []
    for x, y, words, look in texts:
        size = float(look.get("font-size", BODY))
        middle = y - 0.35 * size
        around = [each for each in frames if each[0] <= x <= each[0] + each[2] and each[3] >= 0.8 * size]
        around = [each for each in around if each[1] <= middle <= each[1] + each[3]]
        if not around:
            continue
        left, _, wide, _ = min(around, key=lambda each: each[2] * each[3])
        for width in widths(words, look):
            begin = x - width * {"start": 0, "middle": 0.5, "end": 1}[look.get("text-anchor", "start")]
            gap = min(begin - left, left + wide - begin - width)
            if gap < least:
                found.append((words, round(gap, 1)))
    return found
