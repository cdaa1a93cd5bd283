"""The log, its cleaner, a slow reader, timers and who waits for them: in pictures and words."""

from functools import partial

import pytest
from hypothesis import strategies as st

from kafkalearn import views
from kafkalearn.base.durations import duration
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing.log_figures import draw_waiting
from kafkalearn.drawing.svg import MARK
from kafkalearn.log import (
    Append,
    BrokerRestarted,
    Clean,
    CleanerFailed,
    CleanerRound,
    EndTransaction,
    MoveLogStart,
    NewBatch,
    ProducerExpired,
    ReplaceCleanerThreads,
    Retain,
    Roll,
    SetHighWatermark,
    Settings,
    reader,
    simulate,
)
from kafkalearn.log.reader import Read
from kafkalearn.log.words import legend_of, places
from kafkalearn.purgatory import operations, requests, wheel
from kafkalearn.purgatory.operations import delayed_fetch, delayed_heartbeat, delayed_produce
from kafkalearn.purgatory.requests import ConsumerFetch, DelayedDelete, SizedProduce
from kafkalearn.replication.events import BrokerFrozen, Fetch, LeaderElected, Produce, TimePassed
from tests.recorded import expected, with_before

H = 3_600_000


def put(at_ms, *pairs):
    """A produce request with a batch for each pair of key and value."""
    return Append(tuple(NewBatch(((key, value, at_ms),)) for key, value in pairs))


def story(trace, view):
    """A run as a page of text: every frame in the words of the view."""
    return "\n\n".join(view(frame, before) for frame, before in with_before(trace))


FIGURE = [
    put(0, ("K1", "V1"), ("K2", "V2"), ("K1", "V3"), ("K1", "V4"), ("K3", "V5"), ("K2", "V6")),
    put(1000, ("K4", "V7"), ("K5", "V8"), ("K5", "V9"), ("K2", "V10"), ("K6", "V11")),
    *(Roll(), Clean(5000)),
]
TOMBSTONE = [
    *(put(0, ("anna", "Lyon"), ("ben", "Graz")), put(H, ("anna", None)), Roll(), Clean(2 * H)),
    *(put(3 * H, ("cleo", "Porto")), Clean(30 * H), Roll(), Clean(30 * H)),
]
OPERATIONS = [
    Append((NewBatch((("a", "1", 0), ("a", None, 1)), producer_id=7, base_sequence=0, is_transactional=True),)),
    *(EndTransaction(7, False, 2), put(3, ("", "x"), (b"\xff", "")), put(4, (None, "y")), Roll(), Roll()),
    *(SetHighWatermark(5), MoveLogStart(1), CleanerFailed(), CleanerRound(10), BrokerRestarted(), CleanerRound(11)),
    *(ProducerExpired(7), CleanerFailed("out of memory", is_java_error=True), ReplaceCleanerThreads()),
    *(put(5, *((f"k{number}", "v") for number in range(6))), Retain(12)),
]
RUNS = {
    "the-figure-of-the-manual": (Settings("compact"), FIGURE),
    "a-tombstone": (Settings("compact", min_cleanable_dirty_ratio=0.1), TOMBSTONE),
    "operations": (Settings("compact,delete"), OPERATIONS),
    "a-small-map": (Settings("compact", offset_map_slots=4, load_factor=0.75), [*FIGURE, Clean(6000), Clean(7000)]),
    "up-to-3.0": (Settings("compact", "3.0", min_cleanable_dirty_ratio=0.1), TOMBSTONE),
    "retention": (
        Settings(retention_ms=2 * H, retention_bytes=300),
        [
            *(each for hour in range(5) for each in (put(hour * H, ("a", "v"), ("b", "w")), Roll())),
            *map(Retain, (5 * H, 9 * H)),
        ],
    ),
    "compact-and-delete": (
        Settings("compact,delete", min_cleanable_dirty_ratio=0, retention_ms=2 * H, segment_bytes=150),
        [
            each
            for hour in range(5)
            for each in (put(hour * H, (f"k{hour % 4}", "v")), Roll(), CleanerRound(hour * H + 1))
        ],
    ),
    "a-lag": (Settings("compact", max_compaction_lag_ms=2 * H, min_compaction_lag_ms=H), TOMBSTONE[:-1]),
}


def of_producer(sequence, epoch=1):
    return NewBatch((("a", f"v{sequence}", 0),), producer_id=7, producer_epoch=epoch, base_sequence=sequence)


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Append((of_producer(0),)), "The log has the batch already at offset 0, and does not write it again."),
        (
            Append((of_producer(0), of_producer(1))),
            "The log has the batch already at offset 0, and does not write it again. a = v1 is written at offset 1.",
        ),
        (
            Append((of_producer(1), of_producer(3))),
            "a = v1 is written at offset 1. The broker refuses the batch: OUT_OF_ORDER_SEQUENCE_NUMBER.",
        ),
        (EndTransaction(7, True, 1), "The broker refuses the marker: INVALID_PRODUCER_EPOCH."),
        (MoveLogStart(2), "The broker does not delete records up to offset 2: OFFSET_OUT_OF_RANGE."),
    ],
)
def test_what_the_log_did_not_do_is_said(event, said):
    frame = simulate(Settings(), [Append((of_producer(0),)), event])[-1]
    assert views.describe_log(Settings(), frame) == said


@pytest.mark.parametrize("name", RUNS)
def test_a_log_reads_as_expected(name):
    topic, events = RUNS[name]
    actual = story(simulate(topic, events), partial(views.log_text, topic))

    assert actual == expected(f"log-{name}.txt", actual)


SLOW = [
    *(put(0, ("anna", "Lyon"), ("ben", "Graz"), ("cleo", "Porto")), Read(2, now_ms=H)),
    *(put(2 * H, ("anna", None), ("ben", "Turku")), Roll(), Clean(3 * H), put(10 * H, ("dora", "Leeds")), Roll()),
    *(Clean(28 * H), Read(now_ms=51 * H), Read(now_ms=52 * H)),
]
OFTEN = Settings("compact", min_cleanable_dirty_ratio=0.1)


def test_a_slow_reader_reads_as_expected():
    actual = story(reader.simulate(OFTEN, SLOW), partial(views.crossing_text, OFTEN))

    assert actual == expected("log-a-slow-reader.txt", actual)


def test_a_record_that_a_pass_removed_is_drawn_in_that_frame_and_is_a_dot_in_the_next():
    trace = simulate(OFTEN, [*FIGURE, Clean(6000)])
    *_, before, during, after = (each.count("V1<") for each in views.animate(trace, OFTEN).pictures)

    assert (before, during, after) == (1, 1, 0)
    assert views.animate(trace, OFTEN).pictures[-1].count("<circle") == 5


def test_a_ghost_is_marked_in_the_picture_from_the_pass_that_took_its_tombstone():
    trace = reader.simulate(OFTEN, SLOW)

    assert ["ghost" in each for each in views.animate(trace, OFTEN).pictures] == [False] * 8 + [True] * 3
    assert views.describe_crossing(OFTEN, trace[8], trace[7]).endswith("anna is a ghost from now on.")


def test_of_a_long_log_the_newest_offsets_are_drawn():
    trace = simulate(OFTEN, [put(0, *((f"k{number}", "v") for number in range(100)))])
    picture = views.draw_log(OFTEN, trace[-1], trace[-2])

    assert ">k99<" in picture
    assert ">k50<" not in picture
    assert picture.size[1] <= 590


def test_what_retention_deletes_is_drawn_once_more_with_the_rule_that_took_it():
    topic, events = RUNS["retention"]
    *_, during, after = views.animate(simulate(topic, events), topic).pictures

    assert ("by time" in during, during.count("stroke-dasharray")) == (True, 6)  # the records
    assert "dirty ratio" not in during
    assert "retention.ms 2 h: the oldest segment is empty" in after


def test_without_the_frame_before_what_a_pass_removed_is_unknown():
    trace = simulate(OFTEN, FIGURE)

    assert "x0 ? (overtaken by offset 3)" in views.log_text(OFTEN, trace[-1])
    assert ">?<" in views.draw_log(OFTEN, trace[-1])


def test_times_are_told_in_two_units():
    assert [duration(each) for each in (0, 999, 61_000, 3_600_000, 90_061_001)] == [
        *("0 s", "999 ms", "1 min 1 s", "1 h", "1 d 1 h")
    ]


reads = st.builds(Read, st.none() | st.integers(1, 3), st.none() | st.integers(0, 1000))


def test_the_legend_explains_the_words_that_occur_and_each_once():
    trace = simulate(OFTEN, FIGURE)

    assert legend_of(places(trace[-1], trace[-2])) == ["→ 3: overtaken by offset 3", "last: last of its key"]


def test_the_survivors_of_a_log_are_bars_with_their_share():
    drawing = views.figure(views.draw_survivors, [0.25, 1], alt="two parts")

    assert [text.get_text() for text in drawing.axes[0].texts] == ["25%", "100%"]
    for shares in ([], [1.5], [-0.1]):
        with pytest.raises(KafkaLearnError, match="shares must be numbers from 0 to 1"):
            views.figure(views.draw_survivors, shares, alt="none")


def test_what_waits_is_a_bar_with_the_alarm_s_number_above_it_the_largest_marked():
    drawing = views.figure(views.draw_uncommitted, [0, 15], [54_000, 4_800], [3, 671], alt="two checks")
    said = drawing.axes[0].texts

    assert [(each.get_text(), each.get_color() == MARK) for each in said] == [("3", False), ("671", True)]
    assert [bar.get_height() for bar in drawing.axes[0].patches] == [54_000, 4_800]
    for lists in ([[], [], []], [[0], [1, 2], [3]]):
        with pytest.raises(KafkaLearnError, match="as many seconds as counts"):
            views.figure(views.draw_uncommitted, *lists, alt="none")


WAITERS = requests.simulate(
    requests.Settings(replica_count=2),
    [
        Fetch(2),
        ConsumerFetch("c1", 0, min_bytes=250, max_wait_ms=5000),
        ConsumerFetch("c2", 0, max_wait_ms=400),
        SizedProduce(Produce(acks="all", timeout_ms=1000)),
        TimePassed(400),
        Fetch(2),
        SizedProduce(Produce(acks=1), 200),
        TimePassed(600),
        Fetch(2),
        DelayedDelete(1, timeout_ms=100),
        BrokerFrozen(2),
        TimePassed(100),
        DelayedDelete(5),
        DelayedDelete(-1),
        ConsumerFetch("c3", 9),
        ConsumerFetch("c4", 0),
        LeaderElected(2, (1, 2)),
    ],
)
PURGATORY_SETTINGS = operations.Settings(purge_interval=1)
PURGATORY_OPERATIONS = operations.simulate(
    PURGATORY_SETTINGS,
    [
        operations.TryCompleteElseWatch(delayed_produce("p1", {"orders-0": 7, "orders-1": 3})),
        operations.TryCompleteElseWatch(delayed_fetch("f2", {"orders-0": 100}, up_to="LEO")),
        operations.TryCompleteElseWatch(delayed_heartbeat("beat 1", "billing", "c1", 10_000)),
        operations.FactChanged("HW orders-0", 8),
        operations.CheckAndComplete("orders-0"),
        operations.TryCompleteElseWatch(delayed_produce("p2", {"orders-0": 7})),
        operations.TryCompleteElseWatch(delayed_produce("p3", {"orders-1": 3}), (("HW orders-1", 4),)),
        operations.CheckAndComplete("orders-1"),
        operations.ForceComplete("beat 1"),
        operations.TimePassed(500),
    ],
)
WHEEL_SETTINGS = wheel.Settings()
TIMERS = wheel.simulate(
    WHEEL_SETTINGS,
    wheel.bucket_by_bucket(
        WHEEL_SETTINGS,
        [
            *(wheel.Add(name, delay) for name, delay in (("a", 7), ("b", 45), ("c", 445), ("now", 0))),
            *(wheel.Add(f"t{number}", 5) for number in range(6)),
            wheel.Cancel("b"),
            wheel.Advance(450),
        ],
    ),
)
PURGATORY_RUNS = {
    "requests": (views.animate(WAITERS), views.requests_text),
    "purgatory": (views.animate(PURGATORY_OPERATIONS, PURGATORY_SETTINGS), views.purgatory_text),
    "wheels": (views.animate(TIMERS, WHEEL_SETTINGS), partial(views.wheels_text, WHEEL_SETTINGS)),
}


@pytest.mark.parametrize("name", PURGATORY_RUNS)
def test_a_run_reads_as_expected(name):
    shown, text = PURGATORY_RUNS[name]
    texts = [text(*each) for each in with_before(shown.trace)]
    assert all(each.startswith(words) for each, words in zip(texts, shown.captions, strict=True))

    actual = "\n\n".join(texts)
    assert actual == expected(f"waiting-{name}.txt", actual)


def test_what_an_event_has_done_is_marked():
    parked, later = (
        views.draw_purgatory(PURGATORY_SETTINGS, PURGATORY_OPERATIONS[at], PURGATORY_OPERATIONS[at - 1])
        for at in (1, 4)
    )
    assert parked.count(MARK) == 2  # p1 on both its lists
    assert MARK not in later


def test_lines_of_what_waits_are_drawn_on_one_logarithmic_scale():
    drawing = views.figure(draw_waiting, {"taken out": [1, 10], "left in": [1, 900]}, alt="more", step_ms=60_000)
    (ax,) = drawing.axes
    assert ax.get_yscale() == "log"
    assert [list(line.get_ydata()) for line in ax.lines] == [[1, 10], [1, 900]]
    assert list(ax.lines[0].get_xdata()) == [0, 1]
