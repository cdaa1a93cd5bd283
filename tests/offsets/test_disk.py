"""From a folder to its groups, and whatever else `replay` is given."""

import shutil

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats.disk import committed_records, read_disk
from kafkalearn.offsets import read_groups, replay
from tests.segments.disk import FOLDER, RUNS, replayed, segments


@pytest.mark.parametrize("run", RUNS)
def test_one_call_goes_from_a_folder_to_its_groups(run):
    assert read_groups(FOLDER / run) == replayed(run)


@pytest.mark.parametrize("run", RUNS)
def test_segments_and_their_records_are_replayed_as_they_are(run):
    assert replay(segments(run)) == replayed(run)
    assert replay(committed_records(segments(run))) == replayed(run)
    assert replay(iter(segments(run))) == replayed(run)


def test_markers_among_records_are_passed_over():
    all_records = [record for each in segments("cleaned/before") for batch in each.batches for record in batch.records]
    assert replay(all_records) == replayed("cleaned/before")


def test_the_groups_of_several_brokers_are_not_put_together():
    with pytest.raises(KafkaLearnError, match=r"lies in 3 log dirs, .* log_dir='after-pass-1'"):
        read_groups(FOLDER / "cleaned")
    assert read_groups(FOLDER / "cleaned", log_dir="after-pass-2") == replayed("cleaned/after-pass-2")


def test_other_topics_of_the_folder_are_not_read(tmp_path):
    shutil.copytree(FOLDER / "cleaned/before", tmp_path, dirs_exist_ok=True)
    (tmp_path / "orders-0").mkdir()
    (tmp_path / f"orders-0/{0:020}.log").write_bytes(b"no batch at all")

    assert read_groups(tmp_path) == replayed("cleaned/before")


def test_damage_is_left_out_when_asked_and_only_then(tmp_path):
    shutil.copytree(FOLDER / "cleaned/before", tmp_path, dirs_exist_ok=True)
    path = tmp_path / f"__consumer_offsets-0/{0:020}.log"
    whole = bytearray(path.read_bytes())
    whole[100] ^= 0xFF
    path.write_bytes(whole)

    with pytest.raises(
        KafkaLearnError, match=r"0\.log is damaged, .* crc at byte 17 .*behind it \d+ batches can be read"
    ):
        read_groups(tmp_path)
    assert len(read_groups(tmp_path, skip_damaged=True).groups) == len(replayed("cleaned/before").groups)
    assert read_groups(tmp_path, has_checksum=False).groups


@pytest.mark.parametrize(
    ("records", "message"),
    [
        (None, "records must be a collection of"),
        ("groups", "records must be a collection of"),
        ([1], "records must be .key, value. in bytes, records or segments, got int 1"),
        ([("key", "value")], r"got tuple \('key', 'value'\)"),
        ([(b"key",)], "got tuple"),
        (lambda: read_disk(FOLDER / "cleaned"), "lies in 3 log dirs"),
    ],
)
def test_what_is_no_records_is_refused_in_one_sentence(records, message):
    with pytest.raises(KafkaLearnError, match=message):
        replay(records() if callable(records) else records)
