"""What an x-ray is given: the logs below some paths, what it finds in them, and the small files beside the segments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from stat import S_ISREG

from kafkalearn.base.checks import iterable
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.formats.census import LogCensus
from kafkalearn.formats.disk import read_checkpoint, read_leader_epochs
from kafkalearn.formats.segments import HERE, SegmentFile, base_offset_of, partition_of, segment_files

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


def _path(given: object) -> Path:
    if not isinstance(given, str | os.PathLike):
        raise KafkaLearnError(f"paths must be paths of files and folders, and one of them is {shown(given)}")
    return Path(given)


def given_logs(
    paths: Iterable[str | Path], topic: str | None = None, partition: int | None = None
) -> tuple[GivenLog, ...]:
    """The logs below some paths, by topic, partition and log dir.

    Raises
    ------
    KafkaLearnError
        If a path is not there or has no segment file, or what is asked for is not among them.
    """
    places = [_path(each) for each in iterable("paths", paths, of="paths of files and folders")]
    if not places:
        raise KafkaLearnError("give a segment file, a partition's folder or a broker's data directory")
    files: dict[Path, SegmentFile] = {}
    for path in places:
        for each in _files(path, topic, partition):
            if each.path.absolute() not in files:
                named = path if each.log_dir == HERE else path / each.log_dir
                label = each.log_dir if len(places) == 1 else str(named)
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
    return max(0, 0, *(stat.st_mtime_ns // 1_000_000 for path in paths if (stat := file_stat(path)) is not None))


def file_stat(path: Path) -> os.stat_result | None:
    """What the system says of a file; None: there is none, or it is gone by now."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found if S_ISREG(found.st_mode) else None


# What an x-ray finds that needs a person: a kind, a place, and a sentence.

DAMAGE = "damage"
TORN_TAIL = "torn tail"
UNREADABLE = "unreadable"
CHANGED = "changed while it was read"
CHECKPOINT = "checkpoint"
EPOCH = "leader epochs"
COPIES = "copies differ"
OPEN_TRANSACTION = "open transaction"
FUTURE = "timestamp from the future"
CENTURY = "timestamp of another century"
NOT_CLEANED = "not cleaned"
NOT_SHRINKING = "does not shrink"
NOT_DELETED = "not deleted"
OVERDUE = "transaction is overdue"
UNREADABLE_RECORDS = "records that cannot be read"
OLD_FORMAT = "old message format"

KINDS = (
    UNREADABLE, CHANGED, DAMAGE, CHECKPOINT, EPOCH, COPIES, NOT_CLEANED, NOT_SHRINKING, OPEN_TRANSACTION, OVERDUE,
    NOT_DELETED, FUTURE, CENTURY, UNREADABLE_RECORDS, OLD_FORMAT, TORN_TAIL,
)  # fmt: skip
"""The kinds, in the order in which an answer has them: what may have lost records first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is wrong, in a sentence."""

    kind: str  # a name in `KINDS`
    where: str  # a partition, with its log dir if there are copies
    words: str

    @property
    def rank(self) -> tuple[int, str]:
        """Where it stands among others."""
        return KINDS.index(self.kind), self.where


# The small files beside the segments, and where they contradict them.
#
# A broker keeps an offset for each partition in checkpoint files of the log dir, and the leader epochs of a partition
# in its folder. They are written later than the segments, so they may be behind; none of them may be ahead.

AHEAD = {
    HIGH_WATERMARKS: "the high watermark was {}: records that consumers could read already are gone from this copy",
    RECOVERY_POINTS: "up to {} the log was flushed: what is gone was on this disk",
    LOG_STARTS: "the log should start at {}, behind its end",
    CLEANED: "the cleaner had come to {}: a broker that starts with these files cleans from the start again",
}


@dataclass(frozen=True, slots=True)
class BesideLog:
    """What the small files say of one log; None: nothing."""

    offsets: dict[str, int | None]  # by the checkpoint's name
    epochs: tuple[tuple[int, int], ...] | None  # leader epochs, each with its first offset
    there: tuple[str, ...]  # the checkpoint files of the log dir that are there
    problems: tuple[str, ...] = ()  # files that cannot be read

    def is_there(self, name: str) -> bool:
        """Whether a checkpoint file lies beside the partition; a copy of a partition alone has none."""
        return name in self.there

    @property
    def cleaned_to(self) -> int | None:
        """Up to which offset the cleaner has come."""
        return self.offsets[CLEANED]

    @property
    def log_start(self) -> int | None:
        """Where the log starts, if records in front of it were deleted on request."""
        return self.offsets[LOG_STARTS]


def beside(log: GivenLog) -> BesideLog:
    """What the small files say of a log."""
    offsets: dict[str, int | None] = {}
    problems = []
    for name in CHECKPOINTS:
        found, problem = _checkpoint(log.around / name)
        offsets[name] = found.get(tuple(log.at))
        problems += [problem] if problem else []
    try:
        epochs = read_leader_epochs(log.folder / EPOCHS)
    except KafkaLearnError as error:
        epochs, problems = None, [*problems, str(error)]
    there = tuple(name for name in CHECKPOINTS if (log.around / name).is_file())
    return BesideLog(offsets, epochs, there, tuple(problems))


@lru_cache(maxsize=64)
def _checkpoint_at(path: Path, modified_ns: int) -> tuple[dict[tuple[str, int], int], str | None]:
    try:
        return read_checkpoint(path), None
    except KafkaLearnError as error:
        return {}, str(error)


def _checkpoint(path: Path) -> tuple[dict[tuple[str, int], int], str | None]:
    """A checkpoint file, read once however many partitions ask for it."""
    try:
        return _checkpoint_at(path, path.stat().st_mtime_ns)
    except OSError:
        return {}, None


def disagreements(log: GivenLog, census: LogCensus, said: BesideLog) -> Iterator[Finding]:
    """Where the small files contradict the segments."""
    for problem in said.problems:
        yield Finding(CHECKPOINT, log.name, problem)
    end = census.end_offset
    for name, offset in said.offsets.items():
        if offset is not None and offset > end:
            words = AHEAD[name].format(offset)
            yield Finding(CHECKPOINT, log.name, f"{name} is ahead of the log, which ends at offset {end}: {words}")
    if said.epochs is not None:
        yield from _epochs_disagree(log, census, said.epochs)


def _epochs_disagree(log: GivenLog, census: LogCensus, epochs: tuple[tuple[int, int], ...]) -> Iterator[Finding]:
    for (epoch, start), (next_epoch, next_start) in pairwise(epochs):
        if next_epoch <= epoch or next_start < start:
            words = f"{EPOCHS} has epoch {next_epoch} from offset {next_start} behind epoch {epoch} from {start}"
            yield Finding(EPOCH, log.name, f"{words}; both must rise")
            return
    if epochs and epochs[-1][1] > census.end_offset:
        epoch, start = epochs[-1]
        words = f"{EPOCHS} has epoch {epoch} from offset {start}, the log ends at {census.end_offset}"
        yield Finding(EPOCH, log.name, words)
    wrong = [
        (run.epoch, offset)
        for run in census.epochs
        for offset in dict.fromkeys((run.first_offset, run.last_offset))
        if run.epoch >= 0 and _epoch_at(epochs, offset) != run.epoch
    ]
    if wrong:
        epoch, offset = wrong[0]
        there = _epoch_at(epochs, offset)
        of_file = "none" if there is None else f"epoch {there}"
        more = f"; {len(wrong) - 1} more such places" if len(wrong) > 1 else ""
        words = f"the batch at offset {offset} is of leader epoch {epoch}, {EPOCHS} has {of_file} there{more}"
        yield Finding(EPOCH, log.name, f"{words}; a follower may cut its log at the wrong offset")


def _epoch_at(epochs: tuple[tuple[int, int], ...], offset: int) -> int | None:
    """The epoch that a file has for an offset; None: it begins later."""
    return max(((start, epoch) for epoch, start in epochs if start <= offset), default=(0, None))[1]
