"""Scripts of failures on a real cluster: after each step every disk, leader, ISR, epoch and answer is what we say."""

from __future__ import annotations

import pytest

from kafkalearn.live import Kafka
from tests.live.checked import holds
from tests.live.runs import LAGGARDS_LEAVE, THE_DEAD_ARE_MISSED, Run, RunCluster, TooSlow, Topic, compare

pytestmark = pytest.mark.live

TRIES = 3

REPLICATION = (
    "LEO, HW, remote LEO and ISR of a partition", "a cluster left to itself", "which release replicates by which rule",
    "the controller: elections, ISR changes, eligible leader replicas", "the leader epoch cache",
)  # fmt: skip


def cluster_of(release, config, elr):
    with Kafka(3, release, config=config, has_eligible_leader_replicas=elr) as kafka:
        yield RunCluster(kafka, config, elr)


@pytest.fixture(scope="module")
def where_laggards_leave(release):
    yield from cluster_of(release, LAGGARDS_LEAVE, True)


@pytest.fixture(scope="module")
def with_elr(release):
    yield from cluster_of(release, THE_DEAD_ARE_MISSED, True)


@pytest.fixture(scope="module")
def without_elr(release):
    yield from cluster_of(release, THE_DEAD_ARE_MISSED, False)


def check(cluster, script, topics):
    """Play a script, again if this machine was too busy for it, and compare what each topic has come to."""
    for attempt in range(1, TRIES + 1):
        cluster.heal()
        run = Run(cluster, {f"{name}-{script.__name__}-{attempt}": topic for name, topic in topics.items()})
        try:
            script(run)
        except TooSlow:
            continue
        for case in run.cases.values():
            compare(case, cluster.kafka.release.version)
        return
    pytest.fail(f"this machine is too busy: {TRIES} times a broker stood still for longer than the script allows")


def a_follower_freezes(run):
    run.produce(3, "all")
    with run.in_a_hurry(1000):  # below replica.lag.time.max.ms
        run.freeze(3)
        run.produce(2, 1)
    run.wait(isr=[1, 2])
    run.produce(1, "all")
    run.produce(1, 1)
    run.thaw(3)
    run.wait(isr=[1, 2, 3])
    run.produce(1, "all")


def an_acknowledged_record_is_lost(run):
    run.produce(2, "all")
    with run.in_a_hurry(1300):  # below broker.session.timeout.ms, 2000
        run.freeze(2)
        run.freeze(3)
        run.produce(1, 1)
        run.kill(1)
        run.thaw(2, 3)
    run.wait(leader=2, isr=[2, 3])
    run.produce(1, "all")
    run.restart(1)
    run.wait(isr=[1, 2, 3])


def followers_die_and_return(run):
    run.produce(2, "all")
    run.kill(3)
    run.wait(isr=[1, 2])
    run.produce(1, "all")
    run.stop(2)
    run.wait(isr=[1])
    run.produce(1, "all")
    run.produce(1, 1)
    run.restart(2)
    run.wait(isr=[1, 2])
    run.produce(1, "all")
    run.restart(3)
    run.wait(isr=[1, 2, 3])


def all_die_and_the_one_that_lacks_records_returns_first(run):
    run.produce(2, "all")
    run.kill(3)
    run.wait(isr=[1, 2])
    run.produce(1, "all")
    run.kill(2)
    run.wait(isr=[1])
    run.produce(2, "all")
    run.stop(1)
    run.restart(3)
    run.wait(leader=3, only=[name for name in run.topics if name.startswith("unclean")])
    run.produce(2, "all")
    run.restart(2, 1)
    run.wait(isr=[1, 2, 3])


def two_brokers_lose_power(run):
    run.produce(1, "all")
    run.produce(1, "all")
    run.produce(1, "all")
    run.lose_power(3, flushed_to=1, torn_bytes=20)
    run.wait(isr=[1, 2])
    run.restart(3)
    run.wait(isr=[1, 2, 3])
    run.lose_power(1, flushed_to=2)
    run.wait(leader=2, isr=[2, 3])
    run.produce(1, "all")
    run.restart(1)
    run.wait(isr=[1, 2, 3])


@holds(*REPLICATION, "who leaves the ISR and who joins it, by release", "when a follower counts as caught up")
def test_a_frozen_follower_leaves_the_isr_and_the_high_watermark_goes_on_where_enough_are_left(where_laggards_leave):
    check(where_laggards_leave, a_follower_freezes, {f"min-{count}": Topic(count) for count in (1, 2, 3)})


@holds(*REPLICATION, "truncation by high watermark and by leader epoch", "acks, failures and the result of a record")
def test_a_record_that_only_its_leader_had_is_lost_and_the_old_leader_cuts_it_off(with_elr):
    topics = {"min-1": Topic(1), "min-2": Topic(2), "unclean": Topic(1, is_unclean=True)}
    check(with_elr, an_acknowledged_record_is_lost, topics)


@holds(*REPLICATION, "truncation by high watermark and by leader epoch")
def test_what_a_broker_had_not_flushed_when_its_power_was_cut_it_gets_back_from_the_others(with_elr):
    check(with_elr, two_brokers_lose_power, {"min-1": Topic(1), "min-2": Topic(2)})


@holds(*REPLICATION, "acks, failures and the result of a record")
@pytest.mark.parametrize("cluster_name", ["with_elr", "without_elr"])
def test_without_enough_in_sync_replicas_acks_all_is_refused_and_nothing_is_confirmed(cluster_name, request):
    check(request.getfixturevalue(cluster_name), followers_die_and_return, {"min-1": Topic(1), "min-2": Topic(2)})


@holds(*REPLICATION, "truncation by high watermark and by leader epoch", "the promises of replication")
def test_an_unclean_election_loses_what_was_confirmed_and_a_clean_one_waits(without_elr):
    topics = {"clean": Topic(1), "unclean": Topic(1, is_unclean=True)}
    check(without_elr, all_die_and_the_one_that_lacks_records_returns_first, topics)
