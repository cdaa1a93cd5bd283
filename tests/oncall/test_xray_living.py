"""`xray` of a disk that lives: files cut, moved and appended to while they are read, without a wrong answer."""

import errno
import json
import os
import shutil
from pathlib import Path

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats import census, file_bytes, segments
from kafkalearn.oncall import xray, xray_contents, xray_given
from kafkalearn.oncall.answer import Outcome
from kafkalearn.oncall.command import main
from tests.formats.writing import batch
from tests.oncall.folders import NOW_MS, only, write

NAME = f"{0:020}.log"


def log(count, value=bytes(2000)):
    return b"".join(batch(at, [(at, NOW_MS, b"k", value)]) for at in range(count))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Two partitions, of which the first is read in many parts."""
    monkeypatch.setattr(file_bytes, "LARGEST_READ", file_bytes.SMALLEST_READ)
    monkeypatch.setattr(census, "PLAIN_RECORDS", 10)
    write(tmp_path, {0: log(200)})
    write(tmp_path, {0: log(3)}, partition=1)
    return tmp_path


def once(action):
    """A progress that does something at the first call."""
    left = [action]
    return lambda read_bytes, all_bytes: left.pop()() if left else None


@pytest.mark.parametrize("options", [{}, {"is_fast": False}, {"headers_only": True}])
@pytest.mark.parametrize("cut_to", [0, 50_000])
def test_a_file_that_is_cut_is_named_and_the_others_are_judged(options, cut_to, folder):
    path = folder / "orders-0" / NAME
    action = once(lambda: os.truncate(path, cut_to))
    found = xray(folder, now_ms=NOW_MS, progress=action, **options)
    assert only(found).kind == xray_given.CHANGED
    assert f"was cut from {len(log(200)):,} bytes to {cut_to:,} while it was read" in only(found).words
    assert [(each.given.at.partition, each.census.record_count) for each in found.logs] == [(1, 3)]
    assert found.outcome == Outcome.CANNOT_TELL


def test_a_file_that_is_cut_and_grows_again_is_not_taken_for_damaged(folder):
    path = folder / "orders-0" / NAME

    def elect():
        os.truncate(path, 1000)
        with path.open("ab") as file:
            file.write(log(300, bytes(1900)))

    found = xray(folder, now_ms=NOW_MS, progress=once(elect), is_fast=False)
    assert only(found).kind == xray_given.CHANGED
    assert "was written anew" in only(found).words


def test_beside_something_that_needs_a_person_that_counts(folder):
    write(folder, {0: log(3)[:-3]}, partition=1)
    found = xray(folder, now_ms=NOW_MS, progress=once(lambda: os.truncate(folder / "orders-0" / NAME, 0)))
    assert found.outcome == Outcome.FOUND
    assert [each.kind for each in found.findings] == [xray_given.CHANGED, xray_given.TORN_TAIL]


def test_nothing_but_a_file_that_is_cut_ends_in_a_sentence(folder):
    path = folder / "orders-0" / NAME
    with pytest.raises(KafkaLearnError, match=r"none of these files can be read: .* was cut from"):
        xray(folder, partition=0, now_ms=NOW_MS, progress=once(lambda: os.truncate(path, 0)))


def test_the_command_says_it_and_ends_with_2(folder, capsys, monkeypatch):
    path = folder / "orders-0" / NAME
    counted = census.Counting.add

    def cut(self, block):
        os.truncate(path, 50_000)
        counted(self, block)

    monkeypatch.setattr(census.Counting, "add", cut)
    assert main(["xray", str(path.parent), "--json"]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "kafkalearn: none of these files can be read: " in said.err
    assert "was cut from" in said.err


def test_a_folder_that_is_renamed_before_it_is_read_is_named(folder):
    moved = once(lambda: (folder / "orders-1").rename(folder / "orders-1.0123-delete"))
    found = xray(folder, now_ms=NOW_MS, progress=moved)
    assert (only(found).kind, only(found).where) == (xray_given.CHANGED, "orders-1")
    assert "was deleted or moved before it could be read" in only(found).words
    assert found.outcome == Outcome.CANNOT_TELL
    json.dumps(found.as_data())


def test_a_folder_that_is_renamed_while_folders_are_walked_through_is_none(folder, monkeypatch):
    """As the broker does: a topic is deleted, its folders are renamed at once and deleted a minute later."""
    walked, is_moved = os.walk, []

    def walk(top, **options):
        for place, names, files in walked(top, **options):
            if not is_moved:
                is_moved.append((folder / "orders-1").rename(folder / "orders-1.0123-delete"))
                assert "orders-1" in names
            yield place, names, files

    monkeypatch.setattr(segments.os, "walk", walk)
    found = xray(folder, now_ms=NOW_MS)
    assert is_moved
    assert [each.given.at.partition for each in found.logs] == [0]
    assert found.findings == ()


def test_a_file_that_goes_between_looking_and_asking_its_time_is_named(folder, monkeypatch):
    listed = xray_given.given_logs

    def listed_and_gone(*asked):
        found = listed(*asked)
        shutil.rmtree(folder / "orders-1")
        return found

    monkeypatch.setattr(xray_given, "given_logs", listed_and_gone)
    found = xray(folder)
    assert (only(found).kind, only(found).where) == (xray_given.CHANGED, "orders-1")


def test_a_batch_that_is_being_appended_is_no_torn_tail(folder):
    path = folder / "orders-0" / NAME
    whole = log(201)
    path.write_bytes(whole[:-500])

    def append():
        with path.open("ab") as file:
            file.write(whole[-500:])

    found = xray(folder, now_ms=NOW_MS, progress=once(append))
    assert found.findings == ()
    assert found.logs[0].census.record_count == 200
    assert found.logs[0].census.size_bytes == len(log(200))


def test_a_partition_that_may_not_be_read_is_no_silence(folder, monkeypatch):
    closed = {"orders-1", "lost+found"}
    for name in closed:
        (folder / name).mkdir(exist_ok=True)
    scandir = os.scandir

    def refusing(path):
        if Path(path).name in closed:  # root may read every folder, so the system's own answer is played
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refusing)
    with pytest.raises(KafkaLearnError, match=r"orders-1' cannot be read: Permission denied"):
        xray(folder)
    closed.remove("orders-1")
    assert len(xray(folder, now_ms=NOW_MS).logs) == 2


@pytest.mark.parametrize(
    ("value", "front"),
    [(b"a" * 5000, "a" * 1000), ("ä".encode() * 3000, "ä" * 500), (b"a" + "ä".encode() * 3000, "a" + "ä" * 499),
     (bytes(3000), "0x" + "00" * 1000), ("中".encode() * 2000, "中" * 333)],
)  # fmt: skip
def test_of_a_very_large_value_the_front_is_shown_and_its_size(value, front, monkeypatch, tmp_path):
    monkeypatch.setattr(xray_contents, "MOST_BYTES", 1000)
    found = xray(write(tmp_path, {0: log(1, value)}), now_ms=NOW_MS, records=1)
    assert found.records[0].value == f"{front}... ({len(value):,} bytes)"
