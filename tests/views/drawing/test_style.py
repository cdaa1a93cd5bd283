from itertools import combinations

import pytest

from kafkalearn.drawing.svg import BODY, FILLS, INK, LINES, MARK, MUTED, PANEL, READ, SMALL, TITLE


def luminance(colour):
    """Relative luminance by WCAG 2.2, 0 for black to 1 for white."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return sum(weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("ground", [PANEL, READ, *(fill.colour for fill in FILLS)])
def test_text_has_the_contrast_that_wcag_asks_for_at_its_strictest(ground):
    assert contrast(INK, ground) >= 7


@pytest.mark.parametrize("colour", [MUTED, MARK, *LINES])
def test_coloured_text_and_lines_stand_out_from_the_panel(colour):
    assert contrast(colour, PANEL) >= 4.5


def test_no_two_fills_look_alike_without_colour():
    assert len({fill.hatch for fill in FILLS}) == len(FILLS)


def test_the_first_three_fills_differ_in_grey_from_each_other_or_in_hatch():
    greys = [round(luminance(fill.colour), 2) for fill in FILLS[:3]]

    assert all(one != other for one, other in combinations(greys, 2))


def test_sizes_grow_with_importance():
    assert 15 <= SMALL < BODY < TITLE
