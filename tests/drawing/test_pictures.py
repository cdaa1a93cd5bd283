import re
import unicodedata
from xml.etree import ElementTree

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.lookup import look_up
from kafkalearn.coordinator.picture import broker_fill
from kafkalearn.drawing.svg import MARK
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.partitioning.keyless import Settings, sends, simulate
from kafkalearn.views import animate, draw_key, draw_keyless, draw_lookup, draw_offsets_topic
from tests.drawing.drawn import assert_a_run_well_drawn, elements_of, words_at_a_frame
from tests.every import every_case
from tools.chapters import chapter_paths

BROKERS = st.one_of(st.none(), st.integers(0, 9))


def keyless_run(release, **settings):
    settings = Settings(5, release, batch_size=1000, **settings)
    return animate(simulate(settings, sends(30, drain_every=12)), settings).pictures


RUNS = {
    "lookup": animate(look_up("console-consumer-77682", round_robin_leaders([1, 2, 3]))).pictures,
    "a long id": animate(look_up("订单" * 60, [1, None] * 120, 240)[::20]).pictures,
    "round robin": keyless_run("2.3", available=(0, 2)),
    "sticky": keyless_run("2.4"),
    "uniform sticky": keyless_run("4.3"),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_is_well_drawn(name):
    assert_a_run_well_drawn(RUNS[name])


def test_what_happens_now_has_the_marks_colour():
    pictures = RUNS["lookup"]

    assert MARK not in pictures[0]
    assert all(MARK in drawing for drawing in pictures[1:])


@given(st.text(max_size=40), st.lists(BROKERS, min_size=1, max_size=130))
def test_every_lookup_can_be_drawn(group_id, leaders):
    for frame in look_up(group_id, leaders, len(leaders))[-4:]:
        ElementTree.fromstring(draw_lookup(frame))


def test_a_large_topic_shows_the_hundred_partitions_around_the_marked_one():
    words = re.findall(r">([^<>]+)</text>", draw_offsets_topic([1, 2] * 200, marked=273))

    assert "200" in words
    assert "299" in words
    assert "199" not in words
    assert "300" not in words


def test_many_brokers_are_told_apart_by_their_numbers_and_the_legend_says_how_many_more():
    drawing = draw_offsets_topic(list(range(20)))

    assert "and 9 more brokers" in drawing
    assert "broker 10 leads 1" in drawing


def test_six_times_six_brokers_have_looks_of_their_own():
    assert len({broker_fill(index) for index in range(36)}) == 36


@pytest.mark.parametrize("group_id", ["billing", "WWWWWWWWWWWW", "W" * 40, "订单" * 60, "console-consumer-77682"])
def test_no_letter_of_a_long_id_reaches_beyond_the_edge(group_id):
    (frame, *_) = look_up(group_id, brokers=3)
    heading = elements_of(draw_lookup(frame), "text")[0]
    size = float(heading.get("font-size"))
    widest = (
        0.61 if heading.get("font-family") else 1.11
    )  # of a letter, in font sizes; the words of the question are narrower
    question, _, name = heading.text.partition('"')
    letters = sum(2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in name)
    assert 16 + size * (0.68 * len(question) + widest * letters) < 1000


@pytest.mark.parametrize("partition_count", [1, 50, 100, 1000])
@pytest.mark.parametrize("broker_count", [1, 3, 8, 40])
def test_a_look_up_fits_a_small_window(partition_count, broker_count):
    last = look_up("billing", brokers=broker_count, partition_count=partition_count)[-1]
    assert draw_lookup(last).size[1] <= 590


def test_a_partition_without_leader_is_shown_as_such():
    assert draw_offsets_topic([1, None]).label == "__consumer_offsets: 2 partitions; broker 1 leads 1, 1 without leader"


@pytest.mark.parametrize("marked", [-1, 50, "12"])
def test_a_partition_that_is_not_there_cannot_be_marked(marked):
    with pytest.raises(KafkaLearnError, match="marked must be"):
        draw_offsets_topic(round_robin_leaders([1, 2, 3]), marked)


def test_a_topic_without_partitions_cannot_be_drawn():
    with pytest.raises(KafkaLearnError, match="leaders is empty"):
        draw_offsets_topic([])


def test_more_partitions_than_fit_follow_the_record():
    settings = Settings(30, "4.3", batch_size=1000)
    trace = simulate(settings, sends(40))

    for frame in trace[1:]:
        assert f">partition {frame.state.effects[-1].partition}<" in draw_keyless(settings, frame)
        assert draw_keyless(settings, frame).size[1] <= 590


@pytest.mark.parametrize("key", [b"", b"order-42", b"\xff\xfe<&", b"x" * 300])
@pytest.mark.parametrize("partition_count", [1, 6, 24])
def test_the_way_of_a_key_is_drawn(key, partition_count):
    drawing = draw_key(key, partition_count)

    assert drawing.size[1] <= 590
    assert f">partition {partition_for_key(key, partition_count)}<" in drawing
    assert ElementTree.fromstring(drawing) is not None


def test_a_topic_too_large_for_the_way_of_a_key_is_refused():
    with pytest.raises(KafkaLearnError, match="has room for 24 partitions, got 25"):
        draw_key(b"a", 25)


@every_case("path", chapter_paths(), ids=lambda path: path.stem)
def test_no_word_in_a_chapter_s_picture_touches_the_frame_around_it(path):
    cells = nbformat.read(path, as_version=4).cells
    outputs = (output.get("data", {}) for cell in cells for output in cell.get("outputs", []))
    drawings = (data["image/svg+xml"] for data in outputs if "image/svg+xml" in data)

    assert [found for drawing in drawings for found in words_at_a_frame(drawing, least=2)] == []
