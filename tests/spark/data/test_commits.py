"""Commits that are made up from the records of a topic."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.data.datasets import orders
from kafkalearn.spark.data.groups import Pace, with_commits
from kafkalearn.spark.lag import lag_by_partition, log_ends

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def some_orders(spark):
    return orders(spark, "small")


def test_made_commits_are_whole_batches_by_the_pace_of_the_group(some_orders):
    paces = [Pace("quick", 0), Pace("slow", 0, {3: 2.0}), Pace("stopped", 0, stops_after_ms=600_000)]
    commits = some_orders.transform(with_commits, paces, batch_size=200)
    lag = {(row.group_id, row.partition): row.lag for row in lag_by_partition(some_orders, commits).collect()}
    ends = {row.partition: row.log_end for row in some_orders.transform(log_ends).collect()}

    assert commits.where("offset % 200 != 0 OR offset = 0").count() == 0
    assert all(0 <= lag["quick", partition] < 200 for partition in range(12))
    assert lag["slow", 3] > 0.4 * ends[3]
    assert all(lag["slow", partition] == lag["quick", partition] for partition in range(12) if partition != 3)
    assert all(lag["stopped", partition] > 0.5 * ends[partition] for partition in range(12))
    assert (
        commits.where("committed_at > timestamp_millis(1767225600000 + 600000 + 20) AND group_id = 'stopped'").count()
        == 0
    )


@pytest.mark.parametrize(
    ("paces", "said"),
    [([], "paces is empty"), ([Pace("g"), Pace("g")], "two paces have the same group id")],
)
def test_each_group_has_one_pace(some_orders, paces, said):
    with pytest.raises(KafkaLearnError, match=said):
        some_orders.transform(with_commits, paces)


def test_nobody_reads_faster_than_records_come():
    with pytest.raises(KafkaLearnError, match=r"partition 1 is slow by 0\.5; a factor is at least 1"):
        Pace("g", slow={1: 0.5})
