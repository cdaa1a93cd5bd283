"""Traffic between zones, as queries: the bytes that the core counts group by group."""

import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.consuming.nearest import zone_traffic
from kafkalearn.spark.zones import COMPARED, crossing, random_zones, with_owner_racks

pytestmark = pytest.mark.spark

GROUPS = 4


def test_each_assignor_sends_as_many_bytes_through_zones_as_the_core_counts(spark):
    groups = random_zones(spark, GROUPS, seed=5).cache()
    found = {row.assignor: row for row in groups.transform(with_owner_racks).transform(crossing).collect()}
    assert set(found) == set(COMPARED)
    drawn = groups.collect()
    for name in COMPARED:
        assert found[name].partition_count == GROUPS * 500
        for reads_nearest, column in (False, "from_leaders"), (True, "from_nearest"):
            counted = [in_core(row, name, reads_nearest=reads_nearest) for row in drawn]
            assert found[name][column] == sum(each.crossing_bytes for each in counted)
            assert found[name].read_bytes == sum(each.crossing_bytes + each.near_bytes for each in counted)
    assert found["uniform, racks"].from_nearest > 10 * found["range, racks"].from_nearest
    assert found["range"].leaders_price == pytest.approx(found["range"].from_leaders / 1e9 * 0.02)


def in_core(row, name, *, reads_nearest):
    assignor, _, names_racks = name.partition(", ")
    topics = {"orders": row.orders, "clicks": row.clicks}
    racks = {topic: [each.racks for each in places] for topic, places in topics.items()}
    sizes = {TopicPartition(t, n): each.bytes for t, places in topics.items() for n, each in enumerate(places)}
    zones = {f"m{number:02}": zone for number, zone in enumerate(row.member_racks)}
    members = [Member(each, list(topics), rack=zone if names_racks else None) for each, zone in zones.items()]
    owned = assign(assignor, {topic: len(each) for topic, each in topics.items()}, members, replica_racks=racks)
    return zone_traffic(owned, zones, racks, sizes, reads_nearest=reads_nearest)


def test_replicas_are_in_different_zones_and_other_groups_are_refused(spark):
    row = random_zones(spark, 1, replica_count=3).first()
    assert all(sorted(each.racks) == ["a", "b", "c"] for each in row.orders)
    with pytest.raises(KafkaLearnError, match="unknown assignor"):
        with_owner_racks(random_zones(spark, 1), ["rang"])
