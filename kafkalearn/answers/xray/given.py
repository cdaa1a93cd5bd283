"""Which logs were given: from segment files, partitions' folders, log dirs and folders above them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown
from kafkalearn.segments.log_dirs import HERE, SegmentFile, base_offset_of, partition_of, segment_files
from kafkalearn.topic_partition import TopicPartition

CHECKPOINTS = (
    "cleaner-offset-checkpoint",
    "log-start-offset-checkpoint",
    "replication-offset-checkpoint",
    "recovery-point-offset-checkpoint",
)
CLEANED, LOG_STARTS, HIGH_WATERMARKS, RECOVERY_POINTS = CHECKPOINTS
EPOCHS = "leader-epoch-checkpoint"


@dataclass(frozen=True, slots=True)
class GivenLog:
    """The files of a partition in one log dir."""

    at: TopicPartition
    log_dir: str  # below what was given
    files: tuple[SegmentFile, ...]
    is_copied: bool = False  # the partition lies in another log dir, too

    @property
    def folder(self) -> Path:
        """The partition's own."""
        return self.files[0].path.parent

    @property
    def around(self) -> Path:
        """The log dir, where the checkpoint files are."""
        return self.files[0].path.absolute().parent.parent

    @property
    def name(self) -> str:
        """The partition, with the log dir where that tells copies apart."""
        return f"{self.at} in {self.log_dir}" if self.is_copied else str(self.at)


def given_logs(
    paths: Iterable[str | Path], topic: str | None = None, partition: int | None = None
) -> tuple[GivenLog, ...]:
    """The logs below some paths, by topic, partition and log dir.

    Raises
    ------
    KafkaLearnError
        If a path is not there or has no segment file, or what is asked for is not among them.
    """
    paths = [Path(each) for each in paths]
    if not paths:
        raise KafkaLearnError("give a segment file, a partition's folder or a broker's data directory")
    files: dict[Path, SegmentFile] = {}
    for path in paths:
        for each in _files(path, topic, partition):
            known = files.get(each.path.absolute())
            if known is None:
                label = each.log_dir if len(paths) == 1 else _joined(path, each.log_dir)
                files[each.path.absolute()] = replace(each, log_dir=label)
    if not files:
        raise KafkaLearnError(f"no segment of {shown(topic)} is among the files given")
    logs: dict[tuple[str, int, str], list[SegmentFile]] = {}
    for each in files.values():
        logs.setdefault((each.topic, each.partition, each.log_dir), []).append(each)
    places = [place[:2] for place in logs]
    return tuple(
        GivenLog(TopicPartition(*place[:2]), place[2], _in_order(found), places.count(place[:2]) > 1)
        for place, found in sorted(logs.items())
    )


def _joined(path: Path, log_dir: str) -> str:
    return str(path) if log_dir == HERE else str(path / log_dir)


def _files(path: Path, topic: str | None, partition: int | None) -> tuple[SegmentFile, ...]:
    if path.is_dir():
        return segment_files(path, topic, partition=partition)
    if not path.is_file():
        raise KafkaLearnError(f"there is no file and no folder {str(path)!r}")
    base_offset = base_offset_of(path)
    folder = path.absolute().parent
    try:
        of_topic, of_partition = partition_of(folder.name)
    except KafkaLearnError:  # a file that was copied by itself
        of_topic, of_partition = folder.name or "?", 0
    is_wanted = topic in (None, of_topic) and partition in (None, of_partition)
    return (SegmentFile(path, str(folder.parent), of_topic, of_partition, base_offset),) if is_wanted else ()


def _in_order(files: list[SegmentFile]) -> tuple[SegmentFile, ...]:
    """The files of one log, each with where the next one begins."""
    ordered = sorted(files, key=lambda each: each.base_offset)
    ends = [each.base_offset for each in ordered[1:]]
    closed = (replace(each, end_offset=end, is_last=False) for each, end in zip(ordered[:-1], ends, strict=True))
    return (*closed, ordered[-1])


def newest_ms(logs: Iterable[GivenLog]) -> int:
    """When any of the files, or of the checkpoints beside them, was written last: the moment of which they tell."""
    paths: set[Path] = set()
    for log in logs:
        paths |= {each.path for each in log.files} | {log.around / name for name in CHECKPOINTS}
    found = [path.stat().st_mtime_ns // 1_000_000 for path in paths if path.is_file()]
    return max(0, *found) if found else 0
