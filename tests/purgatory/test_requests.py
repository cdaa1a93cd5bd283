"""Requests to delete records wait until the log of every live replica begins at the offset."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.purgatory.requests import (
    ALL_ANSWERED,
    ENOUGH_BYTES,
    PROMISES,
    WITHIN_TIMEOUT,
    WITHOUT_ERROR,
    ConsumerAnswered,
    ConsumerFetch,
    DelayedDelete,
    DeleteAnswered,
    DeleteParked,
    Settings,
    SizedProduce,
    broken,
    check,
    simulate,
    start,
    step,
)
from kafkalearn.replication.events import (
    BrokerCrashed,
    BrokerFenced,
    BrokerFrozen,
    Fetch,
    LeaderElected,
    Produce,
    TimePassed,
)

SETTINGS = Settings(replica_count=2, fetch_wait_max_ms=500)
PAIR = Settings(replica_count=2)
WRITTEN = [SizedProduce(Produce(record_count=5, acks=1)), Fetch(2), Fetch(2)]


def effects_of(events, settings=SETTINGS):
    """Of each event, what it did to administrators and consumers."""
    kinds = ConsumerAnswered | DeleteAnswered | DeleteParked
    trace = simulate(settings, [*WRITTEN, *events])
    return [[each for each in frame.state.effects if isinstance(each, kinds)] for frame in trace[len(WRITTEN) + 1 :]]


def test_the_leader_deletes_at_once_and_answers_with_the_second_fetch():
    record = SizedProduce(Produce(acks=1))  # it ends the fetch that waits, and its answer carries the log start
    assert effects_of([DelayedDelete(3), record, Fetch(2)]) == [[DeleteParked(1)], [], [DeleteAnswered(1, 3)]]


def test_on_a_quiet_partition_a_delete_waits_for_the_end_of_the_follower_s_patience():
    assert effects_of([DelayedDelete(3), TimePassed(499), TimePassed(1), Fetch(2)]) == [
        [DeleteParked(1)],
        [],
        [],
        [DeleteAnswered(1, 3)],
    ]


def test_a_follower_that_does_not_come_makes_it_time_out_though_the_records_are_gone():
    events = [DelayedDelete(3, timeout_ms=1000), BrokerFrozen(2), TimePassed(1000), ConsumerFetch("c1", 0)]
    parked, _, (late,), (read,) = effects_of(events)
    assert parked == [DeleteParked(1)]
    assert late == DeleteAnswered(1, 0, "REQUEST_TIMED_OUT")
    assert read.error == "OFFSET_OUT_OF_RANGE"


def test_only_live_replicas_count():
    events = [DelayedDelete(3), BrokerCrashed(2), BrokerFenced(2), TimePassed(1)]
    assert [DeleteAnswered(1, 3)] in effects_of(events)


@pytest.mark.parametrize(
    ("events", "answers"),
    [
        ([DelayedDelete(9)], [DeleteAnswered(1, None, "OFFSET_OUT_OF_RANGE")]),
        ([DelayedDelete(0)], [DeleteAnswered(1, 0)]),
        ([DelayedDelete(3, timeout_ms=0)], [DeleteAnswered(1, 0, "REQUEST_TIMED_OUT")]),
        ([DelayedDelete(-1), LeaderElected(2, (1, 2))], [DeleteAnswered(1, None, "NOT_LEADER_OR_FOLLOWER")]),
    ],
)
def test_what_is_answered_without_waiting_or_for_another_reason(events, answers):
    assert effects_of(events)[-1] == answers


def test_without_followers_nobody_is_waited_for():
    written = SizedProduce(Produce(record_count=5, acks=1))
    trace = simulate(Settings(replica_count=1), [written, DelayedDelete(3)])
    assert trace[-1].state.effects == (DeleteAnswered(1, 3),)


DELETIONS = st.lists(
    st.one_of(
        st.builds(DelayedDelete, st.integers(-1, 6), st.integers(0, 800)),
        st.just(SizedProduce(Produce(acks=1))),
        st.just(Fetch(2)),
        st.builds(TimePassed, st.integers(0, 600)),
    ),
    max_size=20,
)


@given(DELETIONS)
def test_a_delete_is_answered_once_when_all_begin_there_or_when_its_time_is_over(events):
    before, asked = simulate(SETTINGS, WRITTEN)[-1].state, {}
    for event in events:
        broker = step(SETTINGS, before, event)
        check(SETTINGS, broker, before)
        for effect in broker.effects:
            if isinstance(effect, DeleteParked):
                asked[effect.request] = broker.deletes[-1]
            if isinstance(effect, DeleteAnswered) and effect.request in asked:
                each = asked.pop(effect.request)
                starts = [replica.log.log_start_offset for replica in broker.partition.replicas]
                if effect.error == "NONE":
                    assert min(starts) >= each.required_offset
                else:
                    assert each.deadline_ms <= broker.partition.now_ms
        assert {each.request for each in broker.deletes} == set(asked)
        before = broker


PRODUCE = SizedProduce(Produce(acks="all", timeout_ms=1000))
BROKEN_BY = {
    WITHIN_TIMEOUT: [PRODUCE, BrokerFrozen(1), TimePassed(2000)],
    ALL_ANSWERED: [PRODUCE, BrokerCrashed(1)],
    WITHOUT_ERROR: [ConsumerFetch("c1", 0), LeaderElected(2, (1, 2))],
    ENOUGH_BYTES: [ConsumerFetch("c1", 0, min_bytes=250, max_wait_ms=100), TimePassed(100)],
}


@pytest.mark.parametrize("name", PROMISES)
def test_each_promise_is_kept_until_its_accident(name):
    trace = simulate(PAIR, BROKEN_BY[name])
    before = (None, *(frame.state for frame in trace))
    found = [broken(PAIR, frame.state, was) for frame, was in zip(trace, before, strict=False)]

    assert found[:-1] == [()] * (len(trace) - 1)
    assert name in found[-1]


def test_nothing_is_broken_while_all_is_well():
    trace = simulate(PAIR, [Fetch(2), ConsumerFetch("c1", 0), PRODUCE, Fetch(2), TimePassed(100)])
    for before, frame in pairwise(trace):
        assert broken(PAIR, frame.state, before.state) == ()


PARKED = simulate(PAIR, [ConsumerFetch("c1", 0)])[-1].state
ANSWERED = simulate(PAIR, [TimePassed(500)], PARKED)[-1].state
APPENDED = simulate(PAIR, [PRODUCE])[-1].state


@pytest.mark.parametrize(
    ("broker", "before", "words"),
    [
        (replace(PARKED, consumers=PARKED.consumers * 2), None, "waits with one fetch"),
        (replace(ANSWERED, consumers=PARKED.consumers), None, "that could be answered"),
        (replace(APPENDED, record_bytes=()), None, "has its size"),
        (replace(ANSWERED, effects=()), PARKED, "answered once"),
        (replace(ANSWERED, effects=ANSWERED.effects * 2), PARKED, "answered once"),
        (replace(PARKED, effects=ANSWERED.effects), PARKED, "answered once"),
    ],
)
def test_a_state_that_cannot_be_is_found(broker, before, words):
    with pytest.raises(AssertionError, match=words):
        check(PAIR, broker, before)


CONSUMERS = st.lists(
    st.one_of(
        st.builds(ConsumerFetch, st.sampled_from(["c1", "c2", "c3"]), st.integers(0, 4), st.integers(0, 300)),
        st.builds(lambda size: SizedProduce(Produce(acks=1), size), st.integers(1, 200)),
        st.just(Fetch(2)),
        st.builds(TimePassed, st.integers(0, 300)),
    ),
    max_size=25,
)


@given(CONSUMERS)
def test_a_consumer_is_answered_once_with_enough_committed_bytes_or_when_its_time_is_over(events):
    broker, open_fetches = start(PAIR), {}
    for event in events:
        before = broker
        try:
            broker = step(PAIR, broker, event)
        except IllegalEvent:
            assert event.name in open_fetches
            continue
        check(PAIR, broker, before)
        if isinstance(event, ConsumerFetch):
            open_fetches[event.name] = (event, broker.partition.now_ms)
        for effect in broker.effects:
            if not isinstance(effect, ConsumerAnswered):
                continue
            fetch, since_ms = open_fetches.pop(effect.name)
            committed = broker.committed_bytes(fetch.offset)
            has_waited = broker.partition.now_ms - since_ms >= fetch.max_wait_ms
            assert effect.error == "OFFSET_OUT_OF_RANGE" or committed >= fetch.min_bytes or has_waited
            assert all(offset < broker.partition.high_watermark for offset, _ in effect.records)
        assert {waiting.fetch.name for waiting in broker.consumers} == set(open_fetches)
        for fetch, since_ms in open_fetches.values():  # nobody is left waiting who could be answered
            committed = broker.committed_bytes(fetch.offset)
            assert committed < fetch.min_bytes
            assert broker.partition.now_ms - since_ms < fetch.max_wait_ms


def test_an_append_wakes_the_follower_and_its_next_fetch_the_consumer():
    events = [Fetch(2), ConsumerFetch("c1", 0), SizedProduce(Produce(acks=1)), Fetch(2)]
    waiting = [
        (len(frame.state.partition.replica(1).waiting.fetches), len(frame.state.consumers))
        for frame in simulate(PAIR, events)
    ]

    assert waiting == [(0, 0), (1, 0), (1, 1), (0, 1), (1, 0)]


def test_a_consumer_that_waits_cannot_fetch_again():
    with pytest.raises(IllegalEvent, match="c1 waits already"):
        simulate(PAIR, [ConsumerFetch("c1", 0)] * 2)
