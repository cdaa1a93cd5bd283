"""The picture of a client's connections, and the figures of how keys and groups fall on partitions."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.picture import draw_connections
from kafkalearn.coordinator.places import connections
from kafkalearn.drawing.svg import MARK
from kafkalearn.views import draw_broker_load, draw_counts, draw_share_moved, draw_skew, figure
from tests.drawing.drawn import assert_well_drawn, elements_of, words_of

MEMBERS = {"c1": [0, 1], "c2": [2, 3], "c3": [4, 5]}
LEADERS = [1, 2, 3] * 2
FULL = {"consumer-billing-1-a88b-42": [0, 1, 2], "c2": [3, 4, 5], "c3": [6, 7, 8], "c4": [9, 10, 11]}


def test_each_connection_is_a_line_and_the_coordinator_has_the_marks_border():
    drawing = draw_connections("billing", LEADERS, MEMBERS, brokers=3)
    found = connections("billing", LEADERS, MEMBERS, brokers=3)

    assert len(elements_of(drawing, "line")) == len(found) + 3  # and the legend
    assert sum("stroke-dasharray" in each.attrib for each in elements_of(drawing, "line")) == 3 + 1
    assert [each.get("stroke") for each in elements_of(drawing, "rect")].count(MARK) == 1
    words = words_of(drawing)
    assert "broker 1, coordinator" in words
    assert "leads __consumer_offsets-9" in words
    assert "reads partitions 2 and 3" in words


def test_the_label_says_it_in_words():
    assert draw_connections("billing", LEADERS, MEMBERS, brokers=3).label == (
        "producer: writes to brokers 1, 2 and 3. c1: reads from brokers 1 and 2. c2: reads from brokers 1 and 3. "
        'c3: reads from brokers 2 and 3. All 3 members of "billing": to broker 1, which leads partition 9 of '
        "__consumer_offsets."
    )


@pytest.mark.parametrize("group_id", ["billing", "W" * 60, "订单" * 60, "<b>&"])
def test_it_fits_a_small_window_and_no_heading_reaches_the_edge(group_id):
    drawing = draw_connections(group_id, [1, 2, 3, 4] * 3, FULL, brokers=4)

    assert_well_drawn([drawing])
    heading = elements_of(drawing, "text")[0]
    assert 25 + len(heading.text) * float(heading.get("font-size")) * 0.75 < 1000


@pytest.mark.parametrize(
    ("leaders", "members", "brokers"),
    [(LEADERS, MEMBERS, 5), ([1] * 5, {f"c{at}": [at] for at in range(5)}, 1), ([1] * 13, {"c1": range(13)}, 1)],
)
def test_what_has_no_room_is_refused(leaders, members, brokers):
    with pytest.raises(KafkaLearnError, match="the picture has room for 4 brokers, 4 members and 12 partitions"):
        draw_connections("billing", leaders, members, brokers=brokers)


def axes():
    return Figure().add_subplot()


def test_counts_are_bars_with_their_mean_and_the_band_of_a_fair_draw():
    drawing = figure(draw_counts, [90, 110, 100, 100], alt="counts")

    ax = drawing.axes[0]
    assert [bar.get_height() for bar in ax.containers[0]] == [90, 110, 100, 100]
    assert ax.lines[0].get_ydata()[0] == 100
    band = ax.patches[0]
    assert band.get_y() == pytest.approx(100 - 3 * 75**0.5)  # 400 * 1/4 * 3/4
    assert band.get_height() == pytest.approx(6 * 75**0.5)


def test_the_axis_of_bars_begins_at_zero_also_where_the_band_does_not():
    ax = axes()
    draw_counts(ax, [1, 2])

    assert ax.get_ylim()[0] == 0


def test_marked_partitions_are_told_apart_and_named():
    ax = axes()
    draw_counts(ax, [90, 110, 100], marked=[1])

    assert [len(bars) for bars in ax.containers] == [2, 1]
    assert [note.get_text() for note in ax.texts] == ["1"]


def test_small_differences_of_large_counts_are_shown_as_dots():
    ax = axes()
    draw_counts(ax, [200_000, 200_500, 199_500], has_zero=False)

    assert ax.get_ylim()[0] > 198_000
    assert not ax.containers


def test_broker_load_says_how_much_each_carries():
    ax = axes()
    draw_broker_load(ax, {1: 30, 2: 10, 3: 0})

    assert [note.get_text() for note in ax.texts] == ["30\n75.0%", "10\n25.0%", "0\n0.0%"]


def test_share_moved_stands_beside_n_over_n_plus_one():
    ax = axes()
    draw_share_moved(ax, {1: 0.5, 3: 0.76})

    line, measured = ax.lines
    assert line.get_ydata() == pytest.approx([1 / 2, 2 / 3, 3 / 4])
    assert list(measured.get_ydata()) == [0.5, 0.76]


def test_skew_orders_the_keys_and_sums_them_up():
    ax = axes()
    draw_skew(ax, {"carrier": [1, 6, 3], "equal": [5, 5]})

    assert [list(line.get_ydata()) for line in ax.lines] == [[0.6, 0.9, 1.0], [0.5, 1.0]]
    assert [line.get_label() for line in ax.lines] == ["carrier, 3 keys", "equal, 2 keys"]


@pytest.mark.parametrize("counts", [[], [[1, 2], [3, 4]], ["a"], [-1, 2], [0, 0], [float("nan")]])
def test_what_cannot_be_counted_is_refused(counts):
    with pytest.raises(KafkaLearnError, match="counts must be"):
        draw_counts(axes(), counts)


def test_numpy_and_pandas_numbers_are_welcome():
    pandas = pytest.importorskip("pandas")
    for counts in (np.array([1, 2]), pandas.Series([1, 2])):
        draw_counts(axes(), counts)


def test_a_marked_partition_must_be_there():
    with pytest.raises(KafkaLearnError, match="partitions are 0 to 1"):
        draw_counts(axes(), [1, 2], marked=[2])
