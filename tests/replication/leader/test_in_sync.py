"""Who leaves the ISR, who joins it, and how far the high watermark goes meanwhile, by release."""

import pytest

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.replication import (
    AlterPartitionAnswered,
    BrokerFenced,
    BrokerFrozen,
    Fetch,
    IsrChecked,
    IsrSet,
    LeaderElected,
    Produce,
    Settings,
    TimePassed,
    simulate,
)
from kafkalearn.replication.events import AlterPartitionSent, IsrWritten
from kafkalearn.replication.leader import with_fetch
from kafkalearn.replication.state import Log, Proposal, Remote


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
