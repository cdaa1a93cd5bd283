"""How long old consumers take to agree: what the expression says of a group is what the simulated group takes."""

import random

import pyarrow as pa
import pytest

from kafkalearn.spark.agreement import GROUP_SCHEMA, agreeing, with_agreement
from kafkalearn.spark.data.month import changes
from kafkalearn.spark.rebalances import with_classic_cost
from kafkalearn.zookeeper.eras import classic_newcomer, newcomer, read_twice

pytestmark = pytest.mark.spark


RNG = random.Random(5)
PAUSES = (0, 0, 0, 201, 1999, 3001, 6007, 9013, 15_011, 20_000)


def drawn(number):
    """A group of one to eight members, of whom some stand still."""
    members = 1 + number % 8
    partitions = members * (1 + number % 3) + number % 2
    pauses = [RNG.choice(PAUSES) and RNG.choice(PAUSES) for _ in range(members)]
    return f"g{number}", partitions, pauses, [RNG.randrange(9) for _ in pauses]


DRAWN = [drawn(number) for number in range(40)]


def test_each_group_takes_as_long_as_the_simulator_says(spark):
    found = spark.createDataFrame(DRAWN, GROUP_SCHEMA).transform(with_agreement).collect()
    for row, (_, partitions, pauses, uncommitted) in zip(sorted_by(found), DRAWN, strict=True):
        assert cost_of(row) == tuple(newcomer(pauses, partitions)), row
        assert row.read_twice == read_twice(uncommitted, auto_commit=False)
    assert any(row.given_up and row.unread for row in found)
    assert any(row.failed_attempts and not row.given_up for row in found)


def cost_of(row):
    return row.agreement_ms, row.failed_attempts, row.given_up, row.unread


def sorted_by(rows):
    """In the order they were drawn in."""
    return sorted(rows, key=lambda row: int(row.group_id[1:]))


def test_other_backoffs_and_retries_are_those_of_the_simulator(spark):
    rows = spark.createDataFrame(DRAWN[:12], GROUP_SCHEMA).transform(with_agreement, 500, 9).collect()
    for row, (_, partitions, pauses, _) in zip(sorted_by(rows), DRAWN, strict=False):
        assert cost_of(row) == tuple(newcomer(pauses, partitions, 500, 9))


def test_groups_with_fewer_partitions_than_members_and_with_many_more_take_what_the_simulator_says():
    rng = random.Random(8)
    sizes = [(1, 1), (4, 1), (5, 4), (5, 5), (6, 3), (2, 50), (3, 41)] + [
        (rng.randint(1, 7), rng.randint(1, 30)) for _ in range(20)
    ]
    pauses = [[rng.choice(PAUSES) for _ in range(members)] for members, _ in sizes]
    found = agreeing(2000, 4)(pa.array(pauses, pa.list_(pa.int32())), pa.array([count for _, count in sizes]))
    for row, pause_ms, (_, partition_count) in zip(found.to_pylist(), pauses, sizes, strict=True):
        assert tuple(row.values()) == tuple(newcomer(pause_ms, partition_count)), (pause_ms, partition_count)


def test_columns_of_the_same_names_are_written_anew_and_others_stay(spark):
    rows = spark.createDataFrame(DRAWN[:3], GROUP_SCHEMA).repartition(5)  # some workers get no rows
    once = rows.transform(with_agreement)
    assert sorted_by(once.transform(with_agreement).collect()) == sorted_by(once.collect())
    assert once.columns == [*rows.columns, "agreement_ms", "failed_attempts", "given_up", "unread", "read_twice"]


@pytest.mark.parametrize(
    ("partition_count", "pause_ms", "words"),
    [(6, [], "pause_ms is empty"), (6, [0, None], "a null in it"), (6, None, "pause_ms is empty"), (0, [0], "below 1")],
)
def test_a_group_that_cannot_be_is_refused(spark, partition_count, pause_ms, words):
    groups = spark.createDataFrame([("a", partition_count, pause_ms, [0])], GROUP_SCHEMA)
    with pytest.raises(Exception, match=words):
        groups.transform(with_agreement).collect()


def test_the_groups_of_a_month_take_what_the_simulator_says(spark):
    month = changes(spark, 40).transform(with_agreement).orderBy("group_id", "at_ms")
    rows = month.where("member_count <= 6").limit(40).collect()
    slow = month.where("array_max(pause_ms) > 0 AND member_count <= 12").limit(12).collect()
    assert (len(rows), len(slow)) == (40, 12)
    for row in rows + slow:
        assert cost_of(row) == tuple(newcomer(row.pause_ms, row.partition_count)), row


def test_each_group_costs_the_classic_protocol_what_its_simulator_says(spark):
    rows = [(name, pauses, uncommitted) for name, _, pauses, uncommitted in DRAWN if len(pauses) > 1]
    groups = spark.createDataFrame(rows, "group_id STRING, work_ms ARRAY<INT>, uncommitted ARRAY<INT>")
    found = sorted_by(groups.transform(with_classic_cost, 10_000).collect())
    for row, (_, works, uncommitted) in zip(found, rows, strict=True):
        cost = classic_newcomer(works, uncommitted, 10_000)
        assert (row.rebalance_ms, row.thrown_out, row.read_twice_classic) == tuple(cost), row
        assert classic_newcomer(works, uncommitted, 10_000, auto_commit=False).read_twice == sum(uncommitted)
    assert any(row.read_twice_classic for row in found)
    assert any(not row.thrown_out and max(row.work_ms) for row in found)
