"""Load and moves by Spark: against the simulator."""

import random

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations import leadership
from kafkalearn.operations.leadership import Load, Moved, partition_of
from kafkalearn.operations.reassignment import Target
from kafkalearn.spark.operations import load_without, move_seconds, moved_bytes, partition_rows, plan_rows

pytestmark = pytest.mark.spark

BROKERS = range(1, 7)


@pytest.fixture(scope="module")
def drawn():
    """300 partitions, some replicas out of the ISR, some leaders not the preferred ones."""
    chance = random.Random(7)
    partitions = []
    for number in range(300):
        replicas = chance.sample(BROKERS, 3)
        led = partition_of("orders", number, replicas, chance.choice(replicas), chance.randrange(10**9))
        in_sync = {led.leader, *chance.sample(replicas, 2)}
        partitions.append(led._replace(isr=tuple(sorted(in_sync))))
    partitions[5] = partitions[5]._replace(leader=None, isr=(partitions[5].replicas[0],))
    return partitions


@pytest.fixture(scope="module")
def plan(drawn):
    chance = random.Random(8)
    return [Target(each.topic, each.partition, tuple(chance.sample(BROKERS, 3))) for each in drawn[::2] if each.leader]


def test_leaders_and_load_are_those_of_the_simulator_for_every_dead_broker(spark, drawn):
    rows = partition_rows(spark, drawn)
    for dead in ((), (3,), (1, 2)):
        found = [Load(*row) for row in rows.transform(load_without, dead=dead).orderBy("broker_id").collect()]
        assert found == list(leadership.load_without(drawn, dead))


def test_moved_bytes_and_their_time_are_those_of_the_simulator(spark, drawn, plan):
    moved = moved_bytes(partition_rows(spark, drawn), plan_rows(spark, plan))
    by_hand = leadership.moved_bytes(drawn, plan)
    assert [Moved(*row) for row in moved.orderBy("broker_id").collect()] == list(by_hand)
    for produced in (0, 400, 1_000):
        expected = leadership.move_seconds(by_hand, 1_000, produced)
        (row,) = move_seconds(moved, 1_000, produced).collect()
        assert row.seconds == (None if expected is None else pytest.approx(float(expected)))


def test_rows_without_what_is_needed_are_refused(spark):
    with pytest.raises(KafkaLearnError, match="no column 'replicas'"):
        load_without(spark.range(1))
