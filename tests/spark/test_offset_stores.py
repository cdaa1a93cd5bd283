"""Both stores under one load, on Spark: against the same count in plain Python."""

from collections import Counter, defaultdict

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.zookeeper import offset_commits, with_backlog, writes_per_second
from kafkalearn.zookeeper.commits.simulator import backlogs

pytestmark = pytest.mark.spark


@pytest.fixture(scope="module")
def small(spark):
    return offset_commits(spark, 30, 4, 12, interval_ms=3000, idle_percent=60, seed=5).cache()


def counted_by_hand(rows):
    """Node writes, requests and records of each second, commit by commit."""
    last, writes, records, requests = {}, Counter(), Counter(), defaultdict(set)
    for row in sorted(rows, key=lambda row: row.committed_ms):
        second = row.committed_ms // 1000
        if last.get((row.group_id, row.partition)) != row.offset:
            writes[second] += 1
        last[row.group_id, row.partition] = row.offset
        records[second] += 1
        requests[second].add((row.group_id, row.committed_ms))
    return [
        (second, writes[second], len(requests[second]), records[second])
        for second in range(min(records), max(records) + 1)
    ]


def test_each_second_has_the_writes_that_are_counted_commit_by_commit(small):
    found = [tuple(row) for row in small.transform(writes_per_second).collect()]
    assert found == counted_by_hand(small.collect())
    assert 0 < sum(row[1] for row in found) < sum(row[3] for row in found)  # idle partitions cost the topic alone


@pytest.mark.parametrize(("asked", "done"), [("znode_writes", 9), ("znode_writes", 25), ("requests", 11)])
def test_what_waits_is_what_the_rule_says(small, asked, done):
    rows = small.transform(writes_per_second).transform(with_backlog, asked, done).orderBy("second").collect()
    assert [row.backlog for row in rows] == backlogs([row[asked] for row in rows], done)


def test_offsets_never_fall_and_every_group_commits_all_its_partitions_at_once(small):
    rows = small.collect()
    assert len(rows) == 30 * 4 * 12
    by_partition = defaultdict(list)
    for row in sorted(rows, key=lambda row: row.committed_ms):
        by_partition[row.group_id, row.partition].append(row.offset)
    assert all(offsets == sorted(offsets) for offsets in by_partition.values())
    assert Counter((row.group_id, row.committed_ms) for row in rows).most_common()[-1][1] == 4


def test_no_commits_are_no_seconds(spark):
    empty = spark.createDataFrame([], "group_id string, partition int, offset bigint, committed_ms bigint")
    assert empty.transform(writes_per_second).collect() == []


def test_what_does_not_fit_is_refused(spark, small):
    with pytest.raises(KafkaLearnError, match="no column 'offset'"):
        small.drop("offset").transform(writes_per_second)
    with pytest.raises(KafkaLearnError, match="done_per_second"):
        small.transform(writes_per_second).transform(with_backlog, "requests", 0)
    with pytest.raises(KafkaLearnError, match="idle_percent"):
        offset_commits(spark, 1, 1, 1, idle_percent=101)
