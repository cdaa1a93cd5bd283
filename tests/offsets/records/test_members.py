"""A group's record to the last byte: subscriptions and assignments opened, and which version has which field."""

import pytest
from hypothesis import given, settings

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records
from kafkalearn.offsets import RECORD_TYPES, decode, decode_assignment, decode_subscription, dissect, encode_value
from kafkalearn.offsets.protocol import dissect_members
from kafkalearn.offsets.records import fields_by_version
from tests.offsets.generated import group_values
from tests.segments.disk import segments

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
