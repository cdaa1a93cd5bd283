"""Which segment files lie below a folder: of which partition, and in which log dir of which broker.

A broker keeps each partition in a folder ``TOPIC-PARTITION`` of one of its log dirs, in segment files named by the
first offset they may hold, in 20 digits: ``__consumer_offsets-12/00000000000000000000.log``. A folder may be such a
partition, a log dir, or hold the log dirs of several brokers; then one partition lies in it several times. These are
copies of one log and must not be added up, so every file is named with its *log dir*, as a path below the folder.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kafkalearn.arguments import LARGEST_INT, text, whole_number
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.phrases import listed, shown
from kafkalearn.segments.walk import LARGEST_OFFSET

HERE = "."
"""The log dir that is the folder itself, or the one around it if the folder is a partition's."""

_PARTITION_FOLDER = re.compile(r"(?P<topic>.+)-(?P<partition>\d{1,9})", re.ASCII)
_SEGMENT_NAME = re.compile(r"\d{1,20}\.log", re.ASCII)


@dataclass(frozen=True, slots=True)
class SegmentFile:
    """A segment file and what its place says."""

    path: Path
    log_dir: str  # below the folder that was searched
    topic: str
    partition: int
    base_offset: int
    end_offset: int = LARGEST_OFFSET + 1  # where the next file of the same log begins
    is_last: bool = True  # of its log: the active segment


def partition_of(folder_name: str) -> tuple[str, int]:
    """Topic and partition, from the name of a partition's folder.

    >>> partition_of("__consumer_offsets-12")
    ('__consumer_offsets', 12)
    """
    found = _PARTITION_FOLDER.fullmatch(folder_name)
    if not found:
        raise KafkaLearnError(f"directory {folder_name!r} is not named TOPIC-PARTITION; give topic and partition")
    return found["topic"], int(found["partition"])


def base_offset_of(path: Path) -> int:
    """The first offset that a segment may hold, from the name of its file."""
    if not _SEGMENT_NAME.fullmatch(path.name) or int(path.stem) > LARGEST_OFFSET:
        raise KafkaLearnError(f"{path.name!r} is no segment file; those are named by an offset: {0:020}.log")
    return int(path.stem)


def segment_files(
    directory: str | Path, topic: str | None = None, log_dir: str | None = None, partition: int | None = None
) -> tuple[SegmentFile, ...]:
    """Every segment file below a folder.

    Files that the broker had given up (``.deleted``) or not finished (``.cleaned``, ``.swap``) are none, nor are those
    of partitions that it was deleting or moving (``TOPIC-PARTITION.ID-delete``, ``-future``, ``-stray``).

    Parameters
    ----------
    directory : str or Path
        A partition's folder, a log dir, or a folder above several of them.
    topic : str, optional
        Only this topic.
    log_dir : str, optional
        Only this log dir, as a path below the folder.
    partition : int, optional
        Only this partition.

    Returns
    -------
    tuple of SegmentFile
        By topic, partition, log dir and base offset.

    Raises
    ------
    KafkaLearnError
        If there is no such folder, log dir, topic or partition, or no segment file.
    """
    directory = Path(directory)
    if not directory.is_dir():
        raise KafkaLearnError(f"there is no directory {str(directory)!r}")
    if topic is not None:
        text("topic", topic)
    if partition is not None:
        whole_number("partition", partition, at_least=0, at_most=LARGEST_INT)
    found = [_file(directory, path) for path in directory.rglob("*.log") if _is_of_a_partition(path)]
    there = sorted({each.log_dir for each in found})
    if log_dir is not None and there and log_dir not in there:
        raise unknown_name("log dir", log_dir, there)
    wanted = [
        each
        for each in found
        if topic in (None, each.topic) and log_dir in (None, each.log_dir) and partition in (None, each.partition)
    ]
    if not wanted:
        of_topic = "" if topic is None else f" of topic {shown(topic)}"
        of_topic += "" if partition is None else f" of partition {partition!r}"
        of_log_dir = "" if log_dir is None else f" in log dir {log_dir!r}"
        raise KafkaLearnError(
            f"no segment{of_topic}{of_log_dir} below {str(directory)!r}; they lie in directories TOPIC-PARTITION, "
            "named OFFSET.log"
        )
    return _with_ends(wanted)


def _is_of_a_partition(path: Path) -> bool:
    return bool(_PARTITION_FOLDER.fullmatch(path.absolute().parent.name)) and path.is_file()


def _file(directory: Path, path: Path) -> SegmentFile:
    is_inside = path.parent != directory
    log_dir = path.parent.parent.relative_to(directory).as_posix() if is_inside else HERE
    return SegmentFile(path, log_dir, *partition_of(path.absolute().parent.name), base_offset_of(path))


def _with_ends(files: Iterable[SegmentFile]) -> tuple[SegmentFile, ...]:
    """The files in order, each with where the next one of its log begins."""
    ordered = sorted(files, key=lambda each: (each.topic, each.partition, each.log_dir, each.base_offset))
    found: list[SegmentFile] = []
    for each, behind in zip(ordered, (*ordered[1:], None), strict=True):
        if behind is not None and _log_of(behind) == _log_of(each):
            place = each.path, each.log_dir, each.topic, each.partition, each.base_offset
            each = SegmentFile(*place, behind.base_offset, is_last=False)
        found.append(each)
    return tuple(found)


def _log_of(file: SegmentFile) -> tuple[str, int, str]:
    return file.topic, file.partition, file.log_dir


def refuse_copies(log_dirs_by_partition: Mapping[tuple[str, int], Collection[str]]) -> None:
    """Raise if a partition lies in several log dirs; the message says in which and how to choose one."""
    for (topic, partition), log_dirs in log_dirs_by_partition.items():
        if len(log_dirs) > 1:
            there = sorted(log_dirs)
            raise KafkaLearnError(
                f"partition {topic}-{partition} lies in {len(there)} log dirs, {listed(map(repr, there))}: these are "
                f"copies of one log; choose one when you read them: log_dir={there[0]!r}"
            )
