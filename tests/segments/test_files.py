"""The raw files of a real broker's offsets topic, and files as they should not be."""

import json

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import read_disk, read_segment, source_rows
from tests.segments.disk import FOLDER, RECORD_COUNTS, RUNS, segments, told


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


def test_the_rows_have_the_columns_of_sparks_kafka_source():
    rows = list(source_rows(segments("disk")))

    assert list(rows[0]) == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert len(rows) == 794  # without two markers
    assert {(row["topic"], row["timestampType"]) for row in rows} == {("__consumer_offsets", 0)}
    assert rows[0]["timestamp"].isoformat() == "2026-11-20T12:11:50.555000+00:00"


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
        (
            lambda path: read_disk(FOLDER / "disk", 10**5000),
            "topic must be a str, got int a whole number of about 5,001",
        ),
        (lambda path: read_disk(FOLDER / "disk", partition="0"), "partition must be a whole number of at least 0"),
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
