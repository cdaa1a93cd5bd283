import subprocess
import sys
import warnings

import matplotlib
import pytest
from matplotlib.font_manager import FontProperties, findfont

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.figures import DPI, LARGEST, LETTERS, RC, SMALLEST
from kafkalearn.drawing.svg import PANEL
from kafkalearn.views import draw_counts, draw_done, draw_lag_by_partition, figure, small_multiples


def test_small_multiples_share_their_scales_and_one_legend():
    drawing = small_multiples(draw_counts, {"a": [1, 2], "b": [30, 40], "c": [5, 6]}, alt="three")

    shown = [ax for ax in drawing.axes if ax.get_visible()]
    assert [ax.get_title(loc="left") for ax in shown] == ["a", "b", "c"]
    assert len({ax.get_ylim() for ax in shown}) == 1
    assert [words.get_text() for words in drawing.legends[0].get_texts()] == [
        "fair: mean ± 3 standard deviations",
        "mean",
    ]


def test_a_figure_shows_itself_once_as_a_png_and_in_words():
    data, metadata = figure(draw_counts, [1, 2], alt="two counts", size=(4, 3))._repr_mimebundle_()

    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == "two counts"
    assert metadata["image/png"] == {"width": 400, "height": 300, "alt": "two counts"}


def test_the_largest_figure_can_be_read_on_a_slide_and_a_larger_one_is_refused():
    """A slide of 1920 x 1080 has 1,880 x 820 pixels for a picture above a verdict of three lines (test_slides.py)."""
    (width, height), letters = (inches * DPI for inches in LARGEST), SMALLEST * DPI / 72
    assert round(letters * min(1_880 / width, 820 / height)) >= 24
    assert figure(draw_counts, [1, 2], alt="two counts", size=LARGEST).alt == "two counts"
    three = {"a": [1], "b": [2], "c": [3]}
    assert small_multiples(draw_counts, three, alt="three", columns=3, panel_size=(4.4, 3.6)).alt == "three"
    with pytest.raises(KafkaLearnError, match=r"at most 13.2 x 6 inches, got 10 x 8"):
        figure(draw_counts, [1, 2], alt="two counts", size=(10, 8))
    with pytest.raises(KafkaLearnError, match=r"got 5 x 9"):
        small_multiples(draw_counts, three, alt="three", columns=1)


def test_what_is_done_rises_to_all_but_those_that_never_are():
    times = {"least": ([3.0, 1.0, 2.0], [2.0]), "anew": ([5.0, None, None], [])}
    (ax,) = figure(draw_done, times, alt="two plans").axes

    stairs = {line.get_label(): [*zip(*line.get_data(), strict=True)] for line in ax.get_lines()}
    assert stairs["least"] == [(1, 1), (2, 2), (3, 3)]
    assert stairs["anew"] == [(5, 1)]
    assert [(2, 2)] in stairs.values()  # the ring
    assert [words.get_text() for words in ax.texts] == ["2 never"]
    assert ax.get_xscale() == "log"


@pytest.mark.parametrize("times", [{}, {"least": ([None], [])}])
def test_where_nothing_is_ever_done_there_is_no_figure(times):
    with pytest.raises(KafkaLearnError, match="something that is done"):
        figure(draw_done, times, alt="")


def test_drawing_leaves_the_global_settings_and_pyplot_alone():
    before = dict(matplotlib.rcParams)
    figure(draw_counts, [1, 2], alt="two counts")._repr_mimebundle_()
    loads_pyplot = "import sys, kafkalearn.drawing.figures; sys.exit('matplotlib.pyplot' in sys.modules)"

    assert dict(matplotlib.rcParams) == before
    assert subprocess.run([sys.executable, "-c", loads_pyplot]).returncode == 0


@pytest.mark.parametrize("name", ["a$\\frac{b$", "$x^2$", "<img src=x onerror=alert(1)>", "\\$", "100 % & _"])
def test_a_name_is_no_mathematics_whatever_is_in_it(name):
    lags = figure(draw_lag_by_partition, {name: [1, 2], "billing": [3, 4]}, alt=name)
    panels = small_multiples(draw_counts, {name: [1, 2]}, alt=name)

    for drawing in (lags, panels):
        data, _ = drawing._repr_mimebundle_()
        assert data["image/png"].startswith(b"\x89PNG")
        assert set(data) == {"image/png", "text/plain"}
    assert name in [words.get_text() for words in lags.legends[0].get_texts()]


def test_a_group_whose_name_begins_with_an_underscore_is_in_the_legend():
    drawing = figure(draw_lag_by_partition, {"_internal": [1, 2], "billing": [3, 4]}, alt="two groups")

    assert [words.get_text().strip() for words in drawing.legends[0].get_texts()] == ["_internal", "billing"]


def test_powers_of_ten_on_an_axis_stay_mathematics():
    drawing = figure(lambda ax: (ax.plot([1, 1000], [1, 1000]), ax.set_xscale("log")), alt="a line")
    drawing._repr_mimebundle_()

    marks = drawing.axes[0].get_xticklabels()
    assert marks[0].get_parse_math()
    assert "$" in marks[0].get_text()


def test_panels_must_not_be_empty():
    with pytest.raises(KafkaLearnError, match="panels is empty"):
        small_multiples(draw_counts, {}, alt="nothing")


def test_matplotlib_knows_every_setting():
    with matplotlib.rc_context(RC):
        assert matplotlib.rcParams["axes.facecolor"] == PANEL


def test_figures_are_set_in_the_letters_of_the_face_and_in_matplotlibs_own_where_it_has_none():
    for weight, name in ((400, "font-regular.ttf"), ("bold", "font-bold.ttf")):
        assert findfont(FontProperties(family=RC["font.family"], weight=weight), fallback_to_default=False).endswith(
            name
        )
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a letter that no font has is a warning
        drawing = figure(draw_lag_by_partition, {"заказы ≥ 3": [1, 2], "billing": [3, 4]}, alt="two groups")
        data, _ = drawing._repr_mimebundle_()

    assert data["image/png"].startswith(b"\x89PNG")
    assert drawing.legends[0].get_texts()[0].get_fontfamily()[0] == LETTERS
