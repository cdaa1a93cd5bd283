import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets.formatter import formatter_line
from kafkalearn.offsets.records import json_text
from tests.every import every_case
from tests.recorded import recorded

KEY = bytes.fromhex("0001000a746573742d67726f757000047465737400000000")
OLD_KEY = b"\x00\x00" + KEY[2:]
GROUP_KEY = bytes.fromhex("0002000a746573742d67726f7570")
V0 = bytes.fromhex("000000000000000000640000000001610db7ba00")
V1 = bytes.fromhex("0001000000000000006400000000" + "01610db7ba00" + "0000016112de1600")
V3 = bytes.fromhex("00030000000000000064000000050000000001610db7ba00")


def unhex(text):
    return None if text is None else bytes.fromhex(text)


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


@every_case("case", recorded("offsets-formatter")["cases"], ids=line_id)
def test_strange_records_are_printed_skipped_or_refused_as_by_the_released_tools(case):
    record = unhex(case["key_hex"]), unhex(case["value_hex"])
    if "fails" in case:
        with pytest.raises(Undecodable, match=r"byte \d+"):
            formatter_line(*record, case["kafka"], case["formatter"])
    else:
        assert (formatter_line(*record, case["kafka"], case["formatter"]) or "") == case["output"]


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
