"""Recorded topics are read as real ones are."""

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.spark import real_topic
from kafkalearn.spark.offsets import decode_offsets
from kafkalearn.spark.partitioning import with_partition

COLUMNS = ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]


@pytest.fixture
def topics(spark):
    return real_topic.topics_of(spark, None)


def test_the_recorded_orders_are_those_that_are_sent_and_lie_where_our_rule_says(spark, topics):
    topics.write(real_topic.shop_orders(spark), "orders")
    rows = topics.read("orders", 3)
    assert rows.columns == COLUMNS
    placed = rows.transform(with_partition, partition_count=3, output="ours")
    assert placed.where("ours = partition").count() == rows.count() == 300


def test_the_simulators_commits_came_back_as_they_were_sent(spark, topics):
    sent = real_topic.simulated_commits(spark)
    topics.write(sent, "simulated")
    returned = topics.read("simulated", 1).orderBy("offset").select("key", "value")
    assert returned.collect() == sent.collect()


@pytest.mark.equal("real_topic.run_to_the_end")
def test_a_stream_of_a_recorded_topic_has_its_rows(topics):
    streamed = real_topic.run_to_the_end(topics.stream("orders", 100), "recorded_orders")
    assert streamed.columns == COLUMNS
    assert streamed.exceptAll(topics.read("orders", 3)).count() == 0
    assert streamed.count() == 300


def test_spark_passes_over_the_internal_topic_and_leaves_a_group_where_it_subscribes(topics):
    def groups():
        rows = topics.read(OFFSETS_TOPIC, 4).transform(decode_offsets)
        return {row.group_id.partition("-")[0] for row in rows.select("group_id").distinct().collect()}

    assert topics.read(OFFSETS_TOPIC, 4, real_topic.PLAIN).count() == 0
    assert groups() == {"billing", "shipping", "search"}
    topics.read(OFFSETS_TOPIC, 4, real_topic.SUBSCRIBED)
    assert groups() == {"billing", "shipping", "search", "spark"}


def test_other_records_unknown_topics_ways_and_jars_are_refused(spark, topics, tmp_path):
    with pytest.raises(KafkaLearnError, match="the recorded topic 'orders' holds other records"):
        topics.write(real_topic.shop_orders(spark).withColumn("value", sf.lit("another")), "orders")
    with pytest.raises(KafkaLearnError, match="no topic 'payments' is recorded; there are"):
        topics.read("payments", 1)
    with pytest.raises(KafkaLearnError, match="unknown way 'plane'; did you mean 'plain'"):
        topics.read("orders", 3, "plane")
    with pytest.raises(KafkaLearnError, match="there is no jar"):
        real_topic.add_jars(spark, [tmp_path / "missing.jar"])


def test_what_is_recorded_is_read_again(spark, topics, tmp_path):
    rows = topics.read("simulated", 1)
    real_topic.record(rows, tmp_path / real_topic.file_of("simulated"))
    again = real_topic.RecordedTopics(spark, tmp_path).read("simulated", 1)
    assert again.orderBy("offset").collect() == rows.orderBy("offset").collect()
