"""The operations that brokers really have: what each waits for, and what ends it."""

import pytest

from kafkalearn.purgatory.operations import (
    BY_EVENT,
    BY_TIME,
    CheckAndComplete,
    Completed,
    FactChanged,
    ForceComplete,
    TimePassed,
    TryCompleteElseWatch,
    delayed_delete_records,
    delayed_fetch,
    delayed_heartbeat,
    delayed_join,
    delayed_produce,
    initial_delayed_join,
)
from tests.purgatory.operations.purgatories import after


def test_a_produce_request_waits_for_the_high_watermark_of_all_its_partitions():
    produce = delayed_produce("p1", {"orders-0": 7, "orders-1": 3})
    state = after(TryCompleteElseWatch(produce), FactChanged("HW orders-0", 8), CheckAndComplete("orders-0"))
    assert state.is_waiting("p1")
    state = after(FactChanged("HW orders-1", 4), CheckAndComplete("orders-1"), purgatory=state)
    assert state.effects[0] == Completed("p1", BY_EVENT)


@pytest.mark.parametrize(("up_to", "other"), [("HW", "LEO"), ("LEO", "HW")])
def test_a_fetch_waits_for_bytes_summed_over_its_partitions(up_to, other):
    fetch = delayed_fetch("f1", {"orders-0": 100, "orders-1": 0}, min_bytes=250, up_to=up_to)
    state = after(
        TryCompleteElseWatch(fetch), FactChanged(f"{other} bytes orders-0", 9999), CheckAndComplete("orders-0")
    )
    assert state.is_waiting("f1")
    state = after(
        FactChanged(f"{up_to} bytes orders-0", 300),
        FactChanged(f"{up_to} bytes orders-1", 49),
        CheckAndComplete("orders-0"),
        purgatory=state,
    )
    assert state.is_waiting("f1")
    state = after(FactChanged(f"{up_to} bytes orders-1", 50), CheckAndComplete("orders-1"), purgatory=state)
    assert state.effects[0] == Completed("f1", BY_EVENT)


def test_a_rebalance_waits_for_all_members_or_until_the_rebalance_timeout():
    join = TryCompleteElseWatch(delayed_join("rebalance", "billing", 3, rebalance_timeout_ms=60_000))
    state = after(join, FactChanged("rejoined billing", 2), CheckAndComplete("billing"))
    assert state.is_waiting("rebalance")
    assert after(TimePassed(60_000), purgatory=state).effects == (Completed("rebalance", BY_TIME),)
    state = after(FactChanged("rejoined billing", 3), CheckAndComplete("billing"), purgatory=state)
    assert state.effects[0] == Completed("rebalance", BY_EVENT)


def test_a_join_ends_when_the_member_that_is_missing_is_removed():
    join = TryCompleteElseWatch(delayed_join("rebalance", "billing"))
    state = after(
        FactChanged("members billing", 3), join, FactChanged("rejoined billing", 2), CheckAndComplete("billing")
    )
    assert state.is_waiting("rebalance")
    state = after(FactChanged("members billing", 2), CheckAndComplete("billing"), purgatory=state)
    assert state.effects[0] == Completed("rebalance", BY_EVENT)


def test_a_delete_request_waits_for_the_low_watermark_of_all_its_partitions():
    state = after(
        TryCompleteElseWatch(delayed_delete_records("d1", {"orders-0": 7, "orders-1": 3}, timeout_ms=1000)),
        FactChanged("low watermark orders-0", 7),
        CheckAndComplete("orders-0"),
    )
    assert state.is_waiting("d1")
    assert after(TimePassed(1000), purgatory=state).effects == (Completed("d1", BY_TIME),)
    state = after(FactChanged("low watermark orders-1", 4), CheckAndComplete("orders-1"), purgatory=state)
    assert state.effects[0] == Completed("d1", BY_EVENT)


def test_only_time_ends_the_first_wait_of_an_empty_group():
    state = after(TryCompleteElseWatch(initial_delayed_join("first", "billing")), FactChanged("rejoined billing", 9))
    state = after(CheckAndComplete("billing"), TimePassed(2_999), purgatory=state)
    assert state.is_waiting("first")
    assert after(TimePassed(1), purgatory=state).effects == (Completed("first", BY_TIME),)


def test_each_heartbeat_ends_the_one_before_and_the_last_one_removes_the_member():
    state = after(TryCompleteElseWatch(delayed_heartbeat("beat 1", "billing", "c1", 10_000)), TimePassed(9_000))
    state = after(
        ForceComplete("beat 1"),
        TryCompleteElseWatch(delayed_heartbeat("beat 2", "billing", "c1", 10_000)),
        TimePassed(9_000),
        purgatory=state,
    )
    assert state.is_waiting("beat 2")
    assert after(TimePassed(1_000), purgatory=state).effects == (Completed("beat 2", BY_TIME),)
