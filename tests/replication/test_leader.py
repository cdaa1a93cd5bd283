"""The leader's ten steps: who is refused, what is answered when, and with which high watermark."""

from dataclasses import replace

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerFenced,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerThawed,
    Consume,
    DeleteRecords,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    IsrSet,
    LeaderElected,
    PowerLost,
    Produce,
    Settings,
    TimePassed,
    broken,
    rules_of,
    simulate,
)
from kafkalearn.replication.events import (
    AlterPartitionSent,
    BrokerHalted,
    ConsumerRead,
    FetchAnswered,
    FetchHandled,
    IsrWritten,
    NoReachableLeader,
    ProduceAnswered,
    RecordsDeleted,
)
from kafkalearn.replication.leader import FetchRequest, read, refusal, with_fetch
from kafkalearn.replication.state import Log, Proposal, Record, Remote

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


def test_a_leader_that_stood_still_answers_none_of_the_fetches_that_waited():
    trace = simulate(Settings(), [Fetch(2), BrokerFrozen(1), BrokerThawed(1), Produce()])
    waiting = [frame.state.replica(1).waiting.fetches for frame in trace]
    assert waiting[1] != ()
    assert waiting[2] == waiting[-1] == ()
    assert not answers(trace)


def test_only_a_running_broker_writes_its_high_watermark():
    with pytest.raises(IllegalEvent, match=r"HighWatermarkCheckpointed.*the broker is"):
        simulate(Settings(), [BrokerCrashed(2), HighWatermarkCheckpointed(2)])


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


@pytest.mark.parametrize(("event", "leads"), [(BrokerFrozen(2), True), (BrokerFrozen(1), False)])
def test_a_leader_that_stands_still_leads_nobody_until_another_is_elected(event, leads):
    (_, frame) = simulate(Settings(), [event])

    assert frame.state.controller.leader == 1
    assert (frame.state.leader is not None) == leads


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
    trace = simulate(TWO, [Fetch(2), BrokerCrashed(2), BrokerStarted(2), Produce(acks=1)])
    assert answers(trace) == []
    assert trace[-1].state.replica(2).log_end_offset == 0


@pytest.mark.parametrize(
    ("release", "is_unclean", "status"),
    [
        *((release, False, "down") for release in ("0.10.2", "0.11.0", "1.1", "2.0.0")),
        *((release, True, "running") for release in ("0.10.2", "1.1")),
        ("2.0.1", False, "running"),  # KAFKA-7414
    ],
)
def test_up_to_2_0_0_a_follower_ahead_of_its_leader_halts_its_broker_or_is_cut(release, is_unclean, status):
    rules = replace(rules_of(release), truncation="high watermark")  # who asks for an epoch is cut before he fetches
    settings = Settings(2, release, rules=rules, is_unclean_election_enabled=is_unclean, fetch_wait_max_ms=0)
    # Broker 2 has the record, checkpointed; broker 1 loses it with its power, and leads all the same.
    events = [Produce(), Fetch(2), Fetch(2), Fetch(2), HighWatermarkCheckpointed(2), BrokerCrashed(2), PowerLost(1)]
    back = [LeaderElected(1, (1,)), BrokerStarted(1), BrokerStarted(2)]
    before = simulate(settings, [*events, *back])[-1].state
    assert (before.replica(1).log_end_offset, before.replica(2).log_end_offset) == (0, 1)

    end = simulate(settings, [Fetch(2)], before)[-1].state
    assert end.replica(2).broker.status == status
    assert (BrokerHalted(2) in end.effects) == (status == "down")


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


def at_once(**options) -> Settings:
    return Settings(fetch_wait_max_ms=0, **options)


@pytest.mark.parametrize(("release", "isr"), [("0.8.2", (1,)), ("0.9.0", (1,)), ("2.0", (1,)), ("2.1", (1, 2))])
def test_a_follower_that_has_everything_but_is_silent_stays_since_2_1(release, isr):
    settings = at_once(replica_count=2, release=release)
    end = simulate(settings, [Fetch(2), TimePassed(10_001), IsrChecked()])[-1].state
    assert end.replica(1).leading.maximal_isr == isr


@pytest.mark.parametrize(("record_count", "isr"), [(2, (1, 2)), (3, (1,))])
def test_0_8_2_also_removed_whoever_was_too_many_records_behind(record_count, isr):
    settings = at_once(replica_count=2, release="0.8.2", replica_lag_max_messages=2)
    end = simulate(settings, [Fetch(2), Produce(record_count, acks=1), IsrChecked()])[-1].state
    assert end.controller.isr == isr


@pytest.mark.parametrize(("ms", "isr"), [(30_000, (1, 2)), (30_001, (1,))])
def test_the_lag_time_has_to_be_exceeded(ms, isr):
    events = [Produce(acks=1), TimePassed(ms), IsrChecked()]
    end = simulate(at_once(replica_count=2), events)[-1].state
    assert end.effects == ((AlterPartitionSent(isr),) if isr == (1,) else ())


@pytest.mark.parametrize(("release", "caught_up_ms"), [("0.10.1", 0), ("0.10.2", 5), ("4.3", 5)])
def test_having_all_that_was_there_at_the_fetch_before_counts_since_0_10_2(release, caught_up_ms):
    settings = at_once(replica_count=2, release=release)
    known = Remote(3, 0, last_caught_up_ms=0, last_fetch_ms=5, leader_end_at_last_fetch=4)
    assert with_fetch(settings, 9, known, Log(first_offset=7), 4, 0).last_caught_up_ms == caught_up_ms


def test_a_fetch_may_lower_the_remote_leo():
    settings, known = at_once(), Remote(9, 0, 0, 0, 9)
    assert with_fetch(settings, 1, known, Log(first_offset=9), 4, 0).log_end_offset == 4


@pytest.mark.parametrize(("release", "high_watermark"), [("0.10.1", 3), ("0.10.2", 1), ("4.3", 1)])
def test_a_follower_just_removed_still_holds_the_high_watermark_since_0_10_2(release, high_watermark):
    events = [Produce(acks=1), Fetch(2), Fetch(2), Produce(2, acks=1), IsrSet((1,))]
    assert simulate(at_once(replica_count=2, release=release), events)[-1].state.high_watermark == high_watermark


@pytest.mark.parametrize(("release", "high_watermark"), [("3.5", 1), ("3.6", 3)])
def test_unless_it_is_fenced_since_3_6(release, high_watermark):
    events = [Produce(acks=1), Fetch(2), Fetch(2), Produce(2, acks=1), BrokerFenced(2), IsrSet((1,))]
    assert simulate(at_once(replica_count=2, release=release), events)[-1].state.high_watermark == high_watermark


@pytest.mark.parametrize(("release", "high_watermark"), [("3.6", 1), ("3.7", 0)])
def test_the_high_watermark_stands_while_the_isr_is_too_small_since_3_7(release, high_watermark):
    settings = at_once(replica_count=2, release=release, min_insync_replicas=2)
    events = [LeaderElected(1, (1,)), TimePassed(60_000), Produce(acks=1)]
    assert simulate(settings, events)[-1].state.high_watermark == high_watermark


@pytest.mark.parametrize(("release", "isr"), [("1.1", (1, 2)), ("2.0", (1,))])
def test_who_joins_must_have_reached_the_start_of_the_leader_s_epoch_since_2_0(release, isr):
    settings = at_once(replica_count=2, release=release)
    # Broker 1 takes over at offset 2 with a high watermark of 0.
    events = [Produce(2, acks=1), LeaderElected(1, (1, 2)), IsrSet((1,)), Fetch(2)]
    end = simulate(settings, events)[-1].state
    assert (end.high_watermark, end.controller.isr) == (0, isr)


@pytest.mark.parametrize(("release", "maximal_isr"), [("3.2", (1, 2)), ("3.3", (1,))])
def test_a_fenced_follower_may_not_join_since_3_3(release, maximal_isr):
    events = [LeaderElected(1, (1,)), BrokerFenced(2), Fetch(2)]
    end = simulate(at_once(replica_count=2, release=release), events)[-1].state
    assert end.replica(1).leading.maximal_isr == maximal_isr


@pytest.mark.parametrize(("release", "effect", "isr"), [("2.6", IsrWritten, (1, 2)), ("2.7", AlterPartitionSent, (1,))])
def test_up_to_2_6_the_leader_writes_the_isr_itself(release, effect, isr):
    end = simulate(at_once(replica_count=2, release=release), [LeaderElected(1, (1,)), Fetch(2)])[-1].state
    assert effect((1, 2)) in end.effects
    assert end.controller.isr == isr


JOINING = [LeaderElected(1, (1,)), Fetch(2)]


@pytest.mark.parametrize(
    ("error", "proposal", "effects"),
    [
        (None, None, ()),
        ("INELIGIBLE_REPLICA", None, ()),
        ("INVALID_UPDATE_VERSION", Proposal((1, 2), is_refused=True), ()),
        ("REQUEST_TIMED_OUT", Proposal((1, 2)), (AlterPartitionSent((1, 2)),)),
    ],
)
def test_what_a_leader_makes_of_the_controller_s_answer(error, proposal, effects):
    end = simulate(at_once(replica_count=2), [*JOINING, AlterPartitionAnswered(error)])[-1].state

    assert end.replica(1).leading.proposal == proposal
    assert end.controller.isr == ((1, 2) if error is None else (1,))
    assert end.effects == effects


def test_an_error_that_no_controller_answers_is_refused():
    with pytest.raises(KafkaLearnError, match="unknown error 'NONSENSE'; a controller answers 'FENCED_LEADER_EPOCH', "):
        AlterPartitionAnswered("NONSENSE")
    with pytest.raises(KafkaLearnError, match="did you mean 'INELIGIBLE_REPLICA'"):
        AlterPartitionAnswered("INELIGIBLE_REPLICAS")
    with pytest.raises(KafkaLearnError, match="without an error the rules decide"):
        AlterPartitionAnswered("NONE")


def test_a_refused_proposal_counts_until_new_metadata_arrives():
    events = [*JOINING, AlterPartitionAnswered("FENCED_LEADER_EPOCH")]
    waiting = simulate(at_once(replica_count=2), events)[-1].state
    assert waiting.replica(1).leading.maximal_isr == (1, 2)

    learnt = simulate(at_once(replica_count=2), [IsrSet((1,))], waiting)[-1].state
    assert learnt.replica(1).leading.maximal_isr == (1,)


def test_only_one_change_of_the_isr_is_under_way_at_a_time():
    # Broker 2 lags; while its removal is on its way, broker 3 has caught up and may not be proposed.
    events = [Produce(acks=1), TimePassed(30_001), IsrChecked(), Fetch(3), Fetch(3), IsrChecked()]
    trace = simulate(at_once(), [LeaderElected(1, (1, 2)), *events])
    sent = [each for frame in trace for each in frame.state.effects if isinstance(each, AlterPartitionSent)]
    assert sent == [AlterPartitionSent((1,))]


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([AlterPartitionAnswered()], "broker 1 waits for no answer about its ISR"),
        ([BrokerFrozen(1), AlterPartitionAnswered()], "there is no leader that could have proposed an ISR"),
        ([BrokerFrozen(1), IsrChecked()], "there is no leader to check the ISR"),
        ([IsrSet((2, 3))], "the leader, 1, is always in the ISR"),
        ([IsrSet((1, 4))], "there is no broker 4; there are 1 to 3"),
        ([IsrSet((1, 2, 2))], "the ISR names a broker twice"),
        ([IsrSet(())], "the leader, 1, is always in the ISR"),
        ([LeaderElected(4, (4,))], "there is no broker 4; there are 1 to 3"),
        ([LeaderElected(2, (2, 9))], "there is no broker 9; there are 1 to 3"),
        ([LeaderElected(2, (1, 3))], "the leader, 2, is always in the ISR"),
        ([LeaderElected(2, (2, 2))], "the ISR names a broker twice"),
    ],
)
def test_what_makes_no_sense_is_refused_and_says_why(events, said):
    with pytest.raises(IllegalEvent, match=said):
        simulate(Settings(), events)


TWO_AT_ONCE = at_once(replica_count=2)


def effects_of(settings: Settings, events: list) -> tuple:
    return simulate(settings, events)[-1].state.effects


def test_acks_0_is_told_nothing_whatever_becomes_of_it():
    assert effects_of(TWO_AT_ONCE, [Produce(acks=0)]) == ()
    assert effects_of(TWO_AT_ONCE, [Produce(acks=0, to_broker=2)]) == ()
    assert simulate(TWO_AT_ONCE, [Produce(acks=0)])[-1].state.ledger.acknowledged == ()


def test_a_request_with_nowhere_to_go_writes_nothing_and_counts_for_nothing():
    end = simulate(TWO_AT_ONCE, [BrokerCrashed(1), Produce()])[-1].state
    assert end.effects == (NoReachableLeader(),)
    assert end.ledger.requests.request_count == 0
    assert effects_of(TWO_AT_ONCE, [BrokerCrashed(1), Consume()]) == (NoReachableLeader(),)


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
    assert ProduceAnswered(1, "NOT_LEADER_OR_FOLLOWER", 0) in effects_of(
        TWO_AT_ONCE, [Produce(), LeaderElected(2, (1, 2))]
    )


def test_a_leader_that_is_elected_again_keeps_them_waiting():
    end = simulate(TWO_AT_ONCE, [Produce(), LeaderElected(1, (1, 2))])[-1].state
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
    assert effects_of(TWO_AT_ONCE, events) == (answer,)


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
    assert effects_of(TWO_AT_ONCE, events) == (answer,)


@pytest.mark.parametrize("acks", [2, -1, "1", "ALL", True])
def test_other_acks_are_refused(acks):
    with pytest.raises(KafkaLearnError, match="acks must be 0, 1 or 'all'"):
        simulate(TWO_AT_ONCE, [Produce(acks=acks)])


@pytest.mark.parametrize(
    ("events", "said"),
    [
        ([BrokerCrashed(1), DeleteRecords(0)], "there is no leader to delete records at"),
        ([Produce(to_broker=3)], "there is no broker 3; there are 1 to 2"),
    ],
)
def test_what_no_client_can_ask_for_is_refused_and_says_why(events, said):
    with pytest.raises(IllegalEvent, match=said):
        simulate(TWO_AT_ONCE, events)
