"""Where the recorded data files lie: in ``data/`` of a checkout, or in the copy that an installed package carries.

Each file's source, licence, columns and SHA-256 stand in ``data/README.md``.
"""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError, unknown_name

DATA_FILES: MappingProxyType[str, str] = MappingProxyType(
    {"coordinator": "coordinator.json", "flights": "flights.parquet"}
)
"""The recorded files by name."""

DATA_DIRECTORIES: MappingProxyType[str, str] = MappingProxyType({"offsets-topic": "offsets-topic"})
"""Recorded data that is more than one file; each has a README of its own."""

_PACKAGE_FOLDER = Path(__file__).parent
_FOLDERS = (_PACKAGE_FOLDER.parent / "data", _PACKAGE_FOLDER / "data")


def data_file(name: str) -> Path:
    """The path of a recorded data file, for ``spark.read.parquet(str(path))`` or ``pandas.read_parquet(path)``.

    Parameters
    ----------
    name : str
        A name in `DATA_FILES`. ``"flights"``: the 336,776 flights that left New York in 2013, with the columns
        departure (scheduled, local time, ascending), carrier, flight, tailnum (2,512 are null), origin, dest.
        ``"coordinator"``: 300 group ids with the partition and the broker where a real cluster had each, JSON.

    Returns
    -------
    Path
        An existing file.

    Raises
    ------
    KafkaLearnError
        If the name is unknown, or the file is in neither place.

    Examples
    --------
    >>> data_file("flights").name
    'flights.parquet'
    """
    if name not in DATA_FILES:
        raise unknown_name("data file", name, DATA_FILES)
    candidates = [folder / DATA_FILES[name] for folder in _FOLDERS]
    found = next((path for path in candidates if path.is_file()), None)
    if found is None:
        places = " nor ".join(str(path) for path in candidates)
        raise KafkaLearnError(
            f"the data file {name!r} is neither {places}; work in a clone of the repository, where data/ has it, "
            "where data/README.md tells how it was made"
        )
    return found


def data_directory(name: str) -> Path:
    """The path of a directory of recorded data.

    Parameters
    ----------
    name : str
        A name in `DATA_DIRECTORIES`. ``"offsets-topic"``: the segment files of ``__consumer_offsets`` of a real
        broker, and what Kafka's tools say of each record.

    Raises
    ------
    KafkaLearnError
        If the name is unknown, or the directory is in neither place.

    Examples
    --------
    >>> (data_directory("offsets-topic") / "README.md").is_file()
    True
    """
    if name not in DATA_DIRECTORIES:
        raise unknown_name("data directory", name, DATA_DIRECTORIES)
    candidates = [folder / DATA_DIRECTORIES[name] for folder in _FOLDERS]
    found = next((path for path in candidates if path.is_dir()), None)
    if found is None:
        places = " nor ".join(str(path) for path in candidates)
        raise KafkaLearnError(f"the data directory {name!r} is neither {places}; work in a clone of the repository")
    return found
