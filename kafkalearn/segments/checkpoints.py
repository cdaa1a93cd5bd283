"""The small files of a log dir in which a broker keeps an offset for each partition.

``cleaner-offset-checkpoint`` says how far the cleaner has come, ``log-start-offset-checkpoint`` where logs begin
after records were deleted, ``replication-offset-checkpoint`` has the high watermarks, some seconds old.
"""

from __future__ import annotations

import re
from pathlib import Path

from kafkalearn.errors import KafkaLearnError

VERSION = "0"
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
    path = Path(path)
    if not path.is_file():
        return {}
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise KafkaLearnError(f"checkpoint file {str(path)!r} cannot be read: {error}") from None
    if not content:
        return {}
    version, count, *lines = [*content.splitlines(), "", ""]
    if version.strip() != VERSION:
        raise KafkaLearnError(f"checkpoint file {str(path)!r} is of version {version!r}; {VERSION!r} is known")
    found = {}
    lines = lines[:-2]
    for number, line in enumerate(lines, start=3):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            asked = "topic, partition and offset are expected"
            raise KafkaLearnError(f"line {number} of checkpoint file {str(path)!r} is {line!r}; {asked}")
        found[match["topic"], int(match["partition"])] = int(match["offset"])
    if count.strip() != str(len(lines)):
        raise KafkaLearnError(f"checkpoint file {str(path)!r} announces {count!r} lines and has {len(lines)}")
    return found
