"""The bytes of a file that lives: as those of a copy while it only grows, and an error in words once it was cut."""

import os
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats import file_bytes
from kafkalearn.formats.file_bytes import Changed, FileBytes, opened


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.log"
    path.write_bytes(os.urandom(3 * file_bytes.LARGEST_READ))
    return path


places = st.lists(st.tuples(st.integers(0, 700), st.integers(0, 700)), max_size=30)


@given(st.binary(max_size=600), places, st.integers(1, 255))
def test_it_has_the_bytes_of_the_file(content, asked, sought):
    with pytest.MonkeyPatch.context() as patched, tempfile.TemporaryDirectory() as folder:
        patched.setattr(file_bytes, "SMALLEST_READ", 8)
        patched.setattr(file_bytes, "LARGEST_READ", 64)
        path = Path(folder, "a.log")
        path.write_bytes(content)
        with opened(path) as data:
            assert len(data) == len(content)
            for start, end in asked:
                assert data[start:end] == content[start:end]
                assert data.find(sought, start, end) == content.find(sought, start, end)
                if start < len(content):
                    assert data[start] == content[start]


def test_a_place_behind_the_end_is_none(path):
    with opened(path) as data, pytest.raises(IndexError):
        data[len(data)]


def test_what_is_read_in_order_is_read_in_large_parts_and_what_is_far_apart_in_small_ones(path, monkeypatch):
    read = []
    monkeypatch.setattr(
        FileBytes,
        "_read",
        lambda self, start, end, way=FileBytes._read: read.append(end - start) or way(self, start, end),
    )
    with opened(path) as data:
        for at in range(0, len(data), 61):
            data[at : at + 61]
        in_order, read[:] = list(read), []
        for at in range(0, len(data), 64 << 10):
            data[at : at + 61]
    assert len(in_order) < 20
    assert max(in_order) == file_bytes.LARGEST_READ
    assert set(read) == {file_bytes.SMALLEST_READ}


def test_a_file_that_grows_stays_as_it_was(path):
    content = path.read_bytes()
    with opened(path) as data:
        with path.open("ab") as file:
            file.write(b"more")
        assert data.has_grown
        assert data[: 2 * len(content)] == content


@pytest.mark.skipif(sys.platform == "win32", reason="Windows deletes no file that is open")
def test_a_file_that_is_deleted_can_be_read_to_its_end(path):
    content = path.read_bytes()
    with opened(path) as data:
        path.unlink()
        assert data[: len(data)] == content


def changed(path, change, read=lambda data: None):
    """A file is opened, something is done to it, and it is read."""
    with opened(path) as data:
        change()
        read(data)


@pytest.mark.parametrize("at", [0, 100, 3 * file_bytes.LARGEST_READ - 1])
def test_a_file_that_was_cut_is_an_error_at_the_place_that_is_gone(path, at):
    read = []
    with pytest.raises(Changed, match=rf"a\.log' was cut from 3,145,728 bytes to {at:,} while"):
        changed(path, lambda: os.truncate(path, at), lambda data: read.append(data[at : len(data)]))
    assert read == []


def test_a_file_that_was_cut_is_an_error_at_the_end_even_if_nothing_was_missed(path):
    read = []
    with pytest.raises(Changed, match="was cut"):
        changed(path, lambda: os.truncate(path, 2 * file_bytes.LARGEST_READ), lambda data: read.append(data[:100]))
    assert len(read[0]) == 100


def test_a_file_that_was_cut_and_is_as_long_again_is_an_error(path):
    def cut_and_grow():
        os.truncate(path, path.stat().st_size - 10)
        with path.open("ab") as file:
            file.write(bytes(20))

    with pytest.raises(Changed, match="was written anew from some byte on"):
        changed(path, cut_and_grow)


def test_an_error_of_the_reader_s_own_stays_what_it_is(path):
    with pytest.raises(ZeroDivisionError):
        changed(path, lambda: os.truncate(path, 0), lambda data: 1 / 0)


def test_a_file_that_is_gone_or_cannot_be_opened_is_named(tmp_path):
    with (
        pytest.raises(Changed, match=r"no\.log' was deleted or moved before it could be read: look again"),
        opened(tmp_path / "no.log", "look again"),
    ):
        pass
    with pytest.raises(KafkaLearnError, match="cannot be read: Is a directory"), opened(tmp_path):
        pass


@pytest.mark.skipif(
    sys.platform == "emscripten" or not hasattr(os, "SEEK_DATA"),
    reason="this system does not say where a file has holes",
)
def test_a_hole_of_many_gigabytes_is_not_read(path, monkeypatch):
    with path.open("r+b") as file:
        file.write(bytes(path.stat().st_size))
        file.seek(4 << 30)
        file.write(b"\x02" * 10)
    if path.stat().st_blocks * 512 > 1 << 30:
        pytest.skip("this file system keeps no holes")
    read = []
    monkeypatch.setattr(
        FileBytes,
        "_read",
        lambda self, start, end, way=FileBytes._read: read.append(end - start) or way(self, start, end),
    )
    with opened(path) as data:
        assert data.find(2, 0, len(data)) == 4 << 30
        assert data.find(3, 0, len(data)) == -1
    assert sum(read) < 32 << 20
