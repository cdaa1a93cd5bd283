"""What a cut of power leaves of a log: imitated, by cutting the files of a broker that is down.

A killed process loses nothing that it has written: the system still has it. A machine without power loses what was not
flushed to its disk, and Kafka flushes nothing before it acknowledges. So the files are cut where the disk would end,
between two batches or within one, as a torn file system leaves them.
"""

from __future__ import annotations

from pathlib import Path

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.live.reading.disk import Disk

FILES_OF_A_SEGMENT = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


def cut_log(disk: Disk, topic: str, partition: int, offset: int, torn_bytes: int = 0) -> None:
    """Cut the log of a replica so that it ends at an offset.

    Parameters
    ----------
    disk : Disk
        Of a broker that is down.
    topic, partition : str, int
        Which replica.
    offset : int
        Where its log shall end: the first offset of one of its batches, or its end.
    torn_bytes : int
        How many bytes of the batch behind it stay.

    Raises
    ------
    NotThere
        If there is no such replica.
    KafkaLearnError
        If no batch begins at the offset.
    """
    whole_number("offset", offset, at_least=0)
    whole_number("torn_bytes", torn_bytes, at_least=0)
    segments = disk.segments(topic, partition)
    end = disk.log_end_offset(topic, partition)
    starts = {batch.base_offset for segment in segments for batch in segment.batches} | {end, segments[0].base_offset}
    if offset not in starts:
        raise KafkaLearnError(
            f"the log of {topic}-{partition} cannot end at {offset}: batches begin at "
            f"{', '.join(map(str, sorted(starts)))}"
        )
    folder = disk.folder / f"{topic}-{partition}"
    for segment in segments:
        if segment.base_offset > offset:
            _remove(folder, segment.base_offset)
        else:
            position = next((each.position for each in segment.batches if each.base_offset >= offset), None)
            if position is not None:
                path = folder / f"{segment.base_offset:020}.log"
                with path.open("r+b") as file:
                    file.truncate(min(position + torn_bytes, path.stat().st_size))


def _remove(folder: Path, base_offset: int) -> None:
    for ending in FILES_OF_A_SEGMENT:
        (folder / f"{base_offset:020}{ending}").unlink(missing_ok=True)
