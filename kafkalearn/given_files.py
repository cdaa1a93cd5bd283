"""Files that somebody hands over: by name or on standard input, plain or gzipped, of the encodings that shells write.

What cannot be read is a sentence, whoever reads: no such file, a folder, not allowed, a gzipped file that is torn.
"""

from __future__ import annotations

import gzip
import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

STANDARD_INPUT = "-"
GZIP_MAGIC = b"\x1f\x8b"
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))
"""The byte order marks that a file may begin with, and the encoding that each stands for."""


class Torn(KafkaLearnError):  # noqa: N818  (named for what the file is)
    """A gzipped file that cannot be unpacked to its end; what came before was read."""


def name_of(path: str | Path) -> str:
    """A file as a message names it.

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
    """The bytes of a file, or of standard input for ``-``; unpacked, if they are gzipped.

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
        While it is being read: it is gzipped, and damaged or cut off.

    Examples
    --------
    >>> with opened("/", "a properties file"):
    ...     pass
    Traceback (most recent call last):
    ...
    kafkalearn.errors.KafkaLearnError: '/' is a folder, and a properties file is wanted
    """
    name = name_of(path)
    try:
        with _bytes_of(path) as file:
            start = file.read(len(GZIP_MAGIC))
            whole = io.BufferedReader(_FromStart(start, file))
            yield gzip.GzipFile(fileobj=whole) if start == GZIP_MAGIC else whole
    except KafkaLearnError:
        raise
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Torn(f"{name} begins as a gzipped file and cannot be unpacked to its end: {error}") from None
    except FileNotFoundError:
        raise KafkaLearnError(f"there is no file {name}; {wanted} is wanted") from None
    except IsADirectoryError:
        raise KafkaLearnError(f"{name} is a folder, and {wanted} is wanted") from None
    except PermissionError:
        if str(path) != STANDARD_INPUT and Path(path).is_dir():  # as Windows has it
            raise KafkaLearnError(f"{name} is a folder, and {wanted} is wanted") from None
        raise KafkaLearnError(f"{name} may not be read by you; {wanted} is wanted") from None
    except OSError as error:
        raise KafkaLearnError(f"{name} cannot be read: {error.strerror or error}") from None


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
    """A stream of which the first bytes were read already, from its start; a pipe cannot go back."""

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
        data = start + self._rest.read(len(into) - len(start))
        into[: len(data)] = data
        return len(data)
