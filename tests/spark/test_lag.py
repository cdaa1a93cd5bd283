"""Lag by Spark: against the simulator, and by hand."""

from datetime import datetime
from random import Random

import pandas as pd
import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, commit_rows, lags, push, simulate
from kafkalearn.consuming.handovers import handovers as handovers_of_run
from kafkalearn.consuming.handovers import owner_rows
from kafkalearn.consuming.lag import lags_by_member
from kafkalearn.consuming.push import missed_by_pull
from kafkalearn.consuming.simulator import Appended
from kafkalearn.spark.lag import (
    backlogs,
    handovers,
    lag_by_group,
    lag_by_member,
    lag_by_partition,
    lag_over_time,
    last_commits,
    owners_of,
    owners_over_time,
)
from tests.consuming.groups import run_what_is_legal

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


@pytest.mark.equal("lag.log_ends", "lag.last_commits")
def test_lag_is_that_of_the_simulator_partition_by_partition(trace, records, commits):
    rows = lag_by_partition(records, commits).collect()
    assert {(row.group_id, row.partition): (row.committed, row.log_end, row.lag) for row in rows} == {
        (group.group_id, each.partition): (each.committed, each.log_end, each.lag)
        for group in trace[-1].state.groups
        for each in lags(trace[-1].state, group.group_id)
        if each.committed is not None
    }


@pytest.mark.equal("lag.lag_by_member")
def test_lag_by_member_is_that_of_the_simulator_where_all_has_been_committed(spark, trace, records, commits):
    state = trace[-1].state
    owners = owners_of(spark, {group.group_id: group.assignment for group in state.groups})
    rows = lag_by_partition(records, commits, owners).transform(lag_by_member).collect()
    by_member = {member: lag for group in state.groups for member, lag in lags_by_member(state, group.group_id).items()}
    assert all(offset is not None for group in state.groups for offset in group.committed)
    assert {row.member_id: row.lag for row in rows} == by_member


@pytest.mark.equal("lag.lag_over_time")
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


@pytest.mark.equal("lag.lag_by_group")
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


@pytest.mark.parametrize(("queue_limit", "retention"), [(5, 7), (3, 40), (60, 6), (200, 200)])
def test_each_consumer_stands_where_the_simulator_has_it(spark, queue_limit, retention):
    chance = Random(queue_limit)
    rates = {f"c{number}": number for number in range(7)}
    arriving = [chance.randrange(9) for _ in range(40)]
    settings = push.Settings(tuple(rates), queue_limit=queue_limit, prefetch=2, retention=retention)
    work = [push.Process(consumer, rate) for consumer, rate in rates.items() if rate]
    brokers = push.simulate(settings, [event for count in arriving for event in (*[push.Produce()] * count, *work)])[
        -1
    ].state

    arrivals = spark.createDataFrame(list(enumerate(arriving)), "interval int, record_count int")
    consumers = spark.createDataFrame(list(rates.items()), "consumer string, rate int")
    found = backlogs(consumers, arrivals, queue_limit, retention).collect()

    expected = {}
    for reader, queue in zip(brokers.readers, brokers.queues, strict=True):
        lag = brokers.log_end - reader.position
        of_queue = (len(queue.held), queue.dropped_count, queue.read_count)
        expected[reader.consumer] = (*of_queue, lag, missed_by_pull(brokers, reader), reader.read_count)
    assert {
        row.consumer: (row.held, row.dropped, row.pushed, row.lag, row.missed, row.pulled) for row in found
    } == expected
    assert all(row.most_held >= row.held for row in found)


def test_without_limits_nothing_is_lost(spark):
    arrivals = spark.range(50).selectExpr("id AS interval", "7 AS record_count")
    consumers = spark.range(1, 10).selectExpr("id AS consumer", "id AS rate")
    for row in backlogs(consumers, arrivals).collect():
        assert (row.dropped, row.missed) == (0, 0)
        assert (row.held, row.pushed) == (row.lag, row.pulled)
        assert row.held + row.pushed == 350


@pytest.mark.parametrize(
    ("options", "said"),
    [({"queue_limit": 0}, "queue_limit must be at least 1"), ({"retention": 0}, "retention must be at least 1")],
)
def test_what_can_hold_nothing_is_refused(spark, options, said):
    consumers, arrivals = spark.sql("SELECT 'c' consumer, 1 rate"), spark.sql("SELECT 0 interval, 1 record_count")
    with pytest.raises(KafkaLearnError, match=said):
        backlogs(consumers, arrivals, **options)


@pytest.fixture(scope="module")
def coming_and_going():
    """Two groups whose members come and go while they read four partitions."""
    chance = Random(11)
    events = []
    for _ in range(400):
        group_id, member = chance.choice(["billing", "search"]), chance.choice("abcd")
        kinds = [Produce()] * 4 + [Poll(group_id, member, 3)] * 4 + [Join(group_id, member), Leave(group_id, member)]
        events.append(chance.choice(kinds))
    return run_what_is_legal(Settings(4), events)


@pytest.mark.equal("lag.handovers")
def test_each_handover_is_that_of_the_simulator(spark, coming_and_going):
    commits, owners = (
        spark.createDataFrame(pd.DataFrame(rows(coming_and_going))) for rows in (commit_rows, owner_rows)
    )
    expected = {
        (each.at, each.group_id, each.partition): (each.member_id, each.committed, each.own, each.set_back)
        for each in handovers_of_run(coming_and_going)
    }
    found = {
        (row.assigned_at, row.group_id, row.partition): (row.member_id, row.committed, row.own, row.set_back)
        for row in handovers(commits, owners).collect()
    }

    assert found == expected
    assert len(expected) > 50
    assert {own is None for _, _, own, _ in expected.values()} == {True, False}


def test_odd_assignments_are_refused(spark):
    with pytest.raises(KafkaLearnError, match="assignments must map each group id to its Assignment"):
        owners_of(spark, {"g": {}})
    with pytest.raises(KafkaLearnError, match="an assignment comes with its moment"):
        owners_over_time(spark, "g", [assign("range", {"t": 1}, [Member("m", ["t"])])])
    with pytest.raises(KafkaLearnError, match="group_id must be a str"):
        owners_over_time(spark, None, [(datetime(2026, 1, 1), {})])
