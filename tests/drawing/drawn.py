"""What holds of every picture, whatever it shows: its elements, its words, and that it can be read where it is."""

from itertools import pairwise
from xml.etree import ElementTree

from kafkalearn.drawing.svg import SMALL

HIGHEST = 590  # of a picture of 1000: what a laptop's window and a projector show


def elements_of(drawing, tag=None):
    """Its elements, or those of one tag."""
    return list(ElementTree.fromstring(drawing).iter(tag and f"{{http://www.w3.org/2000/svg}}{tag}"))


def words_of(drawing):
    """What is written in it, text by text."""
    return [each.text for each in elements_of(drawing, "text") if each.text]


def assert_well_drawn(drawings):
    """All of one size that fits a window, with a label of one line; no ids, no small print, nothing beyond an edge."""
    assert len({drawing.size for drawing in drawings}) == 1
    for drawing in drawings:
        width, height = drawing.size
        assert height <= HIGHEST
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
