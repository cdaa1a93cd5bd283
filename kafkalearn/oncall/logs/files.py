"""Log files as lines: plain or packed, rotated, of any encoding that a shell writes, or the standard input."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterable, Iterator
from io import BufferedIOBase
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.files import STANDARD_INPUT, mark_of, name_of, opened

LONGEST_LINE = 64 * 1024  # characters; the rest of a longer line is passed over
CHUNK = 1 << 20  # characters read at once
MOST_FILES = 10_000
SNIFFED = 4096  # bytes that show whether a file is text
_NUMBERS = re.compile(r"(\d+)")
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\x1b\f"))
_BINARY_SHARE = 0.05  # of such bytes: no text has that many


class NotText(KafkaLearnError):  # noqa: N818  (named for what the file is)
    """A file that is not a log; the message says what it looks like."""


def sorted_files(paths: Iterable[str | os.PathLike[str]]) -> list[Path | str]:
    """The files to read: folders as the files in them, rotated ones the oldest first, each file once.

    Raises
    ------
    KafkaLearnError
        If a path is none, there is nothing there, or there are more than `MOST_FILES`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("server.log", "server.log.1", "server.log.10", "server.log.2.gz"):
    ...         _ = pathlib.Path(folder, name).write_bytes(b"")
    ...     [path.name for path in sorted_files([folder])]
    ['server.log.10', 'server.log.2.gz', 'server.log.1', 'server.log']
    """
    if isinstance(paths, (str, bytes, os.PathLike)) or not isinstance(paths, Iterable):
        raise KafkaLearnError(f"paths are a list of files, folders or '-'; got {shown(paths)}")
    found: dict[str, Path | str] = {}
    for path in paths:
        if path == STANDARD_INPUT:
            found[STANDARD_INPUT] = STANDARD_INPUT
            continue
        if not isinstance(path, (str, os.PathLike)) or "\0" in os.fspath(path):
            raise KafkaLearnError(f"a path is a name of a file or folder; got {shown(path)}")
        place = Path(path)
        try:
            inside = [place] if not place.is_dir() else [each for each in place.iterdir() if each.is_file()]
        except OSError as error:
            raise KafkaLearnError(f"{shown(str(place))} cannot be read: {error.strerror or error}") from None
        if not inside:
            raise KafkaLearnError(f"the folder {shown(str(place))} has no files; give the log files, or their folder")
        for each in sorted(inside, key=_age):
            found.setdefault(os.path.realpath(each), each)
        if len(found) > MOST_FILES:
            raise KafkaLearnError(f"these are more than {MOST_FILES:,} files; give those of the hours in question")
    return list(found.values())


def _age(path: Path) -> tuple[str, int, list[object]]:
    """Rotated files, ``server.log.2`` or ``server.log.2026-11-22-10``, before ``server.log``; the oldest first."""
    name = path.name
    for suffix in (".gz", ".bz2", ".xz", ".zst"):
        name = name.removesuffix(suffix)
    stem, dot, number = name.rpartition(".")
    if dot and number.isascii() and number.isdigit() and len(number) < 5:
        return (stem, 1, [-int(number)])
    stem, dot, stamp = name.partition(".log.")
    if dot:
        return (f"{stem}.log", 0, [int(part) if part.isdigit() else part for part in _NUMBERS.split(stamp)[1::2]])
    return (name, 2, [])


def lines_of(path: Path | str) -> Iterator[str]:
    """The lines of a file without their ends; of a line longer than `LONGEST_LINE` the beginning.

    Raises
    ------
    KafkaLearnError
        If it cannot be read; `NotText` if it is not text; `kafkalearn.base.files.Torn`, after all lines that can be
        read, if it is gzipped and cannot be unpacked to its end.
    """
    for some in pieces_of(path):
        yield from some


def pieces_of(path: Path | str) -> Iterator[list[str]]:
    """The same as they come: of a pipe those that are there now."""
    with opened(path, "a log") as file:
        yield from _lines(file, name_of(path))


def _lines(file: BufferedIOBase, name: str) -> Iterator[list[str]]:
    data = file.read1(CHUNK)
    mark, encoding = mark_of(data)
    start = data[:SNIFFED]
    if not encoding.startswith("utf-16") and len(start.translate(None, _CONTROLS)) < (1 - _BINARY_SHARE) * len(start):
        raise NotText(
            f"{name} is not text but binary data; a log is text, one line for each event. Segment files are "
            "for `kafkalearn xray`"
        )
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    data = data[len(mark) :]
    rest, is_too_long = "", False
    while True:
        decoded = rest + decoder.decode(data, final=not data)
        has_returns = "\r" in decoded
        pieces = decoded.split("\n")
        rest = pieces.pop()
        if is_too_long and pieces:
            is_too_long = False
            del pieces[0]  # what is left of a line whose beginning was given out
        if has_returns or len(max(pieces, key=len, default="")) > LONGEST_LINE:
            pieces = [(piece[:-1] if piece.endswith("\r") else piece)[:LONGEST_LINE] for piece in pieces]
        yield pieces
        if is_too_long:
            rest = ""
        elif len(rest) > LONGEST_LINE:
            yield [rest[:LONGEST_LINE]]
            rest, is_too_long = "", True
        if not data:
            break
        data = file.read1(CHUNK)
    if rest and not is_too_long:
        yield [rest.rstrip("\r")]
