"""Raw segment files, as copied from a broker's disk, as a DataFrame with the columns of Spark's Kafka source.

The files are cut into pieces by a first pass over the headers of their batches, so that a large file is read by many
tasks. A task reads batches side by side by NumPy, some 16 MiB at a time (of large batches up to 64 MiB), and holds two
or three times that in columns, however large the file is. Where anything is odd, the scalar reader of
`kafkalearn.segments` reads them once more, one by one: a batch is at most ``batch_limit_bytes`` decoded, and some times
that as Python's objects. Both go to the workers with the query (`kafkalearn.spark.offsets.piece_rows`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.segments.log_dirs import SegmentFile, refuse_copies, segment_files
from kafkalearn.spark.columns.checks import COPIES, RECORD_SCHEMA, require_one_copy
from kafkalearn.spark.offsets.piece_rows import Reading, join
from kafkalearn.spark.session.worker_code import for_workers

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

    Raises
    ------
    KafkaLearnError
        If there is no such folder on this machine, or no segment file below it.

    Examples
    --------
    >>> from kafkalearn.datafiles import data_directory
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
    log_dirs: dict[tuple[str, int], set[str]] = defaultdict(set)
    for each in files:
        log_dirs[each.topic, each.partition].add(each.log_dir)
    try:
        refuse_copies(log_dirs)
    except KafkaLearnError as error:
        schema["log_dir"].metadata = {COPIES: str(error)}
    return schema


def only_committed(segments: DataFrame) -> DataFrame:
    """The data records without those of aborted and of unfinished transactions.

    For ``segments_df(...).transform(only_committed)``; without the columns of rows that are no such records.

    Raises
    ------
    KafkaLearnError
        If the rows hold several copies of one partition.
    """
    require_one_copy(segments)
    is_data = "control IS NULL AND tail IS NULL AND skipped IS NULL"
    return segments.where(f"{is_data} AND coalesce(transaction, 'COMMIT') = 'COMMIT'").drop(*NOT_OF_DATA)
