"""The records of segments, each partition once and nothing left out without a word.

What turns segments into records goes through `by_partition`: several copies of one partition would be added up, and a
damaged batch would take all records behind it along. Both are refused; the message says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.batches import Batch, Record
from kafkalearn.segments.files import Segment
from kafkalearn.segments.log_dirs import refuse_copies

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_MS = timedelta(milliseconds=1)


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
