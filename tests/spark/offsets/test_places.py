"""What places of offsets cost: over many groups on Spark, the sums of what the scalar rule gives for each."""

import random

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.coordinator.places import PLACES, PlaceCost, place_cost
from kafkalearn.spark.offsets.state import place_costs

pytestmark = pytest.mark.spark

SCHEMA = "group_id string, topic string, partition int, member_before string, member_after string"


def random_groups(count, seed):
    """(group id, before, after) of groups that have rebalanced."""
    rng = random.Random(seed)
    for number in range(count):
        group_id, topics = f"group-{number}", rng.sample(["orders", "payments", "returns"], rng.randint(1, 3))
        places = [TopicPartition(topic, index) for topic in topics for index in range(rng.randint(1, 8))]
        members = [f"{group_id}-c{index}" for index in range(rng.randint(1, 5))]
        yield group_id, *({at: rng.choice(members) for at in places} for _ in range(2))


@pytest.mark.parametrize("brokers", [1, 3, [7, 2, 40], 64])
def test_the_sums_are_those_of_the_scalar_rule(spark, brokers):
    groups = list(random_groups(300, seed=7))
    rows = [(group_id, at.topic, at.partition, before[at], after[at]) for group_id, before, after in groups
            for at in before]  # fmt: skip
    expected = {
        place: sum((place_cost(place, *group, brokers=brokers) for group in groups), PlaceCost(0, 0, 0))
        for place in PLACES
    }

    found = spark.createDataFrame(rows, SCHEMA).transform(place_costs, brokers=brokers).collect()

    assert {row.place: PlaceCost(*row[1:]) for row in found} == expected
    assert [row.place for row in found] == list(PLACES)


def test_what_cannot_be_counted_is_refused(spark):
    rows = spark.createDataFrame([], SCHEMA)
    with pytest.raises(KafkaLearnError, match="broker_ids is empty"):
        place_costs(rows, brokers=[])
    with pytest.raises(KafkaLearnError, match="member_after"):
        place_costs(rows.drop("member_after"), brokers=3)
