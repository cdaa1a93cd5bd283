"""A file's bytes, read where they are asked for, of a file that may be written, cut or deleted meanwhile.

A broker goes on while its disk is read. It appends, which does no harm: a file is read as long as it was when it was
opened. It deletes, which does none either to a file that is open. And it cuts: a follower after an election, a
preallocated segment when the next one begins. A file that is mapped into memory and then cut ends the process that
reads it with a signal (SIGBUS), as does a disk that fails; so it is read, and a cut is an error in words. A file that
was cut and has grown again has other bytes where its old end was: they are compared when the reading ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from errno import ENXIO
from pathlib import Path
from typing import TypeAlias, overload

from kafkalearn.base.errors import KafkaLearnError

SMALLEST_READ, LARGEST_READ = 4 << 10, 1 << 20  # bytes at a time: more and more while one follows the other
KEPT_TAIL = 4 << 10  # bytes at the end that are compared when the reading ends


class Changed(KafkaLearnError):  # noqa: N818  (named for what happened to it)
    """A file was cut, moved or deleted while it was read: what was read of it is no answer."""


class FileBytes:
    """An open file with the length that it has now, indexed and sliced as bytes are.

    Parameters
    ----------
    path : str or Path
        The file.

    Raises
    ------
    OSError
        If it cannot be opened.
    Changed
        From any use, if it was cut since it was opened.
    KafkaLearnError
        From any use, if the disk does not give the bytes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.log"
    >>> _ = path.write_bytes(b"all of it")
    >>> data = FileBytes(path)
    >>> len(data), data[0], data[4:6], data.find(0x69, 0, 9)
    (9, 97, b'of', 7)
    >>> data.close()
    """

    def __init__(self, path: str | Path) -> None:
        """Open it, and keep its last bytes to compare them."""
        self.path = Path(path)
        self._file = self.path.open("rb", buffering=0)
        stat = os.fstat(self._file.fileno())
        self.size_bytes, self.modified_ns = stat.st_size, stat.st_mtime_ns
        self._window, self._start, self._next_read = b"", 0, SMALLEST_READ
        self._tail_at = max(0, self.size_bytes - KEPT_TAIL)
        try:
            self._tail = self._read(self._tail_at, self.size_bytes)
        except KafkaLearnError:
            self.close()
            raise

    def __len__(self) -> int:
        """How long it was when it was opened."""
        return self.size_bytes

    @overload
    def __getitem__(self, at: int) -> int: ...
    @overload
    def __getitem__(self, at: slice) -> bytes: ...
    def __getitem__(self, at: int | slice) -> int | bytes:
        """A byte, or the bytes between two places."""
        if isinstance(at, slice):
            start, end, _ = at.indices(self.size_bytes)
            return self._bytes(start, end)
        return self._bytes(at, at + 1)[0] if 0 <= at < self.size_bytes else b""[at]

    def find(self, sought: int, start: int, end: int) -> int:
        """Where a byte that is not 0 stands first between two places; -1: nowhere."""
        end = min(end, self.size_bytes)
        while start < end:
            self._bytes(start, start + 1)
            at = self._window.find(sought, start - self._start, end - self._start)
            if at >= 0:
                return self._start + at
            start = self._behind_hole(self._start + len(self._window))
        return -1

    def _behind_hole(self, start: int) -> int:
        """Where a file has been written again: a preallocated one may have gigabytes that the disk does not hold."""
        if not hasattr(os, "SEEK_DATA"):
            return start
        try:
            return os.lseek(self._file.fileno(), start, os.SEEK_DATA)
        except OSError as error:
            return self.size_bytes if error.errno == ENXIO else start

    def _bytes(self, start: int, end: int) -> bytes:
        """Those between two places, from the last part read if it has them."""
        at = start - self._start
        if at >= 0 and end - self._start <= len(self._window):
            return self._window[at : end - self._start]
        if end <= start:
            return b""
        if end - start > LARGEST_READ:  # kept by whoever asks, not here, too
            self._window = b""
            return self._read(start, end)
        is_next = 0 <= at <= len(self._window)
        self._next_read = min(2 * self._next_read, LARGEST_READ) if is_next else SMALLEST_READ
        self._window = b""  # so that two are never held
        self._window = self._read(start, max(end, min(start + self._next_read, self.size_bytes)))
        self._start = start
        return self._window[: end - start]

    def _read(self, start: int, end: int) -> bytes:
        parts = []
        try:
            self._file.seek(start)
            while start < end:
                part = self._file.read(end - start)
                if not part:
                    raise self._cut()
                parts.append(part)
                start += len(part)
        except OSError as error:
            raise KafkaLearnError(f"{str(self.path)!r} cannot be read at byte {start}: {error.strerror}") from None
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _cut(self) -> Changed:
        now = os.fstat(self._file.fileno()).st_size
        return Changed(
            f"{str(self.path)!r} was cut from {self.size_bytes:,} bytes to {now:,} while it was read, as a broker does "
            "after an election: ask again"
        )

    @property
    def has_grown(self) -> bool:
        """Whether more was appended since it was opened."""
        return os.fstat(self._file.fileno()).st_size > self.size_bytes

    def refuse_changes(self) -> None:
        """Raise `Changed` if the file was cut since it was opened, even if it is as long again."""
        if os.fstat(self._file.fileno()).st_size < self.size_bytes:
            raise self._cut()
        if self._read(self._tail_at, self.size_bytes) != self._tail:
            raise Changed(
                f"{str(self.path)!r} was written anew from some byte on while it was read, as a follower does after an "
                "election: ask again"
            )

    def close(self) -> None:
        """Let the file go; what was read of it stays."""
        self._file.close()


Bytes: TypeAlias = bytes | FileBytes
"""A segment file, or a part of it: read already, or read where it is used."""


@contextmanager
def opened(path: str | Path, advice: str = "ask again") -> Iterator[FileBytes]:
    """The bytes of a file as long as it is when it is opened; at the end it is asked whether it was cut meanwhile.

    Parameters
    ----------
    path : str or Path
        The file.
    advice : str
        What to do if there is none.

    Raises
    ------
    KafkaLearnError
        If the file cannot be opened or read; `Changed` if it is gone, or was cut while it was read.
    """
    try:
        data = FileBytes(path)
    except FileNotFoundError:
        raise Changed(f"{str(path)!r} was deleted or moved before it could be read: {advice}") from None
    except OSError as error:
        raise KafkaLearnError(f"segment file {str(path)!r} cannot be read: {error.strerror or error}") from None
    try:
        yield data
        data.refuse_changes()
    finally:
        data.close()
