"""Requests to delete records wait until the log of every live replica begins at the offset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.purgatory.requests import (
    ConsumerAnswered,
    ConsumerFetch,
    DelayedDelete,
    DeleteAnswered,
    DeleteParked,
    Settings,
    SizedProduce,
    check,
    simulate,
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


EVENTS = st.lists(
    st.one_of(
        st.builds(DelayedDelete, st.integers(-1, 6), st.integers(0, 800)),
        st.just(SizedProduce(Produce(acks=1))),
        st.just(Fetch(2)),
        st.builds(TimePassed, st.integers(0, 600)),
    ),
    max_size=20,
)


@given(EVENTS)
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
