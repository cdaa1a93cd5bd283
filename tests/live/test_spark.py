"""Spark on the topics of a real broker, with the project's own queries unchanged."""

import pytest
from confluent_kafka.admin import AdminClient

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.internal_topics import OFFSETS_TOPIC
from kafkalearn.live.errors import KafkaNotFetched, wait_for
from kafkalearn.live.jars import connector_jars
from kafkalearn.live.questions import OFFSETS_PARTITIONS, ORDERS, SIMULATED, Company, Shop
from kafkalearn.live.questions import SHOP_PARTITIONS as PARTITIONS
from kafkalearn.spark import company, real_topic
from kafkalearn.spark.coordinator import with_offsets_partition
from kafkalearn.spark.lag import log_ends
from kafkalearn.spark.offsets import decode_offsets, latest_state
from kafkalearn.spark.offsets.live import follow, groups_now, lag_now
from kafkalearn.spark.partitioning import with_partition
from tests.live.checked import holds

pytestmark = pytest.mark.live

COUNTS = ["key", "value", "partition", "offset"]


@pytest.fixture(scope="module")
def shop(release):
    try:
        connector_jars()
    except KafkaNotFetched as error:
        pytest.skip(f"no connector here: {error}")
    with Shop(release) as running:
        assert running.address, running.asked
        yield running


@pytest.fixture(scope="module")
def topics(spark, shop):
    return real_topic.topics_of(spark, shop.address, shop.jars)


@holds("key to partition, Java producer (murmur2)", "on Spark: key to partition")
def test_orders_are_read_back_in_batch_and_as_a_stream_from_where_our_query_puts_them(spark, topics):
    sent = real_topic.shop_orders(spark)
    topics.write(sent, ORDERS)

    read = topics.read(ORDERS, PARTITIONS).cache()
    streamed = real_topic.run_to_the_end(topics.stream(ORDERS, most_per_batch=120), "live_orders")

    pairs = read.selectExpr("string(key) AS key", "string(value) AS value")
    assert sorted(pairs.collect()) == sorted(sent.collect())
    placed = read.transform(with_partition, partition_count=PARTITIONS, output="ours")
    assert placed.where("ours <> partition").count() == 0
    assert sorted(streamed.collect()) == sorted(read.collect())


@holds("on Spark: records of the offsets topic decoded")
def test_the_simulators_records_come_back_equal_from_a_real_topic(spark, topics):
    sent = real_topic.simulated_commits(spark)
    topics.write(sent, SIMULATED)

    returned = topics.read(SIMULATED, 1).orderBy("offset")

    assert returned.select("key", "value").collect() == sent.collect()
    assert returned.transform(decode_offsets).where("error IS NOT NULL").count() == 0


@holds(
    "on Spark: records of the offsets topic decoded", "on Spark: the last record of each key",
    "on Spark: topics of a real Kafka, and those that Spark passes over",
)  # fmt: skip
def test_the_real_offsets_topic_is_decoded_and_whoever_subscribes_is_seen_in_it(shop, topics):
    shop.commit()

    def rows():
        return topics.read(OFFSETS_TOPIC, OFFSETS_PARTITIONS)

    assert (
        topics.read(OFFSETS_TOPIC, OFFSETS_PARTITIONS, real_topic.PLAIN).count() == 0
    )  # Spark passes over internal topics
    state = rows().transform(decode_offsets).transform(latest_state).where("record_type = 1")
    columns = ("group_id", "committed_topic", "committed_partition", "committed_offset")
    found = {tuple(row) for row in state.select(*columns).collect()}
    assert found == {
        (group, *place, each.offset)
        for group in ("billing", "shipping")
        for place, each in shop.kafka.committed(group).items()
    }

    before = rows().count()
    assert rows().count() == before  # who reads by number leaves nothing
    topics.read(OFFSETS_TOPIC, OFFSETS_PARTITIONS, real_topic.SUBSCRIBED).count()
    wait_for(lambda: [each.state for each in shop.kafka.groups()], ["Empty"] * 4, "the states of all groups:")
    new = rows().transform(decode_offsets).where("group_id LIKE 'spark-kafka-relation-%'")
    assert [row[0] for row in new.select("kind").collect()] == ["group metadata"] * 3
    assert rows().count() == before + 3


def test_the_live_table_has_a_group_and_its_lag_until_it_is_deleted(spark, shop, topics, tmp_path):
    topics.write(real_topic.shop_orders(spark), ORDERS)
    shop.commit()
    folder = str(tmp_path / "groups")

    def groups():
        stream = topics.stream(OFFSETS_TOPIC, partition_count=OFFSETS_PARTITIONS).unionAll(topics.stream(ORDERS))
        assert follow(stream, folder, availableNow=True).awaitTermination(120)
        return {row.group_id for row in groups_now(spark, folder).collect()}

    assert groups() >= {"billing", "shipping", "search"}
    ends = {row.partition: row.log_end for row in log_ends(topics.read(ORDERS, PARTITIONS)).collect()}
    lag = {(row.group_id, row.partition): row.lag for row in lag_now(spark, folder).where("log_end > 0").collect()}
    for group in ("billing", "shipping"):
        for (_, partition), each in shop.kafka.committed(group).items():
            assert lag[group, partition] == ends[partition] - each.offset

    admin = AdminClient({"bootstrap.servers": shop.address})  # kept: without it nobody would await the answer
    admin.delete_consumer_groups(["shipping"])["shipping"].result(30)
    assert "shipping" not in groups()
    assert spark.conf.get(real_topic.OLDER_WAY, "false") == "false"  # the user's session is as it was
    with pytest.raises(KafkaLearnError, match="give partition_count"):
        topics.stream(OFFSETS_TOPIC)


def test_a_killed_member_is_missed_in_the_live_table_and_the_lag_of_its_group_grows(spark, shop, topics, tmp_path):
    folder = str(tmp_path / "groups")
    topics.write(real_topic.shop_orders(spark), ORDERS)

    def billing():
        stream = topics.stream(OFFSETS_TOPIC, partition_count=OFFSETS_PARTITIONS).unionAll(topics.stream(ORDERS))
        assert follow(stream, folder, availableNow=True).awaitTermination(120)
        group = groups_now(spark, folder).where("group_id = 'billing'").first()
        rows = lag_now(spark, folder).where("group_id = 'billing'").collect()
        return group.state, group.member_count, sum(row.lag for row in rows)

    shop.start_member("billing")
    assert billing() == ("Stable", 1, 0)
    shop.kill_member("billing")
    topics.write(real_topic.shop_orders(spark), ORDERS)
    assert billing() == ("Empty", 0, 300)


@pytest.mark.nightly
def test_a_companys_topics_that_are_made_again_are_a_brokers_byte_for_byte(spark, release):
    with Company(release) as broker:
        assert broker.address, broker.asked
        topics = company.company_topics(spark, broker.address, broker.jars)
        topics.write(company.company_orders(spark), ORDERS)
        broker.commit(company.company_commits(spark, company.ends_of(topics.read(ORDERS, company.PARTITION_COUNT))))
        recording = company.recording_of(spark, topics)
        again, recorded = company.RemadeTopics(spark, recording), company.company_topics(spark, None).recording
        for topic, count in ((ORDERS, 6), (OFFSETS_TOPIC, 50)):
            real, made = (each.read(topic, count).select(COUNTS).cache() for each in (topics, again))
            assert real.count() == made.count() == {6: 1_000_000, 50: 60_000}[count]
            assert real.exceptAll(made).isEmpty()
        placed = topics.read(ORDERS, 6).transform(with_partition, partition_count=6, output="ours")
        assert placed.where("ours <> partition").isEmpty()
        groups = topics.read(OFFSETS_TOPIC, 50).transform(decode_offsets)
        assert groups.transform(with_offsets_partition, output="ours").where("ours <> partition").isEmpty()
    for name in ("sent", "orders", "ends", "customers", "groups"):  # what no run and no release changes
        assert recording[name] == recorded[name], name


def test_a_session_gets_each_jar_once(spark, shop):
    known = sorted(row[0] for row in spark.sql("LIST JARS").collect())
    real_topic.add_jars(spark, shop.jars)
    assert sorted(row[0] for row in spark.sql("LIST JARS").collect()) == known
