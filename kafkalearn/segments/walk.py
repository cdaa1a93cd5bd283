"""From batch to batch through a segment file, and past what cannot be read.

A file has no table of its batches: each says how long it is, and behind it the next one begins. So a damaged length
hides all that follows, while damage inside a batch does not. Behind a batch that cannot be read the walk goes on where
its own length leads to, if a batch is there; else it looks byte by byte for the next one whose checksum is right.

No checksum covers the first offset of a batch. If two neighbours contradict each other, the one that contradicts the
batch behind them, too, is taken for the damaged one. Where that decides nothing, it is the later one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from kafkalearn.segments.batches import (
    LARGEST_OFFSET,
    MAGIC_POSITION,
    Batch,
    Bytes,
    Header,
    is_checksum_right,
    read_batch,
    read_header,
)
from kafkalearn.segments.compression import CODECS
from kafkalearn.segments.records import wrong
from kafkalearn.wire.reader import Undecodable

UNUSED_ATTRIBUTES = 0xFF80  # bits that no release has set
FARTHEST = 2**31 - 1  # the offsets of a segment are at most so far from its first
SEARCHED_TIMES = 8  # a search computes checksums of at most this many times the bytes of the file

Read = TypeVar("Read", Batch, Header)
Check: TypeAlias = Callable[[Bytes, int], Batch]


@dataclass(frozen=True, slots=True)
class Unread:
    """Some bytes of a file that are no batch, or a damaged one."""

    position: int
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a file that begins and ends with a batch, and the offsets that its batches may have."""

    start: int
    end: int
    first_offset: int = 0
    end_offset: int = LARGEST_OFFSET + 1  # where the next segment begins


def walk(
    data: Bytes, span: Span, read: Callable[[Bytes, int], Read], check: Check = read_batch
) -> Iterator[Read | Unread]:
    """Every batch of a part of a file, in order, and between them what cannot be read.

    Parameters
    ----------
    data : bytes
        The whole file.
    span : Span
        The part to walk through.
    read : callable
        `read_batch` or `read_header`: from data and position to what is yielded; raises `Undecodable`.
    check : callable
        `read_batch`, with the checksum; asked where something does not fit what `read` believed.
    """
    held: Read | None = None  # the last batch, until the next one fits behind it
    before = span.first_offset - 1  # the last offset in front of it
    position, search = span.start, _Search(data, span)
    while position < span.end:
        found, error = _read(data, position, read, span, before if held is None else held.last_offset)
        if found is not None and error is None:
            if held is not None:
                yield held
                before = held.last_offset
            held, position = found, _end(found)
            continue
        error_in_held = None
        if held is not None:
            error_in_held = _checked(data, held, check) or _contradiction(data, span, before, held, found)
        if held is not None and error_in_held is not None:
            position, error = held.position, error_in_held
        else:
            if held is not None:
                yield held
                before = held.last_offset
            error = error if found is None else _checked(data, found, check) or error
        held = None
        end, is_given_up = search.next_batch(position)
        yield Unread(position, end - position, f"{error}{GIVEN_UP if is_given_up else ''}")
        position = end
    if held is not None:
        yield held


GIVEN_UP = "; the search for a batch behind it was given up"


def _end(batch: Batch | Header) -> int:
    """The byte behind it."""
    return batch.position + batch.size_bytes


def _read(
    data: Bytes, position: int, read: Callable[[Bytes, int], Read], span: Span, last: int
) -> tuple[Read | None, Undecodable | None]:
    """The batch at a position if there is one, and what is wrong with it."""
    try:
        found = read(data, position)
    except Undecodable as error:
        return None, error
    if found.base_offset < span.first_offset:
        file = f"the file's name says that it begins at offset {span.first_offset}"
        return found, wrong("baseOffset", position, f"is {found.base_offset}, {file}")
    if found.base_offset <= last:
        return found, wrong("baseOffset", position, f"is {found.base_offset}, the batch before ends at offset {last}")
    if found.last_offset >= span.end_offset:
        ends = f"ends the batch at offset {found.last_offset}, the next file begins at {span.end_offset}"
        return found, wrong("lastOffsetDelta", position + 23, ends)
    return found, None


def _checked(data: Bytes, batch: Batch | Header, check: Check) -> Undecodable | None:
    """What is wrong inside a batch, its checksum included."""
    try:
        check(data, batch.position)
    except Undecodable as error:
        return error
    return None


def _contradiction(
    data: Bytes, span: Span, before: int, held: Batch | Header, found: Batch | Header | None
) -> Undecodable | None:
    """What is wrong with the first offset of the held batch, if the one found behind it is right and it is not.

    If no batch is behind both, the held one is blamed if offsets are missing in front of it.
    """
    if found is None or found.base_offset <= before:
        return None
    behind = _header_at(data, _end(found)) if _end(found) < span.end else None
    if behind is None:
        is_held_wrong = held.base_offset > before + 1
    else:
        is_held_wrong = found.last_offset < behind.base_offset <= held.last_offset
    if not is_held_wrong:
        return None
    follows = f"the batch behind it begins at offset {found.base_offset}"
    return wrong("baseOffset", held.position, f"is {held.base_offset}, {follows}")


def _header_at(data: Bytes, position: int) -> Header | None:
    try:
        return read_header(data, position)
    except Undecodable:
        return None


class _Search:
    """The search for the next batch in a part of a file."""

    def __init__(self, data: Bytes, span: Span) -> None:
        self.data = data
        self.span = span
        self.bytes_left = SEARCHED_TIMES * max(span.end - span.start, 1 << 16)

    def next_batch(self, damaged_at: int) -> tuple[int, bool]:
        """Where the next batch behind a damaged one begins, the end of the part if none does; whether it gave up."""
        damaged = _header_at(self.data, damaged_at)
        behind = self.span.end + 1 if damaged is None else _end(damaged)
        if behind == self.span.end or (behind < self.span.end and self._is_batch(behind)):
            return behind, False
        position = damaged_at + 1
        while self.bytes_left > 0:
            magic = self.data.find(b"\x02", position + MAGIC_POSITION, self.span.end)
            if magic < 0:
                return self.span.end, False
            position = magic - MAGIC_POSITION
            if self._is_batch(position):
                return position, False
            position += 1
        return self.span.end, True

    def _is_batch(self, position: int) -> bool:
        """Whether a batch begins at a byte, by all that its header says and by its checksum."""
        header = _header_at(self.data, position)
        if header is None:
            return False
        delta = header.last_offset - header.base_offset
        is_possible = (
            self.span.first_offset <= header.base_offset <= header.last_offset < self.span.end_offset
            and _end(header) <= self.span.end
            and 0 <= header.record_count <= delta + 1 <= FARTHEST + 1
            and not header.attributes & UNUSED_ATTRIBUTES
            and header.attributes & 0x07 < len(CODECS)
            and min(header.producer_id, header.producer_epoch, header.base_sequence) >= -1
        )
        if is_possible:
            self.bytes_left -= header.size_bytes
        return is_possible and is_checksum_right(self.data, header)
