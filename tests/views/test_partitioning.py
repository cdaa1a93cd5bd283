import numpy as np
import pytest
from matplotlib.figure import Figure

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.views import draw_broker_load, draw_counts, draw_share_moved, draw_skew, figure


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
