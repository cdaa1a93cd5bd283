"""Leadership given back: by the controller's own round, and by command."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerStarted,
    ElectLeaders,
    Fetch,
    LeaderImbalanceChecked,
    Produce,
    SessionExpired,
    Settings,
    pass_time,
    settle,
    simulate,
    step,
)
from kafkalearn.replication.events import ElectionAnswered, LeaderChanged
from tests.replication.schedules import EVERYTHING, runs

THREE = Settings(fetch_wait_max_ms=0)
GONE = (BrokerCrashed(1), SessionExpired(1))
BACK = (*GONE, BrokerStarted(1))


def after_failure(settings=THREE):
    """Broker 2 leads; broker 1, whom the controller prefers, is back in the ISR."""
    return settle(settings, simulate(settings, BACK))[-1].state


def test_the_preferred_replica_leads_again_in_a_new_epoch_once_it_is_in_sync():
    state = after_failure()
    assert (state.controller.leader, state.controller.leader_epoch, state.controller.isr) == (2, 1, (1, 2, 3))
    given_back = step(THREE, state, LeaderImbalanceChecked())
    assert given_back.effects == (LeaderChanged(1, 2, is_clean=True),)
    assert step(THREE, given_back, LeaderImbalanceChecked()) == given_back


def test_it_does_not_get_leadership_before_it_has_caught_up():
    out_of_sync = simulate(THREE, BACK)[-1].state
    assert step(THREE, out_of_sync, LeaderImbalanceChecked()) == out_of_sync


@pytest.mark.parametrize(
    ("events", "election_type", "error"),
    [
        ((), "preferred", "ELECTION_NOT_NEEDED"),
        ((), "unclean", "ELECTION_NOT_NEEDED"),
        (GONE, "preferred", "PREFERRED_LEADER_NOT_AVAILABLE"),
        (GONE, "unclean", "ELECTION_NOT_NEEDED"),
        (BACK, "preferred", "PREFERRED_LEADER_NOT_AVAILABLE"),
        ((*BACK, Fetch(1)), "preferred", "PREFERRED_LEADER_NOT_AVAILABLE"),
    ],
)
def test_a_command_is_answered_with_why_there_was_no_election(events, election_type, error):
    state = simulate(THREE, [*events, ElectLeaders(election_type)])[-1].state
    assert state.effects == (ElectionAnswered(error),)


def test_by_command_the_preferred_replica_leads_again():
    assert step(THREE, after_failure(), ElectLeaders()).effects == (
        LeaderChanged(1, 2, is_clean=True),
        ElectionAnswered("NONE"),
    )


def test_an_unclean_election_by_command_loses_what_the_settings_would_have_kept():
    pair = Settings(2, has_eligible_leader_replicas=False, fetch_wait_max_ms=0)
    lonely = [BrokerCrashed(2), SessionExpired(2), Produce(acks=1), *GONE, BrokerStarted(2)]
    end = simulate(pair, [*lonely, ElectLeaders("unclean")])[-1].state
    assert end.effects == (LeaderChanged(2, 2, is_clean=False), ElectionAnswered("NONE"))
    assert (end.controller.isr, end.controller.is_recovering) == ((2,), True)
    nobody = simulate(pair, [*lonely[:-1], ElectLeaders("unclean")])[-1].state
    assert nobody.effects == (ElectionAnswered("ELIGIBLE_LEADERS_NOT_AVAILABLE"),)


def test_left_alone_a_cluster_gives_leadership_back_within_five_minutes_unless_that_is_off():
    for settings, leader in ((THREE, 1), (replace(THREE, has_leader_rebalancing=False), 2)):
        failed = settle(settings, simulate(settings, BACK))
        later = pass_time(settings, failed, 200_000)
        assert later[-1].state.controller.leader == 2
        assert pass_time(settings, later, 100_100)[-1].state.controller.leader == leader
    quick = extend(step, THREE, settle(THREE, simulate(THREE, BACK)), [])
    assert pass_time(THREE, quick, 10_000, imbalance_check_ms=5_000)[-1].state.controller.leader == 1


def test_an_election_that_kafka_does_not_know_is_refused():
    with pytest.raises(KafkaLearnError, match="election_type"):
        ElectLeaders("prefered")


@given(runs(kinds=[*EVERYTHING, LeaderImbalanceChecked, ElectLeaders]), st.data())
def test_giving_leadership_back_loses_nothing_and_elects_nobody_else(run, data):
    settings, trace = run
    before = data.draw(st.sampled_from(trace)).state
    after = step(settings, before, LeaderImbalanceChecked())
    preferred = before.controller.assignment.replicas[0]
    assert after.controller.leader in (before.controller.leader, preferred)
    if after.controller.leader != before.controller.leader:
        assert preferred in (before.controller.isr or before.controller.elr)
        assert after.ledger.unclean_election_count == before.ledger.unclean_election_count
