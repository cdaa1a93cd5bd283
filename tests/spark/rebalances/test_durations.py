"""How long a rebalance takes: what the expression says of a group is what the simulated group takes."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.durations import newcomer_ms
from kafkalearn.spark.rebalances import GROUP_SCHEMA, by_member_count, random_groups, with_rebalance_ms

pytestmark = pytest.mark.spark

SLOW = (0, 1, 999, 1000, 1007, 1100, 3000, 20_000, 299_999, 300_000, 301_000, 1_000_000)
DRAWN = [
    (
        f"{number}",
        (100, 250, 500, 1000, 1498, 2996, 3000, 5000, 10_000, 12_345)[number % 10],
        (300_000, 30_000, 10_000)[number % 3],
        [SLOW[(number * 7 + at * at) % len(SLOW)] if (number + at) % 5 == 0 else 0 for at in range(2 + number % 9)],
    )
    for number in range(60)
]


def test_each_group_takes_as_long_as_the_simulator_says(spark):
    rows = spark.createDataFrame(DRAWN, GROUP_SCHEMA).transform(with_rebalance_ms).collect()
    found = {row.group_id: row.rebalance_ms for row in rows}
    assert found == {name: newcomer_ms(work, interval, limit) for name, interval, limit, work in DRAWN}
    assert len({*found.values()}) > 25


def test_random_groups_are_no_others_in_the_next_run_and_of_all_sizes(spark):
    groups = random_groups(spark, 300).orderBy("group_id").collect()
    assert groups == random_groups(spark, 300).orderBy("group_id").collect()
    assert all(row.member_count == len(row.work_ms) for row in groups)
    assert min(row.member_count for row in groups) == 2
    assert max(row.member_count for row in groups) > 100
    works = [ms for row in groups for ms in row.work_ms]
    assert 0.002 < sum(ms > 0 for ms in works) / len(works) < 0.03
    assert groups != random_groups(spark, 300, seed=1).orderBy("group_id").collect()


def test_so_do_random_groups(spark):
    rows = random_groups(spark, 120).transform(with_rebalance_ms).where("member_count <= 12").collect()
    assert len(rows) > 60
    for row in rows:
        assert row.rebalance_ms == newcomer_ms(row.work_ms, row.heartbeat_interval_ms, row.max_poll_interval_ms), row


def test_large_groups_are_slow_because_one_of_their_members_is(spark):
    rows = [
        row.asDict()
        for row in random_groups(spark, 600).transform(with_rebalance_ms).transform(by_member_count).collect()
    ]
    assert [row["members"] for row in rows] == ["2 to 9", "10 to 99", "100 and more"]
    assert sum(row["groups"] for row in rows) == 600
    assert rows[0]["median, s"] < 5 < rows[-1]["median, s"]
    assert rows[0]["with a slow member, %"] < 15 < rows[-1]["with a slow member, %"]


def test_a_column_that_is_missing_is_named(spark):
    with pytest.raises(KafkaLearnError, match="work_ms"):
        spark.range(3).selectExpr("3000 AS heartbeat_interval_ms", "1 AS max_poll_interval_ms").transform(
            with_rebalance_ms
        )
