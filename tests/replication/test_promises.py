from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given

from kafkalearn import replication
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.releases.lines import RELEASES
from kafkalearn.replication.simulator import EPOCHS_RISE, ONE_LEADER
from kafkalearn.replication.state import blank
from tests.recorded import recorded
from tests.replication.schedules import CARELESS, OVERRULED, runs
from tests.replication.scripts import event_of, lines_of, settings_of

TRUNCATIONS = {case["id"]: case for case in recorded("log-truncation")["cases"]}


def broken_in_turn(case_id: str) -> list[tuple[str, ...]]:
    """The promises broken after each event of a recorded script, named once as long as they do not change."""
    case = TRUNCATIONS[case_id]
    settings = settings_of(case["settings"])
    partition, found = blank(settings), [()]
    for event in filter(None, map(event_of, lines_of(case))):
        partition = replication.step(settings, partition, event)
        if replication.broken(settings, partition) != found[-1]:
            found.append(replication.broken(settings, partition))
    return found


def test_the_old_rule_s_loss_is_named_and_announced_before_the_leader_fails():
    lost = (replication.SURVIVE_CLEAN, replication.SURVIVE, replication.ACKNOWLEDGED_SURVIVE)
    assert broken_in_turn("T01") == [(), (replication.ISR_HOLDS,), (), lost]
    assert broken_in_turn("T02") == [()]


def test_the_old_rule_s_divergence_is_told_by_name():
    in_isr, lost = (
        (replication.ISR_HOLDS,),
        (replication.SURVIVE_CLEAN, replication.SURVIVE, replication.ACKNOWLEDGED_SURVIVE),
    )
    assert broken_in_turn("T03") == [(), in_isr, (), lost, (*lost, replication.LOGS_AGREE)]
    assert broken_in_turn("T04") == [(), in_isr, (), lost]


def test_an_unclean_election_breaks_no_promise_about_clean_ones():
    assert broken_in_turn("T05") == [(), (replication.SURVIVE, replication.ACKNOWLEDGED_SURVIVE)]


@given(runs())
def test_committed_records_survive_whatever_happens_as_long_as_disks_keep_what_they_have(run):
    settings, trace = run
    for frame in trace:
        assert replication.broken(settings, frame.state) == ()


@given(runs(CARELESS, releases=["2.2", "2.8", "3.7", "4.0", "4.3"], may_be_unclean=True))
def test_logs_agree_even_where_records_are_lost(run):
    settings, trace = run
    for frame in trace:
        assert replication.broken(settings, frame.state, names=(replication.LOGS_AGREE,)) == ()


@given(runs([*CARELESS, *OVERRULED], releases=RELEASES, may_be_unclean=True))
def test_the_invariants_hold_under_every_release_whatever_happens(run):
    settings, trace = run
    for before, frame in zip((None, *trace), trace, strict=False):
        replication.check(settings, frame.state, before and before.state)


@given(runs())
def test_what_was_seen_stays_seen(run):
    _, trace = run
    for before, after in pairwise(frame.state for frame in trace):
        seen = before.ledger.visible.records
        assert after.ledger.visible.records[: len(seen)] == seen


@given(runs())
def test_left_alone_with_every_broker_back_all_replicas_become_equal(run):
    settings, trace = run
    for kind in (replication.BrokerStarted, replication.BrokerThawed, replication.BrokerReconnected):
        for broker_id in settings.broker_ids:
            with suppress(IllegalEvent):  # it is not down, frozen or cut off
                trace = extend(replication.step, settings, trace, [kind(broker_id)])
    end = replication.settle(settings, trace)[-1].state
    leader = end.leader.log

    assert end.controller.isr == settings.broker_ids
    assert {replica.log.records_from(leader.log_start_offset) for replica in end.replicas} == {
        leader.records_from(leader.log_start_offset)
    }
    assert {replica.high_watermark for replica in end.replicas} == {leader.log_end_offset}


def test_a_misspelt_promise_is_refused_with_the_known_ones():
    settings = replication.Settings()
    with pytest.raises(KafkaLearnError, match=r"unknown promise 'logs agree'.* 'logs agree up to the HW'"):
        replication.broken(settings, replication.start(settings), names=("logs agree",))


def test_a_state_that_keeps_its_promises_passes_in_silence():
    settings = replication.Settings()
    assert replication.check(settings, replication.start(settings)) is None
    assert replication.broken(settings, replication.start(settings)) == ()


def test_a_state_that_breaks_an_invariant_is_named():
    settings = replication.Settings(replica_count=2)
    state = replication.start(settings)
    leader, follower = state.replicas
    both = replace(state, replicas=(leader, follower._replace(leading=leader.leading)))
    with pytest.raises(AssertionError, match=f"not so in this state: {ONE_LEADER}"):
        replication.check(settings, both)
    with pytest.raises(AssertionError, match=EPOCHS_RISE):
        replication.check(
            settings, state, replication.simulate(settings, [replication.LeaderElected(2, (1, 2))])[-1].state
        )
