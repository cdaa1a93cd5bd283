"""The recorded data files are what data/README.md says they are."""

import hashlib
import json
import re

import pytest

from kafkalearn.base import files as datafiles
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.files import DATA_FILES, FOLDER_VARIABLE, data_file, data_folder

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
    assert data_folder() == datafiles.REPOSITORY / "data" / "generated"

    monkeypatch.setattr(datafiles, "REPOSITORY", tmp_path)  # as where kafkalearn is installed
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

    monkeypatch.setattr(datafiles, "REPOSITORY", tmp_path)
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
    monkeypatch.setattr(datafiles, "REPOSITORY", tmp_path)
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("pathlib.Path.home", lambda: pytest.fail("it was asked for"))
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert data_folder() == tmp_path / "cache" / "kafkalearn"
