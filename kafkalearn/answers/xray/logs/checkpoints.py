"""The small files beside the segments, and where they contradict them.

A broker keeps an offset for each partition in checkpoint files of the log dir, and the leader epochs of a partition in
its folder. They are written later than the segments, so they may be behind; none of them may be ahead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from kafkalearn.answers.xray.findings import CHECKPOINT, EPOCH, Finding
from kafkalearn.answers.xray.given import CHECKPOINTS, CLEANED, EPOCHS, HIGH_WATERMARKS, LOG_STARTS, GivenLog
from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.census.log_census import LogCensus
from kafkalearn.segments.checkpoints import read_checkpoint, read_leader_epochs

AHEAD = {
    HIGH_WATERMARKS: "the high watermark was {}: records that consumers could read already are gone from this copy",
    CHECKPOINTS[3]: "up to {} the log was flushed: what is gone was on this disk",
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
