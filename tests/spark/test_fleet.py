"""The groups of a company when one member in a hundred leaves: the same in every run, rebalanced as they are here."""

import pytest

from kafkalearn.assignors import Member, compare
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.data.fleet import PER_MEMBER, TOPICS, fleet
from kafkalearn.spark.rebalances import rebalance_costs

pytestmark = pytest.mark.spark

ASSIGNORS = ["range", "roundrobin", "sticky", "cooperative-sticky"]


@pytest.fixture(scope="module")
def groups(spark):
    return fleet(spark, 400).cache()


def test_groups_are_what_they_say(spark, groups):
    rows = groups.orderBy("rebalance").collect()
    assert [row.rebalance for row in rows] == [*range(400)]
    for row in rows:
        names = [each.topic for each in row.topics]
        assert names == [*TOPICS[: len(names)]]
        assert row.partition_count == sum(each.partitions for each in row.topics)
        assert PER_MEMBER[0] <= row.partition_count / row.member_count <= PER_MEMBER[1] + len(names) / 2
        assert [each.member for each in row.before] == [f"m{place:03}" for place in range(row.member_count)]
        assert all(each.topics == names for each in row.before)
        assert all(each in row.before for each in row.after)
        assert row.left_count == row.member_count - len(row.after) < row.member_count
    left, members = (sum(row[name] for row in rows) for name in ("left_count", "member_count"))
    assert 0.004 < left / members < 0.02
    assert min(row.member_count for row in rows) == 2 < 100 < max(row.member_count for row in rows)
    assert rows == fleet(spark, 400).orderBy("rebalance").collect()
    assert rows != fleet(spark, 400, seed=1).orderBy("rebalance").collect()


def test_each_group_that_loses_a_member_costs_what_it_costs_here(groups):
    hit = groups.where("left_count > 0 AND member_count <= 60")
    found = {(row.rebalance, row.assignor): row for row in hit.transform(rebalance_costs, ASSIGNORS).collect()}
    rows = hit.collect()
    assert len(found) == len(ASSIGNORS) * len(rows) >= 4 * 10
    for row in rows:
        sides = [[Member(*each) for each in side] for side in (row.before, row.after)]
        for expected in compare(ASSIGNORS, dict(row.topics), *sides):
            cost = found[row.rebalance, expected["assignor"]]
            assert (cost.moved, cost.revoked_eager) == (expected["moved"], expected["revoked, eager"])
            assert (cost.partition_count, cost.member_count) == (row.partition_count, len(row.after))


def test_there_is_at_least_one_group(spark):
    with pytest.raises(KafkaLearnError, match="group_count must be at least 1"):
        fleet(spark, 0)
