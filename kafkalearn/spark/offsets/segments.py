"""Raw segment files, as copied from a broker's disk, as a DataFrame with the columns of Spark's Kafka source.

The files are cut into pieces by a first pass over the headers of their batches, so that a large file is read by many
tasks. A task reads batches side by side by NumPy, some 16 MiB at a time (of large batches up to 64 MiB), and holds two
or three times that in columns, however large the file is. Where anything is odd, the scalar reader of
`kafkalearn.formats.disk` reads them once more, one by one: a batch is at most ``batch_limit_bytes`` decoded, and some
times that as Python's objects. Both go to the workers with the query.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from kafkalearn.base.checks import whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.formats import pieces
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.file_bytes import Bytes, opened
from kafkalearn.formats.pieces import has_columns
from kafkalearn.formats.segments import SegmentFile, Span, Unread, refuse_copies, segment_files
from kafkalearn.spark.columns import COPIES, RECORD_SCHEMA, TEXT, require_one_copy, rule
from kafkalearn.spark.session.worker_code import for_workers

# What a worker does to read segment files: cut them into pieces, join what these know, and turn them into rows.
#
# It goes to the workers with the query and uses the core alone, `kafkalearn.formats.pieces` above all. A task reads
# of its file only what it uses. With NumPy it holds the records of a block of batches in columns,
# without it, or where something is odd, one batch and about 8 MB of rows.

Row: TypeAlias = dict[str, Any]

SEEN_BY_ALL = "all workers must see the folder"
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
            with opened(file["path"], SEEN_BY_ALL) as data:
                found = pieces.index(data, _span_of(file, len(data)), self.piece_bytes, self._read)
                yield _batch_of((file | _row_of(piece) for piece in found), PIECES)

    def records(self, indexed: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The records of pieces."""
        for row in _rows_of(indexed):
            columns = _Columns(row)
            with opened(row["path"], SEEN_BY_ALL) as data:
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
        arrow, block = import_module("kafkalearn.formats.arrow"), read.block
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


PIECE_BYTES = 16 << 20
MOST_TASKS = 10_000

NOT_OF_DATA = ("control", "transaction", "has_data", "tail", "skipped")
FILE_SCHEMA = (
    "path STRING, log_dir STRING, topic STRING, partition INT, base_offset BIGINT, end_offset BIGINT, is_last BOOLEAN"
)
PIECE_SCHEMA = (
    f"{FILE_SCHEMA}, start BIGINT, stop BIGINT, first_offset BIGINT, "
    "markers ARRAY<STRUCT<producer_id: BIGINT, offset: BIGINT, outcome: STRING, has_data: BOOLEAN>>, "
    "begun ARRAY<BIGINT>, ends ARRAY<STRUCT<producer_id: BIGINT, outcome: STRING>>, unread STRING"
)
SEGMENT_SCHEMA = (
    f"{RECORD_SCHEMA}, timestamp_ms BIGINT, log_dir STRING, batch_base_offset BIGINT, batch_last_offset BIGINT, "
    "producer_id BIGINT, producer_epoch INT, base_sequence INT, is_transactional BOOLEAN, delete_horizon_ms BIGINT, "
    "control STRING, transaction STRING, has_data BOOLEAN, tail STRING, skipped STRING"
)


def segments_df(
    spark: SparkSession,
    folder: str | Path,
    has_checksum: bool = True,
    *,
    topic: str | None = None,
    log_dir: str | None = None,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
    piece_bytes: int = PIECE_BYTES,
) -> DataFrame:
    """Every record in the segment files below a folder.

    Parameters
    ----------
    spark : SparkSession
        Its workers must see the folder; they need PyArrow, not kafkalearn. Without NumPy there the same rows take
        several times as long.
    folder : str or Path
        A partition's folder ``TOPIC-PARTITION`` with files ``00000000000000000000.log``, a log dir, or a folder above
        several log dirs.
    has_checksum : bool
        False: checksums are not looked at; where the workers have no google-crc32c, that is several times as fast.
    topic : str, optional
        Only this topic.
    log_dir : str, optional
        Only this log dir, as a path below the folder. If one partition lies in several, its rows differ in the column
        ``log_dir``, and what needs one copy (`only_committed`, `compact`) refuses them: then choose one here.
    skip_damaged : bool
        False: a damaged batch ends the query, with the reason and what can be read behind it. True: it is a row of its
        own, and the batches behind it are read.
    batch_limit_bytes : int
        A batch that decodes to more is damaged.
    piece_bytes : int
        About how much of a file one task reads at a time.

    Returns
    -------
    DataFrame
        The columns of Spark's Kafka source; ``timestamp`` is null outside the years 1 to 9999. And

        - ``timestamp_ms``, as Kafka has it; ``log_dir``, below the folder
        - of the record's batch ``batch_base_offset``, ``batch_last_offset``, ``producer_id`` (-1: not idempotent),
          ``producer_epoch``, ``base_sequence``, ``is_transactional``, ``delete_horizon_ms`` (null: none is set)
        - ``control``: COMMIT, ABORT, ... of a record that no application wrote
        - ``transaction``: COMMIT, ABORT or OPEN, how the transaction ended in which a record was written
        - ``has_data``: of a marker, whether a batch of its transaction lies before it
        - ``tail``: why a log could not be read to its end. This is a row of its own, without key and value, at the
          offset up to which it was read; so is
        - ``skipped``: why a damaged batch was left out.

        A worker's Python has one piece at a time, and the index of the pieces of one log.

    Raises
    ------
    KafkaLearnError
        If there is no such folder on this machine, or no segment file below it.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
    >>> from kafkalearn.spark.session import get_spark
    >>> records = segments_df(get_spark(), data_directory("offsets-topic") / "disk")
    >>> records.count(), records.transform(only_committed).count()
    (796, 791)
    """
    whole_number("piece_bytes", piece_bytes, at_least=1)
    files = segment_files(folder, topic, log_dir)
    task_count = min(MOST_TASKS, sum(each.path.stat().st_size for each in files) // piece_bytes + 1)
    reading = Reading(has_checksum, skip_damaged, batch_limit_bytes, piece_bytes)
    found = spark.createDataFrame(list(map(_row, files)), FILE_SCHEMA).repartition(min(task_count, len(files)))
    found = found.mapInArrow(for_workers(spark, reading.index), PIECE_SCHEMA)
    found = found.groupBy("log_dir", "topic", "partition").applyInArrow(for_workers(spark, join), PIECE_SCHEMA)
    found = found.repartition(task_count).mapInArrow(for_workers(spark, reading.records), _schema(files))
    if skip_damaged:
        return found
    return found.where(sf.when(sf.col("skipped").isNull(), True).otherwise(sf.raise_error(sf.col("skipped"))))


def _row(file: SegmentFile) -> tuple:
    path = str(file.path.absolute())
    return path, file.log_dir, file.topic, file.partition, file.base_offset, file.end_offset, file.is_last


def _schema(files: Iterable[SegmentFile]) -> StructType:
    """The columns; ``log_dir`` lets the helpers know if there are several copies of a partition."""
    schema = StructType.fromDDL(SEGMENT_SCHEMA)
    assert isinstance(schema, StructType), "it has columns"
    log_dirs: dict[tuple[str, int], set[str]] = defaultdict(set)
    for each in files:
        log_dirs[each.topic, each.partition].add(each.log_dir)
    try:
        refuse_copies(log_dirs)
    except KafkaLearnError as error:
        schema["log_dir"].metadata = {COPIES: str(error)}
    return schema


@rule(dict.fromkeys(("control", "tail", "skipped", "transaction"), TEXT), remedy="give the rows of segments_df")
def only_committed(segments: DataFrame) -> DataFrame:
    """The data records without those of aborted and of unfinished transactions.

    For ``segments_df(...).transform(only_committed)``; without the columns of rows that are no such records. Row by
    row: nothing is kept.

    Raises
    ------
    KafkaLearnError
        If the rows hold several copies of one partition.
    """
    require_one_copy(segments)
    is_data = "control IS NULL AND tail IS NULL AND skipped IS NULL"
    return segments.where(f"{is_data} AND coalesce(transaction, 'COMMIT') = 'COMMIT'").drop(*NOT_OF_DATA)
