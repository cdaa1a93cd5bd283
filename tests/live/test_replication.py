"""Failures of a cluster with eligible leader replicas: what every disk, leader, ISR, epoch and answer has come to."""

import pytest

from conformance.mechanisms.replication import THE_DEAD_ARE_MISSED, Topic
from kafkalearn.live import Kafka
from tests.live.checked import holds
from tests.live.scripts import REPLICATION, check

pytestmark = pytest.mark.live


@pytest.fixture(scope="module")
def cluster(release):
    with Kafka(3, release, config=THE_DEAD_ARE_MISSED, has_eligible_leader_replicas=True) as kafka:
        yield kafka


def an_acknowledged_record_is_lost(run):
    run.produce(2, "all")
    with run.in_a_hurry():
        run.freeze(2)
        run.freeze(3)
        run.produce(1, 1)
        run.kill(1)
        run.thaw(2, 3)
    run.wait(leader=2, isr=[2, 3])
    run.produce(1, "all")
    run.restart(1)
    run.wait(isr=[1, 2, 3])


def two_brokers_lose_power(run):
    for _ in range(3):
        run.produce(1, "all")
    run.lose_power(3, lost_batches=2, torn_bytes=20)
    run.wait(isr=[1, 2])
    run.produce(1, 0)
    run.stop(2)
    run.produce(1, "all")
    run.restart(3)
    run.restart(2)
    run.wait(isr=[1, 2, 3])
    run.lose_power(1, lost_batches=1)
    run.wait(leader=2, isr=[2, 3])


@holds(*REPLICATION, "truncation by high watermark and by leader epoch", "acks, failures and the result of a record")
def test_a_record_that_only_its_leader_had_is_lost_and_the_old_leader_cuts_it_off(cluster):
    topics = {"min-1": Topic(1), "min-2": Topic(2), "unclean": Topic(1, is_unclean=True)}
    check(cluster, an_acknowledged_record_is_lost, topics, has_elr=True)


@holds(*REPLICATION, "truncation by high watermark and by leader epoch", "acks, failures and the result of a record")
def test_what_a_broker_had_not_flushed_when_its_power_was_cut_it_gets_back_from_the_others(cluster):
    check(cluster, two_brokers_lose_power, {"min-1": Topic(1), "min-2": Topic(2), "min-3": Topic(3)}, has_elr=True)
