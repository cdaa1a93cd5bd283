"""A company's topics that are made again are those that a broker was recorded to have."""

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.spark import company
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.lag import log_ends
from kafkalearn.spark.offsets import decode_offsets, lag_of, latest_state
from kafkalearn.spark.partitioning import with_partition
from kafkalearn.spark.real_topic import ORDERS

pytestmark = pytest.mark.spark

SOURCE_COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


@pytest.fixture(scope="module")
def topics(spark):
    return company.company_topics(spark, None)


@pytest.fixture(scope="module")
def orders(topics):
    return topics.read(ORDERS, 6).cache()


@pytest.fixture(scope="module")
def commits(topics):
    return topics.read(OFFSETS_TOPIC, 50).cache()


def test_the_checksums_are_those_of_the_brokers_topics(topics, orders, commits):
    assert company.checksum(orders) == topics.recording["orders"]
    assert company.checksum(commits) == topics.recording["commits"]
    assert orders.columns == commits.columns == SOURCE_COLUMNS


def test_another_offset_or_partition_is_another_checksum(commits):
    few = commits.limit(100).cache()
    for other in ("offset + 1 AS offset", "partition + 1 AS partition"):
        name = other.rpartition(" ")[2]
        changed = few.withColumn(name, sf.expr(other.partition(" AS ")[0]))
        assert company.checksum(changed) != company.checksum(few)


def test_every_order_and_every_group_is_where_the_rules_say(orders, commits):
    placed = orders.transform(with_partition, partition_count=6, output="ours")
    assert placed.where("ours = partition").count() == company.ORDER_COUNT
    groups = commits.transform(decode_offsets).transform(with_offsets_partition, output="ours")
    assert groups.where("ours = partition").count() == 6 * company.GROUP_COUNT


def test_the_lag_of_all_groups_is_what_was_left_unread(orders, commits):
    lag = lag_of(commits.transform(decode_offsets).transform(latest_state), log_ends(orders))
    found = {(row.group_id, row.partition): row.lag for row in lag.where("lag <> 0").collect()}
    names = company.company_commits(orders.sparkSession, [0] * 6)
    left = {(name, at): company.behind(number, at) for number, name in enumerate(names) for at in range(6)}
    assert found == {place: count for place, count in left.items() if count}
    assert lag.count() == 6 * company.GROUP_COUNT


def test_other_records_topics_and_numbers_of_partitions_are_refused(spark, topics):
    topics.write(company.company_orders(spark), ORDERS)
    with pytest.raises(KafkaLearnError, match="other records were sent to 'orders'"):
        topics.write(company.company_orders(spark).limit(10), ORDERS)
    with pytest.raises(KafkaLearnError, match="no topic 'payments' is recorded of the company; there are"):
        topics.read("payments", 1)
    with pytest.raises(KafkaLearnError, match="orders has 6 partitions here, got partition_count=12"):
        topics.read(ORDERS, 12)
