"""Rebalances by the thousand: what Spark's workers say is what the rules say here."""

import zipfile

import pytest

from kafkalearn.assignors import compare
from kafkalearn.assignors.judging import random_rebalance
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.scenarios.durations import newcomer_ms
from kafkalearn.spark.rebalances import (
    COMPARED,
    GROUP_SCHEMA,
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
