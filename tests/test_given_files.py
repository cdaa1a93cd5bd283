"""Files that somebody hands over: what they are read as, and the sentence where they cannot be read."""

import gzip
import io
import sys
from contextlib import suppress

import pytest

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import Torn, mark_of, opened

CONTENT = b"group.id=billing\r\n" * 10_000


@pytest.mark.parametrize(
    "packed", [CONTENT, gzip.compress(CONTENT), gzip.compress(CONTENT[:9]) + gzip.compress(CONTENT[9:])]
)
def test_the_bytes_are_the_same_gzipped_or_not_in_a_file_or_on_standard_input(packed, tmp_path, monkeypatch):
    (tmp_path / "given").write_bytes(packed)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    for path in (tmp_path / "given", str(tmp_path / "given"), "-"):
        with opened(path, "a text") as file:
            assert file.read() == CONTENT
    assert not sys.stdin.closed


@pytest.mark.parametrize("content", [b"", b"\x1f", b"a", b"\x8b\x1f"])
def test_a_file_of_a_byte_or_none_is_no_gzipped_one(content, tmp_path):
    (tmp_path / "given").write_bytes(content)
    with opened(tmp_path / "given", "a text") as file:
        assert file.read() == content


def parts_of(path):
    with opened(path, "a text") as file:
        while part := file.read1(1000):
            yield part


def read_before_the_fault(path):
    with suppress(Torn):
        yield from parts_of(path)


@pytest.mark.parametrize("fault", ["cut", "checksum", "no gzip at all"])
def test_a_torn_file_gives_what_it_has_and_then_the_sentence(fault, tmp_path):
    packed = gzip.compress(CONTENT, compresslevel=0)
    torn = {"cut": packed[:-100], "checksum": packed[:-8] + bytes(8), "no gzip at all": b"\x1f\x8bgroup.id=billing"}[
        fault
    ]
    (tmp_path / "given").write_bytes(torn)
    with pytest.raises(Torn, match=r"given' begins as a gzipped file and cannot be unpacked to its end"):
        list(parts_of(tmp_path / "given"))
    parts_read = b"".join(read_before_the_fault(tmp_path / "given"))
    assert CONTENT.startswith(parts_read)
    assert bool(parts_read) == (fault != "no gzip at all")


def test_what_cannot_be_opened_is_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    for path, words in (
        (tmp_path, "is a folder, and a text is wanted"),
        (tmp_path / "missing", "there is no file .*; a text is wanted"),
        ("a\0b", "cannot be read"),
        ("-", "there is no standard input here; name a file"),
    ):
        with pytest.raises(KafkaLearnError, match=words), opened(path, "a text"):
            pass


def test_an_error_of_the_reader_is_not_one_of_the_file(tmp_path):
    (tmp_path / "given").write_bytes(b"x")
    with pytest.raises(ValueError, match="mine"), opened(tmp_path / "given", "a text"):
        raise ValueError("mine")


def test_the_mark_says_the_encoding():
    for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
        mark, found = mark_of("\ufeffa".encode(encoding))
        assert (found, mark) == (encoding, "\ufeff".encode(encoding))
