"""The formatter's line as a column: what Kafka's tools printed, and what the scalar function gives record by record."""

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.formats.disk import read_disk
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets import decode, encode_key, encode_value, formatter_line
from kafkalearn.offsets.formatter import formatter_lines
from kafkalearn.spark.offsets import decode_offsets
from kafkalearn.spark.offsets.printing import with_formatter_line
from tests.recorded import recorded

pytestmark = pytest.mark.spark

RELEASES = ("0.9.0", "2.0", "2.1", "2.2", "3.4.0", "3.8", "4.0", "4.1", "4.3")
TEXTS = ("", "m", 'a "quoted" \\ text', "größe 😀 位移", "\x1f\t\n", "</script>\u2028", "%s", "x" * 300)


def strange_records():
    """Every version of a committed offset, with texts that need escaping, and what the formatter passes over."""
    keys = [encode_key(number, {"group": f"g{text}", "topic": text, "partition": number}) for number in (0, 1)
            for text in TEXTS]  # fmt: skip
    fields = {"offset": 7, "metadata": "", "commitTimestamp": 1516353600000}
    values = [encode_value(1, version, fields | {"metadata": text}) for version in range(5) for text in TEXTS]
    values += [encode_value(1, 1, fields | {"expireTimestamp": 1516440000000})]
    values += [encode_value(1, version, fields | {"leaderEpoch": 5}) for version in (3, 4)]
    values += [encode_value(1, 4, fields | {"topicId": "9lnvh479TF2YXY3ZMFEQ8g"})]
    pairs = [(key, None) for key in keys] + [(key, value) for key in (keys[0], keys[-1]) for value in values]
    others = [encode_key(2, {"group": "g"}), encode_key(3, {"groupId": "g"}), (99).to_bytes(2, "big") + b"x"]
    return pairs + [(key, None) for key in others] + [(others[0], b"\x00"), (keys[0], b"\x00"), (keys[0][:3], None)]


def recorded_records():
    """The pairs of which Kafka's own formatter was recorded."""
    cases = recorded("offsets-formatter")["cases"]
    return {(bytes.fromhex(each["key_hex"]), None if each["value_hex"] is None else bytes.fromhex(each["value_hex"]))
            for each in cases if each.get("key_hex")}  # fmt: skip


def printed(spark, records, release):
    """(line, error) of some pairs of key and value, in their order."""
    rows = [(index, key, value) for index, (key, value) in enumerate(records)]
    df = spark.createDataFrame(rows, "number int, key binary, value binary").transform(decode_offsets)
    lines = df.transform(with_formatter_line, release).orderBy("number")
    return [(row.formatter_line, row.formatter_error) for row in lines.collect()]


def expected(key, value, release):
    try:
        return formatter_line(key, value, release), None
    except Undecodable as error:
        return None, str(error)


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_has_the_lines_of_the_scalar_function(spark, release):
    records = [*strange_records(), *sorted(recorded_records(), key=str)]
    found = printed(spark, records, release)

    for record, ours in zip(records, found, strict=True):
        theirs = expected(*record, release)
        if is_read_strictly(*record) and theirs[1] is None:
            assert ours == theirs, record
        else:  # it says why in words of its own
            assert ours == theirs or (ours[0] is None and ours[1]), record


def is_read_strictly(key, value):
    """Whether a record has just the bytes of its layout; of others the tools pass over what is behind."""
    try:
        decode(key, value)
    except Undecodable:
        return False
    return True


def test_a_real_partition_has_the_lines_that_the_real_tool_printed(spark):
    disk = data_directory("command-walk") / "disk"
    records = [(record.key, record.value) for segment in read_disk(disk) for batch in segment.batches
               for record in batch.records]  # fmt: skip

    found = printed(spark, records, "4.3")

    assert [line for line, _ in found if line is not None] == list(formatter_lines(disk))
    assert {error for _, error in found} == {None}


@pytest.mark.parametrize(("release", "message"), [("3.9", "got release 3.9"), ("0.8.2", "0.9.0 to 3.8 and since 4.0")])
def test_a_release_that_prints_the_unknown_is_refused(spark, release, message):
    df = spark.createDataFrame([], "key binary, value binary").transform(decode_offsets)
    with pytest.raises(KafkaLearnError, match=message):
        df.transform(with_formatter_line, release)


def test_raw_records_are_refused(spark):
    with pytest.raises(KafkaLearnError, match="the rows have no column 'group_id'"):
        with_formatter_line(spark.createDataFrame([], "key binary, value binary"))
