"""What always holds, and the shortest runs that break what a user hopes for."""

import pytest
from hypothesis import given

from kafkalearn.base.search import explore, whole
from kafkalearn.consuming import PROMISES, Join, Leave, Poll, Produce, Settings, check, start, step
from kafkalearn.consuming.simulator import IN_ORDER, NONE_IDLE, NONE_SKIPPED
from tests.consuming.groups import SCHEDULES, SETTINGS, run_what_is_legal

JOIN, POLL = Join("g", "a"), Poll("g", "a", 2)
EVENTS = [Produce(), JOIN, Join("g", "b"), Leave("g", "a"), POLL]


@given(settings=SETTINGS, events=SCHEDULES)
def test_every_moment_of_every_schedule_keeps_what_always_holds(settings, events):
    for frame in run_what_is_legal(settings, events):
        check(settings, frame.state)


@pytest.mark.parametrize(
    ("promise", "settings", "events"),
    [
        (IN_ORDER, Settings(2), [*[Produce()] * 3, JOIN, POLL, POLL]),
        (NONE_SKIPPED, Settings(1, auto_offset_reset="latest"), [Produce(), JOIN]),
        (NONE_IDLE, Settings(1), [JOIN, Join("g", "b")]),
    ],
)
def test_the_shortest_run_that_breaks_a_promise(promise, settings, events):
    found = explore(whole(settings, step, {promise: PROMISES[promise]}), start(settings), EVENTS, depth=6)
    assert found.broken == (promise,)
    assert sorted(map(str, (frame.event for frame in found.trace[1:]))) == sorted(map(str, events))


def test_one_partition_from_its_beginning_on_is_read_in_order_and_whole():
    settings = Settings(1)
    promises = {name: PROMISES[name] for name in (IN_ORDER, NONE_SKIPPED)}
    assert explore(whole(settings, step, promises), start(settings), EVENTS, depth=6).trace is None
