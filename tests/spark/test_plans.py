"""Plans for many clusters: what the queries say is what the planners and the simulator's arithmetic say of each."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.operations.leadership import moved_bytes, partition_of
from kafkalearn.operations.placement import Broker, place_shifted
from kafkalearn.operations.planning import copy_seconds, deal_anew, move_least, shared_rack_count
from kafkalearn.operations.reassignment import plan_of
from kafkalearn.spark.data.clusters import CHANGES, PER_BROKER, RETENTION_HOURS, clusters, partitions_of
from kafkalearn.spark.plans import PLANS, plan_costs, with_plans

pytestmark = pytest.mark.spark

FIND = {"move least": move_least, "deal anew": deal_anew}
THROTTLE = 30_000_000


@pytest.fixture(scope="module")
def made(spark):
    return clusters(spark, 12).cache()


@pytest.fixture(scope="module")
def planned(made):
    return with_plans(partitions_of(made), made).cache()


def of_cluster(planned, made):
    """The rows of each cluster, in order of their partitions, with its brokers."""
    rows = {}
    for row in planned.orderBy("cluster", "partition").collect():
        rows.setdefault(row.cluster, []).append(row)
    return [(each, rows[each.cluster]) for each in made.orderBy("cluster").collect()]


def test_clusters_are_what_they_say(spark, made, planned):
    for cluster, rows in of_cluster(planned, made):
        was = [each.broker_id for each in cluster.brokers if each.was]
        stays = [each for each in cluster.brokers if each.stays]
        assert len(was) == cluster.broker_count
        assert cluster.change == CHANGES[cluster.cluster % 3]
        assert len(stays) - len(was) == {0: 3, 1: -1, 2: len(was) // 2}[cluster.cluster % 3]
        assert len({each.rack for each in stays}) == 3
        assert [row.partition for row in rows] == [*range(cluster.partition_count)]
        assert PER_BROKER[0] <= len(rows) / len(was) <= PER_BROKER[1]
        assert all(len({*row.replicas}) == 3 and {*row.replicas} <= {*was} for row in rows)
        assert all(row.leader == row.replicas[0] and row.isr == row.replicas for row in rows)
        assert all(row.bytes_per_s == row.size_bytes // (3600 * cluster.retention_hours) for row in rows)
        placed = [tuple(row.replicas) for row in rows]
        if not cluster.knew_racks:
            assert placed == [*place_shifted(was, len(rows), 3)]
        elif cluster.change != "a rack added":
            assert not shared_rack_count(placed, {each.broker_id: each.rack for each in cluster.brokers})
    rows = made.collect()
    assert {row.knew_racks for row in rows} == {True, False}
    assert {row.retention_hours for row in rows} <= {*RETENTION_HOURS}
    assert sorted(rows) == sorted(clusters(spark, 12).collect()) != sorted(clusters(spark, 12, seed=1).collect())


@pytest.mark.equal("plans.with_plans", "plans.broker_moves")
def test_each_cluster_has_the_plans_costs_and_racks_that_the_scalar_rules_give(made, planned):
    costs = {(row.cluster, row.plan): row for row in planned.transform(plan_costs, made, THROTTLE).collect()}
    assert len(costs) == 12 * len(PLANS)
    for cluster, rows in of_cluster(planned, made):
        before = [tuple(row.replicas) for row in rows]
        stays = [Broker(each.broker_id, each.rack) for each in cluster.brokers if each.stays]
        racks = {each.broker_id: each.rack for each in cluster.brokers}
        of = {
            name: [partition_of("events", row.partition, row.replicas, size_bytes=row[name]) for row in rows]
            for name in ("size_bytes", "bytes_per_s")
        }
        for name, find in FIND.items():
            after = find(before, stays)
            assert [tuple(row[name]) for row in rows] == [*after]
            moved, written = (moved_bytes(each, plan_of("events", after)) for each in of.values())
            seconds, found = copy_seconds(moved, written, THROTTLE), costs[cluster.cluster, name]
            assert found.seconds == (None if seconds is None else float(seconds))
            assert found.copied_bytes == sum(each.in_bytes for each in moved)
            assert found.busiest_bytes == max(max(each.in_bytes, each.out_bytes) for each in moved)
            assert found.busiest_bytes_per_s == max(max(each.in_bytes, each.out_bytes) for each in written)
            shared = shared_rack_count(before, racks), shared_rack_count(after, racks)
            assert (found.shared_before, found.shared_after) == shared
            assert shared[1] == 0
    assert {row.seconds is None for row in costs.values()} == {True, False}


PARTITION = "cluster INT, topic STRING, partition INT, replicas ARRAY<INT>, leader INT, size_bytes BIGINT"
CLUSTER = "cluster INT, brokers ARRAY<STRUCT<broker_id: INT, rack: STRING, was: BOOLEAN, stays: BOOLEAN>>"


def test_a_plan_that_moves_nothing_takes_no_time_and_other_columns_stay(spark):
    brokers = [(each, "ab"[each], True, True) for each in range(2)]
    one = spark.createDataFrame([(1, brokers)], CLUSTER)
    rows = [(1, "t", number, [number % 2, 1 - number % 2], number % 2, 10, 1, "x") for number in range(4)]
    given = spark.createDataFrame(rows, f"{PARTITION}, bytes_per_s BIGINT, other STRING")
    planned = given.transform(with_plans, one, ["move least"])
    assert planned.columns == [*given.columns, "move least"]
    (row,) = planned.transform(plan_costs, one, 1, ["move least"]).collect()
    assert (row.copied_bytes, row.busiest_bytes, row.seconds, row.shared_before) == (0, 0, 0.0, 0)


def test_a_cluster_without_brokers_ends_the_query(spark, made):
    partitions = partitions_of(made).where("cluster = 0")
    with pytest.raises(Exception, match="brokers is empty"):
        partitions.transform(with_plans, made.where("cluster = 1")).collect()


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda parts, made: with_plans(parts, made, ["move"]), "plan"),
        (lambda parts, made: with_plans(parts, made, []), "at least one"),
        (lambda parts, made: plan_costs(parts, made, 1), "no column 'move least'"),
        (lambda parts, made: plan_costs(parts, made, 0), "throttle_bytes_per_s"),
        (lambda parts, made: plan_costs(parts, made, 1, []), "plans is empty"),
    ],
)
def test_what_cannot_be_planned_is_refused(made, ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask(partitions_of(made), made)
