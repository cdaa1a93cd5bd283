"""The recorded data files are what data/README.md says they are."""

import hashlib
import json
import re

import pytest

from kafkalearn.datafiles import DATA_FILES, data_file
from kafkalearn.errors import KafkaLearnError

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
