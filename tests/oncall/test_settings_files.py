"""Whose settings a file has, by Kafka's names: Kafka's own, other tools' by their rules, and what was not read."""

import re

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.oncall import safe, upgrade
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.settings_files import read_files, unread_in
from tests.oncall.examples import asked

# Spring Boot's, as properties, variables and YAML.


def test_settings_of_spring_are_read_where_spring_writes_them(tmp_path):
    path = tmp_path / "application.properties"
    path.write_text(
        "server.port=8080\nspring.kafka.bootstrap-servers=h:9092\nspring.kafka.properties.retries=7\n"
        "spring.kafka.producer.acks=1\nspring.kafka.producer.properties.enable.idempotence=false\n"
        "spring.kafka.producer.properties[max.in.flight.requests.per.connection]=1\n"
        "spring.kafka.consumer.group-id=g\nspring.kafka.listener.ack-mode=record\n"
    )
    for files in (path, [("producer", path)]):
        found = {each.name: (each.value, each.origin) for each in safe(files, replication_factor=3).given}
        assert found["acks"] == (1, "application.properties, line 4")
        assert found["enable.idempotence"] == (False, "application.properties, line 5")
        assert found["max.in.flight.requests.per.connection"] == (1, "application.properties, line 6")
        assert found["retries"] == (7, "application.properties, line 3")
    assert {side: file.values for side, _, file in read_files(path)}["consumer"]["group.id"] == "g"


@pytest.mark.parametrize(
    ("line", "name", "value"),
    [
        ("spring.kafka.consumer.fetch-max-wait=5s", "fetch.max.wait.ms", "5000"),
        ("spring.kafka.consumer.fetchMinSize=16KB", "fetch.min.bytes", "16384"),
        ("spring.kafka.consumer.isolation-level=read-committed", "isolation.level", "read_committed"),
        ("spring.kafka.consumer.max_poll_records=5", "max.poll.records", "5"),
        ("spring.kafka.producer.transaction-id-prefix=tx-", "transactional.id", "tx-"),
        ("spring.kafka.producer.batchSize=1MB", "batch.size", str(1 << 20)),
        ("spring.kafka.producer.properties.linger.ms=5", "linger.ms", "5"),
        ("spring.kafka.producer.ssl.key-store-location=/k", "ssl.keystore.location", "/k"),
        ("SPRING_KAFKA_PRODUCER_ACKS=1", "acks", "1"),
        ("SPRING_KAFKA_CONSUMER_GROUP_ID=g", "group.id", "g"),
        ("SPRING_KAFKA_PRODUCER_PROPERTIES_ENABLE_IDEMPOTENCE=false", "enable.idempotence", "false"),
    ],
)
def test_a_name_of_spring_is_kafka_s(line, name, value, tmp_path):
    path = tmp_path / "application.properties"
    path.write_text(f"{line}\n")
    ((_, _, file),) = read_files(path)
    assert (file.values, file.unread) == ({name: value}, ())


@pytest.mark.parametrize(
    ("text", "side", "words"),
    [
        ("spring.kafka.listener.ack-mode=batch\n", None, "has no line that begins with spring.kafka.producer"),
        ("spring.kafka.consumer.group-id=g\n", "producer", "sets nothing for a producer"),
    ],
)
def test_a_file_of_spring_without_what_is_asked_for_is_a_sentence(text, side, words, tmp_path):
    path = tmp_path / "application.properties"
    path.write_text(text)
    with pytest.raises(KafkaLearnError, match=words):
        read_files(path, side)


APPLICATION = """\
server: {port: 8080}
spring:
  kafka:
    bootstrap-servers: [h1:9092, h2:9092]
    properties:
      "[retries]": 7
    producer: &ours
      acks: 1
      properties:
        enable.idempotence: no
        max.in.flight.requests.per.connection: 1
    consumer:
      group-id: ${GROUP}
      fetch-max-wait: 5s
---
spring.config.activate.on-profile: prod
spring.kafka.producer.acks: all
---
spring:
  profiles: dev
server.port: 9090
"""


def test_settings_of_spring_are_read_from_yaml_too(tmp_path):
    path = tmp_path / "application.yml"
    path.write_text(APPLICATION)
    found = {(name, side): file for side, name, file in read_files(path)}
    assert {name for name, _ in found} == {"application.yml", "application.yml#prod"}  # dev sets nothing of Kafka's
    common, prod = found["application.yml", "producer"], found["application.yml#prod", "producer"]
    assert common.values == {
        "bootstrap.servers": "h1:9092,h2:9092",
        "retries": "7",
        "acks": "1",
        "enable.idempotence": "false",
        "max.in.flight.requests.per.connection": "1",
    }
    assert (prod.last["acks"].value, prod.last["acks"].number, common.last["acks"].number) == ("all", 17, 8)
    assert prod.repeated == {}
    consumer = found["application.yml", "consumer"].values
    assert (consumer["group.id"], consumer["fetch.max.wait.ms"]) == ("${GROUP:}", "5000")


@pytest.mark.parametrize(("end", "acks"), [("#", "1"), ("#prod", "all"), ("#dev", "1")])
def test_one_profile_of_a_yaml_file_is_looked_at(tmp_path, end, acks):
    path = tmp_path / "application.yaml"
    path.write_text(APPLICATION)
    ((_, name, producer),) = read_files(f"{path}{end}", "producer")
    assert producer.values["acks"] == acks
    assert name == f"application.yaml{end}".removesuffix("#")


def test_a_yaml_file_that_has_two_producers_is_asked_which(tmp_path):
    path = tmp_path / "application.yml"
    path.write_text(APPLICATION)
    with pytest.raises(
        KafkaLearnError, match=r"a producer for application\.yml and application\.yml#prod, and they differ"
    ):
        safe(path, replication_factor=3)
    with pytest.raises(KafkaLearnError, match=r"no document for the profile 'test'; it has 'prod' and 'dev'"):
        read_files(f"{path}#test")


def nested_merges(depth):
    """One mapping that takes over nine times one that takes over nine times ...: few bytes, billions of names."""
    if not depth:
        return "&b0 {acks: all}"
    again = ",".join([f"*b{depth - 1}"] * 8)
    return f"&b{depth} {{<<: [{nested_merges(depth - 1)},{again}]}}"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spring: [a\n", "'a.yml': line 2: this is not YAML"),
        ("- acks\n", "'a.yml': line 1: a document of settings maps names to values"),
        ("? [a, b]\n: 1\n", "'a.yml': line 1: a name in settings is text"),
        ("server.port: 80\n", "no broker, topic or client of Kafka knows one of them"),
        ("spring: &spring {kafka: *spring}\n", "'a.yml': this YAML has more than 20,000 values, or goes deeper"),
        (f"acks: {{<<: {nested_merges(12)}}}\n", "'a.yml': this YAML has more than 20,000 values, or goes deeper"),
        ("acks: {<<: 1}\n", "'a.yml': line 1: << takes over mappings, and this is none"),
    ],
)
def test_a_yaml_file_that_is_none_is_a_sentence(tmp_path, text, words):
    path = tmp_path / "a.yml"
    path.write_text(text)
    with pytest.raises(KafkaLearnError, match=re.escape(words)):
        read_files(path)


def test_what_a_document_takes_over_by_a_merge_counts(tmp_path):
    path = tmp_path / "a.yml"
    path.write_text("x: &x {acks: all}\nspring.kafka.producer: {<<: *x, retries: 3}\n")
    ((side, _, file),) = read_files(path)
    assert (side, file.values) == ("producer", {"acks": "all", "retries": "3"})
    path.write_text(
        "x: &x {acks: all, retries: 1}\ny: &y {acks: 0}\nspring.kafka.producer: {retries: 3, <<: [*x, *y]}\n"
    )
    ((_, _, file),) = read_files(path)
    assert file.values == {"acks": "all", "retries": "3"}  # its own, then the one that is named first


# Other tools': what their rule says exactly is read, the rest is named.

QUARKUS = """\
mp.messaging.outgoing.bills.connector=smallrye-kafka
mp.messaging.outgoing.bills.topic=bills
mp.messaging.outgoing.bills.max-inflight-messages=10
mp.messaging.incoming.orders.auto.offset.reset=earliest
kafka.bootstrap.servers=h:9092
quarkus.log.level=INFO
"""
WORKER = "key.converter=a\nconfig.storage.topic=c\nbootstrap.servers=h:9092\nproducer.linger.ms=5\n"
COMPOSE = """\
services:
  web: {image: shop, environment: {KAFKA_BROKERS: "one:9092"}}
  one:
    environment: [KAFKA_NODE_ID=1, "KAFKA_ADVERTISED_LISTENERS=A://h:1,B://h:2", KAFKA_MIN_INSYNC_REPLICAS=1]
"""
POD = """\
apiVersion: apps/v1
kind: StatefulSet
spec: {template: {spec: {containers: [{name: kafka, env: [
  {name: KAFKA_CFG_NODE_ID, value: "1"},
  {name: KAFKA_CFG_UNCLEAN_LEADER_ELECTION_ENABLE, value: "true"}, {name: POD, valueFrom: {x: {y: z}}}]}]}}}
"""
STRIMZI = """\
apiVersion: kafka.strimzi.io/v1
kind: Kafka
metadata: {name: shop}
spec: {kafka: {replicas: 3, config: {min.insync.replicas: 2, log.retention.hous: 5}}}
---
apiVersion: kafka.strimzi.io/v1
kind: KafkaTopic
metadata: {name: bills}
spec: {partitions: 3, config: {min.insync.replicas: 1}}
"""
MICRONAUT = """\
kafka:
  bootstrap.servers: h:9092
  producers:
    default: {acks: all, retries: 5}
    bills: {acks: 0, topic: bills}
  consumers:
    default: {max.poll.records: 7}
"""
CHART = """\
controller:
  replicaCount: 3
  extraConfig: |
    # of the shop
    min.insync.replicas=1
    min.insink.replicas=2
overrideConfiguration:
  unclean.leader.election.enable: "true"
"""
MAP = """\
apiVersion: v1
kind: ConfigMap
data:
  server.properties: |
    min.insync.replicas=1
  log4j.properties: |
    log4j.rootLogger=INFO
"""
NET = """\
{
  // of the shop
  "Kafka": {
    "Producer": {"BootstrapServers": "h:9092", "Acks": "None", "MessageSendMaxRetries": 3, "Topic": "bills"}
  }
}
"""


@pytest.mark.parametrize(
    ("name", "text", "side", "wanted", "unread"),
    [
        ("a.properties", "spring.kafka.properties.acks=1\nspring.kafka.client-id=a\n", "producer", {"acks": "1"}, 0),
        ("a.properties", QUARKUS, "producer", {"bootstrap.servers": "h:9092", "acks": "1"}, 4),
        ("a.properties", f"{QUARKUS}mp.messaging.connector.smallrye-kafka.acks=all\n", "producer", {"acks": "all"}, 4),
        ("w.properties", WORKER, "producer", {"linger.ms": "5", "enable.idempotence": "false", "acks": "all"}, 3),
        ("w.properties", f"{WORKER}exactly.once.source.support=enabled\n", "producer",
         {"enable.idempotence": "true", "acks": "all"}, 4),
        ("c.json", '{"config": {"connector.class": "C", "producer.override.acks": "0"}}', "producer", {"acks": "0"}, 1),
        ("s.properties", "application.id=a\nacks=1\nproducer.acks=0\nnum.stream.threads=2\n", "producer",
         {"acks": "0"}, 2),
        ("s.properties", "application.id=a\nmain.consumer.max.poll.records=7\n", "consumer",
         {"max.poll.records": "7"}, 1),
        ("c.properties", "metadata.broker.list=h:9092\nrequest.required.acks=0\n", "producer",
         {"acks": "0", "enable.idempotence": "false", "max.in.flight.requests.per.connection": "1000000"}, 0),
        ("c.conf", "queue.buffering.max.ms=5\nenable.idempotence=true\nmy.own=1\n", "producer",
         {"linger.ms": "5", "max.in.flight.requests.per.connection": "5"}, 1),
        ("appsettings.json", NET, "producer", {"acks": "0", "retries": "3", "enable.idempotence": "false"}, 1),
        (".env", "Kafka__Acks=Leader\nKafka__LingerMs=5\n", "producer", {"acks": "1", "linger.ms": "5"}, 0),
        ("compose.yml", COMPOSE, "broker", {"min.insync.replicas": "1", "advertised.listeners": "A://h:1,B://h:2"}, 2),
        ("pod.yaml", POD, "broker", {"unclean.leader.election.enable": "true"}, 4),
        ("strimzi.yaml", STRIMZI, "broker", {"min.insync.replicas": "2"}, 5),
        ("strimzi.yaml", STRIMZI, "topic", {"min.insync.replicas": "1"}, 4),
        ("m.yml", MICRONAUT, "producer", {"acks": "0", "retries": "5", "bootstrap.servers": "h:9092"}, 1),
        ("m.yml", MICRONAUT, "consumer", {"max.poll.records": "7"}, 1),
        ("m.properties", "kafka.producers.default.acks=1\nmicronaut.server.port=1\n", "producer", {"acks": "1"}, 1),
        ("values.yaml", CHART, "broker", {"min.insync.replicas": "1", "unclean.leader.election.enable": "true"}, 2),
        ("values.yaml", 'cp-kafka:\n  configurationOverrides: {"min.insync.replicas": 1}\n', "broker",
         {"min.insync.replicas": "1"}, 0),
        ("map.yaml", MAP, "broker", {"min.insync.replicas": "1"}, 3),
        ("broker.env", 'export KAFKA_MIN_INSYNC_REPLICAS="2" # two\nKAFKA_HEAP_OPTS=-Xmx1g\n', "broker",
         {"min.insync.replicas": "2"}, 1),
        ("w.env", "CONNECT_KEY_CONVERTER=a\nCONNECT_PRODUCER_ACKS=1\n", "producer", {"acks": "1"}, 1),
    ],
    ids=lambda each: each if isinstance(each, str) and len(each) < 30 else "",
)  # fmt: skip
def test_what_a_tool_documents_is_read_by_kafka_s_names_and_the_rest_is_named(
    name, text, side, wanted, unread, tmp_path
):
    path = tmp_path / name
    path.write_text(text)
    ((_, _, file),) = read_files(path, side)
    found = {**{each.name: each.value for each in file.defaults}, **file.values}
    assert {each: found[each] for each in wanted} == wanted
    assert len(unread_in(side, file)) == unread


CLOSED = ["--replicas", "3", "--min-isr", "2", "--elr", "yes"]  # safe, as long as the producer keeps its defaults


@pytest.mark.parametrize(
    ("name", "text", "flag"),
    [
        ("a.env", "KAFKA_ACKS=1\n", "--producer"),
        ("a.properties", "bootstrap.servers=h:9092\nenable.idempotance=false\n", "--producer"),
        ("a.properties", "bootstrap.servers=h:9092\nshop.kafka.producer.acks=0\n", "--producer"),
        ("a.properties", "bootstrap.servers=h:9092\nackss=0\n", "--producer"),
        ("a.properties", "spring.kafka.producer.client-id=a\nspring.kafka.producer.enable-idempotence=false\n",
         "--producer"),
        ("a.properties", "spring.kafka.producer.client-id=a\nspring.cloud.stream.kafka.binder.required-acks=1\n",
         "--producer"),
        ("a.properties", "akka.kafka.producer.kafka-clients.acks=1\n", "--producer"),
        ("a.json", '{"kafka": {"acks": 1}}', "--producer"),
        ("a.properties", "schema.registry.url=http://r\n", "--producer"),
        ("a.properties", "# nothing\n", "--producer"),
        ("b.properties", "log.dirs=/d\nnode.id=1\nmin.insync.replicas=1\ncompression.type=zstd\n", "--producer"),
        ("p.properties", "acks=1\nbootstrap.servers=h:9092\nlinger.ms=5\ncompression.type=zstd\n", "--broker"),
        ("b.properties", "log.dirs=/d\nnode.id=1\nmin.in.sync.replicas=1\n", "--broker"),
        ("t.properties", "cleanup.policy=delete\nunclean.leader.election=true\n", "--topic"),
        ("c.yaml", "shop:\n  producer:\n    acks: 1\n", "--producer"),
    ],
    ids=str,
)  # fmt: skip
def test_what_was_not_read_is_never_called_safe(name, text, flag, tmp_path):
    path = tmp_path / name
    path.write_text(text)
    code, out, err = asked(["safe", flag, str(path), *CLOSED])
    assert code == Outcome.CANNOT_TELL
    assert "Safe:" not in out + err


def test_a_plain_name_that_nobody_knows_is_listed_and_a_safe_file_stays_safe(tmp_path):
    path = tmp_path / "p.properties"
    path.write_text("acks=all\nschema.registry.url=http://r\ngroup.id=g\n")
    answer = safe([("producer", path)], replication_factor=3, min_insync_replicas=2, has_eligible_leader_replicas=True)
    assert answer.outcome is Outcome.FINE
    assert [(each["line"], each["name"], each["near"]) for each in answer.as_data()["unread"]] == [
        (2, "schema.registry.url", ""), (3, "group.id", ""),
    ]  # fmt: skip
    assert "group.id: a setting of the consumer" in " ".join(str(answer).split())


def test_what_spring_drops_is_named_with_the_place_where_it_counts(tmp_path):
    path = tmp_path / "application.properties"
    path.write_text("spring.kafka.producer.acks=all\nspring.kafka.producer.enable-idempotence=true\n")
    answer = safe(path, replication_factor=3, min_insync_replicas=2, release="2.8")
    assert {each.name: each.value for each in answer.given}["enable.idempotence"] is False
    (unread,) = [each for _, each in answer.unread]
    assert "as spring.kafka.producer.properties.enable.idempotence it would count" in unread.why
    assert "Spring Boot drops it" in " ".join(str(answer).split())


def test_producers_that_differ_are_asked_about_and_one_of_them_can_be_named(tmp_path):
    path = tmp_path / "a.properties"
    path.write_text("mp.messaging.outgoing.a.acks=1\nmp.messaging.outgoing.b.acks=all\n")
    with pytest.raises(KafkaLearnError, match=r"a producer for a\.properties#a and a\.properties#b, and they differ"):
        safe([("producer", path)], replication_factor=3)
    answer = safe([("producer", f"{path}#b")], replication_factor=3)
    assert {each.name: each.value for each in answer.given}["acks"] == "all"
    brokers = [tmp_path / name for name in ("one.properties", "two.properties")]
    for number, each in enumerate(brokers, start=1):
        each.write_text(f"log.dirs=/d\nmin.insync.replicas={number}\n")
    with pytest.raises(KafkaLearnError, match=r"a broker for one\.properties and two\.properties, and they"):
        safe([("broker", each) for each in brokers], replication_factor=3)


def test_librdkafka_has_releases_of_its_own(tmp_path):
    path = tmp_path / "c.properties"
    path.write_text("request.required.acks=1\nqueue.buffering.max.ms=5\n")
    with pytest.raises(KafkaLearnError, match="librdkafka has releases and defaults of its own"):
        upgrade("3.9", "4.0", [("producer", path)])


def test_an_upgrade_says_what_it_has_not_read_of_another_tool_s_file(tmp_path):
    path = tmp_path / "application.properties"
    path.write_text("server.port=80\nspring.kafka.producer.acks=1\nspring.kafka.producer.enable-idempotence=true\n")
    found = {(each.danger, each.line): each.text for each in upgrade("3.9", "4.0", path).findings if each.file}
    assert "Spring Boot drops it" in found["unknown", 3]
    assert "line 1, server.port" in found["noted", None]
