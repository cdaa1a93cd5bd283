"""The layout kit: blocks do not overlap, what is new or gone is found by its offset, a legend names what was used."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, RecordCell, TimeAxis, lane, mark
from kafkalearn.drawing.kit import (
    arrow,
    beside,
    cells,
    chip,
    envelope,
    fact,
    flow,
    free,
    label,
    legend,
    meter,
    named,
    numbers,
    panel,
    promises,
    row,
    sheet,
    space,
    stack,
    timeline,
)
from tests.drawing.drawn import assert_well_drawn, widths, words_of

SIZES = st.tuples(st.integers(0, 200), st.integers(0, 80))
AXIS = Axis(left=100, first=3, count=5, unit=40)


def recorder(places, width, height):
    """A block that notes where it was put."""
    return free(width, height, lambda x, y: places.append((x, y, width, height)) or [])


@given(st.lists(SIZES, min_size=1, max_size=6), st.integers(0, 20))
def test_a_stack_puts_each_block_below_the_one_before_and_a_row_beside_it(sizes, gap):
    below, beside = [], []
    stacked = stack(*(recorder(below, *size) for size in sizes), gap=gap)
    in_a_row = row(*(recorder(beside, *size) for size in sizes), gap=gap)
    stacked.draw(7, 9)
    in_a_row.draw(7, 9)

    assert [y + height + gap for _, y, _, height in below[:-1]] == [y for _, y, *_ in below[1:]]
    assert below[-1][1] + below[-1][3] == 9 + stacked.height
    assert [x + width + gap for x, _, width, _ in beside[:-1]] == [x for x, *_ in beside[1:]]
    assert {y + height for _, y, _, height in beside} == {9 + in_a_row.height}


@given(
    st.text("abdeghnopqsuvxyz .-", max_size=120),
    st.sampled_from([svg.SMALL, svg.BODY, svg.TITLE]),
    st.integers(60, 900),
)
def test_a_label_fits_the_width_it_is_given_and_keeps_its_height(words, size, width):
    block = label(words, size, width=width)
    (drawn,) = block.draw(0, 0)
    shown = re.search(r'font-size="([\d.]+)"[^>]*>(.*)</text>', drawn)

    assert (block.width, block.height) == (width, 1.35 * size)
    assert svg.SMALL <= float(shown[1]) <= size
    assert all(room <= width + 2 for room in widths(shown[2], {"font-size": str(int(float(shown[1])))}))


def test_a_sheet_is_a_picture_that_is_well_drawn():
    head = row(label("orders-0", svg.TITLE, bold=True), label("30 ms", svg.BODY), width=900)
    drawing = sheet(stack(head, panel(label("broker 1"), width=900, height=60)), "one broker")

    assert_well_drawn([drawing])
    assert words_of(drawing) == ["orders-0", "30 ms", "broker 1"]


@given(st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)), st.sets(st.integers(0, 12)))
def test_what_is_new_is_marked_and_what_is_gone_or_lost_is_a_ghost_where_it_was(now, before, lost):
    cells, old = ({at: RecordCell(f"m{at}", svg.OPEN) for at in each} for each in (now, before))
    drawn = "\n".join(lane(AXIS, cells, old, 10, 30, ghosts={at: f"m{at}" for at in lost}))
    shown = set(AXIS.offsets)

    assert drawn.count("stroke-dasharray") == len(((before | lost) - now) & shown)
    outlines = re.findall(rf'd="([^"]*)" fill="none" stroke="{svg.MARK}"', drawn)
    assert sum(each.count("M") for each in outlines) == len((now - before) & shown)
    assert {int(each) for each in re.findall(r">m(\d+)<", drawn)} == (now | before | lost) & shown


@pytest.mark.parametrize(("offset", "x", "words"), [(5, 180, "HW 5"), (1, 100, "\u25c2 HW 1"), (40, 300, "HW 40")])
def test_a_mark_stands_at_its_offset_or_at_the_edge_beyond_which_it_lies(offset, x, words):
    drawn = mark(AXIS, offset, "HW", (20, 60), 16, is_new=False)

    assert f'x1="{x}"' in drawn
    assert f">{words}<" in drawn


def test_a_legend_names_the_fills_that_were_used_in_one_order():
    names = {svg.COMMITTED: "committed", svg.OPEN: "written", svg.LOST: "lost"}
    drawn = "".join(legend([svg.OPEN, svg.COMMITTED, svg.OPEN], names).draw(0, 0))

    assert re.findall(r">(\w+)</text>", drawn) == ["committed", "written"]
    assert space(3, 4).draw(0, 0) == []


def test_a_legend_with_a_width_stands_as_far_apart_as_it_may():
    names = {svg.COMMITTED: "committed", svg.OPEN: "written", svg.LOST: "lost"}
    near, wide, narrow = (legend(names, names, width=width).width for width in (None, 900, 100))

    assert narrow < near < wide <= 900
    assert "stroke" in "".join(legend([svg.Fill(svg.PANEL, "")], {svg.Fill(svg.PANEL, ""): "free"}).draw(0, 0))


@given(st.lists(SIZES, min_size=1, max_size=6), st.integers(0, 20))
def test_middles_of_blocks_beside_each_other_are_on_one_line(sizes, gap):
    places = []
    whole = beside(*(recorder(places, *size) for size in sizes), gap=gap)
    whole.draw(7, 9)

    assert {y + height / 2 for _, y, _, height in places} == {9 + whole.height / 2}
    assert [x + width + gap for x, _, width, _ in places[:-1]] == [x for x, *_ in places[1:]]


def test_cells_have_their_fills_words_and_marks_below_their_numbers():
    grid = cells(4, 40, {svg.OPEN: [1], svg.LOST: []}, {1: "m1", 3: "..."}, marked=[1])
    drawing = sheet(stack(numbers(4, 40), grid), "four places")

    assert_well_drawn([drawing])
    assert words_of(drawing) == ["0", "1", "2", "3", "m1", "..."]
    assert drawing.count(svg.OPEN.colour) == drawing.count(svg.MARK) == 1
    assert svg.LOST.colour not in drawing


def test_a_fact_is_marked_while_it_is_new():
    old, new = ("".join(fact("epoch 2", is_new=each, width=300).draw(0, 0)) for each in (False, True))

    assert (svg.MARK in old, svg.MARK in new) == (False, True)


def test_a_time_line_has_round_times_below_its_lanes_and_a_line_where_it_is():
    axis = TimeAxis(left=100, right=900, from_ms=0, to_ms=45_000)
    lanes = free(968, 60, lambda x, y: [svg.text(x, y + 20, "the group")])
    still, moving = (sheet(timeline(axis, lanes, now_ms=now), "lanes") for now in (None, 5000))

    assert_well_drawn([still, moving])
    assert words_of(still) == [*(f"{each} s" for each in range(0, 50, 5)), "the group"]
    assert (svg.MARK in still, svg.MARK in moving) == (False, True)
    assert axis.box(-10, 0, 0, 10) is None
    assert axis.box(5000, 5001, 0, 10)[2] == 2, "what lasts a millisecond is seen"


@given(st.lists(st.tuples(st.integers(1, 200), st.integers(1, 80)), min_size=1, max_size=8), st.integers(200, 500))
def test_what_flows_begins_a_new_line_only_where_there_is_no_more_room(sizes, width):
    places = []
    whole = flow(*(recorder(places, *size) for size in sizes), width=width, gap=10, between=4)
    whole.draw(0, 0)

    assert all(x + wide <= width for x, _, wide, _ in places)
    for (x, y, wide, high), (next_x, next_y, next_wide, _) in pairwise(places):
        is_on_its_line = next_x == x + wide + 10
        assert is_on_its_line or (next_x == 0 and x + wide + 10 + next_wide > width and next_y >= y + high / 2)
    assert max(y + high for _, y, _, high in places) <= whole.height


def test_an_arrow_has_its_head_where_it_goes_and_a_meter_its_line_at_what_it_waits_for():
    right, left = (arrow(70, to=each).draw(0, 0)[0] for each in ("right", "left"))
    full = meter(1, svg.OPEN, least=0.5, width=200, height=20).draw(10, 0)

    assert ('points="64,12' in right, 'points="6,12' in left) == (True, True)
    assert full[0].startswith('<path d="M10 0h200v20')
    assert 'x1="110"' in full[-1]
    assert len(meter(0, svg.OPEN, least=0.5, width=200, height=20).draw(10, 0)) == 2


def test_a_cell_has_as_many_lines_as_its_words_and_so_has_its_ghost():
    cells = {3: RecordCell("billing\norders-0: 7", svg.OPEN)}
    now, gone = (free(400, 60, lambda x, y, it=it: lane(AXIS, *it, 10, 46)) for it in ((cells, cells), ({}, cells)))

    for each in (now, gone):
        drawing = sheet(each, "a cell of two lines")
        assert words_of(drawing) == ["billing", "orders-0: 7"]
        assert_well_drawn([drawing])


def test_a_label_at_the_end_ends_where_its_width_does():
    (drawn,) = label("1 to handle", width=200, at_end=True).draw(10, 0)

    assert 'x="210"' in drawn
    assert 'text-anchor="end"' in drawn


@pytest.mark.parametrize(("to", "tips"), [("right", {200}), ("left", {0}), ("", set())])
def test_an_envelope_points_to_where_it_goes_and_not_where_it_waits(to, tips):
    points, words, below = envelope("m1, seq 0", "to broker 1", svg.OPEN, width=200, to=to).draw(0, 0)
    corners = [tuple(map(float, each.split(","))) for each in re.search(r'points="([^"]*)"', points)[1].split()]

    assert {x for x, y in corners if y == 22} == tips
    assert (">m1, seq 0<" in words, ">to broker 1<" in below) == (True, True)


def test_a_chip_is_filled_and_marked_if_it_is_new():
    old, new = ("\n".join(chip(["m1", "LOST"], svg.LOST, width=100, is_new=each).draw(0, 0)) for each in (False, True))

    assert (svg.MARK in old, svg.MARK in new) == (False, True)
    assert svg.LOST.colour in old
    assert svg.LOST.colour in new


def test_a_named_line_has_what_there_is_right_of_its_name():
    drawing = sheet(named("in flight", "requests and answers", chip(["m1"], svg.OPEN, width=100)), "a line")

    assert_well_drawn([drawing])
    assert words_of(drawing) == ["in flight", "requests and answers", "m1"]


def test_promises_name_the_newly_broken_first_and_count_what_does_not_fit():
    wrong = ["all committed records survive", "no record is doubled", "the order of a producer is kept"]
    page = promises(wrong, wrong[:2], "all hold", width=968, height=32)

    said = words_of(sheet(page, "promises"))
    assert said == ["Promise broken: the order of a producer is kept; and 2 more"]
    assert words_of(sheet(promises([], wrong, "all hold", width=968, height=32), "none")) == ["all hold"]
