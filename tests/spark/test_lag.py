"""Lag by Spark: against the simulator, and by hand."""

import pandas as pd
import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Join, Poll, Produce, Settings, commit_rows, lags, simulate
from kafkalearn.consuming.lag import lags_by_member
from kafkalearn.consuming.simulator import Appended
from kafkalearn.spark.data.datasets import orders
from kafkalearn.spark.lag import (
    lag_by_group,
    lag_by_member,
    lag_by_partition,
    lag_over_time,
    last_commits,
    log_ends,
    owners_of,
)

pytestmark = pytest.mark.spark

COMMITS = "group_id string, topic string, partition int, offset bigint, committed_at {}"


@pytest.fixture(scope="module")
def trace():
    """Three groups on five partitions, none of which reads everything."""
    joins = [
        Join(group, f"{group}-{number}") for group, count in (("billing", 2), ("search", 1)) for number in range(count)
    ]
    written = [Produce(f"{number}", key=f"user-{number * number % 31}".encode()) for number in range(200)]
    polls = [Poll("billing", "billing-0", 9), Poll("billing", "billing-1", 4), Poll("search", "search-0", 5)]
    events = [*joins, *(event for each in written for event in (each, *(polls if each.value.endswith("7") else ())))]
    return simulate(Settings(5), events)


@pytest.fixture(scope="module")
def records(spark, trace):
    rows = [(number, offset) for number, log in enumerate(trace[-1].state.logs) for offset in range(len(log))]
    return spark.createDataFrame([("orders", *row) for row in rows], "topic string, partition int, offset bigint")


@pytest.fixture(scope="module")
def commits(spark, trace):
    return spark.createDataFrame(pd.DataFrame(commit_rows(trace)))


def test_lag_is_that_of_the_simulator_partition_by_partition(trace, records, commits):
    rows = lag_by_partition(records, commits).collect()
    assert {(row.group_id, row.partition): (row.committed, row.log_end, row.lag) for row in rows} == {
        (group.group_id, each.partition): (each.committed, each.log_end, each.lag)
        for group in trace[-1].state.groups
        for each in lags(trace[-1].state, group.group_id)
        if each.committed is not None
    }


def test_lag_by_member_is_that_of_the_simulator_where_all_has_been_committed(spark, trace, records, commits):
    state = trace[-1].state
    owners = owners_of(spark, {group.group_id: group.assignment for group in state.groups})
    rows = lag_by_partition(records, commits, owners).transform(lag_by_member).collect()
    by_member = {member: lag for group in state.groups for member, lag in lags_by_member(state, group.group_id).items()}
    assert all(offset is not None for group in state.groups for offset in group.committed)
    assert {row.member_id: row.lag for row in rows} == by_member


def test_lag_over_time_ends_with_the_lag_and_follows_the_simulator_on_the_way(spark, trace, records, commits):
    rows = [
        ("orders", effect.partition, effect.offset, frame.index)
        for frame in trace
        for effect in frame.state.effects
        if isinstance(effect, Appended)
    ]
    stamped = spark.createDataFrame(rows, "topic string, partition int, offset bigint, second bigint").selectExpr(
        "topic", "partition", "offset", "timestamp_seconds(second) AS timestamp"
    )
    timed = commits.selectExpr(
        "group_id", "topic", "partition", "offset", "timestamp_seconds(committed_at) AS committed_at"
    )
    over_time = lag_over_time(stamped, timed, interval_ms=20_000)
    found = {
        (row.group_id, row.until_s): row.lag
        for row in over_time.selectExpr("*", "unix_seconds(until) AS until_s").collect()
    }

    for (group_id, until), lag in found.items():
        state = trace[min(until, len(trace)) - 1].state  # all that happened before that second
        group = state.group(group_id)
        assert lag == sum(
            len(log) - (committed or 0) for log, committed in zip(state.logs, group.committed, strict=True)
        )
    assert len(found) > 10


def test_of_several_commits_the_last_one_counts_also_if_it_goes_back(spark):
    rows = [("g", "t", 0, 5, 1), ("g", "t", 0, 9, 2), ("g", "t", 0, 3, 3), ("h", "t", 0, 4, 1)]
    commits = spark.createDataFrame(rows, COMMITS.format("int"))
    assert {row.group_id: row.committed for row in commits.transform(last_commits).collect()} == {"g": 3, "h": 4}


def test_a_commit_past_the_end_is_a_negative_lag_and_an_empty_partition_ends_at_0(spark):
    records = spark.createDataFrame([("t", 0, 4)], "topic string, partition int, offset bigint")
    commits = spark.createDataFrame([("g", "t", 0, 9, 1), ("g", "t", 1, 0, 1)], COMMITS.format("int"))
    rows = lag_by_partition(records, commits).collect()
    assert {row.partition: (row.log_end, row.lag) for row in rows} == {0: (5, -4), 1: (0, 0)}
    assert [row.lag for row in lag_by_partition(records, commits).transform(lag_by_group).collect()] == [-4]


def test_a_partition_that_nobody_owns_any_more_is_kept_without_a_member(spark):
    records = spark.createDataFrame([("t", 0, 4)], "topic string, partition int, offset bigint")
    commits = spark.createDataFrame([("g", "t", 0, 2, 1)], COMMITS.format("int"))
    owners = owners_of(spark, {"g": assign("range", {"u": 1}, [Member("m", ["u"])])})
    assert [(row.member_id, row.lag) for row in lag_by_partition(records, commits, owners).collect()] == [(None, 3)]


@pytest.fixture(scope="module")
def some_orders(spark):
    return orders(spark, "small")


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda df: df.drop("offset").transform(log_ends), "no column 'offset'"),
        (lambda df: lag_by_partition(df, df), "no column 'group_id'"),
        (lambda df: lag_by_member(df), "no column 'member_id'"),
        (lambda df: owners_of(df.sparkSession, {"g": {}}), "assignments must map each group id to its Assignment"),
        (lambda df: lag_over_time(df, df), "no column 'group_id'"),
    ],
)
def test_what_is_not_as_asked_is_refused(some_orders, ask, said):
    with pytest.raises(KafkaLearnError, match=said):
        ask(some_orders)
