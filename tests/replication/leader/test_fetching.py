"""The leader's ten steps: who is refused, what is answered when, and with which high watermark."""

import pytest

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerRestarted,
    BrokerThawed,
    Fetch,
    HighWatermarkCheckpointed,
    LeaderElected,
    PowerLost,
    Produce,
    Settings,
    TimePassed,
    broken,
    simulate,
)
from kafkalearn.replication.events import BrokerHalted, FetchAnswered, FetchHandled, ProduceAnswered
from kafkalearn.replication.leader import FetchRequest, read, refusal
from kafkalearn.replication.state import Log, Record

TWO = Settings(replica_count=2)


def answers(trace) -> list[FetchAnswered]:
    return [each for frame in trace for each in frame.state.effects if isinstance(each, FetchAnswered)]


def test_a_fetch_that_finds_a_record_carries_the_high_watermark_of_before():
    trace = simulate(TWO, [Produce(acks=1), Fetch(2), Produce(acks=1), Fetch(2)])

    assert [(each.high_watermark, each.records) for each in answers(trace)] == [(0, ((0, "m1"),)), (0, ((1, "m2"),))]
    assert [replica.high_watermark for replica in trace[-1].state.replicas] == [1, 0]


@pytest.mark.parametrize(
    ("is_leader", "knows", "broker_id", "error"),
    [
        (True, 4, 2, "NONE"),
        (False, 4, 2, "NOT_LEADER_OR_FOLLOWER"),
        (False, 3, 2, "FENCED_LEADER_EPOCH"),  # a follower knows the epoch too (4.3.1)
        (False, 5, 2, "UNKNOWN_LEADER_EPOCH"),
        (False, None, 2, "NOT_LEADER_OR_FOLLOWER"),
        (True, 3, 2, "FENCED_LEADER_EPOCH"),
        (True, 5, 2, "UNKNOWN_LEADER_EPOCH"),
        (True, 4, 9, "UNKNOWN_LEADER_EPOCH"),
        (True, None, 9, "NOT_LEADER_OR_FOLLOWER"),
        (True, None, 2, "NONE"),
    ],
)
def test_a_leader_refuses_strangers_and_wrong_epochs(is_leader, knows, broker_id, error):
    assert refusal(is_leader, 4, FetchRequest(broker_id, 0, 0, knows, None), broker_id < 9) == error


@pytest.mark.parametrize(
    ("offset", "error"), [(2, "OFFSET_OUT_OF_RANGE"), (3, "NONE"), (6, "NONE"), (7, "OFFSET_OUT_OF_RANGE")]
)
@pytest.mark.parametrize("last_epoch", [None, 0])
def test_offsets_outside_the_log_are_out_of_range(offset, error, last_epoch):
    log = Log((Record("x", 0),) * 6, log_start_offset=3, high_watermark=4, epochs=((0, 3),))
    answer = read(log, FetchRequest(2, offset, 0, None, last_epoch))

    is_beyond = offset == 7 and last_epoch is not None  # then the epochs say more: here the logs part
    assert (answer.error, answer.diverging) == (("NONE", (0, 6)) if is_beyond else (error, None))


def test_an_unknown_epoch_is_out_of_range():
    log = Log((Record("x", 0),), epochs=((0, 0),))
    assert read(log, FetchRequest(2, 1, 0, None, 5)).error == "OFFSET_OUT_OF_RANGE"


def test_a_follower_that_stood_still_is_fenced_until_it_hears_of_the_new_epoch():
    events = [BrokerFrozen(3), LeaderElected(1, (1, 2)), BrokerThawed(3), Fetch(3), BrokerReconnected(3), Fetch(3)]
    trace = simulate(Settings(fetch_wait_max_ms=0), events)
    assert [each.error for each in answers(trace)] == ["FENCED_LEADER_EPOCH", "NONE"]


def test_a_leader_that_stood_still_does_not_know_the_new_epoch():
    events = [BrokerFrozen(1), LeaderElected(1, (1, 2, 3)), BrokerThawed(1), Fetch(2), BrokerReconnected(1), Fetch(2)]
    trace = simulate(Settings(fetch_wait_max_ms=0), events)
    assert [each.error for each in answers(trace)] == ["UNKNOWN_LEADER_EPOCH", "NONE"]


def test_a_follower_that_has_not_heard_asks_one_that_leads_no_more():
    events = [BrokerFrozen(3), LeaderElected(2, (1, 2)), BrokerThawed(3), Fetch(3)]
    assert [each.error for each in answers(simulate(Settings(), events))] == ["FENCED_LEADER_EPOCH"]


def test_a_leader_that_was_replaced_while_it_stood_still_still_takes_acks_1_and_loses_it():
    events = [BrokerFrozen(1), LeaderElected(2, (2, 3)), BrokerThawed(1), Produce(acks=1, to_broker=1)]
    trace = simulate(
        Settings(fetch_wait_max_ms=0), [*events, BrokerReconnected(1), Produce(acks=1), Fetch(1), Fetch(1)]
    )

    assert ProduceAnswered(1, "NONE", 0) in trace[4].state.effects
    assert [record.value for record in trace[-1].state.replica(1).log.records] == ["m2"]
    assert broken(Settings(), trace[-1].state) == ("acknowledged records survive",)


@pytest.mark.parametrize(("release", "is_parked", "marks"), [("2.3", True, []), ("2.4", True, [1]), ("2.6", True, [])])
def test_2_4_and_2_5_answer_a_waiting_fetch_when_the_high_watermark_moves(release, is_parked, marks):
    settings = Settings(replica_count=2, release=release)
    end = simulate(settings, [Produce(acks=1), Fetch(2), Fetch(2)])[-1].state

    assert FetchHandled(1, 2, 1, is_parked) in end.effects
    assert [each.high_watermark for each in end.effects if isinstance(each, FetchAnswered)] == marks


def test_a_waiting_fetch_is_answered_when_its_time_is_up_and_not_before():
    trace = simulate(TWO, [Fetch(2), TimePassed(499), TimePassed(1)])
    assert [len(frame.state.effects) for frame in trace] == [0, 1, 0, 1]
    assert trace[-1].state.replica(1).waiting.fetches == ()


def test_a_follower_s_next_fetch_takes_the_place_of_the_one_that_waits():
    trace = simulate(TWO, [Fetch(2), TimePassed(100), Fetch(2)])
    assert [parked.deadline_ms for parked in trace[-1].state.replica(1).waiting.fetches] == [600]


def test_a_waiting_fetch_is_forgotten_with_its_broker():
    trace = simulate(TWO, [Fetch(2), BrokerCrashed(2), BrokerRestarted(2), Produce(acks=1)])
    assert answers(trace) == []
    assert trace[-1].state.replica(2).log_end_offset == 0


@pytest.mark.parametrize(("is_unclean", "status"), [(False, "down"), (True, "running")])
def test_up_to_0_10_2_a_follower_ahead_of_its_leader_halts_its_broker_or_is_cut(is_unclean, status):
    settings = Settings(2, "0.10.2", is_unclean_election_enabled=is_unclean, fetch_wait_max_ms=0)
    # Broker 2 has the record, checkpointed; broker 1 loses it with its power, and leads all the same.
    events = [Produce(), Fetch(2), Fetch(2), Fetch(2), HighWatermarkCheckpointed(2), BrokerCrashed(2), PowerLost(1)]
    back = [LeaderElected(1, (1,)), BrokerRestarted(1), BrokerRestarted(2)]
    before = simulate(settings, [*events, *back])[-1].state
    assert (before.replica(1).log_end_offset, before.replica(2).log_end_offset) == (0, 1)

    end = simulate(settings, [Fetch(2)], before)[-1].state
    assert end.replica(2).broker.status == status
    assert (BrokerHalted(2) in end.effects) == (not is_unclean)


@pytest.mark.parametrize(
    ("before", "event", "said"),
    [
        ([], Fetch(1), "broker 1 leads; followers fetch"),
        ([], Fetch(4), "there is no broker 4; there are 1 to 3"),
        ([BrokerCrashed(2)], Fetch(2), "broker 2 is down: it fetches nothing"),
        ([BrokerCrashed(1)], Fetch(2), "broker 1, whom broker 2 would ask, is down"),
        ([BrokerFrozen(1)], Fetch(2), "broker 1, whom broker 2 would ask, is frozen"),
    ],
)
def test_a_fetch_that_cannot_be_is_refused_and_says_why(before, event, said):
    with pytest.raises(IllegalEvent, match=said):
        simulate(Settings(), [*before, event])
