"""Where the recorded data files are, and how a file that somebody hands over is opened.

Recorded data lies in ``data/`` of a checkout, or in the copy that an installed package carries; ``data/README.md`` has
the source, licence, form and SHA-256 of each file. What is generated or fetched lies in `data_folder`.

A file is handed over by name or on standard input, plain or packed (gzip, bzip2, xz, zstd), in the encodings that
shells write. What cannot be read is a sentence, whoever reads: no such file, a folder, not allowed, a packed file that
is torn.

`written_whole` writes files as a whole or not at all, `one_at_a_time` lets one process at a time do a thing.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
    with suppress(ImportError):  # a page's Python has neither
        import msvcrt

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import KafkaLearnError, require, shown

DATA_FILES: MappingProxyType[str, str] = MappingProxyType(
    {"coordinator": "coordinator.json", "flights": "flights.json"}
)
"""The recorded files by name."""

DATA_DIRECTORIES: MappingProxyType[str, str] = MappingProxyType(
    {
        name: name
        for name in (
            *("cluster-metadata", "command-walk", "lag", "offsets-topic", "own-cluster", "real-kafka", "server-logs"),
        )
    }
)
"""Recorded data that is more than one file; each has a README of its own."""

FOLDER_VARIABLE = "KAFKALEARN_DATA_DIR"

_PACKAGE_FOLDER = Path(__file__).parents[1]
REPOSITORY = _PACKAGE_FOLDER.parent
_FOLDERS = (REPOSITORY / "data", _PACKAGE_FOLDER / "data")


def chapters_folder() -> Path | None:
    """The folder of the committed chapters: of the checkout, or those that the installed package carries; or none."""
    folders = (REPOSITORY / "notebooks", _PACKAGE_FOLDER / "notebooks")
    return next((each for each in folders if any(each.glob("*.ipynb"))), None)


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
        answered to the questions of `kafkalearn.releases.real_answers`, and two of its topics. ``"own-cluster"``:
        what an engineer has of hers: settings, a server log, what the tools print, a piece of a disk. ``"lag"``: a
        group that lags for every reason at once, as the tools print it twice and as its broker's files have it.
        ``"cluster-metadata"``: what KRaft keeps of a cluster, and what its tools said of it.
        ``"server-logs"``: logs of brokers and clients of five runs, for `kafkalearn.oncall.logs`.

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
    if sys.platform == "win32":
        cache = os.environ.get("LOCALAPPDATA") or _of_user(Path("~", "AppData", "Local"))
    elif sys.platform == "darwin":
        cache = _of_user(Path("~", "Library", "Caches"))
    else:
        cache = os.environ.get("XDG_CACHE_HOME") or _of_user(Path("~", ".cache"))
    return Path(cache) / "kafkalearn"


def _of_user(path: Path) -> Path:
    try:
        return path.expanduser()
    except RuntimeError:  # neither HOME nor the system's list of users says where it is
        raise KafkaLearnError(
            f"there is no home folder for {path}; set {FOLDER_VARIABLE} to a folder where you may write"
        ) from None


# Files that somebody hands over.

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

LOCK_INTERVAL_S = 0.2
STANDARD_INPUT = "-"
GZIP_MAGIC, BZIP2_MAGIC = b"\x1f\x8b", b"BZh"
XZ_MAGIC, ZSTD_MAGIC = b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_LONGEST_MAGIC = len(XZ_MAGIC)
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
"""The byte order marks that a file may begin with, and the encoding that each stands for."""


class Torn(KafkaLearnError):  # noqa: N818  (named for what the file is)
    """A packed file that cannot be unpacked to its end; what came before was read."""


def name_of(path: str | Path) -> str:
    """The name of a file for a message.

    >>> name_of("server.log"), name_of("-")
    ("'server.log'", 'standard input')
    """
    return "standard input" if str(path) == STANDARD_INPUT else shown(str(path))


def mark_of(start: bytes) -> tuple[bytes, str]:
    """The byte order mark that a file begins with, and its encoding; without one it is UTF-8.

    >>> mark_of(b"\\xff\\xfea\\0"), mark_of(b"a")
    ((b'\\xff\\xfe', 'utf-16-le'), (b'', 'utf-8'))
    """
    return next((each for each in MARKS if start.startswith(each[0])), (b"", "utf-8"))


@contextmanager
def opened(path: str | Path, wanted: str) -> Iterator[io.BufferedIOBase]:
    """Open a file, or standard input for ``-``, as bytes; gzip, bzip2, xz and zstd are decompressed.

    Parameters
    ----------
    path : str or Path
        Where it is.
    wanted : str
        What the file should be, for the error: ``"a properties file"``.

    Raises
    ------
    KafkaLearnError
        If there is no such file, it is a folder, or it cannot be read; also while it is being read.
    Torn
        While it is being read: it is packed, and damaged or cut off.
    MissingExtra
        If it is packed with zstd, and neither this Python nor PyArrow is there to unpack it.

    Examples
    --------
    >>> with opened("/", "a properties file"):
    ...     pass
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: '/' is a folder, and a properties file is wanted
    """
    name, start = name_of(path), b""
    try:
        with _bytes_of(path) as file:
            start = file.read(_LONGEST_MAGIC)
            yield _unpacked(start, io.BufferedReader(_FromStart(start, file)), name)
    except KafkaLearnError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile, lzma.LZMAError) as error:
        kind = next((kind for magic, kind in _PACKED.items() if start.startswith(magic)), "packed")
        raise Torn(f"{name} begins as a {kind} file and cannot be unpacked to its end: {error}") from None
    except FileNotFoundError:
        raise KafkaLearnError(f"there is no file {name}; {wanted} is wanted") from None
    except IsADirectoryError:
        raise KafkaLearnError(f"{name} is a folder, and {wanted} is wanted") from None
    except PermissionError:
        if str(path) != STANDARD_INPUT and Path(path).is_dir():  # as Windows has it
            raise KafkaLearnError(f"{name} is a folder, and {wanted} is wanted") from None
        raise KafkaLearnError(f"{name} may not be read by you; {wanted} is wanted") from None
    except OSError as error:
        if start.startswith((BZIP2_MAGIC, ZSTD_MAGIC)) and error.errno is None:
            kind = _PACKED[BZIP2_MAGIC if start.startswith(BZIP2_MAGIC) else ZSTD_MAGIC]
            raise Torn(f"{name} begins as a {kind} file and cannot be unpacked to its end: {error}") from None
        raise KafkaLearnError(f"{name} cannot be read: {error.strerror or error}") from None


_PACKED = {GZIP_MAGIC: "gzipped", BZIP2_MAGIC: "bzip2", XZ_MAGIC: "xz", ZSTD_MAGIC: "zstd"}


def _unpacked(start: bytes, file: io.BufferedReader, name: str) -> io.BufferedIOBase:
    """Decompress a file; zstd is in Python's own library since 3.14."""
    if start.startswith(GZIP_MAGIC):
        return gzip.GzipFile(fileobj=file)
    if start.startswith(BZIP2_MAGIC):
        return bz2.BZ2File(file)
    if start.startswith(XZ_MAGIC):
        return lzma.LZMAFile(file)
    if not start.startswith(ZSTD_MAGIC):
        return file
    if find_spec("compression.zstd") if find_spec("compression") else None:
        return import_module("compression.zstd").ZstdFile(file)
    require(f"{name}, which is packed with zstd,", "pyarrow")
    return io.BufferedReader(_Raw(import_module("pyarrow").CompressedInputStream(file, "zstd")))


class _Raw(io.RawIOBase):
    """What another library reads, as a file of Python's."""

    def __init__(self, inside: BinaryIO) -> None:
        """Whatever has ``read``."""
        self._inside = inside

    def readable(self) -> bool:
        """It is for that."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """As `io.RawIOBase` has it."""
        into = memoryview(buffer)
        data = self._inside.read(len(into))
        into[: len(data)] = data
        return len(data)


@contextmanager
def _bytes_of(path: str | Path) -> Iterator[BinaryIO]:
    if str(path) != STANDARD_INPUT:
        try:
            file = open(path, "rb")  # noqa: SIM115  (closed below)
        except ValueError as error:  # a zero in its name
            raise KafkaLearnError(f"{name_of(path)} cannot be read: {error}") from None
        with file:
            yield file
        return
    if sys.stdin is None:
        raise KafkaLearnError("there is no standard input here; name a file")
    yield sys.stdin.buffer  # stays open: it is not ours


class _FromStart(io.RawIOBase):
    """A stream whose first bytes were read already, from its start; a pipe cannot seek."""

    def __init__(self, start: bytes, rest: BinaryIO) -> None:
        """The first bytes, and the stream behind them."""
        self._start, self._rest = start, rest

    def readable(self) -> bool:
        """It is for that."""
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        """As `io.RawIOBase` has it."""
        into = memoryview(buffer)
        start, self._start = self._start[: len(into)], self._start[len(into) :]
        # What is there now, and no waiting for more: a pipe may go on for hours.
        data = start + getattr(self._rest, "read1", self._rest.read)(len(into) - len(start))
        into[: len(data)] = data
        return len(data)


@contextmanager
def one_at_a_time(path: Path, waiting: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold a file lock while the block runs; the system releases it if this process dies.

    Parameters
    ----------
    path : pathlib.Path
        The lock's own file, which stays; nothing is kept in it. Where a system has no locks, nobody waits.
    waiting : callable
        Called again and again, five times a second, while another process holds it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        while not _is_taken(file.fileno()):
            waiting()
            time.sleep(LOCK_INTERVAL_S)
        yield


def _is_taken(descriptor: int) -> bool:
    """Take a lock, if no other process has it; it is given back when the file is closed."""
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # some network file systems have none
            return True
    elif os.name == "nt":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        except OSError:
            return False
    return True


def written_whole(contents: Mapping[Path, str]) -> None:
    """Write files atomically, and none if one cannot be written; a link is replaced, not followed.

    Parameters
    ----------
    contents : mapping of pathlib.Path to str
        Text by file, in UTF-8. Half an emoji (a lone surrogate), which UTF-8 has no bytes for, is written as an escape.

    Raises
    ------
    KafkaLearnError
        If one cannot be written; what was there stays.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written_whole({Path(folder, "a.csv"): "1,2", Path(folder, "b.csv"): "3,4"})
    ...     sorted(each.name for each in Path(folder).iterdir())
    ['a.csv', 'b.csv']
    """
    beside: dict[Path, str] = {}
    path = Path()
    try:
        for path, text in contents.items():
            descriptor, beside[path] = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            with open(descriptor, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                file.write(text)
            os.chmod(beside[path], 0o666 & ~_umask())
            if path.is_dir():
                raise IsADirectoryError(errno.EISDIR, "it is a folder")
        for path in contents:
            os.replace(beside[path], path)
            del beside[path]
    except OSError as error:
        raise KafkaLearnError(f"{path} cannot be written: {error.strerror or error}") from None
    finally:
        for half in beside.values():
            with suppress(OSError):
                os.unlink(half)


def _umask() -> int:
    """What this process takes off a new file's rights; `tempfile` gives them to nobody else."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
