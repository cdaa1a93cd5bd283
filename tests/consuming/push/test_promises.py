"""What always holds for the log and the queues, and the shortest runs that break what a user hopes for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.search import explore, whole
from kafkalearn.consuming.push import (
    NONE_REFUSED,
    PROMISES,
    PULL_MISSES_NONE,
    PUSH_MISSES_NONE,
    Process,
    Produce,
    Rewind,
    Settings,
    broker_load,
    check,
    start,
    step,
)

NAMES = ("a", "b", "c")
EVENTS = st.one_of(
    st.just(Produce()),
    st.builds(Process, st.sampled_from(NAMES), st.integers(1, 4)),
    st.builds(Rewind, st.sampled_from(NAMES), st.integers(0, 3)),
)
SETTINGS = st.builds(
    Settings,
    st.sampled_from([NAMES[:1], NAMES[:2], NAMES]),
    queue_limit=st.integers(3, 6),
    prefetch=st.integers(1, 3),
    retention=st.integers(1, 8),
    when_full=st.sampled_from(["drop", "refuse"]),
)


def states(settings, events):
    state = start(settings)
    yield state
    for event in events:
        try:
            state = step(settings, state, event)
        except IllegalEvent:
            continue
        yield state


@given(settings=SETTINGS, events=st.lists(EVENTS, max_size=40))
def test_every_moment_of_every_schedule_keeps_what_always_holds(settings, events):
    for state in states(settings, events):
        check(settings, state)


@given(settings=SETTINGS, events=st.lists(EVENTS, max_size=30))
def test_consumers_change_nothing_in_the_log(settings, events):
    alone = [event for event in events if isinstance(event, Produce)]
    *_, last = states(settings, events)
    *_, unread = states(settings, alone)
    assert (last.log_start, last.log_end) == (unread.log_start, unread.log_end)
    assert broker_load(last)[0]["remembered"] == len(settings.consumers)


@given(settings=SETTINGS, events=st.lists(EVENTS, max_size=30))
def test_where_queues_drop_no_consumer_notices_another(settings, events):
    settings = Settings(settings.consumers, settings.queue_limit, settings.prefetch, settings.retention)
    alone = [event for event in events if getattr(event, "consumer", "a") == "a"]
    *_, last = states(settings, events)
    *_, other = states(settings, alone)
    assert (last.reader("a"), last.queue("a")) == (other.reader("a"), other.queue("a"))


@pytest.mark.parametrize(
    ("promise", "when_full", "move_count"),
    [(PULL_MISSES_NONE, "drop", 5), (PUSH_MISSES_NONE, "drop", 3), (NONE_REFUSED, "refuse", 3)],
)
def test_a_consumer_that_stops_breaks_each_promise_in_its_own_time(promise, when_full, move_count):
    settings = Settings(("a", "b"), queue_limit=2, prefetch=1, retention=4, when_full=when_full)
    events = [Produce(), Process("a"), Process("b")]
    found = explore(whole(settings, step, {promise: PROMISES[promise]}), start(settings), events, depth=6)
    assert found.broken == (promise,)
    assert [frame.event for frame in found.trace[1:]] == [Produce()] * move_count
