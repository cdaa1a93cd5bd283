"""All segment files below a directory, each with the log dir that it lies in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.segments.files import Rest, Segment, damaged_end, read_file
from kafkalearn.segments.log_dirs import SegmentFile, segment_files


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
    segments = [read_file(file, has_checksum, skip_damaged, batch_limit_bytes) for file in files]
    return tuple(
        segment
        if file.is_last or segment.rest is None
        else _damaged_at_its_end(segment, segment.rest, file, skip_damaged)
        for segment, file in zip(segments, files, strict=True)
    )


def _damaged_at_its_end(segment: Segment, rest: Rest, file: SegmentFile, skip_damaged: bool) -> Segment:
    """A segment that could not be read to its end, though the log goes on in another file."""
    if skip_damaged:
        return replace(segment, rest=None, skipped=(*segment.skipped, rest))
    if rest.behind is not None:
        return segment
    return replace(segment, rest=replace(rest, reason=damaged_end(rest.reason, file.end_offset)))
