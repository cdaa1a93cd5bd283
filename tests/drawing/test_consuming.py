"""A topic and its readers, records pulled and pushed, a key looked up, records without one: in pictures and words."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, push, simulate
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.lookup import look_up
from kafkalearn.drawing.svg import EMPTY
from kafkalearn.partitioning import keyless
from kafkalearn.views import (
    consuming_text,
    describe_keyless,
    describe_lookup,
    draw_consuming,
    draw_lag_by_partition,
    draw_lag_over_time,
    draw_push,
    figure,
    keyless_text,
    lookup_text,
    push_text,
)
from tests.drawing.drawn import elements_of, words_of
from tests.recorded import expected, with_before

THREE = Settings(3)
STORY = [
    *(Join("billing", f"billing-{number}") for number in range(4)),
    Join("search", "search-0"),
    *(Produce(f"{customer}{number}", key=customer.encode()) for number, customer in enumerate("ADFGADFGA")),
    Poll("billing", "billing-0", 2),
    Poll("billing", "billing-3"),
    Poll("search", "search-0", 9),
    Leave("billing", "billing-0"),
    Poll("billing", "billing-1", 9),
    Leave("search", "search-0"),
]
TRACE = simulate(THREE, STORY)


def test_a_topic_and_its_groups_read_as_expected():
    actual = "\n\n".join(consuming_text(frame, before) for frame, before in with_before(TRACE))
    assert actual == expected("consuming.txt", actual)


def test_idle_members_are_named_below():
    label_free = draw_consuming(TRACE, TRACE[5])
    assert ">idle, owns nothing: billing-3<" in label_free


def test_every_idle_member_is_named_whole_and_no_line_is_wider_than_the_picture():
    trace = simulate(Settings(1), [Join("shipping", f"shipping-{number}") for number in range(8)])
    words = words_of(draw_consuming(trace, trace[-1]))
    assert " ".join(words[-2:]) == f"idle, own nothing: {', '.join(f'shipping-{number}' for number in range(1, 8))}"
    assert max(map(len, words)) < 84


def test_a_long_member_id_has_room_beside_its_bar():
    name = "consumer-shipping-1-6f1e09ab-a9c1-4f0e-b4d5"
    drawing = draw_consuming(trace := simulate(Settings(1), [Join("shipping", name)]), trace[-1])
    assert name in words_of(drawing)
    (bar,) = (each for each in elements_of(drawing, "rect") if each.get("fill") == EMPTY)
    assert float(bar.get("x")) > 30 + 8 * len(name)
    assert float(bar.get("x")) + float(bar.get("width")) < 1000 - 100


@pytest.mark.parametrize("partition_count", [1, 3, 6, 9, 40])
def test_a_picture_fits_the_window_and_says_which_partitions_it_has_no_room_for(partition_count):
    trace = simulate(Settings(partition_count), [*(Join("shipping", f"s{number}") for number in range(9)), Produce()])
    drawing = draw_consuming(trace, trace[-1])
    assert drawing.size[1] <= 590
    drawn = sum(words.startswith("partition ") for words in words_of(drawing))
    head = words_of(drawing)[0]
    assert drawn == partition_count or head == f"orders: who has read what, partitions 0 to {drawn - 1}"


def test_a_long_log_shows_its_newest_records():
    trace = simulate(Settings(1), [Produce(f"r{number}") for number in range(60)])
    drawing = draw_consuming(trace, trace[-1])
    assert ">r59<" in drawing
    assert ">r0<" not in drawing


def test_lag_figures_have_a_mark_for_each_group():
    drawing = figure(draw_lag_by_partition, {"billing": [0, 5], "search": [7, 1]}, alt="lag")
    assert [bar.get_height() for bar in drawing.axes[0].patches] == [0, 5, 7, 1]
    drawing = figure(draw_lag_over_time, [1, 2, 3], {"billing": [0, 0, 1], "search": [4, 5, 6]}, alt="lag")
    assert [list(line.get_ydata()) for line in drawing.axes[0].lines] == [[0, 0, 1], [4, 5, 6]]


@pytest.mark.parametrize("lag", [{}, {"a": [1], "b": [1, 2]}, {"a": []}])
def test_lags_of_different_lengths_are_refused(lag):
    with pytest.raises(KafkaLearnError, match="one number for each partition"):
        figure(draw_lag_by_partition, lag, alt="")
    with pytest.raises(KafkaLearnError, match="one number for each of the hours"):
        figure(draw_lag_over_time, [1, 2, 3], lag, alt="")


PUSH_STORY = [
    *[push.Produce()] * 3,
    push.Process("billing", 2),
    *[push.Produce()] * 4,
    push.Process("billing", 9),
    push.Process("billing"),
    push.Process("search"),
    *[push.Produce()] * 2,
    push.Process("search", 3),
    push.Rewind("billing", 4),
    push.Process("billing", 3),
]


@pytest.mark.parametrize("when_full", ["drop", "refuse"])
def test_both_brokers_read_as_expected(when_full):
    trace = push.simulate(
        push.Settings(("billing", "search"), queue_limit=4, retention=6, when_full=when_full), PUSH_STORY
    )
    actual = "\n\n".join(push_text(frame, before) for frame, before in with_before(trace))
    assert actual == expected(f"push-{when_full}.txt", actual)


def test_what_has_no_room_is_counted():
    settings = push.Settings(("billing",), queue_limit=90, retention=90)
    trace = push.simulate(settings, [push.Produce()] * 80)
    drawing = draw_push(trace, trace[-1])
    assert ">and 60 older<" in drawing
    assert ">and 60 newer; 2 sent, 78 waiting<" in drawing


def story(trace, *views):
    """A run as a page of text: every frame in the words of each view."""
    frames = with_before(trace)
    return "\n\n".join("\n".join(view(frame, before) for view in views) for frame, before in frames)


LOOKUPS = {
    "billing": look_up("billing", round_robin_leaders([1, 2, 3])),
    "the-smallest-hash": look_up("polygenelubricants", round_robin_leaders([1, 2, 3])),
    "a-surrogate-pair": look_up("é 😀\n", leaders=(1, None), partition_count=2),
    "the-empty-id": look_up("", leaders=(7,), partition_count=1),
}


@pytest.mark.parametrize("name", LOOKUPS)
def test_a_lookup_reads_as_expected(name):
    actual = story(LOOKUPS[name], describe_lookup, lookup_text)

    assert actual == expected(f"lookup-{name}.txt", actual)


@pytest.mark.parametrize("release", ["2.3", "2.4", "4.3"])
def test_keyless_records_of_a_release_read_as_expected(release):
    settings = keyless.Settings(3, release, batch_size=400)
    trace = keyless.simulate(settings, keyless.sends(9, drain_every=5))

    actual = story(trace, partial(keyless_text, settings))

    assert actual == expected(f"keyless-{release}.txt", actual)


def test_weights_are_told_once_the_sender_has_looked():
    settings = keyless.Settings(2, batch_size=100)
    events = [keyless.Send(partition=0), keyless.Send(partition=0), keyless.Send(partition=1), keyless.SenderLooks()]

    last = keyless.simulate(settings, events)[-1]

    assert describe_keyless(settings, last) == (
        "The sending thread looks at the queues: weights 1 for partition 0, 2 for partition 1."
    )


@given(st.text(max_size=30))
def test_whatever_the_group_id_a_sentence_is_one_line_and_a_frame_seven(group_id):
    for frame in look_up(group_id, [1, 2, 3], 3):
        assert "\n" not in describe_lookup(frame)
        assert len(lookup_text(frame).split("\n")) == 7
