"""A grid: what is said is seen by its colour, every word stands in its cell, and the label says all of it."""

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing import svg
from kafkalearn.views import draw_grid
from tests.drawing.drawn import assert_well_drawn, words_of

SAID = st.sampled_from(["once", "3 lost", "3 lost, 6 twice", "1 twice", "none"])


def colours(drawing):
    """The fill of each cell, by its word, in the order of reading."""
    found, fill = [], ""
    for each in ElementTree.fromstring(drawing).iter():
        if each.tag.endswith("path") and each.get("class") is None:
            fill = each.get("fill")
        elif each.tag.endswith("text") and each.get("text-anchor") == "middle":
            found.append((each.text, fill))
    return found


@given(st.integers(1, 14), st.integers(1, 5), st.data())
def test_every_cell_has_the_colour_of_what_it_says(row_count, column_count, data):
    said = [[data.draw(SAID) for _ in range(column_count)] for _ in range(row_count)]
    rows = {f"strategy {at}": {f"column {to}": each for to, each in enumerate(row)} for at, row in enumerate(said)}
    drawing = draw_grid(rows, corner="strategy")

    assert_well_drawn([drawing])
    meant = {"once": svg.NOTHING, "1 twice": svg.TWICE, "none": svg.COMMITTED}
    cells = [each for row in said for each in row]
    if {*cells} != {"once"}:
        fills = [meant.get(each, svg.LOST).colour for each in cells]
        assert colours(drawing) == [*zip(cells, fills, strict=True)]
    assert re.findall(r"column \d+ ([^;]*?)(?=, column|;|$)", drawing.label) == cells


def test_where_nothing_is_meant_the_same_word_has_the_same_colour_and_another_word_another():
    rows = {repr(key): {"murmur2": key, "murmur2-unmasked": 5 - key} | dict.fromkeys("abcd", key) for key in range(6)}
    drawing = draw_grid(rows)
    by_word = dict(colours(drawing))

    assert_well_drawn([drawing])
    assert len({*by_word.values()}) == len(by_word) == 6
    assert {*colours(drawing)} == {*by_word.items()}
    assert words_of(drawing)[:3] == ["murmur2", "murmur2-", "unmasked"]


@pytest.mark.parametrize("rows", [{}, {"a": {}}, {"a": {"x": 1}, "b": {"y": 1}}])
def test_rows_without_cells_or_with_other_columns_are_refused(rows):
    with pytest.raises(KafkaLearnError, match="rows must have the same columns"):
        draw_grid(rows)


def test_more_things_than_colours_are_refused():
    with pytest.raises(KafkaLearnError, match="colours for 6 different things"):
        draw_grid({"a": {str(at): at for at in range(7)}})
