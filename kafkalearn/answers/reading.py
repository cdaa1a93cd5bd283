"""The text of a file that somebody has given: plain or gzipped, of any usual encoding, or a sentence why not."""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

STANDARD_INPUT = "-"
MOST_BYTES = 64 * 2**20  # of settings, keys or a pasted text; read whole
GZIP_MAGIC = b"\x1f\x8b"
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))


def text_of(path: str | Path, what: str) -> str:
    """The whole text of a file; ``-`` is standard input.

    A byte order mark decides the encoding (UTF-8, UTF-16); without one it is UTF-8. A gzipped file is unpacked.

    Parameters
    ----------
    path : str or Path
        Where it is.
    what : str
        What the file is, for the error: ``"a properties file"``.

    Raises
    ------
    KafkaLearnError
        If there is no such file, it is a folder, may not be read, is no text, or is larger than `MOST_BYTES`.

    Examples
    --------
    >>> text_of("/", "a properties file")
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: '/' is a folder, and a properties file is wanted
    """
    name, data = bytes_of(path, what)
    for mark, encoding in MARKS:
        if data.startswith(mark):
            return decoded(data[len(mark) :], encoding, name, what)
    if b"\0" in data:
        raise KafkaLearnError(f"{name} is no text: it has bytes of zero; {what} is wanted")
    return decoded(data, "utf-8", name, what)


def bytes_of(path: str | Path, what: str) -> tuple[str, bytes]:
    """The name of a file as a message has it, and its bytes, unpacked if it is gzipped; as `text_of`."""
    name = "standard input" if str(path) == STANDARD_INPUT else shown(str(path))
    return name, _unpacked(_bytes_of(path, name, what), name, what)


def decoded(data: bytes, encoding: str, name: str, what: str) -> str:
    """Bytes as text, or the error that says where they are none."""
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise KafkaLearnError(
            f"{name} is no text in {encoding.upper()}: byte {error.start} does not fit; {what} is wanted"
        ) from None


def _bytes_of(path: str | Path, name: str, what: str) -> bytes:
    try:
        if str(path) == STANDARD_INPUT:
            return _limited(sys.stdin.buffer, name, what)
        if Path(path).is_dir():
            raise KafkaLearnError(f"{name} is a folder, and {what} is wanted")
        with Path(path).open("rb") as file:
            return _limited(file, name, what)
    except FileNotFoundError:
        raise KafkaLearnError(f"there is no file {name}; {what} is wanted") from None
    except PermissionError:
        raise KafkaLearnError(f"{name} may not be read by you; {what} is wanted") from None
    except KafkaLearnError:
        raise
    except (OSError, ValueError) as error:  # ValueError: a zero in its name
        raise KafkaLearnError(f"{name} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _limited(file: io.BufferedIOBase, name: str, what: str) -> bytes:
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise KafkaLearnError(f"{name} has more than {MOST_BYTES // 2**20} MiB; {what} is wanted, give a part of it")
    return data


def _unpacked(data: bytes, name: str, what: str) -> bytes:
    if not data.startswith(GZIP_MAGIC):
        return data
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
            return _limited(file, name, what)
    except (OSError, EOFError, zlib.error) as error:
        raise KafkaLearnError(f"{name} begins as a gzipped file and is none that can be unpacked: {error}") from None
