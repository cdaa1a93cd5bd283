"""Who waits, the watch lists and the wheels, as pictures and in words."""

from functools import partial
from xml.etree import ElementTree

import pytest

from kafkalearn.drawing.log_figures import draw_waiting
from kafkalearn.drawing.svg import MARK, SMALL
from kafkalearn.purgatory import operations, requests, wheel
from kafkalearn.purgatory.operations import delayed_fetch, delayed_heartbeat, delayed_produce
from kafkalearn.purgatory.requests import ConsumerFetch, DelayedDelete, SizedProduce
from kafkalearn.replication.events import BrokerFrozen, Fetch, LeaderElected, Produce, TimePassed
from kafkalearn.views import (
    describe_purgatory,
    describe_requests,
    describe_wheels,
    draw_purgatory,
    draw_requests,
    draw_wheels,
    figure,
    purgatory_text,
    requests_text,
    wheels_text,
)
from tests.views.golden import expected

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
OPERATIONS = operations.simulate(
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
RUNS = {
    "requests": (WAITERS, draw_requests, describe_requests, requests_text),
    "purgatory": (OPERATIONS, partial(draw_purgatory, PURGATORY_SETTINGS), describe_purgatory, purgatory_text),
    "wheels": (TIMERS, *(partial(view, WHEEL_SETTINGS) for view in (draw_wheels, describe_wheels, wheels_text))),
}


@pytest.mark.parametrize("name", RUNS)
def test_a_run_reads_as_expected(name):
    trace, _, describe, text = RUNS[name]
    frames = list(zip(trace, (None, *trace), strict=False))
    assert all(text(*each).startswith(describe(*each)) for each in frames)

    actual = "\n\n".join(text(*each) for each in frames)
    assert actual == expected(f"waiting-{name}.txt", actual)


@pytest.mark.parametrize("name", RUNS)
def test_a_drawing_is_xml_without_ids_of_one_size_that_says_what_it_shows(name):
    trace, draw, describe, _ = RUNS[name]
    drawings = [draw(frame, before) for frame, before in zip(trace, (None, *trace), strict=False)]

    assert [drawing.label for drawing in drawings] == [describe(frame) for frame in trace]
    assert len({drawing.size for drawing in drawings}) == 1
    assert drawings[0].size[1] <= 590
    for drawing in drawings:
        elements = list(ElementTree.fromstring(drawing).iter())
        assert not any(each.get("id") or each.get("href") for each in elements)
        assert min(float(each.get("font-size")) for each in elements if each.get("font-size")) >= SMALL
        assert max(float(each.get("x", 0)) for each in elements) <= 1000


def test_what_an_event_has_done_is_marked():
    parked, later = (draw_purgatory(PURGATORY_SETTINGS, OPERATIONS[at], OPERATIONS[at - 1]) for at in (1, 4))
    assert parked.count(MARK) == 2  # p1 on both its lists
    assert MARK not in later


def test_lines_of_what_waits_are_drawn_on_one_logarithmic_scale():
    drawing = figure(draw_waiting, {"taken out": [1, 10], "left in": [1, 900]}, alt="more", step_ms=60_000)
    (ax,) = drawing.axes
    assert ax.get_yscale() == "log"
    assert [list(line.get_ydata()) for line in ax.lines] == [[1, 10], [1, 900]]
    assert list(ax.lines[0].get_xdata()) == [0, 1]
