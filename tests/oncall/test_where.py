"""Where: against what clusters answered, and against what people saw who asked."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.coordinator import offsets_partition
from kafkalearn.oncall import where
from kafkalearn.oncall.answer import FORMATS, Outcome, key_from
from kafkalearn.oncall.where import CLIENTS, client_named
from kafkalearn.partitioning import partition_for_key
from tests.recorded import recorded

VECTORS = Path(__file__).parents[1] / "vectors"
DESCRIPTIONS = json.loads((VECTORS / "coordinator" / "topic-descriptions.json").read_text())["cases"]


@pytest.mark.parametrize("case", DESCRIPTIONS, ids=lambda case: f"{case['kafka']}, killed {case['killed']}")
def test_a_pasted_description_gives_the_coordinator_that_the_cluster_gave(case):
    groups = case.get("coordinators") or {}
    found = {place.name: place.broker for place in where(list(groups) or ["billing"], describe=case["text"]).places}
    is_gone_unseen = case["kafka"] == "1.1.1" and case["killed"]  # that tool still names who led last

    if groups and not is_gone_unseen:
        assert found == groups
    if case["killed"] and not is_gone_unseen:
        everybody = where([f"group-{number}" for number in range(400)], describe=case["text"])
        if None in (case.get("leaders") or []):
            assert everybody.outcome is Outcome.FOUND
            assert {*everybody.offline} <= {p for p, leader in enumerate(case["leaders"]) if leader is None}


def test_an_old_tool_is_said_to_name_leaders_that_are_gone():
    notes = {case["kafka"]: where("billing", describe=case["text"]).notes for case in DESCRIPTIONS}

    assert notes["1.1.1"]
    assert notes["0.8.2.2"]
    assert not notes["4.3.1"]


def test_sinek_39_a_key_goes_where_javas_seed_puts_it():
    assert where("wu", "key", partition_count=10).places[0].partition == 0


def test_kafkajs_1154_two_clients_disagree_about_a_key():
    """The reporter's partition 9 was librdkafka's, by CRC-32; Java's is 10."""
    found = where("TT0124", "key", partition_count=15, partitioner=["librdkafka", "java"])

    assert [place.partition for place in found.places] == [9, 10]
    assert found.disagreeing == ("TT0124",)
    assert found.outcome is Outcome.FOUND
    assert "disagree" in str(found)


def test_three_clients_that_disagree_spread_a_key_over_three_partitions():
    """As many as there are are said, whatever two of the clients agree on."""
    three = where("TT0124", "key", partition_count=15, partitioner=["java", "librdkafka", "sarama"])
    spread = {place.partition for place in three.places}
    assert len(spread) == 3
    assert "These clients disagree about 1 key: its records lie in 3 partitions" in " ".join(str(three).split())
    two = where("TT0124", "key", partition_count=15, partitioner=["java", "kafka-python", "librdkafka"])
    assert "its records lie in 2 partitions" in " ".join(str(two).split())
    keys = where(["TT0124", "a", "b"], "key", partition_count=15, partitioner=["java", "librdkafka", "sarama"])
    assert "their records lie in up to 3 partitions" in " ".join(str(keys).split())


class Fresh:
    """What `where` reads of a cluster in which nobody has joined a group or begun a transaction yet."""

    def topics(self):
        return ["orders"]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("group", "this cluster has no __consumer_offsets yet: nobody has ever joined a group or committed there"),
        ("transactional-id", "this cluster has no __transaction_state yet: nobody has ever begun a transaction there"),
    ],
)
def test_a_cluster_without_the_topic_of_coordinators_gets_a_sentence(kind, words):
    with pytest.raises(KafkaLearnError, match=words):
        where("billing", kind, cluster=Fresh())


def test_kcat_131_murmur2_random_is_javas_partitioner():
    keys = [f"user-{number}" for number in range(100)]
    found = where(keys, "key", partition_count=12, partitioner=["murmur2_random", "java"])

    assert found.disagreeing == ()


def test_kcat_398_with_one_partition_every_key_goes_to_it():
    found = where(["a", "b", "c"], "key", partition_count=1, partitioner="kcat")

    assert {place.partition for place in found.places} == {0}


def test_kafka_python_2300_sarama_and_kafka_python_part_ways():
    found = where(
        [str(number) for number in range(50)], "key", partition_count=10, partitioner=["kafka-python", "sarama"]
    )

    assert len(found.disagreeing) > 30


def test_kafka_go_556_a_partition_of_the_offsets_topic_without_a_leader():
    """COORDINATOR_NOT_AVAILABLE, error 15: the group's partition is offline."""
    header = "Topic: __consumer_offsets\tPartitionCount: 1\tReplicationFactor: 1\tConfigs:\n"
    found = where(
        "worker", describe=header + "\tTopic: __consumer_offsets\tPartition: 0\tLeader: none\tReplicas: 1\tIsr:"
    )

    assert found.outcome is Outcome.FOUND
    assert "no leader" in str(found)
    assert found.as_data()["offline"] == [0]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(1, 1000))
def test_groups_and_transactional_ids_have_one_rule(name, count):
    for kind in ("group", "transactional-id"):
        (place,) = where(name, kind, partition_count=count).places
        assert place.partition == offsets_partition(name, count)


def test_a_transactional_id_lies_where_brokers_wrote_it():
    real = recorded("coordinator-partitions")["partitions"]
    for name, partition in real["of"].items():
        (place,) = where(name, "transactional-id", partition_count=real["count"]).places
        assert place.partition == partition


@given(st.binary(max_size=40), st.integers(1, 1000), st.sampled_from(sorted(CLIENTS)))
def test_a_key_is_where_its_clients_rule_puts_it(key, count, client):
    (place,) = where(key, "key", partition_count=count, partitioner=client).places

    if not key and CLIENTS[client].is_empty_no_key:
        assert place.partition is None
    else:
        assert place.partition == partition_for_key(key, count, CLIENTS[client].partitioner)


@given(st.binary(max_size=40))
def test_a_key_can_be_written_in_every_format(key):
    import base64

    assert key_from(key.hex(), "hex") == key
    assert key_from(base64.b64encode(key).decode(), "base64") == key


@pytest.mark.parametrize(
    ("written", "key_format"),
    [
        ("zz", "hex"),
        ("a", "base64"),
        ("1.5", "int"),
        (str(2**31), "int"),
        ("", "long"),
        ("x", "long"),
        ("\udc80", "text"),
    ],
)
def test_a_key_that_is_not_written_so_is_a_sentence(written, key_format):
    with pytest.raises(KafkaLearnError, match="the key"):
        key_from(written, key_format)
    assert key_format in FORMATS


def test_numbers_are_written_as_javas_serializers_write_them():
    assert key_from("-2", "int") == b"\xff\xff\xff\xfe"
    assert key_from("258", "long") == bytes([0, 0, 0, 0, 0, 0, 1, 2])


@pytest.mark.parametrize(("release", "words"), [("2.3", "counter"), ("2.4", "new batch"), ("4.3", "batch.size")])
def test_a_record_without_a_key_has_no_partition_and_the_rule_of_its_release_is_said(release, words):
    found = where([None], "key", partition_count=6, release=release)

    assert found.outcome is Outcome.CANNOT_TELL
    assert found.places[0].partition is None
    assert words in " ".join(str(found).split())


def test_the_empty_key_is_a_key_for_java_and_none_for_librdkafka():
    found = where("", "key", partition_count=6, partitioner=["java", "librdkafka"])

    assert [place.partition is None for place in found.places] == [False, True]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["a"], "key"), "how many partitions"),
        ((["a"], "key", {"partition_count": 0}), "at least 1, got 0"),
        ((["a"], "keys"), "did you mean 'key'"),
        (([], "group"), "at least one"),
        ((["a"], "group", {"topic": "orders"}), "leave topic away"),
        ((["a"], "group", {"brokers": 3, "describe": "x"}), "give one of"),
        ((["a"], "group", {"describe": "nothing of Kafka's"}), "no partition of __consumer_offsets"),
        ((["a"], "key", {"describe": "nothing of Kafka's"}), "paste what"),
        ((["a"], "key", {"partition_count": 3, "partitioner": "murmur3"}), "did you mean 'murmur2'"),
        (([None], "group"), "must be"),
        (([5], "key", {"partition_count": 3}), "must be bytes"),
        ((["a"], "key", {"describe": "Topic: t\tPartition: 0\tLeader: 1\tReplicas: 1\tIsr: 1"}), "PartitionCount"),
    ],
)
def test_what_makes_no_sense_is_a_sentence(arguments, words):
    *positional, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(KafkaLearnError, match=words):
        where(*positional, **options)


def test_no_line_is_wider_than_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    names = ["x" * 300, "группа" * 30, "短い"]
    for found in (where(names, brokers=3), where(names, "key", partition_count=9, partitioner=["java", "kcat"])):
        assert max(map(len, str(found).splitlines())) <= 80


def test_every_client_that_is_named_has_its_rule():
    assert client_named("librdkafka").partitioner == client_named("confluent-kafka").partitioner == "crc32"
    assert client_named("java").partitioner == client_named("aiokafka").partitioner == "murmur2"


def test_a_tool_that_names_the_coordinator_is_believed():
    state = (
        "GROUP          COORDINATOR (ID)      ASSIGNMENT-STRATEGY  STATE   #MEMBERS\n"
        "billing        kafka-3:9092 (3)      range                Stable  2\n"
        "my group       kafka-1:9092 (1)      range                Empty   0\n"
    )
    answer = where(["billing", "my group"], describe=state)
    found = [(each.name, each.partition, each.broker) for each in answer.places]
    assert found == [("billing", 9, 3), ("my group", 21, 1)]
    assert "the tool names" in str(answer)
    with pytest.raises(KafkaLearnError, match="no coordinator of group 'search'"):
        where("search", describe=state)


@pytest.mark.parametrize(
    ("client", "partition"),
    [
        ("kafkajs", 10),
        ("node-rdkafka", 9),
        ("rust-rdkafka", 9),
        ("IBM/sarama", 2),
        ("confluent-kafka-python", 9),
        ("@confluentinc/kafka-javascript", 10),
        ("php-rdkafka", 9),
        ("kafka_ex", 10),
    ],
)
def test_other_clients_are_known_by_their_names(client, partition):
    assert where("TT0124", "key", partition_count=15, partitioner=client).places[0].partition == partition


@pytest.mark.parametrize(("client", "words"), [("kafka-go", "Hash is sarama's rule"), ("brod", "names the partition")])
def test_a_client_that_puts_nothing_by_its_key_is_no_guess(client, words):
    with pytest.raises(KafkaLearnError, match=words):
        where("TT0124", "key", partition_count=15, partitioner=client)
