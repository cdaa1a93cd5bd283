"""Laws of what an operator does: replicas move, leadership is given back, brokers restart, and nothing is lost."""

from contextlib import suppress
from itertools import pairwise

from hypothesis import given

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import extend
from kafkalearn.replication import (
    LOGS_AGREE,
    BrokerReconnected,
    BrokerRestarted,
    BrokerStopped,
    BrokerThawed,
    BrokerUnfenced,
    broken,
    check,
    pass_time,
    settle,
    step,
)
from kafkalearn.replication.state import Log
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


@given(runs(OPERATED, releases=SINCE_KRAFT, most_spare=1))
def test_left_alone_every_reassignment_ends_and_the_preferred_replica_leads(run):
    settings, trace = run
    for broker_id in settings.broker_ids:
        if broker_id in trace[-1].state.controller.stopping:
            with suppress(IllegalEvent):  # it has crashed, or stands still
                trace = extend(step, settings, trace, [BrokerStopped(broker_id)])
        for kind in (BrokerRestarted, BrokerThawed, BrokerReconnected, BrokerUnfenced):
            with suppress(IllegalEvent):
                trace = extend(step, settings, trace, [kind(broker_id)])
    end = pass_time(settings, settle(settings, trace), 1_000, imbalance_check_ms=500)[-1].state

    assert not end.controller.assignment.is_changing
    assert end.controller.leader == end.controller.assignment.replicas[0]
    assert set(end.controller.isr) == set(end.controller.assignment.replicas)
    kept = {end.replica(each).log.records_from(end.leader.log.log_start_offset) for each in end.controller.isr}
    assert len(kept) == 1
