import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.protocol import (
    Assignment,
    Subscription,
    decode_assignment,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    decode_subscription,
    encode_assignment,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)
from kafkalearn.offsets.records import decode
from tests.recorded import recorded
from tests.segments.disk import told

VECTORS = recorded("groups-codec")["vectors"]


def of_kind(kind):
    return [each for each in VECTORS if each["kind"] == kind]


def pairs(partitions):
    return tuple(map(tuple, partitions))


def user_data(fields):
    return None if fields["userData"] is None else bytes.fromhex(fields["userData"])


@pytest.mark.parametrize("vector", of_kind("consumer-subscription"), ids=lambda each: each["id"])
def test_a_recorded_subscription_passes_both_ways(vector):
    fields, data = vector["fields"], bytes.fromhex(vector["hex"])
    expected = Subscription(
        tuple(sorted(fields["topics"])),
        pairs(fields.get("ownedPartitions", ())),
        fields.get("generationId", -1),
        fields.get("rackId"),
        user_data(fields),
        vector["version"],
    )

    assert decode_subscription(data) == expected
    assert encode_subscription(expected) == data


@pytest.mark.parametrize("vector", of_kind("consumer-assignment"), ids=lambda each: each["id"])
def test_a_recorded_assignment_passes_both_ways(vector):
    expected = Assignment(pairs(vector["fields"]["partitions"]), user_data(vector["fields"]), vector["version"])

    assert decode_assignment(bytes.fromhex(vector["hex"])) == expected
    assert encode_assignment(expected).hex() == vector["hex"]


@pytest.mark.parametrize("vector", of_kind("sticky-userdata"), ids=lambda each: each["id"])
def test_the_memory_of_the_sticky_assignor_passes_both_ways(vector):
    expected = (pairs(vector["fields"]["partitions"]), vector["fields"]["generation"])

    assert decode_sticky_user_data(bytes.fromhex(vector["hex"])) == expected
    assert encode_sticky_user_data(*expected).hex() == vector["hex"]


@pytest.mark.parametrize("vector", of_kind("cooperative-sticky-userdata"), ids=lambda each: each["id"])
def test_the_memory_of_the_cooperative_assignor_passes_both_ways(vector):
    assert decode_cooperative_user_data(bytes.fromhex(vector["hex"])) == vector["fields"]["generation"]
    assert encode_cooperative_user_data(vector["fields"]["generation"]).hex() == vector["hex"]


def as_kafka_says(value: Subscription) -> dict:
    by_topic = {}
    for topic, partition in value.owned:
        by_topic.setdefault(topic, []).append(partition)
    return {"topics": list(value.topics), "owned": by_topic, "generation": value.generation, "rack": value.rack}


def test_the_blobs_of_real_members_say_what_kafkas_own_classes_said():
    lines = [line for line in told("disk") if (line["decoded"] or {}).get("consumer_protocol")]
    assert len(lines) == 42
    for line in lines:
        members = decode(bytes.fromhex(line["key"]), bytes.fromhex(line["value"])).value["members"]
        for member, said in zip(members, line["decoded"]["consumer_protocol"], strict=True):
            data = said["subscription"]["data"]
            assert as_kafka_says(decode_subscription(member["subscription"])) == {
                "topics": data["topics"],
                "owned": {each["topic"]: each["partitions"] for each in data.get("ownedPartitions", ())},
                "generation": data.get("generationId", -1),
                "rack": data.get("rackId"),
            }
            assigned = decode_assignment(member["assignment"]).partitions if said["assignment"] else ()
            topics = said["assignment"]["data"]["assignedPartitions"] if said["assignment"] else ()
            assert assigned == tuple((each["topic"], at) for each in topics for at in each["partitions"])


def test_an_older_sticky_member_tells_no_generation():
    assert decode_sticky_user_data(bytes.fromhex("00000001000274300000000100000000")) == ((("t0", 0),), -1)


def test_a_newer_version_is_read_as_the_newest_known_and_bytes_behind_it_are_passed_over():
    newest = encode_subscription(Subscription(("t",)))
    assert decode_subscription(b"\x00\x09" + newest[2:] + b"new fields").topics == ("t",)


@pytest.mark.parametrize(("data", "message"), [("ffff", "version -1 at byte 0 is negative"), ("00", "needs 2 bytes")])
def test_a_blob_that_is_none_is_refused(data, message):
    with pytest.raises(Undecodable, match=message):
        decode_subscription(bytes.fromhex(data))


def test_a_version_that_cannot_be_written_names_those_that_can():
    with pytest.raises(KafkaLearnError, match="has the versions 0 to 3, got 4"):
        encode_subscription(Subscription(("t",), version=4))


names = st.text(st.sampled_from("ab.-_9"), min_size=1, max_size=4)
partitions = st.lists(st.tuples(names, st.integers(0, 2**31 - 1)), unique=True, max_size=6).map(sorted).map(tuple)


@given(st.lists(names, unique=True).map(sorted).map(tuple), partitions, st.integers(-1, 100), st.none() | names)
def test_a_subscription_passes_both_ways(topics, owned, generation, rack):
    subscription = Subscription(topics, owned, generation, rack)
    assert decode_subscription(encode_subscription(subscription)) == subscription


@given(partitions, st.none() | st.binary(max_size=5), st.integers(0, 3))
def test_an_assignment_passes_both_ways(assigned, blob, version):
    assignment = Assignment(assigned, blob, version)
    assert decode_assignment(encode_assignment(assignment)) == assignment
