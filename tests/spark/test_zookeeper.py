"""Old consumers on Spark: their fetchers and their commits are those of the scalar rules."""

from collections import Counter, defaultdict

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.zookeeper import fetcher_loads, offset_commits, with_backlog, with_fetcher, writes_per_second
from kafkalearn.zookeeper.fetching import fetcher_id
from tests.recorded import recorded

pytestmark = pytest.mark.spark


def test_partitions_get_the_fetcher_that_the_real_class_gives_them(spark):
    vectors = recorded("fetcher-ids")["vectors"]
    for count in sorted({each["num_consumer_fetchers"] for each in vectors}):
        mine = [each for each in vectors if each["num_consumer_fetchers"] == count]
        rows = spark.createDataFrame(
            [(each["topic"], each["partition"]) for each in mine], "topic string, partition int"
        )
        found = {(row.topic, row.partition): row.fetcher_id for row in rows.transform(with_fetcher, count).collect()}
        assert found == {(each["topic"], each["partition"]): each["fetcher_id"] for each in mine}


@pytest.mark.equal("zookeeper.fetcher_loads")
def test_loads_add_up_broker_by_broker(spark):
    rows = [(f"t{number % 7}", number, number % 3 + 1, float(number)) for number in range(60)]
    given = spark.createDataFrame(rows, "topic string, partition int, leader int, bytes double")
    found = given.transform(with_fetcher, 4).transform(fetcher_loads, "bytes").collect()
    expected = {}
    for topic, partition, leader, load in rows:
        key = (leader, fetcher_id(topic, partition, 4))
        count, so_far = expected.get(key, (0, 0.0))
        expected[key] = (count + 1, so_far + load)
    assert {(row.leader, row.fetcher_id): (row.partition_count, row.load) for row in found} == expected
    assert [row.load for row in found] == sorted((row.load for row in found), reverse=True)
    for broker in (1, 2, 3):
        assert sum(row.share for row in found if row.leader == broker) == pytest.approx(1)


def test_what_does_not_fit_is_refused(spark):
    rows = spark.createDataFrame([("orders", 0)], "topic string, partition int")
    with pytest.raises(KafkaLearnError, match="num_consumer_fetchers"):
        rows.transform(with_fetcher, 0)


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


@pytest.mark.equal("zookeeper.writes_per_second")
def test_each_second_has_the_writes_that_are_counted_commit_by_commit(small):
    found = [tuple(row) for row in small.transform(writes_per_second).collect()]
    assert found == counted_by_hand(small.collect())
    assert 0 < sum(row[1] for row in found) < sum(row[3] for row in found)  # idle partitions cost the topic alone


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


def test_odd_commits_are_refused(spark, small):
    with pytest.raises(KafkaLearnError, match="done_per_second"):
        small.transform(writes_per_second).transform(with_backlog, "requests", 0)
    with pytest.raises(KafkaLearnError, match="idle_percent"):
        offset_commits(spark, 1, 1, 1, idle_percent=101)
