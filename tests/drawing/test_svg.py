import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter

from kafkalearn.drawing import svg
from kafkalearn.drawing.player import picture, stack

NUMBERS = st.floats(-1e4, 1e4)
LENGTHS = st.floats(1, 300)


def parsed(drawing):
    return ElementTree.fromstring(drawing)


@given(st.text(st.characters(exclude_categories=())))
def test_any_text_is_legal_in_a_picture_and_in_its_label(words):
    drawing = picture(30, svg.text(0, 20, words), label=words)

    assert len(parsed(drawing)) == 2  # the ground and the text
    assert len(drawing.split("\n")) == 4


@given(st.text(st.characters(exclude_categories=("C", "Z"))))
def test_a_label_comes_back_as_it_was_given(words):
    assert picture(30, label=words).label == words


@given(NUMBERS)
def test_a_number_is_short_and_near(value):
    written = svg.number(value)

    assert re.fullmatch(r"-?\d+(\.\d{1,2})?", written)
    assert abs(float(written) - value) <= 0.005 + 1e-9
    assert written != "-0"


@given(st.tuples(NUMBERS, NUMBERS, LENGTHS, LENGTHS), st.sampled_from([fill for fill in svg.FILLS if fill.hatch]))
def test_a_hatch_stays_inside_its_box(box, fill):
    x, y, width, height = box
    path = svg.filled(fill, box).split("\n")[1:]

    for stroke in re.findall(r"M(\S+) (\S+)l(\S+) ([^M\"]+)", "".join(path)):
        left, top, run, rise = map(float, stroke)
        assert all(x - 0.02 <= across <= x + width + 2.02 for across in (left, left + run))
        assert all(y - 0.02 <= down <= y + height + 0.02 for down in (top, top + rise))


@pytest.mark.parametrize("fill", svg.FILLS)
def test_a_large_box_shows_its_hatch(fill):
    assert ("stroke" in svg.filled(fill, (0, 0, 100, 50))) == bool(fill.hatch)


def test_nothing_to_draw_draws_nothing():
    assert (svg.filled(svg.FILLS[1]), svg.outlined(), svg.words_at([])) == ("", "", "")


def test_shapes_make_a_whole_picture():
    shapes = [svg.arrow(0, 0, 30, 40), svg.group(svg.text(1, 2, "a"), fill="red")]

    drawing = picture(50, *shapes, "", label="shapes", width=90)

    assert [child.tag.split("}")[1] for child in parsed(drawing)] == ["rect", "line", "polygon", "g"]
    assert drawing.size == (90, 50)


def test_stacked_pictures_keep_their_size_and_follow_each_other():
    small = picture(50, label="small", width=100)

    both = stack([small, small], ["first", "word " * 40], label="both")

    inner = [child for child in parsed(both) if child.tag.endswith("svg")]
    tops = [float(child.get("y")) for child in inner]
    assert [child.get("height") for child in inner] == ["50", "50"]
    assert tops[1] - tops[0] >= 50 + 2 * 26  # the second has two lines of words or more above it
    assert both.size[1] == tops[1] + 50


def test_a_picture_shows_itself_in_whatever_a_page_can_show():
    bundle = picture(50, label='a "small" one')._repr_mimebundle_()

    assert sorted(bundle) == ["image/svg+xml", "text/html", "text/plain"]
    assert bundle["text/html"].startswith('<img alt="a &quot;small&quot; one"')
    assert bundle["text/plain"] == 'a "small" one'


def test_ipython_shows_the_label_and_not_the_svg():
    data, _ = DisplayFormatter().format(picture(50, label="a small one"))

    assert data["text/plain"] == "a small one"
    assert set(data) == {"image/svg+xml", "text/html", "text/plain"}


def luminance(colour):
    """Relative luminance by WCAG 2.2, 0 for black to 1 for white."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", [svg.PANEL, svg.READ, *(fill.colour for fill in svg.FILLS)])
def test_text_has_the_contrast_that_wcag_asks_for_at_its_strictest(ground):
    assert contrast(svg.INK, ground) >= 7


@pytest.mark.parametrize("colour", [svg.MUTED, svg.MARK, *svg.LINES])
def test_coloured_text_and_lines_stand_out_from_the_panel(colour):
    assert contrast(colour, svg.PANEL) >= 4.5


def test_no_two_fills_look_alike_without_colour():
    assert len({fill.hatch for fill in svg.FILLS}) == len(svg.FILLS)


def test_the_first_three_fills_differ_in_grey_from_each_other_or_in_hatch():
    greys = [round(luminance(fill.colour), 2) for fill in svg.FILLS[:3]]

    assert all(one != other for one, other in combinations(greys, 2))


def test_sizes_grow_with_importance():
    assert 15 <= svg.SMALL < svg.BODY < svg.TITLE
