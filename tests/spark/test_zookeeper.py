"""How long old consumers take to agree: what the expression says of a group is what the simulated group takes."""

import random
from collections import Counter, defaultdict

import pyarrow as pa
import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.rebalances import by_era, with_classic_cost, with_rebalance_ms
from kafkalearn.spark.zookeeper import (
    GROUP_SCHEMA,
    agreeing,
    by_member_count,
    fetcher_loads,
    offset_commits,
    random_groups,
    with_agreement,
    with_backlog,
    with_fetcher,
    writes_per_second,
)
from kafkalearn.zookeeper.commits.simulator import backlogs
from kafkalearn.zookeeper.eras import classic_newcomer, newcomer, read_twice
from kafkalearn.zookeeper.fetching import fetcher_id
from tests.recorded import recorded

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
        assert (row.agreement_ms, row.failed_attempts, row.given_up) == tuple(newcomer(pauses, partitions)), row
        assert row.read_twice == read_twice(uncommitted, auto_commit=False)
    assert any(row.given_up for row in found)
    assert any(row.failed_attempts and not row.given_up for row in found)


def sorted_by(rows):
    """In the order they were drawn in."""
    return sorted(rows, key=lambda row: int(row.group_id[1:]))


def test_other_backoffs_and_retries_are_those_of_the_simulator(spark):
    rows = spark.createDataFrame(DRAWN[:12], GROUP_SCHEMA).transform(with_agreement, 500, 9).collect()
    for row, (_, partitions, pauses, _) in zip(sorted_by(rows), DRAWN, strict=False):
        assert (row.agreement_ms, row.failed_attempts, row.given_up) == tuple(newcomer(pauses, partitions, 500, 9))


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
    assert once.columns == [*rows.columns, "agreement_ms", "failed_attempts", "given_up", "read_twice"]


@pytest.mark.parametrize(
    ("partition_count", "pause_ms", "words"),
    [(6, [], "pause_ms is empty"), (6, [0, None], "a null in it"), (6, None, "pause_ms is empty"), (0, [0], "below 1")],
)
def test_a_group_that_cannot_be_is_refused(spark, partition_count, pause_ms, words):
    groups = spark.createDataFrame([("a", partition_count, pause_ms, [0])], GROUP_SCHEMA)
    with pytest.raises(Exception, match=words):
        groups.transform(with_agreement).collect()


def test_random_groups_take_what_the_simulator_says_and_are_the_same_in_every_run(spark):
    groups = random_groups(spark, 400)
    assert groups.orderBy("group_id").collect() == random_groups(spark, 400).orderBy("group_id").collect()
    rows = groups.where("member_count <= 6").transform(with_agreement).orderBy("group_id").limit(40).collect()
    slow = groups.where("array_max(pause_ms) > 0 AND member_count <= 12").transform(with_agreement).limit(6).collect()
    assert len(rows) == 40
    for row in rows + slow:
        cost = newcomer(row.pause_ms, row.partition_count)
        assert (row.agreement_ms, row.failed_attempts, row.given_up) == tuple(cost), row


def test_the_same_groups_can_be_given_to_the_classic_protocol(spark):
    groups = random_groups(spark, 50).selectExpr("*", "3000 AS heartbeat_interval_ms", "300000 AS max_poll_interval_ms")
    both = groups.transform(with_agreement).transform(with_rebalance_ms)
    assert both.where("agreement_ms > 0 AND rebalance_ms > 0").count() == 50


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


def test_both_eras_are_summed_up_side_by_side(spark):
    groups = random_groups(spark, 600).transform(with_agreement).transform(with_classic_cost, 10_000)
    rows = groups.transform(by_era).collect()
    assert [(row["members"], row["era"]) for row in rows[-2:]] == [
        ("15 and more", "ZooKeeper"),
        ("15 and more", "classic"),
    ]
    of_classic = [row for row in rows if row["era"] == "classic"]
    assert sum(row["groups"] for row in of_classic) == 600
    out = groups.where("member_count < 5 AND thrown_out > 0").count()
    assert of_classic[0]["somebody is out, %"] == round(100 * out / of_classic[0]["groups"], 1)
    sizes = groups.transform(by_member_count).collect()
    assert [row["median, s"] for row in rows if row["era"] == "ZooKeeper"] == [row["median, s"] for row in sizes]


def test_sizes_are_summed_up(spark):
    rows = random_groups(spark, 600).transform(with_agreement).transform(by_member_count).collect()
    assert sum(row["groups"] for row in rows) == 600
    assert rows[0]["with a conflict, %"] < rows[-1]["with a conflict, %"]


def test_a_column_that_is_missing_is_named(spark):
    with pytest.raises(KafkaLearnError, match="uncommitted"):
        spark.createDataFrame([("a", 3, [0])], "group_id STRING, partition_count INT, pause_ms ARRAY<INT>").transform(
            with_agreement
        )


SCHEMA = "topic string, partition int"


def test_partitions_get_the_fetcher_that_the_real_class_gives_them(spark):
    vectors = recorded("fetcher-ids")["vectors"]
    for count in sorted({each["num_consumer_fetchers"] for each in vectors}):
        mine = [each for each in vectors if each["num_consumer_fetchers"] == count]
        rows = spark.createDataFrame([(each["topic"], each["partition"]) for each in mine], SCHEMA)
        found = {(row.topic, row.partition): row.fetcher_id for row in rows.transform(with_fetcher, count).collect()}
        assert found == {(each["topic"], each["partition"]): each["fetcher_id"] for each in mine}


def test_a_cluster_of_partitions_gets_what_the_scalar_rule_gives(spark):
    rng = random.Random(3)
    letters = "abcdefghijklmnopqrstuvwxyz0123456789._-"
    topics = ["".join(rng.choices(letters, k=rng.randint(1, 40))) for _ in range(400)]
    partitions = [(topic, number) for topic in topics for number in range(25)]
    rows = spark.createDataFrame(partitions, SCHEMA)
    for row in rows.transform(with_fetcher, 7).collect():
        assert row.fetcher_id == fetcher_id(row.topic, row.partition, 7)


def test_the_sum_wraps_as_a_java_int_and_the_least_int_gives_0(spark):
    """An int of -2**31 has no absolute value; Kafka takes 0."""
    topic, partition = "polygenelubricants", 0  # its hash is -2**31, and 31 times it is -2**31 again
    assert fetcher_id(topic, partition, 10) == 0
    rows = spark.createDataFrame([(topic, partition), (topic, 1), (None, 1), ("a", None)], SCHEMA)
    found = [row.fetcher_id for row in rows.transform(with_fetcher, 10).collect()]
    assert found == [0, fetcher_id(topic, 1, 10), None, None]


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
    rows = spark.createDataFrame([("orders", "0", 1)], "topic string, partition string, fetcher_id int")
    with pytest.raises(KafkaLearnError, match="'partition' must be"):
        rows.transform(with_fetcher)
    whole = rows.withColumn("partition", rows.partition.cast("int"))
    with pytest.raises(KafkaLearnError, match="already"):
        whole.transform(with_fetcher)
    with pytest.raises(KafkaLearnError, match="num_consumer_fetchers"):
        whole.transform(with_fetcher, 0)
    with pytest.raises(KafkaLearnError, match="no column 'leader'"):
        whole.transform(fetcher_loads, "partition")


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


def test_odd_commits_are_refused(spark, small):
    with pytest.raises(KafkaLearnError, match="no column 'offset'"):
        small.drop("offset").transform(writes_per_second)
    with pytest.raises(KafkaLearnError, match="done_per_second"):
        small.transform(writes_per_second).transform(with_backlog, "requests", 0)
    with pytest.raises(KafkaLearnError, match="idle_percent"):
        offset_commits(spark, 1, 1, 1, idle_percent=101)
