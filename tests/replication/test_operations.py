"""Laws of what an operator does: replicas move, leadership is given back, brokers restart, and nothing is lost."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given

from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.trace import extend
from kafkalearn.releases.lines import RELEASES
from kafkalearn.replication import (
    LOGS_AGREE,
    BrokerCrashed,
    BrokerFrozen,
    BrokerReconnected,
    BrokerStarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    ControlledShutdownStarted,
    LeaderElected,
    Produce,
    SessionExpired,
    Settings,
    broken,
    check,
    pass_time,
    rules_of,
    settle,
    simulate,
    start,
    step,
)
from kafkalearn.replication.settings import changes_of_rules
from kafkalearn.replication.state import Log, blank
from tests.replication.schedules import CARELESS, EVERYTHING, OPERATIONS, SINCE_2_0, runs

OPERATED = [*EVERYTHING, *OPERATIONS]
SINCE_KRAFT = [each for each in SINCE_2_0 if each in ("3.3", "3.6", "3.7", "4.0", "4.3")]


@given(runs(OPERATED, releases=SINCE_KRAFT, most_spare=1))
def test_committed_records_survive_every_move(run):
    settings, trace = run
    for before, frame in zip((None, *trace), trace, strict=False):
        assert broken(settings, frame.state) == ()
        check(settings, frame.state, before and before.state)


@given(runs([*CARELESS, *OPERATIONS], most_spare=1, may_be_unclean=True))
def test_logs_agree_and_the_invariants_hold_even_where_records_are_lost(run):
    settings, trace = run
    for before, frame in zip((None, *trace), trace, strict=False):
        assert broken(settings, frame.state, names=(LOGS_AGREE,)) == ()
        check(settings, frame.state, before and before.state)


@given(runs(OPERATED, releases=SINCE_KRAFT, most_spare=1))
def test_who_is_no_replica_knows_nothing_of_the_partition(run):
    settings, trace = run
    for frame in trace:
        for broker_id in set(settings.broker_ids) - set(frame.state.controller.assignment.replicas):
            replica = frame.state.replica(broker_id)
            assert replica.broker.status != "running" or (replica.log, replica.broker.leader) == (Log(), None)


@given(runs(OPERATED, releases=["3.8", "4.0", "4.2"], most_spare=1))
def test_from_3_8_to_4_2_a_reassignment_ends_with_every_replica_in_sync(run):
    _, trace = run
    for before, after in pairwise(frame.state.controller for frame in trace):
        is_asked_back = before.assignment.original == after.assignment.replicas
        if before.assignment.is_changing and not after.assignment.is_changing and not is_asked_back:
            assert set(after.isr) == set(after.assignment.replicas)


ALONE = Settings(replica_count=1, broker_count=2, release="3.3", has_leader_rebalancing=True)
FROZEN_AS_IT_STOPS = ALONE, simulate(ALONE, [ControlledShutdownStarted(1), BrokerFrozen(1)])


@given(runs(OPERATED, releases=SINCE_KRAFT, most_spare=1))
@example(FROZEN_AS_IT_STOPS)
def test_left_alone_every_reassignment_ends_and_the_preferred_replica_leads(run):
    settings, trace = run
    for broker_id in settings.broker_ids:
        for kind in (BrokerThawed, BrokerReconnected, BrokerStopped, BrokerStarted, BrokerUnfenced):
            if kind is BrokerStopped and broker_id not in trace[-1].state.controller.stopping:
                continue
            with suppress(IllegalEvent):  # it is not cut off, has crashed, or is there
                trace = extend(step, settings, trace, [kind(broker_id)])
    end = pass_time(settings, settle(settings, trace), 1_000, imbalance_check_ms=500)[-1].state

    assignment = end.controller.assignment
    if {*assignment.adding} & {*assignment.removing}:
        return  # asked for, and dropped by the next request before it was there: Kafka keeps it in both lists for ever
    if {*end.controller.elr} - {*assignment.replicas}:
        return  # a replica that was moved away stays eligible: Kafka waits for it, and elects nobody else
    assert not assignment.is_changing
    assert end.controller.leader == end.controller.assignment.replicas[0]
    assert set(end.controller.isr) == set(end.controller.assignment.replicas)
    kept = {end.replica(each).log.records_from(end.leader.log.log_start_offset) for each in end.controller.isr}
    assert len(kept) == 1


def test_the_ladder_of_truncation_rules_follows_the_releases():
    named = [(release, rules_of(release).truncation) for release in RELEASES]
    assert [after for before, after in pairwise(named) if before[1] != after[1]] == [
        ("0.11.0", "epoch, asked once"),
        ("2.0", "epoch, asked again"),
        ("2.8", "epoch, in the fetch"),
    ]


def test_every_change_of_a_rule_is_listed_with_the_release_that_brought_it():
    for release, name, value in changes_of_rules():
        before = RELEASES[RELEASES.index(release) - 1] if release in RELEASES else "2.0.0"
        assert getattr(rules_of(release), name) == value != getattr(rules_of(before), name)


@pytest.mark.parametrize(
    ("release", "unclean", "lag_ms", "has_elr"),
    [
        ("0.10.2", True, 10_000, False),
        ("0.11.0", False, 10_000, False),
        ("2.4", False, 10_000, False),
        ("2.5", False, 30_000, False),
        ("4.0", False, 30_000, False),
        ("4.1", False, 30_000, True),
    ],
)
def test_what_is_not_given_is_the_default_of_the_release(release, unclean, lag_ms, has_elr):
    settings = Settings(release=release)
    assert settings.is_unclean_election_enabled is unclean
    assert settings.replica_lag_time_max_ms == lag_ms
    assert settings.has_eligible_leader_replicas is has_elr


@pytest.mark.parametrize(("release", "needed"), [("3.6", 3), ("3.7", 2)])
def test_no_more_replicas_are_needed_than_there_are_since_3_7(release, needed):
    assert Settings(2, release, min_insync_replicas=3).effective_min_isr == needed


def test_eras_can_be_mixed():
    mixed = Settings(rules=replace(rules_of("4.3"), truncation="high watermark"))
    assert (mixed.rules.truncation, mixed.rules.asks_controller) == ("high watermark", True)


def test_the_first_of_the_assignment_leads_at_the_start():
    assert start(Settings(assignment=(3, 1, 2))).controller.leader == 3
    assert start(Settings(assignment=())).controller.leader == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"release": "4.9"}, "unknown release '4.9'"),
        ({"assignment": (1, 2)}, "assignment must name each of the brokers 1, 2 and 3 once"),
        ({"fetch_wait_max_ms": 40_000}, "is above replica_lag_time_max_ms 30000; a broker does not start so"),
        ({"release": "3.9", "has_eligible_leader_replicas": True}, "they came with 4.0"),
        ({"rules": replace(rules_of(), truncation="epoc")}, "unknown truncation 'epoc'"),
        ({"rules": replace(rules_of(), lag_test="tim")}, "unknown lag test 'tim'"),
    ],
)
def test_settings_no_cluster_could_have_are_refused(arguments, said):
    with pytest.raises(KafkaLearnError, match=said):
        Settings(**arguments)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(("replica_count", "assignment"), [(1, None), (2, (2, 1)), (3, (2, 3, 1)), (3, ())])
def test_a_run_starts_just_after_the_first_election(release, replica_count, assignment):
    settings = Settings(replica_count, release, assignment=assignment)
    leader = (settings.assignment or settings.broker_ids)[0]
    assert start(settings) == step(settings, blank(settings), LeaderElected(leader, settings.broker_ids))


def test_left_to_themselves_brokers_copy_commit_and_write_down():
    settings = Settings()
    end = settle(settings, simulate(settings, [Produce(2)]))[-1].state
    assert {(each.log_end_offset, each.high_watermark) for each in end.replicas} == {(2, 2)}
    assert {each.log.checkpointed_high_watermark for each in end.replicas} == {2}


def test_settling_gives_nobody_up():
    settings = Settings()
    end = settle(settings, simulate(settings, [BrokerFrozen(3), Produce(acks=1)]))[-1].state
    assert (end.controller.isr, end.high_watermark) == ((1, 2, 3), 0)


def test_a_settled_cluster_stays_as_it_is():
    settings = Settings()
    settled = settle(settings, simulate(settings, [Produce()]))[-1].state
    again = settle(settings, simulate(settings, [], settled))[-1].state
    assert (again.controller, again.ledger) == (settled.controller, settled.ledger)
    assert [each.log for each in again.replicas] == [each.log for each in settled.replicas]


def test_with_time_a_laggard_leaves_the_isr_and_the_dead_are_given_up():
    settings = Settings()
    lagging = pass_time(settings, simulate(settings, [BrokerFrozen(3), Produce(acks=1)]), 46_000, 10**9)[-1].state
    assert (lagging.controller.isr, lagging.controller.fenced, lagging.high_watermark) == ((1, 2), (), 1)

    gone = pass_time(settings, simulate(settings, [BrokerCrashed(1)]), 9_000)
    assert SessionExpired(1) in [frame.event for frame in gone]
    assert gone[-1].state.controller.leader == 2


def test_a_broker_that_comes_back_catches_up_and_joins():
    settings = Settings()
    away = pass_time(settings, simulate(settings, [BrokerCrashed(3), Produce(acks=1)]), 10_000)
    end = settle(settings, simulate(settings, [BrokerStarted(3)], away[-1].state))[-1].state
    assert (end.controller.isr, end.replica(3).log_end_offset) == ((1, 2, 3), 1)


def test_time_that_runs_backwards_is_refused():
    settings = Settings()
    with pytest.raises(KafkaLearnError, match="ms must be at least 0, got -1"):
        pass_time(settings, simulate(settings, []), -1)
