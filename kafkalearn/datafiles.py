"""Where the recorded data files are: in ``data/`` of a checkout, or in the copy that an installed package carries.

``data/README.md`` has the source, licence, form and SHA-256 of each file. What is generated or fetched lies in
`data_folder`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import MappingProxyType

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError

DATA_FILES: MappingProxyType[str, str] = MappingProxyType(
    {"coordinator": "coordinator.json", "flights": "flights.json"}
)
"""The recorded files by name."""

DATA_DIRECTORIES: MappingProxyType[str, str] = MappingProxyType(
    {name: name for name in ("command-walk", "offsets-topic", "own-cluster", "real-kafka", "server-logs")}
)
"""Recorded data that is more than one file; each has a README of its own."""

FOLDER_VARIABLE = "KAFKALEARN_DATA_DIR"

_PACKAGE_FOLDER = Path(__file__).parent
REPOSITORY = _PACKAGE_FOLDER.parent
_FOLDERS = (REPOSITORY / "data", _PACKAGE_FOLDER / "data")


def data_file(name: str) -> Path:
    """The path of a recorded data file, for ``json.loads(path.read_text(encoding="utf-8"))``.

    Parameters
    ----------
    name : str
        A name in `DATA_FILES`. ``"flights"``: of the 336,776 flights that left New York in 2013, for each of
        ``carrier``, ``dest`` and ``tailnum`` a list of ``[value, flights in the year, flights before July]``.
        ``"coordinator"``: 300 group ids with the partition and the broker where a real cluster had each.

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
    'flights.json'
    """
    one_of("data file", name, DATA_FILES)
    return _found(f"data file {name!r}", DATA_FILES[name])


def data_directory(name: str) -> Path:
    """The path of a directory of recorded data.

    Parameters
    ----------
    name : str
        A name in `DATA_DIRECTORIES`. ``"offsets-topic"``: the segment files of ``__consumer_offsets`` of a real
        broker, and what Kafka's tools say of each record. ``"command-walk"``: what the tools print from an empty
        cluster to the bytes of a commit, and the partition that these bytes are in. ``"real-kafka"``: what a real Kafka
        answered to the questions of `kafkalearn.real_answers`, and two of its topics. ``"own-cluster"``: what an
        engineer has of hers: settings, a server log, what the tools print, a piece of a disk. ``"server-logs"``: logs
        of brokers and clients of five runs, for `kafkalearn.server_logs`.

    Raises
    ------
    KafkaLearnError
        If the name is unknown, or the directory is in neither place.

    Examples
    --------
    >>> (data_directory("offsets-topic") / "README.md").is_file()
    True
    """
    one_of("data directory", name, DATA_DIRECTORIES)
    return _found(f"data directory {name!r}", DATA_DIRECTORIES[name])


def _found(what: str, path: str) -> Path:
    candidates = [folder / path for folder in _FOLDERS]
    found = next((each for each in candidates if each.exists()), None)
    if found is None:
        places = " nor ".join(map(str, candidates))
        raise KafkaLearnError(
            f"the {what} is neither {places}; work in a clone of the repository, where data/README.md says how it was "
            "made"
        )
    return found


def data_folder() -> Path:
    """Where generated and fetched data lies: KAFKALEARN_DATA_DIR, else data/generated of a checkout, else a cache."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return _of_user(Path(named)).absolute()  # Java was perhaps started in another folder
    if (REPOSITORY / "pyproject.toml").is_file() and os.access(REPOSITORY / "data", os.W_OK):
        return REPOSITORY / "data" / "generated"
    return _user_cache() / "kafkalearn"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _of_user(Path("~", "AppData", "Local")))
    if sys.platform == "darwin":
        return _of_user(Path("~", "Library", "Caches"))
    return Path(os.environ.get("XDG_CACHE_HOME") or _of_user(Path("~", ".cache")))


def _of_user(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # neither HOME nor the system's list of users says where it is
        raise KafkaLearnError(
            f"there is no home folder for {path}; set {FOLDER_VARIABLE} to a folder where you may write"
        ) from None
