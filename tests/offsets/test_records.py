"""Records of every type and version, from bytes, to bytes and as the tools print them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import UNKNOWN_TAGS, Undecodable
from kafkalearn.offsets.formatter import formatter_line
from kafkalearn.offsets.records import (
    RECORD_TYPES,
    decode,
    decode_key,
    decode_value,
    dissect,
    encode_key,
    encode_value,
    json_text,
    record_type,
    to_json,
)
from tests.formats.disk import RECORD_COUNTS, RUNS, told
from tests.offsets.generated import records
from tests.recorded import recorded, unhex

CODEC = recorded("groups-codec")
SINCE = recorded("groups-codec-since")
KEY = bytes.fromhex("0001000a746573742d67726f757000047465737400000000")
VALUES = {"offset-commit-value": 1, "group-metadata-value": 2}
FORMATTERS = {"OffsetsMessageFormatter": "offsets", "GroupMetadataMessageFormatter": "groups"}


def fields_of(vector):
    """The fields as we decode them: the vectors write blobs in hex, and leave defaults out."""
    fields = json.loads(json.dumps(vector["fields"]))
    for member in fields.get("members", ()):
        member["subscription"] = bytes.fromhex(member["subscription"])
        member["assignment"] = bytes.fromhex(member["assignment"])
    return fields


def case_id(case):
    return case.get("id") or f"{case['type']}-{case['version']}"


@pytest.mark.parametrize("vector", [each for each in CODEC["vectors"] if each["kind"].endswith("-key")], ids=case_id)
def test_a_recorded_key_passes_both_ways(vector):
    key = bytes.fromhex(vector["hex"])
    kind, fields = decode_key(key)

    assert (kind.number, fields) == (vector["version"], vector["fields"])
    assert encode_key(kind, fields) == key


@pytest.mark.parametrize(
    "vector", [each for each in CODEC["vectors"] + SINCE["vectors"] if each["kind"] in VALUES], ids=case_id
)
def test_a_recorded_value_passes_both_ways(vector):
    value, number, fields = bytes.fromhex(vector["hex"]), VALUES[vector["kind"]], fields_of(vector)
    version, decoded = decode_value(number, value)

    assert version == vector["version"]
    assert decoded | fields == decoded
    assert set(decoded) - set(fields) <= {"leaderEpoch", "expireTimestamp"}  # left out: they have a default
    assert encode_value(number, version, fields) == encode_value(number, version, decoded) == value


@pytest.mark.parametrize("run", RUNS)
def test_every_record_decodes_to_what_kafka_printed(run):
    checked = 0
    for line in told(run):
        key, value = bytes.fromhex(line["key"]), line["value"] and bytes.fromhex(line["value"])
        if line["control"]:
            continue
        if line["formatter"]:
            assert formatter_line(key, value, "4.3.0", FORMATTERS[line["formatter"]]) == line["printed"]
        else:
            record, said = decode(key, value), line["decoded"]
            assert (record.type.number, record.type.name) == (said["key"]["type"], said["key"]["name"])
            assert to_json(record.key) == said["key"]["data"]
            fields = None if value is None else {"version": record.version, "data": to_json(record.value)}
            assert fields == said["value"]
        checked += 1
    assert checked >= RECORD_COUNTS[run] - 2


@given(records())
def test_a_generated_record_of_any_type_and_version_passes_both_ways(generated):
    kind, version, key, value = generated
    record = decode(encode_key(kind, key), encode_value(kind, version, value))

    assert (record.type, record.version, record.key, record.value) == (kind, version, key, value)


@given(records(), st.data())
def test_a_record_cut_short_or_with_more_bytes_says_at_which_byte(generated, data):
    kind, version, _, value = generated
    encoded = encode_value(kind, version, value)
    cut = data.draw(st.integers(0, len(encoded) - 1))

    with pytest.raises(Undecodable, match=r"byte \d+") as too_few:
        decode_value(kind, encoded[:cut])
    assert 0 <= too_few.value.position <= cut
    with pytest.raises(Undecodable, match=rf"ends before byte {len(encoded)}, 1 more byte follows"):
        decode_value(kind, encoded + b"\x00")


@given(records())
def test_a_dissected_record_leaves_no_byte_out(generated):
    kind, version, key, value = generated
    of_key, of_value = dissect(encode_key(kind, key), encode_value(kind, version, value))

    for pieces, whole in ((of_key, encode_key(kind, key)), (of_value, encode_value(kind, version, value))):
        assert [piece.start for piece in pieces] == [0, *(piece.stop for piece in pieces[:-1])]
        assert pieces[-1].stop == len(whole)


@pytest.mark.parametrize(
    ("value", "field", "position", "message"),
    [
        ("", "", 0, "OffsetCommitValue: version at byte 0 needs 2 bytes, 0 of 0 are left"),
        ("0005", "version", 0, "version 5 at byte 0 is unknown; known is 0 to 4"),
        ("ffff", "version", 0, "version -1 at byte 0 is unknown"),
        ("00030000000000000064", "leaderEpoch", 10, "leaderEpoch: value at byte 10 needs 4 bytes, 0 of 10 are left"),
        ("000300000000000000640000000500ff", "metadata", 16, "metadata: value at byte 16 needs 255 bytes, 0 of 16"),
        ("0003000000000000006400000005ffff", "metadata", 14, "metadata: length at byte 14 is null, which"),
        ("0003000000000000006400000005fffe", "metadata", 14, "metadata: length at byte 14 is -2"),
        ("00030000000000000064000000050001ff", "metadata", 16, "metadata: byte 16 is not UTF-8"),
        ("000400000000000000640000000500", "metadata", 14, "metadata: length at byte 14 is null, which"),
        ("0004000000000000006400000005ffffffffff01", "metadata", 14, "a number of more than 5 bytes"),
    ],
)
def test_bytes_that_are_no_offset_value_name_the_field_and_the_byte(value, field, position, message):
    with pytest.raises(Undecodable, match=message.replace("(", r"\(")) as error:
        decode_value("OFFSET_COMMIT", bytes.fromhex(value))
    assert (error.value.field, error.value.position) == (field, position)


def test_a_field_of_a_member_is_named_with_its_place():
    good = bytes.fromhex(next(each["hex"] for each in CODEC["vectors"] if each["id"] == "grpval-v3-one-member"))
    with pytest.raises(Undecodable, match=r"GroupMetadataValue version 3: members\[0\].assignment: value at byte"):
        decode_value("GROUP_METADATA", good[:-1])


def test_a_count_larger_than_the_rest_is_refused_before_anything_is_built():
    empty = bytes.fromhex(next(each["hex"] for each in CODEC["vectors"] if each["id"] == "grpval-v3-empty"))
    with pytest.raises(Undecodable, match="members: count says 2147483647 elements, 0 bytes are left at byte 32"):
        decode_value("GROUP_METADATA", empty[:-4] + b"\x7f\xff\xff\xff")


@pytest.mark.parametrize("number", [18, 24, -1])
def test_a_key_of_an_unknown_record_type_says_what_brokers_do_with_it(number):
    with pytest.raises(Undecodable, match=f"record type {number} at byte 0 is unknown; .* brokers skip others"):
        decode_key(number.to_bytes(2, "big", signed=True) + b"\x00\x01a")


def test_a_tagged_field_that_nobody_knows_is_kept_and_written_again():
    value = bytes.fromhex("00000000000701" + "05" + "02" + "abcd")  # group epoch 7, tag 5 with two bytes
    version, fields = decode_value("CONSUMER_GROUP_METADATA", value)

    assert fields == {"epoch": 7, UNKNOWN_TAGS: {5: b"\xab\xcd"}}
    assert encode_value("CONSUMER_GROUP_METADATA", version, fields) == value


def test_a_tagged_field_of_another_size_than_it_says_is_refused():
    with pytest.raises(Undecodable, match="metadataHash: size says 7 bytes from byte 9 on, it took 8"):
        decode_value("CONSUMER_GROUP_METADATA", bytes.fromhex("00000000000701" + "00" + "07" + "00" * 8))


@pytest.mark.parametrize(
    ("version", "fields", "message"),
    [
        (3, {"offset": 1, "metadata": ""}, "OffsetCommitValue version 3: commitTimestamp is missing"),
        (3, {"ofset": 1}, "unknown field 'ofset'; did you mean 'offset'"),
        (2, {"offset": 1, "leaderEpoch": 1}, "leaderEpoch is not in this version; versions 3 and up have it"),
        (3, {"offset": 2**63, "metadata": "", "commitTimestamp": 0}, "offset must be an int64"),
        (3, {"offset": True, "metadata": "", "commitTimestamp": 0}, "offset must be an int64"),
        (3, {"offset": 1, "metadata": None, "commitTimestamp": 0}, "metadata cannot be null"),
        (3, {"offset": 1, "metadata": "\ud800", "commitTimestamp": 0}, "lone surrogate"),
        (3, {"offset": 1, "metadata": "m" * 32768, "commitTimestamp": 0}, "32768 bytes; a string has at most 32767"),
        (4, {"offset": 1, "metadata": "", "commitTimestamp": 0, "topicId": "orders"}, "a topic id of 22 characters"),
        (5, {}, "OffsetCommitValue has the versions 0 to 4, got 5"),
    ],
)
def test_fields_that_cannot_be_written_say_which_and_why(version, fields, message):
    with pytest.raises(KafkaLearnError, match=message):
        encode_value("OFFSET_COMMIT", version, fields)


def test_key_and_value_must_be_bytes():
    with pytest.raises(KafkaLearnError, match="key must be bytes, got str"):
        decode("0001", None)
    with pytest.raises(KafkaLearnError, match="value must be bytes, or None for a tombstone, got str"):
        decode(KEY, "")


def test_the_record_types_have_names_numbers_and_releases():
    assert sorted(RECORD_TYPES) == [*range(18), *range(19, 24)]
    assert [each.number for each in RECORD_TYPES.values() if each.until] == [0, 4, 9]
    with pytest.raises(KafkaLearnError, match="unknown record type 'OFFSET_COMIT'; did you mean 'OFFSET_COMMIT'"):
        record_type("OFFSET_COMIT")
    with pytest.raises(KafkaLearnError, match="unknown record type 18; known are 0 to 23 without 18"):
        record_type(18)
    for odd in ([], 1.0, None, 10**5000):
        with pytest.raises(KafkaLearnError, match=r"unknown record type .*; known are 0 to 23 without 18"):
            record_type(odd)


OLD_KEY = b"\x00\x00" + KEY[2:]
GROUP_KEY = bytes.fromhex("0002000a746573742d67726f7570")
V0 = bytes.fromhex("000000000000000000640000000001610db7ba00")
V1 = bytes.fromhex("0001000000000000006400000000" + "01610db7ba00" + "0000016112de1600")
V3 = bytes.fromhex("00030000000000000064000000050000000001610db7ba00")


def line_id(case):
    return case.get("id") or f"{case['kafka']}-{case['formatter']}-{case['key_hex']}-{case['value_hex']}"[:70]


@pytest.mark.parametrize(
    "vector", [each for each in recorded("groups-codec")["vectors"] if each["kind"] == "formatter-json"], ids=line_id
)
def test_the_json_line_of_3_9_is_kafkas(vector):
    fields = vector["fields"]
    formatter = {"offsets": "offsets", "group": "groups"}[fields["formatter"]]
    line = formatter_line(unhex(fields["keyHex"]), unhex(fields["valueHex"]), "3.9", formatter)
    assert (line or "") == vector["output"]


@pytest.mark.parametrize("vector", recorded("groups-codec-since")["formatter-json"], ids=line_id)
def test_the_json_line_since_4_0_is_kafkas(vector):
    fields = vector["fields"]
    formatter = {"offsets": "offsets", "group": "groups"}[fields["formatter"]]
    first = vector["kafka"].partition(" ")[0]
    for release in {first, "4.3.1"}:
        line = formatter_line(unhex(fields["keyHex"]), unhex(fields["valueHex"]), release, formatter)
        assert (line or "") == vector["output"]


@pytest.mark.parametrize(
    ("release", "key", "value", "line"),
    [
        ("0.8.2", OLD_KEY, V0, "[test-group,test,0]::OffsetAndMetadata[100,NO_METADATA,1516353600000]"),
        ("0.8.2", OLD_KEY, None, "[test-group,test,0]::NULL"),
        ("0.8.2", None, V0, "NULL::OffsetAndMetadata[100,NO_METADATA,1516353600000]"),
        (
            "0.9.0",
            KEY,
            V1,
            "[test-group,test,0]::[OffsetMetadata[100,NO_METADATA],CommitTime 1516353600000,"
            "ExpirationTime 1516440000000]",
        ),
        (
            "2.0",
            OLD_KEY,
            V0,
            "[test-group,test,0]::[OffsetMetadata[100,NO_METADATA],CommitTime 1516353600000,ExpirationTime -1]",
        ),
        (
            "2.1",
            KEY,
            V3,
            "[test-group,test,0]::OffsetAndMetadata(offset=100, leaderEpoch=Optional[5], metadata=, "
            "commitTimestamp=1516353600000, expireTimestamp=None)",
        ),
        (
            "3.8",
            KEY,
            V1,
            "[test-group,test,0]::OffsetAndMetadata(offset=100, leaderEpoch=Optional.empty, metadata=, "
            "commitTimestamp=1516353600000, expireTimestamp=Some(1516440000000))",
        ),
        ("3.8", KEY, None, "[test-group,test,0]::NULL"),
        ("3.8", GROUP_KEY, None, None),
        ("3.8", None, V3, None),
    ],
)
def test_the_text_lines_up_to_3_8(release, key, value, line):
    assert formatter_line(key, value, release) == line


@pytest.mark.parametrize(
    ("release", "key", "value"),
    [("0.8.2", KEY, V0), ("0.9.0", KEY, V3), ("2.0", KEY, V3), ("3.4.0", b"\x00\x03\x00\x01a", V3)],
)
def test_an_old_tool_stops_at_what_came_after_it(release, key, value):
    with pytest.raises(Undecodable, match=f"at byte 0 is unknown to Kafka {release}"):
        formatter_line(key, value, release)


def test_a_record_type_from_the_future_is_passed_over_since_3_4_1():
    assert formatter_line(b"\x00\x03\x00\x01a", V3, "3.4.1") is None


def test_control_characters_have_capital_hex_digits_and_others_stay():
    assert json_text({"a": '\x00\x1f\x7f\\u001f"\n东😀'}) == r'{"a":"\u0000\u001F' + "\x7f" + r'\\u001f\"\n东😀"}'


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("4.3", "ofsets"), "unknown formatter 'ofsets'; did you mean 'offsets'"),
        (("5.0", "offsets"), "unknown release '5.0'"),
        (("3.8", "groups"), "the lines of the groups formatter are known since 3.9"),
    ],
)
def test_what_no_tool_prints_says_so(arguments, message):
    with pytest.raises(KafkaLearnError, match=message):
        formatter_line(KEY, V3, *arguments)


@pytest.mark.parametrize("pair", [("NONE", V3), (KEY, "NONE")])
def test_a_text_is_no_key_and_no_value(pair):
    with pytest.raises(KafkaLearnError, match="must be bytes, got str 'NONE'; encode it first"):
        formatter_line(*pair)
