"""Handovers by Spark: the same as those of the simulator, over schedules of several groups."""

from datetime import datetime
from random import Random

import pandas as pd
import pytest

from kafkalearn.assignors import Member, assign
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, commit_rows
from kafkalearn.consuming.handovers import handovers as handovers_of_run
from kafkalearn.consuming.handovers import owner_rows
from kafkalearn.spark.lag import handovers, owners_over_time
from tests.consuming.groups import run_what_is_legal

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def trace():
    """Two groups whose members come and go while they read four partitions."""
    chance = Random(11)
    events = []
    for _ in range(400):
        group_id, member = chance.choice(["billing", "search"]), chance.choice("abcd")
        kinds = [Produce()] * 4 + [Poll(group_id, member, 3)] * 4 + [Join(group_id, member), Leave(group_id, member)]
        events.append(chance.choice(kinds))
    return run_what_is_legal(Settings(4), events)


def test_each_handover_is_that_of_the_simulator(spark, trace):
    commits, owners = (spark.createDataFrame(pd.DataFrame(rows(trace))) for rows in (commit_rows, owner_rows))
    expected = {
        (each.at, each.group_id, each.partition): (each.member_id, each.committed, each.own, each.set_back)
        for each in handovers_of_run(trace)
    }
    found = {
        (row.assigned_at, row.group_id, row.partition): (row.member_id, row.committed, row.own, row.set_back)
        for row in handovers(commits, owners).collect()
    }

    assert found == expected
    assert len(expected) > 50
    assert {own is None for _, _, own, _ in expected.values()} == {True, False}


def test_what_is_not_as_asked_is_refused(spark, trace):
    commits = spark.createDataFrame(pd.DataFrame(commit_rows(trace)))
    with pytest.raises(KafkaLearnError, match="no column 'member_id'"):
        handovers(commits, commits)
    with pytest.raises(KafkaLearnError, match="an assignment comes with its moment"):
        owners_over_time(spark, "g", [assign("range", {"t": 1}, [Member("m", ["t"])])])
    with pytest.raises(KafkaLearnError, match="group_id must be a str"):
        owners_over_time(spark, None, [(datetime(2026, 1, 1), {})])
