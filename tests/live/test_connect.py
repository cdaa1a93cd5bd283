"""A cluster is read strictly: which requests are sent, counted by a proxy, and that nothing is there afterwards."""

import confluent_kafka
import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.live import Kafka, connect
from kafkalearn.live.errors import NoAnswer, Refused, wait_for
from kafkalearn.live.proxy import Proxy

pytestmark = pytest.mark.live

READING = {
    "ApiVersions", "Metadata", "DescribeTopicPartitions", "ListOffsets", "Fetch", "OffsetForLeaderEpoch",
    "FindCoordinator", "ListGroups", "DescribeGroups", "ConsumerGroupDescribe", "OffsetFetch", "DescribeConfigs",
}  # fmt: skip
"""The requests that change nothing on a broker."""


@pytest.fixture(scope="module")
def proxied(release):
    """A cluster that has never had a group, with a proxy before it; topics would be created by asking for them."""
    with Proxy() as proxy, Kafka(1, release, {**proxy.config, "auto.create.topics.enable": True}) as kafka:
        proxy.forward_to(kafka)
        kafka.create_topic("orders", 2)
        kafka.send("orders", ["a", "b", "c"])
        yield proxy, kafka


def everything(cluster):
    """Each thing that can be read without a group."""
    return (
        cluster.topics(),
        cluster.partition("orders", 0),
        cluster.high_watermark("orders", 0),
        cluster.last_stable_offset("orders", 0),
        cluster.log_start_offset("orders", 0),
        cluster.leader_epochs("orders", 0),
        [record.value for record in cluster.records("orders", 0)],
        [batch.base_offset for batch in cluster.batches("orders", 0, start=1)],
        cluster.groups(),
        cluster.topic_settings("orders"),
    )


def test_a_cluster_without_groups_is_read_without_leaving_a_trace(proxied):
    proxy, kafka = proxied
    proxy.reset()
    with connect(f"127.0.0.1:{proxy.port}") as cluster:
        seen = everything(cluster)
        for nothing in ("no-such-topic", "__consumer_offsets"):
            with pytest.raises(Refused, match="UNKNOWN_TOPIC_OR_PARTITION"):
                cluster.high_watermark(nothing, 0)
        for ask in (cluster.coordinator, cluster.group, cluster.committed):
            with pytest.raises(Refused, match=r"no __consumer_offsets yet, .* it was not asked for one"):
                ask("billing")

    assert seen == everything(kafka)
    assert seen[2:8] == (3, 3, 0, ((0, 0),), [b"a", b"b", b"c"], [1, 2])
    assert set(proxy.counts) <= READING - {"FindCoordinator"}
    assert kafka.topics() == {"orders": 2}
    assert proxy.counts["Fetch"] == 2
    assert proxy.counts["ListOffsets"] == 1 + 1 + 1 + 1 + 2 + 1  # the three, for epochs, and for records and batches


def test_where_there_are_groups_they_are_read_and_none_is_joined(proxied):
    proxy, kafka = proxied
    consumer = kafka.consumer("billing", group_protocol="consumer")
    consumer.subscribe(["orders"])
    wait_for(lambda: consumer.poll(0.05) and len(consumer.assignment()), 2, "partitions of the consumer", 30)
    consumer.commit(offsets=[confluent_kafka.TopicPartition("orders", 0, 3)], asynchronous=False)
    proxy.reset()

    with connect(f"127.0.0.1:{proxy.port}") as cluster:
        (listed,) = cluster.groups()
        described = cluster.group("billing")
        committed = cluster.committed("billing")
        counts = dict(proxy.counts)
        with pytest.raises(Refused, match="there is no group 'shipping'"):
            cluster.group("shipping")
    consumer.close()

    assert (listed.group_id, listed.type) == ("billing", "consumer")
    assert [member.topics for member in described.members] == [("orders",)]
    assert committed[TopicPartition("orders", 0)].offset == 3
    assert set(counts) <= READING | {"ConsumerGroupHeartbeat"}  # that of the consumer itself goes on
    assert set(kafka.topics()) == {"orders", "__consumer_offsets"}
    assert [each.group_id for each in kafka.groups()] == ["billing"]


def test_reading_begins_and_ends_where_it_is_told_and_refuses_what_is_not_there(proxied):
    _, kafka = proxied
    with connect(kafka.bootstrap) as cluster:
        assert [record.offset for record in cluster.records("orders", 0, start=1, stop=2)] == [1]
        assert list(cluster.records("orders", 1)) == []
        with pytest.raises(Refused, match="OFFSET_OUT_OF_RANGE"):
            list(cluster.records("orders", 0, start=-5))
        with pytest.raises(KafkaLearnError, match="'orders' has partitions 0 to 1, got 9"):
            cluster.high_watermark("orders", 9)
        with pytest.raises(KafkaLearnError, match="'orders' has no partition 9"):
            cluster.partition("orders", 9)


def test_an_address_where_no_broker_listens_says_so(proxied):
    with pytest.raises(NoAnswer, match=r"nobody answers at 127.0.0.1:1 .* is this a broker's address"):
        connect("127.0.0.1:1", timeout_s=1)


@pytest.mark.parametrize("addresses", ["", "localhost", "localhost:", "localhost:0", "localhost:9092,", None, 9092])
def test_an_address_is_host_and_port(addresses):
    with pytest.raises(KafkaLearnError, match=r"host:port|must be a str"):
        connect(addresses)


def test_security_settings_are_looked_at_before_anything_is_sent():
    for config, said in (
        ({"security.protocol": "TLS"}, "unknown security.protocol 'TLS'"),
        ({"security.protocol": "SASL_SSL"}, "unknown sasl.mechanism 'GSSAPI'"),
        ({"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN"}, "needs sasl.username and sasl.password"),
        ({"security.protocol": "SASL_PLAINTEXT", "sasl.mechanisms": "OAUTHBEARER"}, "needs oauth_cb"),
        ({"security.protocol": "SSL", "ssl.ca.location": "/no/such.pem"}, "cannot be read as PEM"),
    ):
        with pytest.raises(KafkaLearnError, match=said):
            connect("localhost:9092", config)
