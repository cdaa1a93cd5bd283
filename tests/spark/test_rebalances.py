"""Rebalances by the thousand: what Spark's workers say is what the rules say here."""

import zipfile

import numpy as np
import pytest

from kafkalearn.assignors import compare
from kafkalearn.assignors.judging import random_rebalance
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.rebalances import (
    COMPARED,
    by_member_count,
    random_groups,
    random_rebalances,
    rebalance_costs,
    with_rebalance_ms,
)
from kafkalearn.spark.session.worker_code import core_zip

pytestmark = pytest.mark.spark


COUNT = 60


@pytest.fixture(scope="module")
def rebalances(spark):
    return random_rebalances(spark, COUNT, seed=3, most_partitions=5).cache()


def test_the_rows_are_the_drawn_rebalances(rebalances):
    rows = rebalances.orderBy("rebalance").collect()
    assert [row.rebalance for row in rows] == list(range(COUNT))
    for row in rows:
        drawn = random_rebalance(row.rebalance, seed=3, most_partitions=5)
        assert {each.topic: each.partitions for each in row.topics} == drawn.partition_counts
        assert [(each.member, tuple(each.topics)) for each in row.after] == [
            (m.member_id, m.topics) for m in drawn.after
        ]
        assert [(each.member, tuple(each.topics)) for each in row.before] == [
            (m.member_id, m.topics) for m in drawn.before
        ]
        assert (row.what, row.who, row.is_alike) == (drawn.what, drawn.who, drawn.is_alike)


def test_every_assignor_costs_what_it_costs_here(rebalances):
    rows = rebalances.transform(rebalance_costs).collect()
    found = {(row.rebalance, row.assignor): row for row in rows}
    assert len(found) == COUNT * len(COMPARED)
    for number in range(COUNT):
        drawn = random_rebalance(number, seed=3, most_partitions=5)
        for expected in compare(COMPARED, drawn.partition_counts, drawn.before, drawn.after):
            row = found[number, expected["assignor"]]
            assert (row.moved, row.fewest, row.spread) == (expected["moved"], expected["fewest"], expected["spread"])
            assert (row.revoked_eager, row.revoked_cooperative) == (
                expected["revoked, eager"],
                expected["revoked, cooperative"],
            )


def test_the_groups_may_be_anybodys(spark):
    members = [{"member": f"m{number}", "topics": ["t"]} for number in range(10)]
    row = (1, [{"topic": "t", "partitions": 50}], members, [each for each in members if each["member"] != "m3"])
    columns = "array<struct<member:string,topics:array<string>>>"
    schema = f"rebalance bigint, topics array<struct<topic:string,partitions:int>>, before {columns}, after {columns}"
    costs = spark.createDataFrame([row], schema).transform(rebalance_costs, ["range", "sticky"]).collect()
    assert sorted((each.assignor, each.member_count, each.partition_count, each.moved) for each in costs) == [
        ("range", 9, 50, 9),
        ("sticky", 9, 50, 5),
    ]


def test_what_is_sent_to_the_workers_is_the_core_alone():
    names = zipfile.ZipFile(core_zip()).namelist()
    assert {"kafkalearn/__init__.py", "kafkalearn/assignors/sticky.py", "kafkalearn/base/errors.py"} <= set(names)
    assert not [
        name
        for name in names
        if name.startswith(("kafkalearn/spark/", "kafkalearn/views.py/", "kafkalearn/exercises/"))
    ]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda df: rebalance_costs(df, ["stiky"]), "unknown assignor 'stiky'; did you mean 'sticky'"),
        (lambda df: rebalance_costs(df, ["legacy"]), "unknown assignor 'legacy'"),
        (lambda df: rebalance_costs(df, []), "assignors is empty"),
        (lambda df: random_rebalances(df.sparkSession, -1), "rebalance_count must be at least 0"),
        (lambda df: random_rebalances(df.sparkSession, 1, most_members=1), "most_members must be at least 2"),
    ],
)
def test_bad_input_is_refused_on_this_side(rebalances, ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask(rebalances)


def test_random_groups_are_no_others_in_the_next_run_and_of_all_sizes(spark):
    groups = random_groups(spark, 300).orderBy("group_id").collect()
    assert groups == random_groups(spark, 300).orderBy("group_id").collect()
    assert all(row.member_count == len(row.work_ms) for row in groups)
    assert min(row.member_count for row in groups) == 2
    assert max(row.member_count for row in groups) > 100
    works = [ms for row in groups for ms in row.work_ms]
    assert 0.002 < sum(ms > 0 for ms in works) / len(works) < 0.03
    assert groups != random_groups(spark, 300, seed=1).orderBy("group_id").collect()


@pytest.mark.equal("rebalances.by_member_count")
def test_large_groups_are_slow_because_one_of_their_members_is(spark):
    timed = random_groups(spark, 600).transform(with_rebalance_ms).cache()
    rows, groups = [tuple(row) for row in timed.transform(by_member_count).collect()], timed.collect()
    bounds = {"2 to 9": range(2, 10), "10 to 99": range(10, 100), "100 and more": range(100, 1001)}
    assert [row[0] for row in rows] == [*bounds]
    for name, *found in rows:
        mine = [each for each in groups if each.member_count in bounds[name]]
        seconds = [each.rebalance_ms / 1000 for each in mine]
        slow = 100 * sum(max(each.work_ms) > 0 for each in mine) / len(mine)
        assert found[:2] == [len(mine), pytest.approx(slow, abs=0.5)]
        assert found[2:] == pytest.approx([*np.percentile(seconds, (50, 95)), max(seconds)], abs=0.051)
    (_, _, slow, median, *_), *_, (_, _, most_slow, longest_median, *_) = rows
    assert median < 5 < longest_median
    assert slow < 15 < most_slow
