"""``__cluster_metadata``: a real node's log and snapshots against what its own tools answered, and bytes both ways."""

import json
import shutil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.formats.disk import parse_segment
from kafkalearn.formats.metadata_log import (
    FOLDER,
    OF_TOPIC,
    RECORDS,
    decode_record,
    encode_record,
    find_layout,
    read_metadata,
    replay,
)
from kafkalearn.formats.wire import BOOLEAN, BYTES, FLOAT64, STRING, UUID, Array, Structure, Undecodable
from tests.formats.writing import batch

DATA = data_directory("cluster-metadata")
DISK = DATA / "disk" / FOLDER
SAID = json.loads((DATA / "described.json").read_text(encoding="utf-8"))
ORDERS = {"name": "orders", "topicId": "A6AUkuaxQAm4bUDDQCKT_A"}


def values_in(name):
    segment = parse_segment((DISK / name).read_bytes())
    return [record.value for each in segment.batches if not each.is_control for record in each.records]


def setting(value, name="cleanup.policy", topic="orders"):
    return encode_record(
        "ConfigRecord", {"resourceType": OF_TOPIC, "resourceName": topic, "name": name, "value": value}
    )


def test_topics_settings_and_features_are_those_that_the_broker_s_tools_described():
    found = read_metadata(DISK)

    assert {name: dict(each.settings) for name, each in found.topics.items()} == SAID["topics"]
    assert {name: each.topic_id for name, each in found.topics.items()} == SAID["ids"]
    assert {name: each.partition_count for name, each in found.topics.items()} == SAID["partition_counts"]
    assert found.features == SAID["features"]
    assert (found.problems, found.end_offset) == ((), 169)


@pytest.mark.parametrize("kept", [0, 1, 2, 3, 4])
def test_from_any_snapshot_on_the_log_says_the_same(kept, tmp_path):
    """With each snapshot alone, and with none: a log that has all its records needs none."""
    shutil.copytree(DISK, tmp_path / FOLDER)
    for number, path in enumerate(sorted((tmp_path / FOLDER).glob("*.checkpoint"))):
        if number >= kept:
            path.unlink()
    found, whole = read_metadata(tmp_path / FOLDER), read_metadata(DISK)
    assert (found.topics, found.brokers, found.features) == (whole.topics, whole.brokers, whole.features)
    assert found.end_offset == whole.end_offset


def test_a_log_whose_beginning_is_gone_says_so(tmp_path):
    place = tmp_path / FOLDER
    place.mkdir()
    (place / f"{7:020}.log").write_bytes(batch(7, [(7, 1, None, setting("compact"))]))
    assert read_metadata(place).problems == (f"{FOLDER} begins at offset 7, and no snapshot says what was before it",)
    assert read_metadata(tmp_path / "no") is None


def test_every_recorded_record_is_written_byte_for_byte_as_the_node_wrote_it():
    names = [path.name for path in sorted(DISK.iterdir())]
    values = [value for name in names for value in values_in(name)]
    records = [decode_record(value) for value in values]
    assert len(values) > 200
    assert [encode_record(each.name, each.fields, each.version) for each in records] == values


def test_what_an_aborted_transaction_wrote_does_not_count_and_an_open_one_does_not_yet():
    begun, aborted, ended = (
        encode_record(f"{word}TransactionRecord", fields)
        for word, fields in (("Begin", {"name": "x"}), ("Abort", {"reason": "y"}), ("End", {}))
    )
    topic = encode_record("TopicRecord", ORDERS)
    own = [topic, setting("compact"), begun, setting("delete")]
    for behind, policy in (([], "compact"), ([aborted], "compact"), ([ended], "delete")):
        assert replay([*own, *behind]).topics["orders"].settings == {"cleanup.policy": policy}


def test_a_topic_that_is_made_again_under_its_name_has_no_settings_of_the_old_one():
    removed = encode_record("RemoveTopicRecord", {"topicId": ORDERS["topicId"]})
    again = encode_record("TopicRecord", {**ORDERS, "topicId": "8uacb6RJScSpYeU82S0f9Q"})
    found = replay(
        [encode_record("TopicRecord", ORDERS), setting("compact"), removed, again, setting("1", "retention.ms")]
    )
    assert found.topics["orders"].settings == {"retention.ms": "1"}


def test_a_broker_that_goes_and_comes_is_fenced_and_not():
    of = {
        "brokerId": 1,
        "incarnationId": ORDERS["topicId"],
        "brokerEpoch": 5,
        "endPoints": [],
        "features": [],
        "rack": None,
    }
    back = encode_record("BrokerRegistrationChangeRecord", {"brokerId": 1, "brokerEpoch": 5, "fenced": -1})
    away = encode_record("FenceBrokerRecord", {"id": 1, "epoch": 5})
    registered = encode_record("RegisterBrokerRecord", of)
    assert replay([registered]).brokers == {1: True}
    assert replay([registered, back]).brokers == {1: False}
    assert replay([registered, back, away]).brokers == {1: True}
    assert (
        replay([registered, encode_record("UnregisterBrokerRecord", {"brokerId": 1, "brokerEpoch": 5})]).brokers == {}
    )


OF_KIND = {
    BOOLEAN: st.booleans(), FLOAT64: st.floats(allow_nan=False), STRING: st.text(max_size=5),
    BYTES: st.binary(max_size=5), UUID: st.just(ORDERS["topicId"]),
}  # fmt: skip


def drawn(kind, version):
    if isinstance(kind, Array):
        return st.lists(drawn(kind.of, version), max_size=2)
    if isinstance(kind, Structure):
        fields = [*kind.plain(version), *kind.tagged(version)]
        return st.fixed_dictionaries({each.name: drawn(each.kind, version) for each in fields})
    if kind in OF_KIND:
        return OF_KIND[kind]
    return st.integers(0, 100)


@given(st.data())
@settings(max_examples=100)
def test_a_record_of_every_kind_and_version_is_read_as_it_was_written(data):
    name = data.draw(st.sampled_from([*RECORDS]))
    version = data.draw(st.integers(0, find_layout(name).newest))
    fields = data.draw(drawn(find_layout(name).body, version))
    read = decode_record(encode_record(name, fields, version))
    defaults = {each.name: each.default for each in find_layout(name).body.tagged(version)}
    assert (read.name, read.version, {**defaults, **read.fields}) == (name, version, fields)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (bytes([2, 2, 0]), "frame 2 at byte 0 is unknown"),
        (bytes([1, 99, 0]), "kind 99 at byte 1 is unknown"),
        (bytes([1, 2, 9]), "TopicRecord: version 9 at byte 2 is unknown; known is 0 to 0"),
        (encode_record("TopicRecord", ORDERS)[:-9], "TopicRecord version 0"),
        (encode_record("NoOpRecord", {}) + b"x", "NoOpRecord version 0"),
        (b"", "byte"),
    ],
)
def test_what_is_no_record_is_said_with_its_place(value, words):
    with pytest.raises(Undecodable, match=words):
        decode_record(value)
    assert len(replay([value, setting("compact")]).problems) == 1


@pytest.mark.parametrize(
    ("name", "version", "words"),
    [("TopicRecrd", 0, "did you mean 'TopicRecord'"), ("TopicRecord", 1, "TopicRecord has versions 0 to 0, got 1")],
)
def test_what_makes_no_sense_is_a_sentence(name, version, words):
    with pytest.raises(KafkaLearnError, match=words):
        encode_record(name, ORDERS, version)
