"""What is to come again at last on a partition: each promise of progress broken once, and kept where it is to be."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.replication import (
    PROGRESS,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerStarted,
    Fetch,
    IsrChecked,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    find_stuck,
    simulate,
)
from kafkalearn.replication.simulator import ALL_COMMITTED, ALL_IN_SYNC, IS_LED, NOBODY_WAITS, PROMISES, broken

LATE = TimePassed(30_001)
BY_THEMSELVES = [Fetch, SessionExpired, IsrChecked, AlterPartitionAnswered, LATE]
TWO = Settings(replica_count=2, fetch_wait_max_ms=0)
THREE = Settings(replica_count=3, min_insync_replicas=2, fetch_wait_max_ms=0)
ONE_OF_EACH = {BrokerCrashed: 1, Produce: 1}


def test_a_slow_follower_lives_and_there_is_no_leader():
    found = find_stuck(TWO, [*BY_THEMSELVES, BrokerCrashed], IS_LED, at_most={BrokerCrashed: 1})

    assert found.is_dead_end
    last = found.trace[-1].state
    assert last.controller.leader is None
    assert [replica.broker.is_running for replica in last.replicas] == [False, True]


def test_a_broker_that_comes_back_brings_the_leader_back():
    kinds = [*BY_THEMSELVES, BrokerCrashed, BrokerStarted]

    assert find_stuck(TWO, kinds, IS_LED, at_most={BrokerCrashed: 2}).outcome == "nothing left"
    assert find_stuck(TWO, kinds, ALL_IN_SYNC, at_most={BrokerCrashed: 2}).outcome == "nothing left"


def test_who_never_comes_back_is_missing_in_the_isr():
    found = find_stuck(TWO, [*BY_THEMSELVES, BrokerCrashed], ALL_IN_SYNC, at_most={BrokerCrashed: 1})

    assert [type(frame.event) for frame in found.trace[1:]] == [BrokerCrashed, SessionExpired]


def test_a_producer_waits_for_ever_where_no_timer_has_to_end():
    kinds = [Produce(), *BY_THEMSELVES, BrokerCrashed]
    patient = [Fetch, SessionExpired]

    assert find_stuck(THREE, kinds, NOBODY_WAITS, at_most=ONE_OF_EACH).outcome == "nothing left"
    assert find_stuck(THREE, kinds, NOBODY_WAITS, fair=patient, at_most=ONE_OF_EACH).outcome == "found"


def test_a_dead_broker_that_was_as_far_holds_a_record_back_until_the_next_one_comes():
    """Not in the ISR any more, but caught up a moment ago, it may still be counted; and later nobody looks again."""
    kinds = [Produce(), *BY_THEMSELVES, BrokerCrashed]

    found = find_stuck(THREE, kinds, ALL_COMMITTED, at_most=ONE_OF_EACH)

    stuck = found.trace[found.loop_start].state
    assert stuck.controller.isr == (1, 2)
    assert [replica.log.log_end_offset for replica in stuck.replicas] == [1, 1, 0]
    assert stuck.replicas[0].log.high_watermark == 0
    assert broken(THREE, stuck) == ()
    assert broken(THREE, stuck, names=[*PROMISES, ALL_COMMITTED]) == (ALL_COMMITTED,)
    after = simulate(THREE, [Produce(), Fetch(2), Fetch(2)], stuck)[-1].state
    assert after.replicas[0].log.high_watermark == 2


@pytest.mark.parametrize("promise", PROGRESS)
def test_while_nobody_dies_everything_comes_again(promise):
    assert find_stuck(THREE, [Produce(), *BY_THEMSELVES], promise, at_most={Produce: 1}).outcome == "nothing left"


def test_a_promise_about_states_is_none_of_progress():
    with pytest.raises(KafkaLearnError, match="promise"):
        find_stuck(TWO, BY_THEMSELVES, "logs agree up to the HW")
