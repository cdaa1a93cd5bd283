"""Raw segment files, as copied from a broker's disk, as a DataFrame with the columns of Spark's Kafka source.

The files of a partition are read together, on one worker, by the scalar reader of `kafkalearn.segments`, which
goes there with the query (`kafkalearn.spark.session.worker_code`); partitions are read side by side.
"""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.files import parse_segment
from kafkalearn.segments.transactions import transaction_outcomes
from kafkalearn.spark.columns.checks import RECORD_SCHEMA
from kafkalearn.spark.session.worker_code import for_workers

SEGMENT_SCHEMA = f"{RECORD_SCHEMA}, control STRING, transaction STRING, tail STRING"
_PARTITION_FILE = r"([^/]+)-(\d+)/(\d{20})\.log$"


def segments_df(spark: SparkSession, folder: str | Path, has_checksum: bool = True) -> DataFrame:
    """Every record in the segment files below a folder.

    Parameters
    ----------
    spark : SparkSession
        Its workers must see the folder; they need PyArrow, not kafkalearn.
    folder : str or Path
        Has directories ``TOPIC-PARTITION`` with files ``00000000000000000000.log`` somewhere below it.
    has_checksum : bool
        False: checksums are not looked at, which is several times as fast.

    Returns
    -------
    DataFrame
        The columns of Spark's Kafka source, and

        - ``control``: COMMIT, ABORT, ... of a record that no application wrote
        - ``transaction``: COMMIT, ABORT or OPEN, how the transaction ended in which a record was written
        - ``tail``: why a file could not be read to its end. This is a row of its own, without key and value, at the
          offset up to which the file was read.

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
    paths = _segment_files(Path(folder))
    kinds = pa.schema(_ARROW_FIELDS)

    def read(files: pa.Table) -> pa.Table:
        columns = read_partition(files.to_pylist(), has_checksum)
        return pa.table([pa.array(column, kind.type) for column, kind in zip(columns, kinds, strict=True)], kinds)

    parts = [sf.regexp_extract("path", _PARTITION_FILE, index) for index in (1, 2, 3)]
    files = (
        spark.read.format("binaryFile")
        .load(paths)
        .select(parts[0].alias("topic"), parts[1].alias("number"), parts[2].alias("base"), "content")
    )
    files = files.select("topic", sf.col("number").cast("int").alias("partition"), "base", "content")
    return files.groupBy("topic", "partition").applyInArrow(for_workers(spark, read), SEGMENT_SCHEMA)


def _segment_files(folder: Path) -> list[str]:
    """Listed here: Spark's own listing passes over directories whose names begin with an underscore."""
    if not folder.is_dir():
        raise KafkaLearnError(f"there is no directory {str(folder)!r}")
    paths = [path.absolute().as_uri() for path in sorted(folder.absolute().rglob("*.log"))]
    found = [path for path in paths if re.search(_PARTITION_FILE, path)]
    if not found:
        raise KafkaLearnError(
            f"no segment below {str(folder)!r}; they lie in directories TOPIC-PARTITION, named {0:020}.log"
        )
    return found


def only_committed(segments: DataFrame) -> DataFrame:
    """The data records without those of aborted and of unfinished transactions, and without tails.

    For ``segments_df(...).transform(only_committed)``; the columns are those of Spark's Kafka source.
    """
    committed = segments.where("control IS NULL AND tail IS NULL AND coalesce(transaction, 'COMMIT') = 'COMMIT'")
    return committed.drop("control", "transaction", "tail")


def read_partition(files: list[dict], has_checksum: bool) -> list[list]:
    """The columns of all records of a partition, from its files."""
    rows = []
    files = sorted(files, key=lambda file: file["base"])
    segments = [
        parse_segment(file["content"], file["topic"], file["partition"], int(file["base"]), has_checksum)
        for file in files
    ]
    batches = [batch for segment in segments for batch in segment.batches]
    outcomes = iter(transaction_outcomes(batches))
    for segment in segments:
        at = segment.topic, segment.partition
        for batch in segment.batches:
            outcome = next(outcomes)
            for each in batch.records:
                facts = (*at, each.offset, each.timestamp_ms * 1000, int(batch.is_log_append_time))
                rows.append((each.key, each.value, *facts, each.control, outcome, None))
        if segment.rest is not None:
            end = segment.batches[-1].last_offset + 1 if segment.batches else segment.base_offset
            rows.append((None, None, *at, end, None, None, None, None, segment.rest.reason))
    return [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(10)]


_ARROW_FIELDS = [
    *(("key", pa.binary()), ("value", pa.binary()), ("topic", pa.string()), ("partition", pa.int32())),
    *(("offset", pa.int64()), ("timestamp", pa.timestamp("us", tz="UTC")), ("timestampType", pa.int32())),
    *(("control", pa.string()), ("transaction", pa.string()), ("tail", pa.string())),
]
