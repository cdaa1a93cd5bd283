from contextlib import suppress
from functools import partial
from itertools import pairwise

import pytest
from hypothesis import given

from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    IN_ORDER,
    ISR_HOLDS,
    LOGS_AGREE,
    NEVER_FALLS,
    PROMISES,
    SURVIVE,
    SURVIVE_CLEAN,
    BrokerReconnected,
    BrokerRestarted,
    BrokerThawed,
    Settings,
    blank,
    broken,
    check,
    settle,
    start,
    step,
)
from kafkalearn.trace import extend
from tests.recorded import recorded
from tests.replication.schedules import CARELESS, runs
from tests.replication.scripts import event_of, lines_of, settings_of

TRUNCATIONS = {case["id"]: case for case in recorded("log-truncation")["cases"]}


def broken_in_turn(case_id: str) -> list[tuple[str, ...]]:
    """The promises broken after each event of a recorded script, told once as long as they do not change."""
    case = TRUNCATIONS[case_id]
    settings = settings_of(case["config"])
    partition, told = blank(settings), [()]
    for event in filter(None, map(event_of, lines_of(case))):
        partition = step(settings, partition, event)
        if broken(settings, partition) != told[-1]:
            told.append(broken(settings, partition))
    return told


def test_the_old_rule_s_loss_is_told_by_name_and_announced_before_the_leader_fails():
    lost = (SURVIVE_CLEAN, SURVIVE, ACKNOWLEDGED_SURVIVE)
    assert broken_in_turn("T01") == [(), (ISR_HOLDS,), (), lost]
    assert broken_in_turn("T02") == [()]


def test_the_old_rule_s_divergence_is_told_by_name():
    in_isr, lost = (ISR_HOLDS,), (SURVIVE_CLEAN, SURVIVE, ACKNOWLEDGED_SURVIVE)
    assert broken_in_turn("T03") == [(), in_isr, (), lost, (*lost, LOGS_AGREE)]
    assert broken_in_turn("T04") == [(), in_isr, (), lost]


def test_an_unclean_election_breaks_no_promise_about_clean_ones():
    assert broken_in_turn("T05") == [(), (SURVIVE, ACKNOWLEDGED_SURVIVE)]


@given(runs())
def test_committed_records_survive_whatever_happens_as_long_as_disks_keep_what_they_have(run):
    settings, trace = run
    for frame in trace:
        check(settings, frame.state)


@given(runs(CARELESS, releases=["2.2", "2.8", "3.7", "4.0", "4.3"], may_be_unclean=True))
def test_logs_agree_even_where_records_are_lost(run):
    settings, trace = run
    for frame in trace:
        check(settings, frame.state, (IN_ORDER, NEVER_FALLS, LOGS_AGREE))


@given(runs(CARELESS, releases=["0.8.2", "0.10.1", "0.10.2", "0.11.0", "1.1"]))
def test_old_rules_keep_at_least_the_order_of_the_marks(run):
    settings, trace = run
    for frame in trace:
        check(settings, frame.state, (IN_ORDER, NEVER_FALLS))


@given(runs())
def test_epochs_never_go_back_and_what_was_seen_stays_seen(run):
    _, trace = run
    for before, after in pairwise(frame.state for frame in trace):
        assert before.controller.leader_epoch <= after.controller.leader_epoch
        assert before.controller.partition_epoch <= after.controller.partition_epoch
        seen = before.ledger.visible.records
        assert after.ledger.visible.records[: len(seen)] == seen


@given(runs())
def test_left_alone_with_every_broker_back_all_replicas_become_equal(run):
    settings, trace = run
    for kind in (BrokerRestarted, BrokerThawed, BrokerReconnected):
        for broker_id in settings.broker_ids:
            with suppress(IllegalEvent):  # it is not down, frozen or cut off
                trace = extend(partial(step, settings), trace, [kind(broker_id)])
    end = settle(settings, trace)[-1].state
    leader = end.leader.log

    assert end.controller.isr == settings.broker_ids
    assert {replica.log.records_from(leader.log_start_offset) for replica in end.replicas} == {
        leader.records_from(leader.log_start_offset)
    }
    assert {replica.high_watermark for replica in end.replicas} == {leader.log_end_offset}


def test_a_misspelt_promise_is_refused_with_the_known_ones():
    settings = Settings()
    with pytest.raises(KafkaLearnError, match=r"unknown promise 'logs agree'.* 'logs agree up to the HW'"):
        broken(settings, start(settings), ("logs agree",))


def test_a_state_that_keeps_its_promises_passes_in_silence():
    settings = Settings()
    assert check(settings, start(settings)) is None
    assert len(set(PROMISES)) == len(PROMISES) == 7
