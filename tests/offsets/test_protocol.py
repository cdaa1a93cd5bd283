"""What members of a group send each other, both ways and to the last byte, and which version has which field."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets import RECORD_TYPES, decode, decode_assignment, decode_subscription, dissect, encode_value
from kafkalearn.offsets.protocol import (
    Assignment,
    Subscription,
    decode_cooperative_user_data,
    decode_sticky_user_data,
    dissect_members,
    encode_assignment,
    encode_cooperative_user_data,
    encode_sticky_user_data,
    encode_subscription,
)
from kafkalearn.offsets.records import fields_by_version
from tests.formats.disk import segments, told
from tests.offsets.generated import group_values
from tests.recorded import recorded

PAIRS = [(each.key, each.value) for each in committed_records(segments("disk"))]
REAL = [(key, value) for key, value in PAIRS if decode(key, value).type.number == 2]
GROUP_KEY = bytes.fromhex("0002000a746573742d67726f7570")


def test_every_group_record_of_a_real_broker_is_taken_apart_to_what_the_decoders_say():
    seen = 0
    for key, value in REAL:
        of_key, of_value = dissect_members(key, value)
        assert of_key == dissect(key, value)[0]
        if value is None:
            assert of_value == ()
            continue
        assert [piece.start for piece in of_value[1:]] == [piece.stop for piece in of_value[:-1]]
        assert (of_value[0].start, of_value[-1].stop) == (0, len(value))
        values = {piece.field: piece.value for piece in of_value if piece.role == "value"}
        for index, member in enumerate(decode(key, value).value["members"]):
            path = f"members[{index}]."
            topics = decode_subscription(member["subscription"]).topics
            assert tuple(values[f"{path}subscription.topics[{nth}]"] for nth in range(len(topics))) == topics
            assigned = decode_assignment(member["assignment"]).partitions
            numbers = [
                values[field]
                for field in values
                if field.startswith(f"{path}assignment.assignedPartitions") and ".partitions[" in field
            ]
            assert numbers == [each.partition for each in assigned]
            seen += len(assigned)
    assert seen > 50


@given(group_values())
@settings(max_examples=60)
def test_a_generated_group_leaves_no_byte_out_whatever_its_members_have_written(generated):
    version, values = generated
    value = encode_value(2, version, values)
    _, pieces = dissect_members(GROUP_KEY, value)

    assert b"".join(value[piece.start : piece.stop] for piece in pieces) == value


def test_bytes_that_are_no_subscription_stay_one_piece_and_bytes_behind_one_are_a_rest():
    member = {"memberId": "m", "clientId": "c", "clientHost": "h", "sessionTimeout": 1, "assignment": b""}
    whole = bytes.fromhex("000000000001000474657374ffffffff")
    found = {}
    for name, blob in (("damaged", b"\x00\x00\xff"), ("negative", b"\xff\xff\x00"), ("longer", whole + b"zz")):
        fields = {"protocolType": "consumer", "generation": 1, "protocol": None, "leader": None}
        value = encode_value(2, 0, fields | {"members": [member | {"subscription": blob}]})
        found[name] = [
            (each.role, each.value) for each in dissect_members(GROUP_KEY, value)[1] if "subscription" in each.field
        ]
    assert found["damaged"] == [("length", 3), ("value", b"\x00\x00\xff")]
    assert found["negative"] == [("length", 3), ("value", b"\xff\xff\x00")]
    assert found["longer"][-1] == ("rest", b"zz")


def test_a_group_that_is_none_of_consumers_is_not_opened():
    member = {"memberId": "m", "clientId": "c", "clientHost": "h", "sessionTimeout": 1, "assignment": b""}
    fields = {"protocolType": "connect", "generation": 1, "protocol": "eager", "leader": "m"}
    blob = bytes.fromhex("000000000001000474657374ffffffff")
    value = encode_value(2, 0, fields | {"members": [member | {"subscription": blob}]})

    assert dissect_members(GROUP_KEY, value) == dissect(GROUP_KEY, value)


@pytest.mark.parametrize("number", RECORD_TYPES)
def test_the_table_of_fields_has_in_each_version_what_a_record_of_it_needs(number):
    rows = fields_by_version(number)
    layout = RECORD_TYPES[number].value
    for version in range(layout.newest + 1):
        top = [row["field"] for row in rows if row[str(version)] and "." not in row["field"]]
        named = [field.name for field in (*layout.body.plain(version), *layout.body.tagged(version))]
        assert sorted(top) == sorted(named + (["tagged fields"] if layout.is_flexible(version) else []))


def test_fields_of_a_groups_value_by_version():
    rows = {row.pop("field"): "".join("x" if kind else "." for kind in row.values()) for row in fields_by_version(2)}

    assert {name: which for name, which in rows.items() if which != "xxxxx"} == {
        "currentStateTimestamp": "..xxx",
        "members[].groupInstanceId": "...xx",
        "members[].rebalanceTimeout": ".xxxx",
        "tagged fields": "....x",
    }


def test_an_unknown_record_type_has_no_table():
    with pytest.raises(KafkaLearnError, match="unknown record type"):
        fields_by_version(99)


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
