"""What a worker does to read segment files: cut them into pieces, join what these know, and turn them into rows.

It goes to the workers with the query and uses the core alone, `kafkalearn.segments.pieces` above all. A task maps its
file into memory, so that only what is used is read. With NumPy it holds the records of a block of batches in columns,
without it, or where something is odd, one batch and about 8 MB of rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments import pieces
from kafkalearn.segments.batches import Bytes, map_file
from kafkalearn.segments.census.side_by_side import has_columns
from kafkalearn.segments.walk import Span, Unread

Row: TypeAlias = dict[str, object]

ENOUGH_BYTES, ENOUGH_ROWS = 8 << 20, 50_000  # of an Arrow batch
FIRST_MS, LAST_MS = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999, those of Spark's timestamps

_MARKER = {"producer_id": pa.int64(), "offset": pa.int64(), "outcome": pa.string(), "has_data": pa.bool_()}
_END = {"producer_id": pa.int64(), "outcome": pa.string()}
PIECES = pa.schema(
    {
        "path": pa.string(),
        "log_dir": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "base_offset": pa.int64(),
        "end_offset": pa.int64(),
        "is_last": pa.bool_(),
        "start": pa.int64(),
        "stop": pa.int64(),
        "first_offset": pa.int64(),
        "markers": pa.list_(pa.struct(_MARKER)),
        "begun": pa.list_(pa.int64()),
        "ends": pa.list_(pa.struct(_END)),
        "unread": pa.string(),
    }
)
"""A row for each piece of a file."""

RECORDS = pa.schema(
    {
        "key": pa.binary(),
        "value": pa.binary(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", tz="UTC"),
        "timestampType": pa.int32(),
        "timestamp_ms": pa.int64(),
        "log_dir": pa.string(),
        "batch_base_offset": pa.int64(),
        "batch_last_offset": pa.int64(),
        "producer_id": pa.int64(),
        "producer_epoch": pa.int32(),
        "base_sequence": pa.int32(),
        "is_transactional": pa.bool_(),
        "delete_horizon_ms": pa.int64(),
        "control": pa.string(),
        "transaction": pa.string(),
        "has_data": pa.bool_(),
        "tail": pa.string(),
        "skipped": pa.string(),
    }
)
"""A row for each record, and for each place that was not read."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The first step of reading and the last one, `join` is between them; they share their options."""

    has_checksum: bool
    skip_damaged: bool
    batch_limit_bytes: int
    piece_bytes: int

    def index(self, files: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The pieces of files."""
        for file in _rows_of(files):
            with _mapped(file["path"]) as data:
                found = pieces.index(data, _span_of(file, len(data)), self.piece_bytes, self._read)
                yield _batch_of((file | _row_of(piece) for piece in found), PIECES)

    def records(self, indexed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The records of pieces."""
        for row in _rows_of(indexed):
            columns = _Columns(row)
            with _mapped(row["path"]) as data:
                for each in self._read_piece(data, _piece_of(row)):
                    if isinstance(each, pieces.ReadBatch):
                        columns.add(each)
                    elif isinstance(each, pieces.ReadBlock):
                        yield from columns.taken()
                        yield from self._block_rows(data, each, row)
                        columns.next_offset = each.block.headers[-1].last_offset + 1
                    else:
                        tail, skipped = self._said_of(data, each, row)
                        columns.add_unread(tail, skipped)
                        if skipped is not None and not self.skip_damaged:
                            break  # the query ends with it
                    if columns.are_enough:
                        yield from columns.taken()
            yield from columns.taken()

    def _read_piece(
        self, data: Bytes, piece: pieces.Piece
    ) -> Iterator[pieces.ReadBlock | pieces.ReadBatch | pieces.Unread]:
        if has_columns():
            return pieces.read_piece_side_by_side(data, piece, self.has_checksum, self.batch_limit_bytes)
        return pieces.read_piece(data, piece, self._read)

    def _block_rows(self, data: Bytes, read: pieces.ReadBlock, place: Row) -> Iterator[pa.RecordBatch]:
        """The records of a block, in order: those of applications in columns, and control records."""
        arrow, block = import_module("kafkalearn.segments.census.columns.arrow"), read.block
        rows = pa.Table.from_batches([_arrow_rows(block.record_count, arrow.columns_of(read) | _place(place))])
        if block.controls:
            controls, batch = _Columns(place), block.batch.tolist()
            for index in block.controls:
                control = self._read(data, block.headers[index].position)
                controls.add(pieces.ReadBatch(control, read.in_log[index]))
                batch += [index] * len(control.records)
            both = pa.concat_tables([rows, pa.Table.from_batches(controls.taken(), RECORDS)])
            rows = arrow.in_order(both, batch).combine_chunks()
        row_bytes = rows.nbytes // (rows.num_rows + 1) + 1
        yield from rows.to_batches(max(1, min(ENOUGH_ROWS, ENOUGH_BYTES // row_bytes)))

    @property
    def _read(self) -> pieces.Read:
        return pieces.reader(self.has_checksum, self.batch_limit_bytes)

    def _said_of(self, data: Bytes, unread: Unread, row: Row) -> tuple[str | None, str | None]:
        """What the columns ``tail`` and ``skipped`` say of bytes that cannot be read."""
        is_at_the_end = unread.position + unread.size_bytes == len(data)
        if is_at_the_end and row["is_last"]:
            return unread.reason, None
        if self.skip_damaged:
            return None, unread.reason
        words, is_tail = pieces.reason_for(data, unread, _span_of(row, len(data)), row["is_last"], self._read)
        return (words, None) if is_tail else (None, words)


def join(log: pa.Table) -> pa.Table:
    """The pieces of one log, with what each needs to know of the others."""
    rows = sorted(log.to_pylist(), key=lambda row: (row["base_offset"], row["start"]))
    joined = pieces.joined([_piece_of(row) for row in rows])
    found = (row | _row_of(piece) for row, piece in zip(rows, joined, strict=True))
    return pa.Table.from_batches([_batch_of(found, PIECES)])


@contextmanager
def _mapped(path: str) -> Iterator[Bytes]:
    """The bytes of a file, of which only those are read that are used."""
    try:
        data = map_file(path)
    except OSError as error:
        raise KafkaLearnError(
            f"the worker cannot read {path!r}: {error.strerror or error}; all workers must see the folder"
        ) from None
    yield data  # it is closed when nothing looks at it any more: a block may


def _rows_of(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    for batch in batches:
        yield from batch.to_pylist()


def _batch_of(rows: Iterable[Row], schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist(list(rows), schema)


def _span_of(file: Row, size_bytes: int) -> Span:
    return Span(0, size_bytes, file["base_offset"], file["end_offset"])


def _row_of(piece: pieces.Piece) -> Row:
    return {
        "start": piece.span.start,
        "stop": piece.span.end,
        "first_offset": piece.span.first_offset,
        "markers": [marker._asdict() for marker in piece.markers],
        "begun": piece.begun,
        "ends": [{"producer_id": producer_id, "outcome": outcome} for producer_id, outcome in piece.ends],
        "unread": piece.unread,
    }


def _piece_of(row: Row) -> pieces.Piece:
    return pieces.Piece(
        Span(row["start"], row["stop"], row["first_offset"], row["end_offset"]),
        tuple(pieces.Marker(**marker) for marker in row["markers"]),
        tuple(row["begun"]),
        tuple((end["producer_id"], end["outcome"]) for end in row["ends"]),
        row["unread"],
    )


def _place(piece: Row) -> Row:
    return {name: piece[name] for name in ("topic", "partition", "log_dir")}


def _arrow_rows(count: int, given: Mapping[str, object]) -> pa.RecordBatch:
    """Rows with these columns, each an array, a list or one value for all; what is not given is null."""
    arrays = []
    for field in RECORDS:
        column = given.get(field.name)
        if column is None:
            column = pa.nulls(count, field.type)
        elif isinstance(column, list):
            column = pa.array(column, field.type)
        elif not isinstance(column, pa.Array):
            column = pa.repeat(pa.scalar(column, field.type), count)
        arrays.append(column.cast(field.type))
    at_ms = arrays[RECORDS.get_field_index("timestamp_ms")]
    arrays[RECORDS.get_field_index("timestamp")] = _timestamps(at_ms)
    return pa.RecordBatch.from_arrays(arrays, schema=RECORDS)


def _timestamps(at_ms: pa.Array) -> pa.Array:
    """Null beyond the years of Spark's timestamps."""
    is_one = pc.and_(pc.greater_equal(at_ms, FIRST_MS), pc.less_equal(at_ms, LAST_MS))
    return pc.if_else(is_one, pc.multiply(at_ms, 1000), None).cast(RECORDS.field("timestamp").type)


class _Columns:
    """Rows of one piece, gathered by column until they are enough for an Arrow batch."""

    def __init__(self, piece: Row) -> None:
        self.place = _place(piece)
        self.next_offset = piece["first_offset"]
        self._start()

    def _start(self) -> None:
        self.columns: dict[str, list] = {name: [] for name in RECORDS.names}
        self.size_bytes = 0

    @property
    def are_enough(self) -> bool:
        """Whether they are to be sent on."""
        return self.size_bytes > ENOUGH_BYTES or len(self.columns["offset"]) > ENOUGH_ROWS

    def add(self, read: pieces.ReadBatch) -> None:
        """The records of a batch."""
        batch, records = read.batch, read.batch.records
        self.next_offset = batch.last_offset + 1
        self.size_bytes += batch.size_bytes + sum(len(each.value or b"") for each in records)
        self._add(
            len(records),
            key=[each.key for each in records],
            value=[each.value for each in records],
            offset=[each.offset for each in records],
            timestampType=int(batch.is_log_append_time),
            timestamp_ms=[each.timestamp_ms for each in records],
            batch_base_offset=batch.base_offset,
            batch_last_offset=batch.last_offset,
            producer_id=batch.producer_id,
            producer_epoch=batch.producer_epoch,
            base_sequence=batch.base_sequence,
            is_transactional=batch.is_transactional,
            delete_horizon_ms=batch.delete_horizon_ms,
            control=[each.control for each in records],
            transaction=read.in_log.transaction,
            has_data=read.in_log.has_data,
        )

    def add_unread(self, tail: str | None, skipped: str | None) -> None:
        """A row for bytes that cannot be read."""
        self._add(1, offset=self.next_offset, tail=tail, skipped=skipped)

    def _add(self, count: int, **given: object) -> None:
        """Rows with these columns, each a list or one value for all; what is not given is null."""
        given |= self.place
        for name, column in self.columns.items():
            values = given.get(name)
            column += values if isinstance(values, list) else [values] * count

    def taken(self) -> list[pa.RecordBatch]:
        """The rows so far, in one batch if there are any; the next ones are others."""
        count = len(self.columns["offset"])
        rows = [_arrow_rows(count, self.columns)] if count else []
        self._start()
        return rows
