"""The offsets topic of a real broker, read from its raw files."""

import json

import pytest

from kafkalearn.errors import KafkaLearnError
from kafkalearn.offsets import (
    committed_records,
    decode,
    formatter_line,
    outcomes,
    read_disk,
    read_segment,
    rebuild,
    source_rows,
    to_json,
)
from tests.segments.disk import FOLDER, RUNS, admin, rebuilt, segments, told

FORMATTERS = {"OffsetsMessageFormatter": "offsets", "GroupMetadataMessageFormatter": "groups"}
RECORD_COUNTS = {"disk": 796, "cleaned/before": 292, "cleaned/after-pass-1": 70, "cleaned/after-pass-2": 46}


def on_disk(run):
    """Every record of a run with its segment and batch, markers too, by partition and offset."""
    return {
        (segment.partition, record.offset): (batch, record)
        for segment in segments(run)
        for batch in segment.batches
        for record in batch.records
    }


def unhex(text):
    return None if text is None else bytes.fromhex(text)


@pytest.mark.parametrize("run", RUNS)
def test_the_raw_files_hold_the_records_that_kafka_found_in_them(run):
    read, lines = on_disk(run), told(run)

    assert len(read) == len(lines) == RECORD_COUNTS[run]
    for line in lines:
        batch, record = read[line["partition"], line["offset"]]
        facts = (record.timestamp_ms, record.key, record.value, record.control)
        assert facts == (line["timestamp"], unhex(line["key"]), unhex(line["value"]), line["control"])
        assert line["batch"] == {
            "base": batch.base_offset,
            "last": batch.last_offset,
            "leader_epoch": batch.leader_epoch,
            "producer_id": batch.producer_id,
            "producer_epoch": batch.producer_epoch,
            "transactional": batch.is_transactional,
            "control": batch.is_control,
        }


@pytest.mark.parametrize("run", RUNS)
def test_every_record_decodes_to_what_kafka_printed(run):
    checked = 0
    for line in told(run):
        key, value = bytes.fromhex(line["key"]), unhex(line["value"])
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


@pytest.mark.parametrize("run", RUNS)
def test_the_rebuilt_groups_are_those_the_broker_listed(run):
    state = rebuilt(run)

    assert state.problems == ()
    assert [
        {
            "group": group.group_id,
            "type": group.kind.capitalize(),
            "protocol": group.protocol_type or "",
            "state": group.state,
            "simple": group.is_simple,
        }
        for group in state.groups
    ] == sorted(admin(run)["list_groups"], key=lambda each: each["group"])


@pytest.mark.parametrize("run", RUNS)
def test_the_rebuilt_groups_have_the_members_and_epochs_that_the_broker_described(run):
    described = {each["group"]: each for each in admin(run)["describe"]}
    for group in rebuilt(run).groups:
        said = described[group.group_id]
        epoch = None if group.kind == "classic" else group.epoch
        assert (group.protocol or "", epoch, group.target_epoch) == (
            said["assignor"],
            said["group_epoch"],
            said["target_assignment_epoch"],
        )
        assert [
            {
                "member_id": member.member_id,
                "client_id": member.client_id,
                "host": member.client_host,
                "instance": member.instance_id,
                "member_epoch": member.epoch,
                "assignment": sorted(map(list, member.assigned)),
                "target": None if member.target is None else sorted(map(list, member.target)),
            }
            for member in group.members
        ] == said["members"]


@pytest.mark.parametrize("run", RUNS)
def test_the_rebuilt_offsets_are_those_the_broker_gave(run):
    said = {each["group"]: sorted(each["offsets"]) for each in admin(run)["offsets"]}
    assert {
        group.group_id: [
            [each.topic, each.partition, each.offset, each.metadata, each.leader_epoch] for each in group.offsets
        ]
        for group in rebuilt(run).groups
    } == said


def test_the_cleaner_changed_the_log_and_not_what_it_says():
    before, first, second = (rebuilt(run) for run in RUNS[1:])
    rolled = {"roll-0", "roll-1"}  # one commit each, to close the segments

    assert {group for group in first.groups if group.group_id not in rolled} == set(before.groups)
    assert {group for group in second.groups if group.group_id not in rolled} == set(before.groups)


def test_offsets_of_an_aborted_transaction_do_not_count():
    batches = next(segment for segment in segments("disk") if segment.partition == 9).batches
    aborted = [batch for batch, how in zip(batches, outcomes(batches), strict=True) if how == "ABORT"]
    everything = rebuild(
        (record.key, record.value) for batch in batches for record in batch.records if not record.control
    )
    offsets = [each.offset for each in rebuilt("disk").group("txn-offsets").offsets]

    assert [batch.is_control for batch in aborted] == [False, True]
    assert offsets == [100, 101, 102]
    assert [each.offset for each in everything.group("txn-offsets").offsets] != offsets


def test_the_rows_have_the_columns_of_sparks_kafka_source():
    rows = list(source_rows(segments("disk")))

    assert list(rows[0]) == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert len(rows) == 794  # without two markers
    assert {(row["topic"], row["timestampType"]) for row in rows} == {("__consumer_offsets", 0)}
    assert rows[0]["timestamp"].isoformat() == "2026-11-20T12:11:50.555000+00:00"


def test_a_topic_id_without_a_name_stands_for_itself():
    names = {line["decoded"]["key"]["data"]["groupId"] for line in told("disk") if has_targets(line)}
    records = [(bytes.fromhex(line["key"]), unhex(line["value"])) for line in told("disk") if has_targets(line)]
    groups = rebuild(records + [group_record(name) for name in names]).groups
    assert {group.kind for group in groups} == {"consumer"}


def has_targets(line):
    return bool(line["decoded"]) and line["decoded"].get("key", {}).get("type") == 7


def group_record(group_id):
    line = next(
        line
        for line in told("disk")
        if line["value"] and line["decoded"] and line["decoded"].get("key", {}).get("type") == 3
        if line["decoded"]["key"]["data"]["groupId"] == group_id
    )
    return bytes.fromhex(line["key"]), bytes.fromhex(line["value"])


def test_a_torn_file_is_read_up_to_the_tear(tmp_path):
    source = FOLDER / "disk/__consumer_offsets-9/00000000000000000000.log"
    (tmp_path / "__consumer_offsets-9").mkdir()
    copy = tmp_path / "__consumer_offsets-9/00000000000000000000.log"
    copy.write_bytes(source.read_bytes()[:-10])
    whole, torn = read_segment(source), read_segment(copy)

    assert torn.batches == whole.batches[:-1]
    assert torn.rest.position + torn.rest.size_bytes == torn.size_bytes == whole.size_bytes - 10
    assert "it is cut off" in torn.rest.reason
    assert whole.rest is None


def test_records_that_cannot_be_read_are_named_and_the_others_count():
    good = [(record.key, record.value) for record in committed_records(segments("cleaned/before"))]
    state = rebuild([*good, (b"\x00\x18\x00\x01a", b"\x00\x00"), (b"\x00\x01", b"\x00\x00")])

    assert state.groups == rebuilt("cleaned/before").groups
    assert [problem.partition(" at byte")[0] for problem in state.problems] == [
        "key: record type 24",
        "OffsetCommitKey: group: length",
    ]


def test_segments_are_found_by_the_names_a_broker_gives_them(tmp_path):
    (tmp_path / "orders-1").mkdir()
    (tmp_path / "orders-1/00000000000000000007.log").write_bytes(b"")
    (tmp_path / "orders-1/00000000000000000000.log.deleted").write_bytes(b"")
    (tmp_path / "cleaner.log").write_bytes(b"")
    (found,) = read_disk(tmp_path)

    assert (found.topic, found.partition, found.base_offset, found.batches) == ("orders", 1, 7, ())
    assert read_disk(tmp_path / "orders-1") == (found,)
    assert read_segment(tmp_path / "orders-1/00000000000000000007.log", "other", 3).topic == "other"


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda path: read_disk(path / "none"), "there is no directory"),
        (lambda path: read_disk(path), "no segment below"),
        (lambda path: read_disk(FOLDER / "disk", "orders"), "no segment of topic 'orders' below"),
        (lambda path: read_segment(path / "0.log"), "there is no segment file"),
        (lambda path: read_segment(FOLDER / "admin.json"), "'admin.json' is no segment file"),
    ],
)
def test_what_is_not_there_is_said(tmp_path, ask, message):
    with pytest.raises(KafkaLearnError, match=message):
        ask(tmp_path)


def test_a_file_outside_its_directory_needs_a_topic(tmp_path):
    (tmp_path / "copied").mkdir()
    path = tmp_path / "copied/00000000000000000000.log"
    path.write_bytes(b"")
    with pytest.raises(KafkaLearnError, match="directory 'copied' is not named TOPIC-PARTITION; give topic"):
        read_segment(path)


def test_the_recording_tells_where_it_comes_from():
    told_of = json.loads((FOLDER / "admin.json").read_text(encoding="utf-8"))
    assert told_of["kafka"] == "4.3.0"
