"""Decoding the offsets topic in whole columns gives what the scalar function and real Kafka give."""

import json
import random

import pytest
from pyspark.sql import functions as sf

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import data_directory
from kafkalearn.formats.disk import read_disk
from kafkalearn.formats.wire import Undecodable
from kafkalearn.offsets import decode, encode_key, encode_value, formatter_line
from kafkalearn.offsets.formatter import formatter_lines
from kafkalearn.offsets.records import RECORD_TYPES, decode_key
from kafkalearn.offsets.replay import classic_group, committed
from kafkalearn.oncall import xray
from kafkalearn.spark.offsets import (
    commits_per_second,
    group_findings,
    group_members,
    latest_state,
)
from kafkalearn.spark.offsets import decode as decoding
from kafkalearn.spark.offsets.decode import DECODED_COLUMNS, NOT_READ, OF_EVERY_RECORD, decode_offsets
from kafkalearn.spark.offsets.printing import with_formatter_line
from kafkalearn.spark.offsets.segments import only_committed, segments_df
from tests.formats.disk import FOLDER, RUNS, told
from tests.recorded import recorded

pytestmark = pytest.mark.spark


NOTHING = dict.fromkeys(DECODED_COLUMNS)
OFFSET_KEY = bytes.fromhex("0001000a746573742d67726f757000047465737400000000")
GROUP_KEY = bytes.fromhex("0002000a746573742d67726f7570")


def decoded(spark, records, **options):
    """The rows of some pairs of key and value, in their order."""
    rows = [(index, key, value) for index, (key, value) in enumerate(records)]
    df = spark.createDataFrame(rows, "number int, key binary, value binary")
    rows = df.transform(decode_offsets, **options).orderBy("number").drop("number", "key", "value")
    return [row.asDict() for row in rows.collect()]


def expected(key, value):
    """What the scalar functions say, as a row."""
    row = NOTHING | {"is_tombstone": value is None}
    row["value_version"] = int.from_bytes(value[:2], "big", signed=True) if value and len(value) > 1 else None
    if key is None:
        return row | {"error": "key: it is null; every record of the offsets topic has one"}
    if len(key) > 1:
        row["record_type"] = int.from_bytes(key[:2], "big", signed=True)
    try:
        kind, fields = decode_key(key)
        row |= {"record_type": kind.number, "kind": kind.words, "group_id": fields.get("group", fields.get("groupId"))}
        if kind.number < 2:
            row |= {"committed_topic": fields["topic"], "committed_partition": fields["partition"]}
        record = decode(key, value)
    except Undecodable as error:
        named = {number: each.words for number, each in decoding.RECORD_TYPES.items()}
        reason = str(error)
        return row | {"kind": named.get(row["record_type"]), "error": reason}
    if value is not None and kind.number < 2:
        row |= offset_columns(record)
    elif value is not None and kind.number == 2:
        row |= group_columns(record)
    return row


def offset_columns(record):
    one = committed(record)
    return {
        "committed_offset": one.offset,
        "leader_epoch": one.leader_epoch,
        "metadata": one.metadata,
        "commit_ms": one.commit_ms,
        "expire_ms": one.expire_ms,
        "topic_id": one.topic_id,
    }


def group_columns(record):
    group = classic_group("", record.value)
    return {
        "protocol_type": group.protocol_type,
        "generation": group.epoch,
        "protocol": group.protocol,
        "leader": group.leader,
        "state_ms": group.state_ms,
        "member_count": len(group.members),
    }


def assert_equal(spark, records):
    rows = decoded(spark, records)
    assert len(rows) == len(records)
    wrong = [
        (record, row, want) for record, row in zip(records, rows, strict=True) if row != (want := expected(*record))
    ]
    assert wrong == []


def random_text(rng):
    size = rng.choice((0, 1, 2, 5, 9, 126, 127, 128, 200))
    return "".join(rng.choice("aorder-.é位😀\x00") for _ in range(size))


def random_records(seed, count):
    """Records of every type that a broker can hold; offsets and groups in each version."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        version = rng.choice((0, 1, 2, 3, 4, 4))
        key = {"group": random_text(rng), "topic": random_text(rng), "partition": rng.choice((0, 1, -1, 2**31 - 1))}
        fields = {"offset": rng.choice((0, 7, -1, 2**63 - 1, -(2**63))), "metadata": random_text(rng)}
        fields["commitTimestamp"] = rng.choice((-1, 0, 1_763_719_800_000))
        if version == 1:
            fields["expireTimestamp"] = rng.choice((-1, 0, 1_763_719_800_000))
        if version >= 3:
            fields["leaderEpoch"] = rng.choice((-1, 0, 5))
        if version == 4 and rng.random() < 0.6:
            fields["topicId"] = rng.choice(
                ("AAAAAAAAAAEAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAA", "zz-_zz-_zz-_zz-_zz-_zw")
            )
        value = None if rng.random() < 0.1 else encode_value(1, version, fields)
        made.append((encode_key(rng.choice((0, 1, 1)), key), value))
    return made


def random_groups(seed, count):
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        version = rng.randrange(5)
        fields = {
            "protocolType": random_text(rng),
            "generation": rng.choice((0, 3, 2**31 - 1)),
            "protocol": rng.choice((None, "range")),
            "leader": rng.choice((None, random_text(rng))),
            "members": [random_member(rng, version) for _ in range(rng.choice((0, 1, 3)))],
        }
        if version >= 2:
            fields["currentStateTimestamp"] = rng.choice((-1, 1_763_719_800_000))
        made.append((encode_key(2, {"group": random_text(rng)}), encode_value(2, version, fields)))
    return made


def random_others(seed, count):
    """Records of the newer protocols: keys of every type, values that are hardly ever good."""
    rng = random.Random(seed)
    kinds = [each for number, each in RECORD_TYPES.items() if number > 2]
    made = []
    for kind in kinds * count:
        key = {each.name: random_text(rng) for each in kind.key.body.plain(version=0)}
        made.append(
            (encode_key(kind.number, key), rng.choice((None, b"", b"\x00\x00", b"\x00\x05" + rng.randbytes(9))))
        )
    return made


def random_member(rng, version):
    fields = {name: random_text(rng) for name in ("memberId", "clientId", "clientHost")}
    fields |= {"sessionTimeout": 10_000, "subscription": rng.randbytes(9), "assignment": rng.randbytes(130)}
    if version >= 1:
        fields["rebalanceTimeout"] = 300_000
    if version >= 3:
        fields["groupInstanceId"] = rng.choice((None, "static-1"))
    return fields


def cut(rng, record):
    """The record with a byte or more taken off, changed or added."""
    key, value = record
    part, how = rng.choice((key, value, value)), rng.choice(("cut", "cut", "changed", "added"))
    if not part:
        part = key
    at = rng.randrange(len(part))
    other = {
        "cut": part[:at],
        "changed": part[:at] + bytes([part[at] ^ rng.choice((1, 0x80, 0xFF))]) + part[at + 1 :],
        "added": part + rng.randbytes(rng.choice((1, 3))),
    }[how]
    return (other, value) if part is key else (key, other)


def test_what_kafka_s_classes_encoded_is_decoded_to_their_fields(spark, route):
    keys = [bytes.fromhex(each["hex"]) for each in recorded("groups-codec")["vectors"] if each["kind"].endswith("-key")]
    values = [
        (OFFSET_KEY if each["kind"] == "offset-commit-value" else GROUP_KEY, bytes.fromhex(each["hex"]))
        for each in recorded("groups-codec")["vectors"] + recorded("groups-codec-since")["vectors"]
        if each["kind"] in ("offset-commit-value", "group-metadata-value")
    ]
    records = [(key, None) for key in keys] + values

    assert len(values) > 20
    assert_equal(spark, records)


@pytest.mark.parametrize("run", RUNS)
def test_every_record_of_a_real_broker_is_decoded_to_what_its_own_formatter_printed(spark, run):
    lines = [line for line in told(run) if not line["control"]]
    records = [(bytes.fromhex(line["key"]), line["value"] and bytes.fromhex(line["value"])) for line in lines]
    rows = decoded(spark, records)

    assert [row["error"] for row in rows if row["error"]] == []
    printed = [(row, json.loads(line["printed"])) for row, line in zip(rows, lines, strict=True) if line["printed"]]
    assert len(printed) > 20
    for row, said in printed:
        assert (row["record_type"], row["group_id"]) == (said["key"]["type"], said["key"]["data"]["group"])
        assert row["value_version"] == (said["value"] and said["value"]["version"])
        if said["value"] and row["record_type"] == 1:
            data = said["value"]["data"]
            assert (row["committed_topic"], row["committed_partition"]) == (
                said["key"]["data"]["topic"],
                said["key"]["data"]["partition"],
            )
            assert (row["committed_offset"], row["metadata"], row["commit_ms"], row["topic_id"]) == (
                data["offset"],
                data["metadata"],
                data["commitTimestamp"],
                data.get("topicId"),
            )
    assert_equal(spark, records)


@pytest.mark.equal("offsets.decode.members_of_rest")
def test_generated_records_are_decoded_as_the_scalar_function_does(spark, route):
    assert_equal(spark, random_records(7, 600) + random_groups(8, 60))


def test_damaged_records_keep_their_row_and_get_the_scalar_function_s_reason(spark):
    rng = random.Random(9)
    whole = random_records(10, 500) + random_groups(11, 150)
    damaged = [cut(rng, record) for record in whole]
    rows = decoded(spark, damaged)

    assert sum(row["error"] is not None for row in rows) > 400
    assert_equal(spark, damaged)


def test_keys_of_every_type_say_their_group_and_those_of_none_say_nothing(spark, route):
    rng = random.Random(17)
    whole = random_others(18, 8)
    unknown = [(number.to_bytes(2, "big", signed=True) + b"\x00\x01g", None) for number in (-1, 18, 24, 30_000)]
    assert_equal(spark, whole + [cut(rng, record) for record in whole] + unknown)


def test_the_input_is_read_once(spark, tmp_path):
    records = random_records(12, 300) + random_groups(13, 30)
    spark.createDataFrame(records, "key binary, value binary").write.parquet(str(tmp_path / "records"))
    rows = spark.read.parquet(str(tmp_path / "records")).transform(decode_offsets)
    assert len(rows.collect()) == len(records)

    leaves = rows._jdf.queryExecution().executedPlan().collectLeaves()
    read = [leaves.apply(at).metrics().apply("numOutputRows").value() for at in range(leaves.size())]
    assert read == [len(records)]  # one scan, which has read each record once


def test_without_python_a_record_says_the_same_or_that_it_was_not_read(spark, route):
    rng = random.Random(14)
    whole = random_records(15, 300) + random_groups(16, 30) + random_others(19, 3)
    records = [(None, b"\x00\x03"), (b"", None), *whole, *(cut(rng, record) for record in whole)]
    both = [decoded(spark, records, has_python=has_python) for has_python in (True, False)]

    read = 0
    for said, without in zip(*both, strict=True):
        if without["error"] == NOT_READ:
            assert without == NOTHING | {"error": NOT_READ} | {name: said[name] for name in OF_EVERY_RECORD}
        else:
            read += 1
            assert without == said
    assert read > 200


def test_without_python_no_worker_runs_python(spark):
    rows = spark.createDataFrame([(OFFSET_KEY, None)], "key binary, value binary")
    decoded_ = [rows.transform(decode_offsets, has_python=has_python) for has_python in (True, False)]
    assert [runs_python(each) for each in decoded_] == [True, False]


def runs_python(df):
    return "ArrowEvalPython" in df._jdf.queryExecution().executedPlan().toString()


def test_who_asks_for_what_keys_say_starts_no_python(spark):
    rows = spark.createDataFrame([(OFFSET_KEY, None)], "key binary, value binary").transform(decode_offsets)
    assert not runs_python(rows.select(*OF_EVERY_RECORD))
    assert not runs_python(rows.where("group_id = 'test-group'").groupBy("kind", "is_tombstone").count())
    assert [name for name in DECODED_COLUMNS if not runs_python(rows.select(name))] == [
        name for name in DECODED_COLUMNS if name in OF_EVERY_RECORD
    ]


@pytest.mark.parametrize(
    "helper", [latest_state, commits_per_second, group_findings, group_members, with_formatter_line]
)
def test_what_needs_every_record_refuses_rows_that_were_not_all_read(spark, helper):
    rows = spark.createDataFrame([(OFFSET_KEY, None, 0)], "key binary, value binary, offset bigint")
    decoded_ = rows.transform(decode_offsets, has_python=False).where("record_type = 1").withColumn("more", sf.lit(1))
    with pytest.raises(KafkaLearnError, match=r"has_python=False, which leaves .* unread; .* decode them without it"):
        helper(decoded_)
    helper(rows.transform(decode_offsets))


def test_columns_of_any_other_name_stay_as_they_are(spark):
    own = dict.fromkeys(["_type", "_version", "_group_id", "_rest"], 7)
    record = {"key": OFFSET_KEY, "value": None} | own
    schema = "key binary, value binary" + "".join(f", {name} int" for name in own)

    (row,) = spark.createDataFrame([tuple(record.values())], schema).transform(decode_offsets).collect()

    assert {name: row[name] for name in own} == own
    assert (row["record_type"], row["group_id"]) == (1, "test-group")


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


def expected_printing(key, value, release):
    try:
        return formatter_line(key, value, release), None
    except Undecodable as error:
        return None, str(error)


@pytest.mark.parametrize("release", RELEASES)
def test_each_release_has_the_lines_of_the_scalar_function(spark, release):
    records = [*strange_records(), *sorted(recorded_records(), key=str)]
    found = printed(spark, records, release)

    for record, ours in zip(records, found, strict=True):
        theirs = expected_printing(*record, release)
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


@pytest.fixture(scope="module")
def found(spark):
    decoded = segments_df(spark, FOLDER / "disk").transform(only_committed).transform(decode_offsets)
    return {row.group_id: row for row in group_findings(decoded).collect()}


@pytest.fixture(scope="module")
def of_files():
    return xray(FOLDER / "disk").groups


def test_each_group_has_the_counts_that_an_x_ray_of_the_files_has(found, of_files):
    there = {group_id: row for group_id, row in found.items() if not row.is_gone}

    assert there.keys() == {each.group_id for each in of_files.groups}
    for each in of_files.groups:
        row = there[each.group_id]
        assert (row.size_bytes, row.commit_count) == (each.size_bytes, each.commit_count), each.group_id
        assert (row.offset_count, row.is_dead_but_kept) == (each.offset_count, each.is_dead), each.group_id
        assert row.share == pytest.approx(each.share)


def test_groups_of_which_nothing_counts_are_counted_apart(found, of_files):
    gone = [row for row in found.values() if row.is_gone]

    assert len(gone) == of_files.gone_count > 0
    assert sum(row.size_bytes for row in gone) == of_files.gone_bytes
    assert all("the cleaner takes all of it" in row.words for row in gone)


def test_the_words_say_what_is_counted(found):
    dead = [row for row in found.values() if row.is_dead_but_kept]

    assert dead
    for row in found.values():
        assert row.words.startswith(f"{row.group_id}: {row.share * 100:.1f} % of all bytes, {row.commit_count} commits")
        assert ("nobody is in it" in row.words) == row.is_dead_but_kept
    assert sum(row.share for row in found.values()) == pytest.approx(1)
