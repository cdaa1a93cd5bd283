"""The face: each colour that a picture has stands there with one for the dark, and every letter is in a font."""

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from kafkalearn.drawing import svg, tokens
from tools.book.face import SIDE, face, fonts
from tools.fonts import chinese_letters

PACKAGE = Path(svg.__file__).parents[1]
PAIR = re.compile(r"fill: light-dark\((#\w{6}), (#\w{6})\)")
LEAST = 4.5  # of the contrast of text that is read
GREY = 2.9  # of L*, 0 to 100: two fills side by side that differ by less are one tone where there are no colours
MEANINGS = {
    name: each if isinstance(each, str) else each.colour
    for name, each in vars(tokens).items()
    if name in ["PANEL", "EMPTY", "COPIED", "OPEN", "READ", "COMMITTED", "MOVED", "LOST", "TWICE", "TOMBSTONE"]
}


def luminance(colour):
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def lightness(colour):
    """CIE's L*: what is left of a colour where there is only grey."""
    share = luminance(colour)
    return 116 * share ** (1 / 3) - 16 if share > 0.008856 else 903.3 * share


def too_near(colours):
    ordered = sorted(colours.items(), key=lambda each: lightness(each[1]))
    return [(one, other) for (one, a), (other, b) in pairwise(ordered) if lightness(b) - lightness(a) < GREY]


def test_a_contrast_is_what_the_guideline_says():
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)


def test_each_colour_of_a_picture_has_one_for_the_dark():
    texts = (path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    used = {colour for text in texts for colour in re.findall(r'"(#[0-9a-f]{6})"', text)}

    assert svg.MARK in used
    assert used - dict(PAIR.findall(face())).keys() == set(tokens.DARK.values()) - tokens.DARK.keys()


def test_the_sheet_has_the_pairs_of_the_tokens():
    assert dict(PAIR.findall(face())) == tokens.DARK


def test_one_meaning_has_one_colour():
    meanings = [tokens.COMMITTED, tokens.OPEN, tokens.COPIED, tokens.LOST, tokens.TOMBSTONE, tokens.MOVED, tokens.TWICE]

    assert len({each.colour for each in meanings}) == len(meanings)


def test_all_meanings_differ_in_grey_by_day_and_in_the_dark():
    assert len(MEANINGS) == 10
    assert too_near(MEANINGS) == []
    assert too_near({name: tokens.DARK[colour] for name, colour in MEANINGS.items()}) == []


def test_what_is_written_what_is_committed_and_nothing_are_far_apart_in_grey():
    nothing, written, committed = (lightness(MEANINGS[name]) for name in ("EMPTY", "OPEN", "COMMITTED"))

    assert nothing - written > 2 * GREY
    assert written - committed > 2 * GREY


def test_like_things_differ_in_grey_by_their_tone_or_by_their_pattern():
    pairs = combinations(tokens.FILLS, 2)

    assert [
        (one, other)
        for one, other in pairs
        if one.hatch == other.hatch and abs(lightness(one.colour) - lightness(other.colour)) < GREY
    ] == []


def test_text_can_be_read_on_every_ground_by_day_and_in_the_dark():
    dark = dict(PAIR.findall(face()))
    grounds = [
        svg.PANEL,
        svg.EMPTY,
        svg.READ,
        *MEANINGS.values(),
        *(each.colour for each in svg.FILLS),
    ]
    grounds += tokens.SAID.keys() - {svg.LEADER}  # what lies under a word of a sentence
    letters = (svg.MUTED, svg.MARK, svg.LEADER)
    pairs = [(svg.INK, ground) for ground in grounds] + [(each, svg.PANEL) for each in letters]

    assert [pair for pair in pairs if contrast(*pair) < LEAST] == []
    assert [(one, other) for one, other in pairs if contrast(dark[one], dark[other]) < LEAST] == []


def test_every_chinese_letter_is_in_the_font_that_is_shipped():
    cut = (SIDE / "font-chinese.txt").read_text(encoding="utf-8")

    assert chinese_letters()
    assert set(chinese_letters()) - set(cut) == set(), "python -m tools.fonts cuts the font anew"


def test_the_fonts_are_in_the_sheet_that_pages_share_and_in_no_page():
    assert fonts().count("data:font/woff2;base64,d09GMg") == 4  # the first bytes of each: wOF2
    assert "@font-face" not in face()
