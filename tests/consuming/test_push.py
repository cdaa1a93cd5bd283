"""What always holds for the log and the queues, and the shortest runs that break what a user hopes for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.search import explore, whole
from kafkalearn.consuming.push import (
    NONE_REFUSED,
    PROMISES,
    PULL_MISSES_NONE,
    PUSH_MISSES_NONE,
    Acknowledged,
    Appended,
    Deleted,
    Dropped,
    Missed,
    NothingToRewind,
    Process,
    Produce,
    Pulled,
    Pushed,
    Refused,
    Rewind,
    Rewound,
    Settings,
    broker_load,
    check,
    simulate,
    start,
    step,
)
from tests.schedules import sensible_run

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
    return [frame.state for frame in sensible_run(step, settings, start(settings), events)]


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


TWO = ("billing", "search")


def test_a_record_is_kept_once_in_the_log_and_once_for_each_consumer_in_the_queues():
    pull, push = broker_load(simulate(Settings(TWO), [Produce()] * 6)[-1].state)
    assert (pull["records held"], pull["remembered"]) == (6, 2)
    assert (push["records held"], push["remembered"]) == (12, 12)


def test_what_everybody_has_processed_stays_in_the_log_and_leaves_the_queues():
    events = [*[Produce()] * 3, Process("billing", 3), Process("search", 3)]
    pull, push = broker_load(simulate(Settings(TWO), events)[-1].state)
    assert (pull["records held"], push["records held"]) == (3, 0)
    assert pull["read"] == push["read"] == 6


def test_no_more_than_prefetch_is_sent_before_it_is_acknowledged():
    settings = Settings(("billing",), prefetch=2)
    queue = simulate(settings, [Produce()] * 5)[-1].state.queue("billing")
    assert (queue.unacknowledged, queue.waiting) == ((0, 1), (2, 3, 4))

    state = simulate(settings, [*[Produce()] * 5, Process("billing")])[-1].state
    assert state.effects == (Pulled("billing", (0,)), Acknowledged("billing", (0,)), Pushed("billing", (2,)))


def test_a_full_queue_drops_its_oldest_waiting_record_and_leaves_the_other_queues_alone():
    settings = Settings(TWO, queue_limit=3, prefetch=2)
    events = [event for _ in range(4) for event in (Produce(), Process("billing"))]
    trace = simulate(settings, events)
    assert Dropped("search", 2) in trace[-2].state.effects
    assert trace[-1].state.queue("search").held == (0, 1, 3)
    assert trace[-1].state.queue("billing").dropped_count == 0


def test_where_all_of_a_full_queue_is_sent_the_new_record_is_dropped():
    state = simulate(Settings(("billing",), queue_limit=2, prefetch=2), [Produce()] * 3)[-1].state
    assert state.effects == (Appended(2), Dropped("billing", 2))
    assert state.queue("billing").held == (0, 1)


def test_one_slow_consumer_can_stop_the_producer_for_all():
    settings = Settings(TWO, queue_limit=2, when_full="refuse")
    state = simulate(settings, [event for _ in range(5) for event in (Produce(), Process("billing"))])[-1].state
    assert state.refused_count == 3
    assert state.queue("billing").read_count == 2
    assert state.reader("billing").read_count == 5  # the log has noticed nothing
    assert Refused(4) in simulate(settings, [Produce()] * 5)[-1].state.effects


def test_a_consumer_slower_than_retention_misses_what_was_deleted():
    settings = Settings(("billing",), retention=3)
    trace = simulate(settings, [*[Produce()] * 5, Process("billing", 2)])
    assert Deleted(1) in trace[5].state.effects
    assert trace[-1].state.effects[:2] == (Missed("billing", 2), Pulled("billing", (2, 3)))
    assert broker_load(trace[-2].state)[0]["missed"] == broker_load(trace[-1].state)[0]["missed"] == 2


def test_what_was_read_once_is_not_missed_when_it_is_deleted_before_it_is_read_again():
    settings = Settings(("billing",), retention=2)
    events = [Produce(), Produce(), Process("billing", 2), Rewind("billing"), Produce(), Produce(), Produce()]
    trace = simulate(settings, [*events, Process("billing", 9)])
    assert trace[-1].state.effects[:2] == (Missed("billing", 1), Pulled("billing", (3, 4)))
    assert broker_load(trace[-1].state)[0]["missed"] == 1


def test_only_the_log_can_be_read_again():
    state = simulate(Settings(("billing",)), [Produce(), Process("billing"), Rewind("billing"), Process("billing")])
    assert state[3].state.effects == (Rewound("billing", 0), NothingToRewind("billing"))
    assert state[-1].state.reader("billing").read_count == 2
    assert state[-1].state.queue("billing").read_count == 1


@pytest.mark.parametrize(
    ("event", "said"),
    [
        (Process("serach"), "did you mean 'search'"),
        (Rewind("search", 1), "give an offset of the log, 0 to 0"),
    ],
)
def test_what_makes_no_sense_is_refused(event, said):
    settings = Settings(TWO)
    with pytest.raises(IllegalEvent, match=said):
        step(settings, start(settings), event)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"consumers": ()}, "at least one consumer"),
        ({"consumers": ("a", "a")}, "a name of its own"),
        ({"consumers": ("a",), "queue_limit": 2, "prefetch": 3}, "prefetch is 3, and a queue holds 2 records"),
        ({"consumers": ("a",), "when_full": "block"}, "unknown when_full 'block'"),
    ],
)
def test_settings_that_cannot_be_are_refused(options, said):
    with pytest.raises(KafkaLearnError, match=said):
        Settings(**options)
