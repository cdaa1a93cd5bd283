"""Segment files of any topic, as a broker's disk has them: record batches, records, compression, transactions.

`read_disk` reads every segment below a directory, `read_segment` one file, `parse_segment` its bytes, `read_batch` one
batch. `committed_records` leaves out what aborted transactions wrote, `source_rows` gives records the columns of
Spark's Kafka source. What cannot be read raises `kafkalearn.formats.wire.Undecodable`, or is the `rest` of its segment.
The small files beside the segments are read by `read_checkpoint` and `read_leader_epochs`.

>>> from kafkalearn.base.files import data_directory
>>> segments = read_disk(data_directory("offsets-topic") / "disk")
>>> sum(len(batch.records) for segment in segments for batch in segment.batches), len(list(committed_records(segments)))
(796, 791)
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.formats.batches import Batch, Record, read_batch
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.segments import (
    Segment,
    SegmentFile,
    damaged_end,
    parse_segment,
    read_file,
    read_segment,
    refuse_copies,
    segment_files,
)

__all__ = [
    "committed_records",
    "parse_segment",
    "read_batch",
    "read_disk",
    "read_segment",
    "source_rows",
]


# All segment files below a directory, each with the log dir that it lies in.


def read_disk(
    directory: str | Path,
    topic: str | None = None,
    has_checksum: bool = True,
    *,
    partition: int | None = None,
    log_dir: str | None = None,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
) -> tuple[Segment, ...]:
    """Every segment below a directory, such as a broker's ``log.dirs`` or a copy of one partition.

    Files that the broker had given up (``.deleted``) or not finished (``.cleaned``, ``.swap``) are not read. If the
    directory holds log dirs of several brokers, a partition may lie in several of them: the segments say in which, and
    what turns segments into records refuses several copies of one partition.

    Parameters
    ----------
    directory : str or Path
        A directory ``TOPIC-PARTITION``, a log dir with such directories in it, or one with several log dirs below it.
    topic : str, optional
        Only this topic.
    has_checksum : bool
        As in `parse_segment`.
    partition : int, optional
        Only partitions of this number.
    log_dir : str, optional
        Only this log dir, as a path below the directory; ``"."`` is the directory itself.
    skip_damaged : bool
        True: damaged parts are passed over, in all files. The tail of a file is damage, too, if it is not the last one
        of its partition.
    batch_limit_bytes : int
        As in `parse_segment`.

    Returns
    -------
    tuple of Segment
        By topic, partition, log dir and base offset.

    Raises
    ------
    KafkaLearnError
        If there is no such directory, or no segment in it.
    """
    files = segment_files(directory, topic, log_dir, partition)
    return tuple(_in_its_log(file, has_checksum, skip_damaged, batch_limit_bytes) for file in files)


def _in_its_log(file: SegmentFile, has_checksum: bool, skip_damaged: bool, batch_limit_bytes: int) -> Segment:
    """A segment; where it could not be read to its end, though the log goes on in another file, that is damage."""
    segment = read_file(file, has_checksum, skip_damaged, batch_limit_bytes)
    rest = segment.rest
    if file.is_last or rest is None:
        return segment
    if skip_damaged:
        return replace(segment, rest=None, skipped=(*segment.skipped, rest))
    if rest.behind is not None:
        return segment
    return replace(segment, rest=replace(rest, reason=damaged_end(rest.reason, file.end_offset)))


# The records of segments, each partition once and nothing left out without a word.
#
# What turns segments into records goes through `by_partition`: several copies of one partition would be added up, and a
# damaged batch would take all records behind it along. Both are refused; the message says what to do.


def by_partition(segments: Iterable[Segment]) -> dict[tuple[str, int], tuple[Segment, ...]]:
    """The segments of each topic and partition, in the order of their offsets.

    Raises
    ------
    KafkaLearnError
        If a partition is there several times, or damaged in the middle.
    """
    logs: dict[tuple[str, int], list[Segment]] = {}
    for segment in segments:
        if not isinstance(segment, Segment):
            came = type(segment).__name__
            raise KafkaLearnError(f"segments are expected, as read_disk returns them, got a {came}")
        logs.setdefault((segment.topic, segment.partition), []).append(segment)
    refuse_copies({at: {each.log_dir for each in log} for at, log in logs.items()})
    found = {at: tuple(sorted(log, key=lambda each: each.base_offset)) for at, log in logs.items()}
    for log in found.values():
        _refuse_overlaps(log)
        _refuse_damage(log)
    return found


def _refuse_overlaps(log: tuple[Segment, ...]) -> None:
    for before, after in pairwise(log):
        last = before.batches[-1].last_offset if before.batches else before.base_offset
        if last >= after.base_offset:
            raise KafkaLearnError(
                f"{before.file_name} reaches up to offset {last}, and there is also {after.file_name}: these are not "
                "files of one log; give the segments of one copy, from one log dir and of one moment"
            )


def _refuse_damage(log: tuple[Segment, ...]) -> None:
    for segment in log:
        rest = segment.rest
        if rest is not None and (rest.behind or segment is not log[-1]):
            raise KafkaLearnError(
                f"{segment.file_name} is damaged, and not only torn at the end of its log: {rest.reason}"
            )


def data_records(segments: Iterable[Segment]) -> Iterator[tuple[Segment, Batch, Record]]:
    """Every record that an application wrote, with its segment and batch; control records are left out.

    Raises
    ------
    KafkaLearnError
        As `by_partition`.
    """
    for log in by_partition(segments).values():
        for segment in log:
            for batch in segment.batches:
                for record in batch.records:
                    if record.control is None:
                        yield segment, batch, record


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_MS = timedelta(milliseconds=1)


def source_rows(segments: Iterable[Segment], *, null_beyond_9999: bool = False) -> Iterator[dict[str, object]]:
    """The data records as rows with the columns of Spark's Kafka source.

    Parameters
    ----------
    segments : iterable of Segment
        As `read_disk` returns them, one copy of each partition.
    null_beyond_9999 : bool
        A record's timestamp is any number of milliseconds, and some producers give microseconds; a datetime ends with
        the year 9999. False: such a record is an error. True: its ``timestamp`` is None.

    Yields
    ------
    dict
        ``key``, ``value`` (bytes or None), ``topic``, ``partition``, ``offset``, ``timestamp`` (a datetime in UTC),
        ``timestampType`` (0: the producer's clock, 1: the broker's).

    Raises
    ------
    KafkaLearnError
        If a partition is there several times or damaged in the middle, or a timestamp is no datetime.
    """
    for segment, batch, record in data_records(segments):
        timestamp = _datetime(record.timestamp_ms)
        if timestamp is None and not null_beyond_9999:
            raise KafkaLearnError(
                f"the record at offset {record.offset} of {segment.topic}-{segment.partition} has the timestamp "
                f"{record.timestamp_ms} ms, outside the years 1 to 9999 of a datetime: null_beyond_9999=True gives "
                "None for it; the record itself has the number as timestamp_ms"
            )
        yield {
            "key": record.key,
            "value": record.value,
            "topic": segment.topic,
            "partition": segment.partition,
            "offset": record.offset,
            "timestamp": timestamp,
            "timestampType": int(batch.is_log_append_time),
        }


def _datetime(timestamp_ms: int) -> datetime | None:
    try:
        return _EPOCH + timestamp_ms * _ONE_MS
    except OverflowError:
        return None


# Which records of a partition count: those of aborted and of unfinished transactions do not.
#
# A consumer that also produces may commit its offsets inside a transaction. Such commits lie in the offsets topic like
# others, in transactional batches; a control batch of the same producer id, the *marker*, says how it ended.

OUTCOMES = ("COMMIT", "ABORT", "OPEN")
"""How a transaction may stand: ended one way or the other, or not ended yet."""


def transaction_outcomes(batches: Sequence[Batch]) -> tuple[str | None, ...]:
    """For each batch of a partition how its transaction ended, a name in `OUTCOMES`; None: it is in none.

    Parameters
    ----------
    batches : sequence of Batch
        Of one partition, in order.
    """
    found: list[str | None] = [None] * len(batches)
    open_batches: dict[int, list[int]] = {}  # producer id -> indexes
    for index, batch in enumerate(batches):
        if not batch.is_transactional:
            continue
        if not batch.is_control:
            found[index] = "OPEN"
            open_batches.setdefault(batch.producer_id, []).append(index)
        elif batch.records:
            ended = batch.records[0].control
            found[index] = ended
            for each in open_batches.pop(batch.producer_id, ()):
                found[each] = ended
    return tuple(found)


def committed_records(segments: Iterable[Segment]) -> Iterator[Record]:
    """The data records that count, partition by partition, in the order of their offsets.

    Parameters
    ----------
    segments : iterable of Segment
        As `kafkalearn.formats.disk.read_disk` returns them, one copy of each partition.

    Raises
    ------
    KafkaLearnError
        If a partition is there several times, or damaged in the middle.
    """
    for log in by_partition(segments).values():
        batches = [batch for segment in log for batch in segment.batches]
        for batch, outcome in zip(batches, transaction_outcomes(batches), strict=True):
            if not batch.is_control and outcome in (None, "COMMIT"):
                yield from batch.records


# The small files of a log dir in which a broker keeps an offset for each partition.
#
# ``cleaner-offset-checkpoint`` says how far the cleaner has come, ``log-start-offset-checkpoint`` where logs begin
# after records were deleted, ``replication-offset-checkpoint`` has the high watermarks, some seconds old. A partition's
# own folder has ``leader-epoch-checkpoint``: where each leader's records begin.

VERSION = "0"
_EPOCH_LINE = re.compile(r"(?P<epoch>\d{1,10})\s+(?P<start>\d{1,19})", re.ASCII)
_LINE = re.compile(r"(?P<topic>\S+)\s+(?P<partition>\d{1,9})\s+(?P<offset>-?\d{1,19})", re.ASCII)


def read_checkpoint(path: str | Path) -> dict[tuple[str, int], int]:
    """The offset of each topic and partition; empty if there is no such file, or nothing in it yet.

    A broker makes the file empty when it first opens a folder, and writes another over it at the next checkpoint.

    Raises
    ------
    KafkaLearnError
        If the file is none of these; the message has the line.

    References
    ----------
    Apache Kafka, ``OffsetCheckpointFile`` and ``CheckpointFile``: a version, a count, then a line for each partition.
    """
    lines = _lines(path, "topic, partition and offset", _LINE)
    return {(match["topic"], int(match["partition"])): int(match["offset"]) for match in lines or ()}


def read_leader_epochs(path: str | Path) -> tuple[tuple[int, int], ...] | None:
    """The leader epochs of a partition, each with the offset where it begins; None: there is no such file.

    Raises
    ------
    KafkaLearnError
        If the file is none of these; the message has the line.

    References
    ----------
    Apache Kafka, ``LeaderEpochCheckpointFile``, KIP-101: since 0.11.
    """
    lines = _lines(path, "epoch and offset", _EPOCH_LINE)
    return None if lines is None else tuple((int(match["epoch"]), int(match["start"])) for match in lines)


def _lines(path: str | Path, asked: str, pattern: re.Pattern[str]) -> list[re.Match[str]] | None:
    """The lines of such a file behind version and count; none of an empty one, None if there is no file."""
    path = Path(path)
    if not path.is_file():
        return None
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise KafkaLearnError(f"checkpoint file {str(path)!r} cannot be read: {error}") from None
    if not content:
        return []
    lines = content.splitlines()
    version, count = [*lines, "0"][:2]  # Kafka takes a file that ends behind the version for one without lines
    if version.strip() != VERSION:
        raise KafkaLearnError(f"checkpoint file {str(path)!r} is of version {shown(version)}; {VERSION!r} is known")
    found: list[re.Match[str]] = []
    for number, line in enumerate(lines[2:], start=3):
        match = pattern.fullmatch(line.rstrip())
        if match is None:
            raise KafkaLearnError(
                f"line {number} of checkpoint file {str(path)!r} is {shown(line)}; {asked} are expected"
            )
        found.append(match)
    if count.strip() != str(len(found)):
        raise KafkaLearnError(f"checkpoint file {str(path)!r} announces {shown(count)} lines and has {len(found)}")
    return found
