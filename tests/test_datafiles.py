"""The recorded data files are what data/README.md says they are."""

import hashlib
import re

import pandas as pd
import pytest

from kafkalearn.datafiles import DATA_FILES, data_file
from kafkalearn.errors import KafkaLearnError


@pytest.fixture(scope="module")
def flights():
    return pd.read_parquet(data_file("flights"))


@pytest.mark.parametrize("name", DATA_FILES)
def test_the_readme_tells_the_checksum_of_each_file(name):
    readme = data_file(name).with_name("README.md").read_text(encoding="utf-8")

    section = readme.split(f"## {DATA_FILES[name]}")[1].split("\n## ")[0]
    told = re.search(r"\| SHA-256 \| `(\w+)`", section)[1]
    assert told == hashlib.sha256(data_file(name).read_bytes()).hexdigest()


def test_there_are_all_flights_in_order_of_departure(flights):
    assert list(flights) == ["departure", "carrier", "flight", "tailnum", "origin", "dest"]
    assert len(flights) == 336_776
    assert flights["departure"].is_monotonic_increasing
    assert str(flights["departure"].iloc[0]) == "2013-01-01 05:15:00"
    assert str(flights["departure"].iloc[-1]) == "2013-12-31 23:59:00"


def test_the_keys_are_those_of_the_source(flights):
    assert flights["flight"].sum() == 664_096_549
    assert flights["origin"].value_counts().to_dict() == {"EWR": 120_835, "JFK": 111_279, "LGA": 104_662}
    assert flights["carrier"].value_counts().head(3).to_dict() == {"UA": 58_665, "B6": 54_635, "EV": 54_173}
    assert flights["dest"].value_counts().head(2).to_dict() == {"ORD": 17_283, "ATL": 17_215}
    assert flights[["carrier", "tailnum", "origin", "dest"]].nunique().tolist() == [16, 4_043, 3, 105]


def test_only_the_aircraft_is_sometimes_unknown(flights):
    assert flights.isna().sum().to_dict() == dict.fromkeys(flights, 0) | {"tailnum": 2_512}


def test_a_flight_is_told_apart_without_its_aircraft(flights):
    assert not flights.duplicated(["departure", "origin", "carrier", "flight", "dest"]).any()


def test_an_unknown_data_file_names_the_known_ones():
    with pytest.raises(KafkaLearnError, match="unknown data file 'flight'; did you mean 'flights'"):
        data_file("flight")
