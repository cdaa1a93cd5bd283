"""A segment file cut into pieces between batches, so that several workers can read one file, each a little at a time.

First `index` goes through the headers of a file, 61 bytes of each batch, and cuts it. What a piece cannot know by
itself is how the transactions end that are open at its end, and which are open where it begins: `joined` finds that
from all pieces of a log. Then `read_piece` reads each piece alone, a batch at a time, and knows of every batch what a
reader of the whole log knows. `read_piece_side_by_side` does the same by NumPy, many batches at once; `side_by_side` is
its loop, for a whole file, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kafkalearn.base.errors import is_installed
from kafkalearn.formats.batches import (
    Batch,
    Header,
    is_checksum_right,
    read_batch,
    read_checked_header,
    read_header,
)
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES, CODECS, Damaged, decompress
from kafkalearn.formats.file_bytes import Bytes
from kafkalearn.formats.records import BATCH_HEADER_BYTES, wrong
from kafkalearn.formats.segments import Span, Unread, damaged_end, rest_from, walk
from kafkalearn.formats.wire import Undecodable

if TYPE_CHECKING:
    from kafkalearn.formats.columns import ColumnBlock

OPEN = "OPEN"

Read: TypeAlias = Callable[[Bytes, int], Batch]


def reader(has_checksum: bool = True, batch_limit_bytes: int = BATCH_LIMIT_BYTES) -> Read:
    """`read_batch` with these options, as `index` and `read_piece` want it."""
    return partial(read_batch, has_checksum=has_checksum, batch_limit_bytes=batch_limit_bytes)


# Batches gathered until they are enough to be read side by side.

BLOCK_BYTES, BLOCK_RECORDS, BLOCK_BATCHES = 16 << 20, 250_000, 20_000
MOST_BYTES, MOST_RECORDS, FEW_BATCHES = 64 << 20, 1_000_000, 64
"""A block ends with the batch that brings it to one of the first three; while it has few batches it may grow up to the
next two, because few batches give little to do side by side. Bytes count as they are once decompressed."""


def has_columns() -> bool:
    """Whether NumPy is there, which reads many records side by side."""
    return is_installed("numpy")


def is_full(batch_count: int, record_count: int, size_bytes: int) -> bool:
    """Whether a block has grown to a limit.

    >>> is_full(10, 300_000, 20 << 20), is_full(100, 300_000, 20 << 20), is_full(10, 300_000, 64 << 20)
    (False, True, True)
    """
    if batch_count < FEW_BATCHES:
        return record_count >= MOST_RECORDS or size_bytes >= MOST_BYTES
    return batch_count >= BLOCK_BATCHES or record_count >= BLOCK_RECORDS or size_bytes >= BLOCK_BYTES


def side_by_side(
    data: Bytes, span: Span, has_checksum: bool = True, batch_limit_bytes: int = BATCH_LIMIT_BYTES
) -> Iterator[ColumnBlock | Span | Unread]:
    """The batches of a part of a file in blocks, and between them what cannot be read.

    Parameters
    ----------
    data : bytes or FileBytes
        The whole file.
    span : Span
        All of it, or a part, and the offsets that it may have.
    has_checksum, batch_limit_bytes : bool, int
        As in `kafkalearn.formats.batches.read_batch`.

    Yields
    ------
    ColumnBlock, Span or Unread
        A span is a part in which something is odd: `kafkalearn.formats.segments.walk` reads it and says what.
    """
    check = reader(has_checksum, batch_limit_bytes)
    read = partial(read_checked_header, has_checksum=has_checksum)
    gathered = _Gathered()
    for each in walk(data, span, read, check):
        if isinstance(each, Unread):
            yield from gathered.block(data, span, check)
            yield each
            gathered = _Gathered()
            continue
        body, is_odd = _body(each, data, batch_limit_bytes, gathered.is_odd)
        if gathered.headers and gathered.size_bytes + len(body or b"") > MOST_BYTES:
            yield from gathered.block(data, span, check)
            gathered = _Gathered()
        gathered.add(each, body, is_odd)
        del body
        if is_full(len(gathered.headers), gathered.record_count, gathered.size_bytes):
            yield from gathered.block(data, span, check)
            gathered = _Gathered()
    yield from gathered.block(data, span, check)


def _body(header: Header, data: Bytes, limit_bytes: int, is_odd: bool) -> tuple[bytes | None, bool]:
    """What a batch was compressed from, and whether plain Python must look at it; None: it was not compressed.

    Of a block that is odd already nothing is decompressed: plain Python reads it again.
    """
    size_bytes = header.size_bytes - BATCH_HEADER_BYTES
    if not header.codec_number or header.is_control or is_odd:
        return None, size_bytes > limit_bytes
    start = header.position + BATCH_HEADER_BYTES
    try:
        return decompress(CODECS[header.codec_number], data[start : start + size_bytes], limit_bytes), False
    except Damaged:
        return b"", True


@dataclass(slots=True)
class _Gathered:
    """Headers of batches that are to be read side by side, with the bodies of those that were compressed."""

    headers: list[Header] = field(default_factory=list)
    bodies: dict[int, bytes] = field(default_factory=dict)
    size_bytes: int = 0
    record_count: int = 0
    is_odd: bool = False

    def add(self, header: Header, body: bytes | None, is_odd: bool) -> None:
        """Take in the next batch, with its body if that was compressed."""
        if body is not None:
            self.bodies[len(self.headers)] = body
        self.is_odd |= is_odd
        self.headers.append(header)
        self.size_bytes += header.size_bytes - BATCH_HEADER_BYTES if body is None else len(body)
        self.record_count += max(0, header.record_count)

    def block(self, data: Bytes, span: Span, check: Read) -> Iterator[ColumnBlock | Span]:
        """All of them as one block, or where they lie if anything is odd; nothing if there are none."""
        if not self.headers:
            return
        columns = import_module("kafkalearn.formats.columns")
        if not self.is_odd:
            try:
                yield columns.column_block(data, self.headers, self.bodies, check)
                return
            except columns.Odd:
                pass
        first, last = self.headers[0], self.headers[-1]
        end = last.position + last.size_bytes
        yield replace(span, start=first.position, end=end, first_offset=first.base_offset)


# A file cut into pieces.


class Marker(NamedTuple):
    """The end of a producer's transaction."""

    producer_id: int
    offset: int
    outcome: str  # COMMIT or ABORT
    has_data: bool  # whether a batch of the transaction lies before it


@dataclass(frozen=True, slots=True)
class Piece:
    """Batches that lie behind each other, or bytes that cannot be read."""

    span: Span
    markers: tuple[Marker, ...] = ()
    begun: tuple[int, ...] = ()  # producers with a transaction that is open at its end, and has data in it
    ends: tuple[tuple[int, str], ...] = ()  # how these transactions end, in later pieces
    unread: str | None = None  # why the bytes cannot be read


class InLog(NamedTuple):
    """What only the whole log knows of a batch."""

    transaction: str | None  # COMMIT, ABORT or OPEN; None: it is in none
    has_data: bool | None  # of a marker: as in `Marker`


IN_NONE = InLog(None, None)


class ReadBatch(NamedTuple):
    """A batch and what the whole log knows of it."""

    batch: Batch
    in_log: InLog


class ReadBlock(NamedTuple):
    """Batches read side by side, and what the whole log knows of each."""

    block: ColumnBlock
    in_log: list[InLog]


class Reason(NamedTuple):
    """Why some bytes are not read, and whether they are only the end of what a crash has left."""

    words: str
    is_tail: bool


def index(data: Bytes, span: Span, piece_bytes: int, check: Read) -> Iterator[Piece]:
    """The pieces of a file, each of a little more than `piece_bytes`, or of one batch if that is larger.

    Parameters
    ----------
    data : bytes
        The whole file; of each batch only the header is read, and markers.
    span : Span
        All of it, and the offsets that it may have.
    piece_bytes : int
        At least 1.
    check : callable
        As in `kafkalearn.formats.segments.walk`.
    """
    piece = None
    for each in walk(data, span, read_header, check):
        if isinstance(each, Unread):
            if piece is not None:
                yield piece.done(each.position, span)
            offset = span.first_offset if piece is None else piece.last_offset + 1
            piece = None
            yield Piece(Span(each.position, each.position + each.size_bytes, offset), unread=each.reason)
            continue
        if piece is not None and each.position - piece.start >= piece_bytes:
            yield piece.done(each.position, span)
            piece = None
        piece = piece or _Growing(each.position, each.base_offset)
        piece.add(each, data, check)
    if piece is not None:
        yield piece.done(span.end, span)


class _Growing:
    """A piece that is not yet large enough."""

    def __init__(self, start: int, first_offset: int) -> None:
        self.start, self.first_offset, self.last_offset = start, first_offset, first_offset
        self.markers: list[Marker] = []
        self.begun: dict[int, None] = {}

    def add(self, header: Header, data: Bytes, check: Read) -> None:
        """Take the next batch in."""
        self.last_offset = header.last_offset
        if not header.is_transactional:
            return
        if not header.is_control:
            self.begun[header.producer_id] = None
            return
        outcome = _outcome(data, header, check)
        if outcome is not None:
            has_data = header.producer_id in self.begun
            self.begun.pop(header.producer_id, None)
            self.markers.append(Marker(header.producer_id, header.base_offset, outcome, has_data))

    def done(self, end: int, span: Span) -> Piece:
        """The piece, up to a byte."""
        inside = Span(self.start, end, self.first_offset, span.end_offset)
        return Piece(inside, tuple(self.markers), tuple(self.begun))


def _outcome(data: Bytes, header: Header, check: Read) -> str | None:
    """How a marker ends its transaction; None: it was emptied, or is damaged, which is found when it is read."""
    try:
        records = check(data, header.position).records
    except Undecodable:
        return None
    return records[0].control if records else None


def joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """The pieces of a whole log, in order, with what each needs to know of the others."""
    begun: set[int] = set()
    forwards: list[Piece] = []
    for piece in pieces:
        markers = []
        for marker in piece.markers:
            markers.append(marker._replace(has_data=marker.has_data or marker.producer_id in begun))
            begun.discard(marker.producer_id)
        begun.update(piece.begun)
        forwards.append(replace(piece, markers=tuple(markers)))
    ends: dict[int, str] = {}
    backwards: list[Piece] = []
    for piece in reversed(forwards):
        found = tuple((producer_id, ends[producer_id]) for producer_id in piece.begun if producer_id in ends)
        backwards.append(replace(piece, ends=found))
        ends.update((marker.producer_id, marker.outcome) for marker in reversed(piece.markers))
    return reversed(backwards)


def read_piece(data: Bytes, piece: Piece, read: Read) -> Iterator[ReadBatch | Unread]:
    """The batches of a joined piece, one after the other, and what of it cannot be read."""
    if piece.unread is not None:
        yield Unread(piece.span.start, piece.span.end - piece.span.start, piece.unread)
        return
    transactions = _Transactions(piece)
    for each in walk(data, piece.span, read, read):
        yield each if isinstance(each, Unread) else ReadBatch(each, transactions.of(each))


def read_piece_side_by_side(
    data: Bytes, piece: Piece, has_checksum: bool = True, batch_limit_bytes: int = BATCH_LIMIT_BYTES
) -> Iterator[ReadBlock | ReadBatch | Unread]:
    """The same by NumPy, which must be there: many batches in one block, and those one by one where anything is odd.

    Parameters
    ----------
    data, piece
        As for `read_piece`.
    has_checksum, batch_limit_bytes : bool, int
        As in `kafkalearn.formats.batches.read_batch`.
    """
    read = reader(has_checksum, batch_limit_bytes)
    if piece.unread is not None:
        yield from read_piece(data, piece, read)
        return
    transactions = _Transactions(piece)
    for each in side_by_side(data, piece.span, has_checksum, batch_limit_bytes):
        if isinstance(each, Span):
            yield from read_piece(data, replace(piece, span=each), read)
        elif isinstance(each, Unread):
            yield each
        else:
            yield ReadBlock(each, [transactions.of(header) for header in each.headers])
        del each  # a block is large, and the next one is read now


class _Transactions:
    """How the transactions end that the batches of a joined piece are part of, asked in order."""

    def __init__(self, piece: Piece) -> None:
        self.ends, self.markers = dict(piece.ends), {marker.offset: marker for marker in piece.markers}
        self.ahead: dict[int, list[Marker]] = {}  # by producer, the next one last
        for marker in reversed(piece.markers):
            self.ahead.setdefault(marker.producer_id, []).append(marker)

    def of(self, batch: Batch | Header) -> InLog:
        """What the whole log knows of the next batch."""
        if not batch.is_transactional:
            return IN_NONE
        if batch.is_control:
            marker = self.markers.get(batch.base_offset)
            return InLog(marker.outcome, marker.has_data) if marker else IN_NONE
        ahead = self.ahead.get(batch.producer_id, [])
        while ahead and ahead[-1].offset < batch.base_offset:
            ahead.pop()
        return InLog(ahead[-1].outcome if ahead else self.ends.get(batch.producer_id, OPEN), None)


def reason_for(data: Bytes, unread: Unread, span: Span, is_last: bool, check: Read) -> Reason:
    """Why some bytes of a file cannot be read, as `kafkalearn.formats.segments` says it.

    Parameters
    ----------
    data : bytes
        The whole file.
    unread : Unread
        The bytes.
    span : Span
        The whole file's.
    is_last : bool
        Whether the file is the last one of its log, where an unread end is a tail.
    check : callable
        As in `kafkalearn.formats.segments.walk`.
    """
    end = unread.position + unread.size_bytes
    behind = walk(data, replace(span, start=end), _checked_header, check)
    rest = rest_from(unread, span.end, behind)
    if rest.behind is None and not is_last:
        return Reason(damaged_end(unread.reason, span.end_offset), is_tail=False)
    return Reason(rest.reason, is_tail=rest.behind is None)


def _checked_header(data: Bytes, position: int) -> Header:
    header = read_header(data, position)
    if not is_checksum_right(data, header):
        raise wrong("crc", position, "is not that of the bytes")
    return header
