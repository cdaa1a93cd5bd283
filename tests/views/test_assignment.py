from functools import partial
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.assignors import Assignment, Member, assign, compare, random_rebalance, rebalance
from kafkalearn.assignors.registry import CLIENT_ASSIGNORS
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.views import (
    animate_rebalance,
    animation,
    assignment_text,
    describe_assignment,
    describe_rebalance,
    draw_assignment,
    draw_measures,
    draw_rebalance,
    draw_shares,
    figure,
    rebalance_text,
    small_multiples,
)
from tests.assignor.groups import TODAY
from tests.views.golden import expected

TEN = [Member(f"m{number:02}", ["orders"]) for number in range(10)]
NINE = [member for member in TEN if member.member_id != "m03"]
FEEDS = [f"feed-{number:02}" for number in range(40)]


def by_range(members):
    return assign("range", {"orders": 50}, members)


def told(trace):
    frames = zip(trace, (None, *trace), strict=False)
    return "\n\n".join(rebalance_text(frame, before) for frame, before in frames)


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
def test_a_rebalance_reads_as_expected(assignor):
    three, four = ([Member(f"billing-{number}", ["orders", "payments"]) for number in range(n)] for n in (3, 4))
    counts = {"orders": 4, "payments": 3}
    actual = "\n\n----\n\n".join(
        told(rebalance(assignor, counts, *change)) for change in ((four, three), (three, four))
    )
    assert actual == expected(f"rebalance-{assignor}.txt", actual)


def test_an_assignment_reads_as_expected():
    pile = assign("range", dict.fromkeys(FEEDS, 1), [Member(f"search-{number}", FEEDS) for number in range(4)])
    pages = [assignment_text(by_range(TEN)), assignment_text(by_range(NINE), by_range(TEN)), describe_assignment(pile)]
    actual = "\n\n".join(pages)
    assert actual == expected("assignments.txt", actual)


def words_of(drawing):
    root = ElementTree.fromstring(drawing)
    return [each.text for each in root.iter("{http://www.w3.org/2000/svg}text")]


def test_every_partition_is_a_cell_and_what_moved_is_marked():
    drawing = draw_assignment(by_range(NINE), by_range(TEN))
    assert set(map(str, range(50))) <= set(words_of(drawing))
    assert "gone: m03" in words_of(drawing)
    assert drawing.count(MARK) == 9 + 1  # the moved ones, and the one in the legend
    assert MARK not in draw_assignment(by_range(TEN))


def test_partitions_of_several_topics_have_their_topics_names_and_wrap():
    pile = assign("range", dict.fromkeys(FEEDS, 1), [Member(f"search-{number}", FEEDS) for number in range(4)])
    drawing = draw_assignment(pile)
    assert {f"{feed}-0" for feed in FEEDS} <= set(words_of(drawing))
    assert words_of(drawing).count("nothing") == 3


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
@given(number=st.integers(0, 500))
def test_every_rebalance_can_be_drawn_each_frame_as_large_and_different_from_the_one_before(assignor, number):
    drawn = random_rebalance(number)
    trace = rebalance(assignor, drawn.partition_counts, drawn.before, drawn.after)
    pictures = animation(trace, partial(draw_rebalance, trace), describe_rebalance).pictures
    assert len({each.size for each in pictures}) == 1
    for each in pictures:
        elements = list(ElementTree.fromstring(each).iter())
        assert min(float(one.get("font-size")) for one in elements if one.get("font-size")) >= SMALL
        assert "\n" not in each.label


@pytest.mark.parametrize(("side", "assignor"), TODAY)
def test_an_assignment_of_every_assignor_can_be_drawn(side, assignor):
    ElementTree.fromstring(draw_assignment(assign(assignor, {"orders": 50}, TEN, side=side)))
    ElementTree.fromstring(draw_assignment(Assignment({})))


@pytest.mark.parametrize("assignor", CLIENT_ASSIGNORS)
@pytest.mark.parametrize("partition_count", [1, 15, 40])
def test_a_rebalance_of_eight_members_fits_the_window(assignor, partition_count):
    eight = [Member(f"billing-{number}", ["orders"]) for number in range(8)]
    drawn = animate_rebalance(rebalance(assignor, {"orders": partition_count}, eight, eight[1:]), title="Who?")
    assert max(picture.size[1] for picture in drawn.pictures) <= 590
    assert drawn.title == "Who?"


def test_a_long_member_id_has_room_beside_its_lane():
    name = "consumer-billing-1-6f1e09ab-a9"
    assert name in words_of(draw_assignment(assign("range", {"orders": 30}, [Member(name, ["orders"])])))


def test_nobody_reads_anything_while_an_eager_group_stops():
    trace = rebalance("sticky", {"orders": 50}, TEN, NINE)
    words = words_of(draw_rebalance(trace, trace[2], trace[1]))
    assert "0 of 50 partitions are read" in words
    assert "has left" in words
    assert words.count("nothing") == 9


def test_measures_are_bars_for_each_assignor_with_their_numbers():
    rows = compare(["range", "sticky"], {"orders": 50}, TEN, NINE)
    drawing = figure(draw_measures, rows, alt="what a change costs")
    (ax,) = drawing.axes
    assert [each.get_text() for each in ax.get_yticklabels()] == ["range", "sticky"]
    assert sorted(int(each.get_text()) for each in ax.texts) == sorted([50, 9, 9, 5, 1, 50, 5, 5, 5, 1])
    with pytest.raises(KafkaLearnError, match="rows is empty"):
        figure(draw_measures, [], alt="")
    with pytest.raises(KafkaLearnError, match="a row lacks 'revoked, eager'"):
        figure(draw_measures, [{"assignor": "range"}], alt="")


def test_shares_are_counted_in_twentieths_and_the_mean_is_written():
    drawing = small_multiples(draw_shares, {"a": [0.0, 0.01, 1.0, 1.0], "b": [0.5]}, alt="shares")
    heights = [bar.get_height() for bar in drawing.axes[0].patches]
    assert (heights[0], heights[-1], sum(heights)) == (0.5, 0.5, 1.0)
    assert [ax.texts[0].get_text() for ax in drawing.axes] == ["mean 50%", "mean 50%"]
    for wrong in ([], [1.5], [-0.1]):
        with pytest.raises(KafkaLearnError, match="shares must be numbers from 0 to 1"):
            figure(draw_shares, wrong, alt="")
