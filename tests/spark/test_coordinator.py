"""The Spark rule for group ids gives what real Kafka gave; the busiest coordinators; what is refused."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator.leaders import round_robin_leaders
from kafkalearn.coordinator.rule import find_coordinator
from kafkalearn.spark.coordinator import (
    busiest_broker_shares,
    with_coordinator,
    with_offsets_partition,
)
from tests.recorded import recorded

pytestmark = pytest.mark.spark


def groups_of(spark, group_ids):
    return spark.createDataFrame([(group_id,) for group_id in group_ids], "group_id string")


@pytest.mark.parametrize(
    ("formula", "column"),
    [
        ("kafka", "partition"),
        ("Math.abs(h) % n", "naive_abs_then_mod"),
        ("Math.abs(h % n)", "naive_mod_then_abs"),
        ("(h & 0x7fffffff) % n", "to_positive_mod"),
    ],
)
def test_recorded_ids_get_what_java_gave(spark, formula, column):
    cases = recorded("groups-hash")["vectors"]
    by_count = {n: [case for case in cases if case["partitions"] == n] for n in {case["partitions"] for case in cases}}

    for partition_count, its in by_count.items():
        groups = groups_of(spark, [case["group_id"] for case in its])
        rows = groups.transform(with_offsets_partition, partition_count, formula=formula).collect()
        assert [row.offsets_partition for row in rows] == [case[column] for case in its]


def test_every_group_of_a_real_cluster_is_found_at_its_coordinator(spark):
    cluster = recorded("coordinator")
    groups = groups_of(spark, [case["group"] for case in cluster["cases"]])
    rows = groups.transform(with_coordinator, cluster["leaders"]).transform(with_offsets_partition).collect()

    assert [(row.offsets_partition, row.broker_id) for row in rows] == [
        (case["partition"], case["coordinator"]) for case in cluster["cases"]
    ]


def test_an_id_that_stands_in_the_query_itself_is_no_exception(spark):
    rows = spark.sql("select 'test-group' as group_id").transform(with_offsets_partition).collect()
    assert [tuple(row) for row in rows] == [("test-group", 12)]


@pytest.mark.parametrize("case", recorded("topic-descriptions")["cases"], ids=lambda case: case["kafka"])
def test_a_pasted_text_and_the_brokers_of_a_cluster_stand_for_its_leaders(spark, case):
    groups = groups_of(spark, [f"group-{number}" for number in range(100)])
    for known in ({"describe": case["text"]}, {"brokers": [1, 2, 3]}, {"brokers": 3, "partition_count": 7}):
        rows = groups.transform(with_coordinator, **known).collect()
        assert [row.broker_id for row in rows] == [find_coordinator(row.group_id, **known).broker_id for row in rows]


def test_three_brokers_are_not_taken_for_the_leaders_of_three_partitions(spark):
    with pytest.raises(KafkaLearnError, match=r"give brokers=\[1, 2, 3\]; if the topic has 3 partitions"):
        groups_of(spark, ["billing"]).transform(with_coordinator, [1, 2, 3])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((0,), "partition_count must be at least 1, got 0"),
        ((50, "group_id", "partition", "kafk"), "did you mean 'kafka'"),
    ],
)
def test_bad_input_is_refused_with_what_came_and_what_to_do(spark, arguments, said):
    groups = spark.createDataFrame([("billing", 1)], "group_id string, size bigint")
    with pytest.raises(KafkaLearnError, match=said):
        groups.transform(with_offsets_partition, *arguments)


def test_a_cluster_needs_leaders(spark):
    with pytest.raises(KafkaLearnError, match="leaders is empty"):
        groups_of(spark, ["billing"]).transform(with_coordinator, [])


def busiest_by_hand(groups, broker_count):
    """Of each cluster the share of its busiest broker."""
    loads = defaultdict(Counter)
    for cluster, partition, load in groups:
        loads[cluster][round_robin_leaders(broker_count)[partition]] += load
    return sorted(max(each.values()) / each.total() for each in loads.values())


def test_the_busiest_coordinators_are_those_that_are_found_group_by_group(spark):
    rng = random.Random(3)
    groups = [(rng.randrange(40), rng.randrange(50), rng.randint(1, 300)) for _ in range(2000)]
    df = spark.createDataFrame(groups, "cluster int, offsets_partition int, load int")

    found = df.transform(busiest_broker_shares, (4, 3, 10)).collect()

    assert [row.brokers for row in found] == [3, 4, 10]
    for row in found:
        shares = busiest_by_hand(groups, row.brokers)
        assert row.average == pytest.approx(sum(shares) / len(shares))
        assert row.one_in_twenty == pytest.approx(float(np.percentile(shares, 95)))


def test_a_cluster_has_at_least_one_broker(spark):
    df = spark.createDataFrame([], "cluster int, offsets_partition int, load int")
    with pytest.raises(KafkaLearnError, match="a number of brokers must be at least 1, got 0"):
        busiest_broker_shares(df, [3, 0])
