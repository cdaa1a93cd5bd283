"""Load and moves, added up by hand and by laws."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.leadership import (
    BrokerLost,
    Moved,
    Settings,
    cluster_of,
    load_without,
    move_seconds,
    moved_bytes,
    partition_of,
    step,
)
from kafkalearn.operations.reassignment import Target
from tests.operations.leadership.clusters import BROKERS, partitions, replicas

ROTATED = [partition_of("orders", n, [1 + n % 3, 1 + (n + 1) % 3, 1 + (n + 2) % 3], size_bytes=100) for n in range(6)]


def test_the_load_of_a_dead_broker_goes_to_the_next_of_each_list():
    assert [(each.broker_id, each.leader_count, each.led_bytes) for each in load_without(ROTATED)] == [
        (1, 2, 200),
        (2, 2, 200),
        (3, 2, 200),
    ]
    assert [(each.broker_id, each.leader_count) for each in load_without(ROTATED, dead=[1])] == [(2, 4), (3, 2)]
    assert load_without(ROTATED, dead=[1, 2, 3]) == ()


@given(partitions(), st.sampled_from(BROKERS))
def test_load_without_a_broker_is_that_of_the_simulator_after_its_loss(drawn, dead):
    settings = Settings(BROKERS)
    after = step(settings, cluster_of(settings, drawn), BrokerLost(dead))
    counted = {each.broker_id: each.leader_count for each in load_without(drawn, [dead])}
    led = {broker_id: sum(each.leader == broker_id for each in after.partitions) for broker_id in counted}
    assert counted == led


@given(partitions(), st.lists(replicas, min_size=8, max_size=8))
def test_what_is_sent_is_what_is_received(drawn, targets):
    plan = [Target(each.topic, each.partition, tuple(target)) for each, target in zip(drawn, targets, strict=False)]
    moved = moved_bytes(drawn, plan)
    assert sum(each.in_bytes for each in moved) == sum(each.out_bytes for each in moved)
    same = [Target(each.topic, each.partition, each.replicas[::-1]) for each in drawn]
    assert moved_bytes(drawn, same) == ()


def test_the_busiest_broker_and_what_is_written_meanwhile_decide_on_the_time():
    moved = moved_bytes(ROTATED, [Target("orders", n, (4, 2, 3)) for n in (0, 3)])
    assert moved == (Moved(1, 0, 200, 200), Moved(4, 200, 0, 0))
    assert move_seconds(moved, 50) == 4
    assert move_seconds(moved, 60, 20) == 5
    assert move_seconds(moved, 20, 20) is None
    assert move_seconds([], 1) == Fraction(0)


@pytest.mark.parametrize(
    ("plan", "message"),
    [([Target("orders", 9, (1,))], "orders-9"), ([Target("orders", 0, (4,))], "nobody leads orders-0")],
)
def test_a_plan_that_cannot_be_carried_out_is_refused(plan, message):
    leaderless = [ROTATED[0]._replace(leader=None), *ROTATED[1:]]
    with pytest.raises(KafkaLearnError, match=message):
        moved_bytes(leaderless, plan)


@pytest.mark.parametrize("dead", [[{1: 2}], ["1"], [-1], 1])
def test_what_is_no_dead_broker_is_refused(dead):
    with pytest.raises(KafkaLearnError, match=r"a broker id of dead must be|dead must be a collection of broker ids"):
        load_without(ROTATED, dead)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((10**5000, 0, [1, 2]), "topic must be a str, got int a whole number of about 5,001 digits"),
        (("orders", 10**5000, [1, 1]), "partition must be at most"),
        (("orders", 0, [1, 2], 10**5000), "one of its replicas .*, got a whole number of about 5,001 digits"),
    ],
)
def test_what_is_no_partition_is_refused(given, said):
    with pytest.raises(KafkaLearnError, match=said):
        partition_of(*given)


def test_a_throttle_of_nothing_is_refused():
    with pytest.raises(KafkaLearnError, match="throttle_bytes_per_s"):
        move_seconds([], 0)
