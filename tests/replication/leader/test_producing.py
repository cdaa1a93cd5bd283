"""The answers to producers, consumers and administrators."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerCrashed,
    Consume,
    DeleteRecords,
    Fetch,
    IsrChecked,
    LeaderElected,
    Produce,
    Settings,
    TimePassed,
    simulate,
)
from kafkalearn.replication.events import ConsumerRead, NoReachableLeader, ProduceAnswered, RecordsDeleted

TWO = Settings(replica_count=2, fetch_wait_max_ms=0)


def effects_of(settings: Settings, events: list) -> tuple:
    return simulate(settings, events)[-1].state.effects


def test_acks_0_is_told_nothing_whatever_becomes_of_it():
    assert effects_of(TWO, [Produce(acks=0)]) == ()
    assert effects_of(TWO, [Produce(acks=0, to_broker=2)]) == ()
    assert simulate(TWO, [Produce(acks=0)])[-1].state.ledger.acknowledged == ()


def test_a_request_with_nowhere_to_go_writes_nothing_and_counts_for_nothing():
    end = simulate(TWO, [BrokerCrashed(1), Produce()])[-1].state
    assert end.effects == (NoReachableLeader(),)
    assert end.ledger.requests.request_count == 0
    assert effects_of(TWO, [BrokerCrashed(1), Consume()]) == (NoReachableLeader(),)


@pytest.mark.parametrize(
    ("release", "error"), [("3.6", "NOT_ENOUGH_REPLICAS_AFTER_APPEND"), ("3.7", "REQUEST_TIMED_OUT")]
)
def test_a_record_whose_isr_shrinks_after_the_append_is_written_all_the_same(release, error):
    settings = Settings(replica_count=2, release=release, min_insync_replicas=2, fetch_wait_max_ms=0)
    shrunk = [
        Produce(timeout_ms=60_000),
        TimePassed(30_001),
        IsrChecked(),
        AlterPartitionAnswered(),
        TimePassed(29_999),
    ]
    trace = simulate(settings, shrunk)

    assert [each for frame in trace for each in frame.state.effects if isinstance(each, ProduceAnswered)] == [
        ProduceAnswered(1, error, 0)
    ]
    assert trace[-1].state.leader.log_end_offset == 1


def test_a_leader_that_is_replaced_tells_its_waiting_producers():
    assert ProduceAnswered(1, "NOT_LEADER_OR_FOLLOWER", 0) in effects_of(TWO, [Produce(), LeaderElected(2, (1, 2))])


def test_a_leader_that_is_elected_again_keeps_them_waiting():
    end = simulate(TWO, [Produce(), LeaderElected(1, (1, 2))])[-1].state
    assert [parked.request for parked in end.leader.waiting.produces] == [1]


@pytest.mark.parametrize(
    ("offset", "answer"),
    [
        (0, ConsumerRead((), "OFFSET_OUT_OF_RANGE")),
        (1, ConsumerRead(((1, "m2"),))),
        (2, ConsumerRead(())),  # at the high watermark: nothing, and no error
        (3, ConsumerRead(())),
        (4, ConsumerRead((), "OFFSET_OUT_OF_RANGE")),
    ],
)
def test_a_consumer_reads_from_the_log_start_to_the_high_watermark(offset, answer):
    events = [Produce(2, acks=1), Fetch(2), Fetch(2), Produce(acks=1), DeleteRecords(1), Consume(offset)]
    assert effects_of(TWO, events) == (answer,)


@pytest.mark.parametrize(
    ("before_offset", "answer"),
    [
        (1, RecordsDeleted(1)),
        (-1, RecordsDeleted(2)),
        (0, RecordsDeleted(0)),
        (3, RecordsDeleted(0, "OFFSET_OUT_OF_RANGE")),
        (-2, RecordsDeleted(0, "OFFSET_OUT_OF_RANGE")),
    ],
)
def test_records_are_deleted_up_to_the_high_watermark_at_most(before_offset, answer):
    events = [Produce(2, acks=1), Fetch(2), Fetch(2), Produce(acks=1), DeleteRecords(before_offset)]
    assert effects_of(TWO, events) == (answer,)


@pytest.mark.parametrize("acks", [2, -1, "1", "ALL"])
def test_other_acks_are_refused(acks):
    with pytest.raises(KafkaLearnError, match="acks must be 0, 1 or 'all'"):
        simulate(TWO, [Produce(acks=acks)])


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([BrokerCrashed(1), DeleteRecords(0)], "there is no leader to delete records at"),
        ([Produce(to_broker=3)], "there is no broker 3; there are 1 to 2"),
        (["m1"], "'m1' is no event of this simulator; it knows Produce, Fetch"),
    ],
)
def test_what_makes_no_sense_is_refused_and_says_why(events, said):
    with pytest.raises(IllegalEvent, match=said):
        simulate(TWO, events)
