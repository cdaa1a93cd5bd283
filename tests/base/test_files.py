"""The recorded data files are what data/README.md says they are."""

import gzip
import hashlib
import io
import json
import re
import sys
from contextlib import suppress

import pytest

from kafkalearn.base import files
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import DATA_FILES, FOLDER_VARIABLE, Torn, data_file, data_folder, mark_of, opened

FLIGHTS = json.loads(data_file("flights").read_text(encoding="utf-8"))
every_key = pytest.mark.parametrize("key", FLIGHTS)


@pytest.mark.parametrize("name", DATA_FILES)
def test_the_readme_tells_the_checksum_of_each_file(name):
    readme = data_file(name).with_name("README.md").read_text(encoding="utf-8")

    section = readme.split(f"## {DATA_FILES[name]}")[1].split("\n## ")[0]
    told = re.search(r"\| SHA-256 \| `(\w+)`", section)[1]
    assert told == hashlib.sha256(data_file(name).read_bytes()).hexdigest()


@every_key
def test_every_flight_of_the_year_is_counted(key):
    assert sum(in_year for _, in_year, _ in FLIGHTS[key]) == 336_776
    assert sum(before_july for _, _, before_july in FLIGHTS[key]) == 166_158
    assert all(0 <= before_july <= in_year for _, in_year, before_july in FLIGHTS[key])


def test_the_keys_are_those_of_the_source():
    counts = {key: {value: in_year for value, in_year, _ in FLIGHTS[key]} for key in FLIGHTS}
    assert {key: len(set(values) - {None}) for key, values in counts.items()} == {
        "carrier": 16,
        "dest": 105,
        "tailnum": 4_043,
    }
    assert list(counts["carrier"].items())[:3] == [("UA", 58_665), ("B6", 54_635), ("EV", 54_173)]
    assert list(counts["dest"].items())[:2] == [("ORD", 17_283), ("ATL", 17_215)]


def test_only_the_aircraft_is_sometimes_unknown():
    unknown = {key: [in_year for value, in_year, _ in FLIGHTS[key] if value is None] for key in FLIGHTS}
    assert unknown == {"carrier": [], "dest": [], "tailnum": [2_512]}


@every_key
def test_each_value_is_there_once_the_most_frequent_first(key):
    assert len({value for value, _, _ in FLIGHTS[key]}) == len(FLIGHTS[key])
    assert [in_year for _, in_year, _ in FLIGHTS[key]] == sorted((row[1] for row in FLIGHTS[key]), reverse=True)


def test_an_unknown_data_file_names_the_known_ones():
    with pytest.raises(KafkaLearnError, match="unknown data file 'flight'; did you mean 'flights'"):
        data_file("flight")


def test_data_lies_in_the_checkout_or_else_in_the_users_cache(tmp_path, monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    assert data_folder() == files.REPOSITORY / "data" / "generated"

    monkeypatch.setattr(files, "REPOSITORY", tmp_path)  # as where kafkalearn is installed
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.platform", "linux")
    assert data_folder() == tmp_path / "cache" / "kafkalearn"


def test_the_folder_that_is_named_is_meant_from_here_and_not_from_where_java_was_started(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(FOLDER_VARIABLE, "made")
    assert data_folder() == tmp_path / "made"


@pytest.mark.parametrize("named", ["~nobody-of-this-name/data", None])
def test_without_a_home_folder_it_is_said_which_variable_names_another(tmp_path, monkeypatch, named):
    def unknown(path):
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(files, "REPOSITORY", tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    if named:
        monkeypatch.setenv(FOLDER_VARIABLE, named)
    else:
        monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
        monkeypatch.setattr("pathlib.Path.expanduser", unknown)

    with pytest.raises(KafkaLearnError, match=f"there is no home folder for .*; set {FOLDER_VARIABLE} to a folder"):
        data_folder()


def test_the_cache_that_is_named_needs_no_home_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "REPOSITORY", tmp_path)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("pathlib.Path.home", lambda: pytest.fail("it was asked for"))
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "kafkalearn"


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
