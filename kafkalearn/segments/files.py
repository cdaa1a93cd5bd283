"""Segment files as copied from a broker's disk: batches, records, and where the readable part ends.

A broker keeps each partition in a directory ``TOPIC-PARTITION``, in segment files named by the first offset they
may hold, in 20 digits: ``__consumer_offsets-12/00000000000000000000.log``. `read_segment` reads one, `read_disk` all
below a directory. A file that ends in the middle of a batch is what a crash leaves; such a `Rest` is reported, and
so is a batch that does not fit its checksum: a broker that starts again cuts the log there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.batches import Batch, Record, read_batch
from kafkalearn.wire.reader import Undecodable

_PARTITION_DIRECTORY = re.compile(r"(?P<topic>.+)-(?P<partition>\d+)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ONE_MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Rest:
    """The end of a file that cannot be read as batches."""

    position: int  # of its first byte
    size_bytes: int
    reason: str


@dataclass(frozen=True, slots=True)
class Segment:
    """What one segment file holds."""

    topic: str
    partition: int
    base_offset: int  # from the name of the file
    size_bytes: int
    batches: tuple[Batch, ...]
    rest: Rest | None  # None: the file was read to its last byte


def parse_segment(
    data: bytes, topic: str = "", partition: int = 0, base_offset: int = 0, has_checksum: bool = True
) -> Segment:
    """The content of a segment file, as far as it can be read.

    Parameters
    ----------
    data : bytes
        The whole file.
    topic, partition, base_offset : str, int, int
        What the file's name and its directory's say; they are only kept.
    has_checksum : bool
        False: checksums are not looked at, which is several times as fast.

    Returns
    -------
    Segment
        ``rest`` says where and why the reading stopped, if it did before the last byte.

    Examples
    --------
    >>> parse_segment(bytes(12)).rest.reason
    'record batch: batchLength at byte 8 is 0: the file may have been preallocated'
    """
    batches, position, rest = [], 0, None
    while position < len(data):
        try:
            batch = read_batch(data, position, has_checksum)
        except Undecodable as error:
            rest = Rest(position, len(data) - position, str(error))
            break
        batches.append(batch)
        position += batch.size_bytes
    return Segment(topic, partition, base_offset, len(data), tuple(batches), rest)


def read_segment(
    path: str | Path, topic: str | None = None, partition: int | None = None, has_checksum: bool = True
) -> Segment:
    """The content of one segment file.

    Parameters
    ----------
    path : str or Path
        A file named as a broker names it, ``00000000000000000000.log``.
    topic : str, optional
        Without one, topic and partition are read from the directory's name, ``TOPIC-PARTITION``.
    partition : int, optional
        With a topic.
    has_checksum : bool
        As in `parse_segment`.

    Raises
    ------
    KafkaLearnError
        If there is no such file, or its names do not say what it is.
    """
    path = Path(path)
    if not path.is_file():
        raise KafkaLearnError(f"there is no segment file {str(path)!r}")
    if not (path.suffix == ".log" and path.stem.isascii() and path.stem.isdecimal()):
        raise KafkaLearnError(f"{path.name!r} is no segment file; those are named by an offset: {0:020}.log")
    if topic is None:
        topic, partition = _topic_partition(path.absolute().parent.name)
    return parse_segment(path.read_bytes(), topic, partition or 0, int(path.stem), has_checksum)


def read_disk(directory: str | Path, topic: str | None = None, has_checksum: bool = True) -> tuple[Segment, ...]:
    """Every segment below a directory, such as a broker's ``log.dirs`` or a copy of one partition.

    Files that the broker had given up (``.deleted``) or not finished (``.cleaned``, ``.swap``) are not read.

    Parameters
    ----------
    directory : str or Path
        With directories ``TOPIC-PARTITION`` in it, or one of these.
    topic : str, optional
        Only this topic.
    has_checksum : bool
        As in `parse_segment`.

    Returns
    -------
    tuple of Segment
        By topic, partition and base offset.

    Raises
    ------
    KafkaLearnError
        If there is no such directory, or no segment in it.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise KafkaLearnError(f"there is no directory {str(directory)!r}")
    paths = [path for path in directory.rglob("*.log") if _PARTITION_DIRECTORY.fullmatch(path.absolute().parent.name)]
    wanted = [path for path in paths if topic in (None, _topic_partition(path.absolute().parent.name)[0])]
    if not wanted:
        of_topic = "" if topic is None else f" of topic {topic!r}"
        raise KafkaLearnError(
            f"no segment{of_topic} below {str(directory)!r}; they lie in directories TOPIC-PARTITION, named OFFSET.log"
        )
    segments = (read_segment(path, has_checksum=has_checksum) for path in wanted)
    return tuple(sorted(segments, key=lambda segment: (segment.topic, segment.partition, segment.base_offset)))


def _topic_partition(name: str) -> tuple[str, int]:
    found = _PARTITION_DIRECTORY.fullmatch(name)
    if not found:
        raise KafkaLearnError(f"directory {name!r} is not named TOPIC-PARTITION; give topic and partition")
    return found["topic"], int(found["partition"])


def data_records(segments: Iterable[Segment]) -> Iterator[tuple[Segment, Batch, Record]]:
    """Every record that an application wrote, with its segment and batch; control records are left out."""
    for segment in segments:
        for batch in segment.batches:
            for record in batch.records:
                if record.control is None:
                    yield segment, batch, record


def source_rows(segments: Iterable[Segment]) -> Iterator[dict[str, object]]:
    """The data records as rows with the columns of Spark's Kafka source.

    Yields
    ------
    dict
        ``key``, ``value`` (bytes or None), ``topic``, ``partition``, ``offset``, ``timestamp`` (a datetime in UTC),
        ``timestampType`` (0: the producer's clock, 1: the broker's).
    """
    for segment, batch, record in data_records(segments):
        yield {
            "key": record.key,
            "value": record.value,
            "topic": segment.topic,
            "partition": segment.partition,
            "offset": record.offset,
            "timestamp": _EPOCH + record.timestamp_ms * _ONE_MS,
            "timestampType": int(batch.is_log_append_time),
        }
