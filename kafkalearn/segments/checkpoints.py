"""The small files of a log dir in which a broker keeps an offset for each partition.

``cleaner-offset-checkpoint`` says how far the cleaner has come, ``log-start-offset-checkpoint`` where logs begin
after records were deleted, ``replication-offset-checkpoint`` has the high watermarks, some seconds old. A partition's
own folder has ``leader-epoch-checkpoint``: where each leader's records begin.
"""

from __future__ import annotations

import re
from pathlib import Path

from kafkalearn.errors import KafkaLearnError
from kafkalearn.phrases import shown

VERSION = "0"
_EPOCH_LINE = re.compile(r"(?P<epoch>\d{1,10})\s+(?P<start>\d{1,19})", re.ASCII)
_LINE = re.compile(r"(?P<topic>\S+)\s+(?P<partition>\d{1,9})\s+(?P<offset>\d{1,19})", re.ASCII)


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
    version, count, *lines = [*content.splitlines(), "", ""]
    if version.strip() != VERSION:
        raise KafkaLearnError(f"checkpoint file {str(path)!r} is of version {shown(version)}; {VERSION!r} is known")
    found = []
    lines = lines[:-2]
    for number, line in enumerate(lines, start=3):
        match = pattern.fullmatch(line.strip())
        if match is None:
            raise KafkaLearnError(
                f"line {number} of checkpoint file {str(path)!r} is {shown(line)}; {asked} are expected"
            )
        found.append(match)
    if count.strip() != str(len(lines)):
        raise KafkaLearnError(f"checkpoint file {str(path)!r} announces {shown(count)} lines and has {len(lines)}")
    return found
