"""How long partitions have no reader in a month: the queries against the scalar rule, which plays each change."""

import pytest

from kafkalearn.spark.agreement import with_agreement
from kafkalearn.spark.data.month import INTERVAL_MS, changes
from kafkalearn.spark.rebalances import with_classic_cost
from kafkalearn.spark.unread import LENGTHS, by_group, by_length, by_range, classic_stretches, old_stretches
from kafkalearn.zookeeper.eras import classic_newcomer
from kafkalearn.zookeeper.month import MONTH_MS, ConsumerStarted, stretches

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def month(spark):
    return changes(spark, 60).cache()


def of_each(rows):
    found = {}
    for row in sorted(rows, key=lambda row: (row.group_id, row.at_ms)):
        found.setdefault(row.group_id, []).append(row)
    return found


def test_a_month_is_what_it_says(spark, month):
    groups = of_each(month.collect())
    assert len(groups) == 60
    for rows in groups.values():
        (interval,) = {row.interval_ms for row in rows}
        assert INTERVAL_MS[0] <= interval <= INTERVAL_MS[1] + 1
        assert len(rows) == MONTH_MS // interval
        assert [row.at_ms // interval for row in rows] == [*range(len(rows))]
        (count,) = {row.member_count for row in rows}
        assert {row.partition_count / (count + 1) for row in rows} <= {1, 2}
        assert all(len(row.pause_ms) == len(row.uncommitted) == count >= 2 for row in rows)
        assert all(row.work_ms == row.pause_ms and max(row.pause_ms) <= 20_000 for row in rows)
    slow = [pause for rows in groups.values() for row in rows for pause in row.pause_ms if pause]
    assert 0.015 < len(slow) / sum(len(row.pause_ms) for rows in groups.values() for row in rows) < 0.025
    assert min(slow) >= 200
    assert (
        sorted(month.collect()) == sorted(changes(spark, 60).collect()) != sorted(changes(spark, 60, seed=1).collect())
    )


@pytest.mark.parametrize("retries", [4, 20])
def test_each_group_has_the_stretches_that_the_scalar_rule_plays(month, retries):
    few = month.where("member_count <= 5 AND array_max(pause_ms) > 0").cache()
    found = of_each(few.transform(with_agreement, max_retries=retries).transform(old_stretches).collect())
    for group_id, rows in list(of_each(few.collect()).items())[:12]:
        mine = [ConsumerStarted(row.at_ms, row.pause_ms, row.partition_count) for row in rows[:8]]
        expected = stretches(mine, rows[8].at_ms if len(rows) > 8 else MONTH_MS, max_retries=retries)
        times = {each.at_ms for each in mine}
        asked = [row for row in found[group_id] if row.at_ms in times]
        assert sorted((row.ms, row.partition_count) for row in asked) == sorted(expected)
    long = [row for rows in found.values() for row in rows if row.ms > 60_000]
    assert bool(long) == (retries == 4)


@pytest.mark.equal("unread.classic_stretches")
def test_a_classic_group_stands_still_until_it_is_stable(month):
    few = month.where("member_count <= 5 AND array_max(pause_ms) > 9000").limit(6).cache()
    found = few.transform(with_classic_cost, 10_000).transform(classic_stretches).collect()
    at = {(row.group_id, row.at_ms): row for row in few.collect()}
    assert len(found) == 6
    for row in found:
        change = at[row.group_id, row.at_ms]
        assert row.ms == classic_newcomer(change.work_ms, change.uncommitted, 10_000).rebalance_ms
        assert row.partition_count == change.partition_count


@pytest.mark.equal("unread.by_length")
def test_the_sums_are_those_of_the_rows(month):
    old = month.transform(with_agreement).transform(old_stretches)
    both = old.unionByName(month.transform(with_classic_cost, 10_000).transform(classic_stretches)).cache()
    rows, sums = both.collect(), both.transform(by_length).collect()
    for era in ("ZooKeeper", "classic"):
        ms = sum(row.ms * row.partition_count for row in rows if row.era == era)
        mine = [row for row in sums if row.era == era]
        assert sum(row.partition_hours for row in mine) == pytest.approx(ms / 3_600_000)
        assert sum(row.stretch_count for row in mine) == sum(row.era == era for row in rows)
    names = [row.length for row in sums if row.era == "ZooKeeper"]
    assert names == [name for name in LENGTHS if name in names]
    assert "more than a day" in names
    day = [row for row in rows if row.ms > 86_400_000]
    assert next(row.stretch_count for row in sums if row.length == "more than a day") == len(day)


@pytest.mark.equal("unread.by_group", "unread.by_range")
def test_a_group_has_the_sums_of_its_changes(month):
    agreed = month.transform(with_agreement).cache()
    groups = of_each(agreed.collect())
    found = agreed.transform(by_group).collect()
    assert {row.group_id for row in found} == {*groups}
    for row in found:
        mine = groups[row.group_id]
        until = [each.at_ms for each in mine[1:]] + [MONTH_MS]
        ms = sum((end - each.at_ms) * each.unread for end, each in zip(until, mine, strict=True))
        assert row.unread_hours == pytest.approx(ms / 3_600_000)
        assert (row.change_count, row.gave_up_count) == (len(mine), sum(each.given_up > 0 for each in mine))
        assert (row.member_count, row.interval_ms) == (mine[0].member_count, mine[0].interval_ms)
    assert any(row.unread_hours for row in found)

    small, large = ([row for row in found if (row.member_count > 9) == is_large] for is_large in (False, True))
    ranges = agreed.transform(by_group).transform(by_range, "member_count", {"small": 9, "large": 9_999}).collect()
    for (name, count, changes_, gave_up, hours), rows in zip(ranges, (small, large), strict=True):
        sums = len(rows), *(sum(row[each] for row in rows) for each in ("change_count", "gave_up_count"))
        assert (name, count, changes_, gave_up) == ("small" if rows is small else "large", *sums)
        assert hours == pytest.approx(sum(row.unread_hours for row in rows) / count, abs=0.051)
