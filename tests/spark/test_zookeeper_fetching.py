"""Which fetcher serves what, on Spark: as the real class, and as the simulator's own rule."""

import random

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.spark.zookeeper import fetcher_loads, with_fetcher
from kafkalearn.zookeeper.fetching import fetcher_id
from tests.recorded import recorded

pytestmark = pytest.mark.spark

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
