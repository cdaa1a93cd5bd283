import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.replication import (
    BrokerCrashed,
    BrokerFrozen,
    BrokerRestarted,
    Produce,
    SessionExpired,
    Settings,
    pass_time,
    settle,
    simulate,
)


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
    end = settle(settings, simulate(settings, [BrokerRestarted(3)], away[-1].state))[-1].state
    assert (end.controller.isr, end.replica(3).log_end_offset) == ((1, 2, 3), 1)


def test_time_that_runs_backwards_is_refused():
    settings = Settings()
    with pytest.raises(KafkaLearnError, match="ms must be at least 0, got -1"):
        pass_time(settings, simulate(settings, []), -1)
