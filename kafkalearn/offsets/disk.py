"""From the folder of a broker to the groups it coordinates, in one call."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.offsets.replay import Replayed, replay
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.segments.disk import read_disk
from kafkalearn.segments.transactions import committed_records


def read_groups(
    directory: str | Path,
    topic_names: Mapping[str, str] | None = None,
    *,
    log_dir: str | None = None,
    has_checksum: bool = True,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
) -> Replayed:
    """The groups that the partitions of ``__consumer_offsets`` below a folder describe.

    Commits of aborted and of unfinished transactions do not count. A group is there if its partition is; the folder
    of one broker has those that the broker keeps.

    Parameters
    ----------
    directory : str or Path
        A log dir, the folder of one partition, or a folder above several log dirs.
    topic_names : mapping of str to str, optional
        As in `replay`.
    log_dir : str, optional
        Of which broker, as a path below the folder, if a partition lies there several times.
    has_checksum, skip_damaged, batch_limit_bytes : bool, bool, int
        As in `kafkalearn.segments.read_disk`.

    Raises
    ------
    KafkaLearnError
        If there is no such folder or no segment of the topic, if a partition lies in several log dirs and none is
        chosen, or if a batch is damaged and `skip_damaged` is False.

    Examples
    --------
    >>> from kafkalearn.datafiles import data_directory
    >>> found = read_groups(data_directory("offsets-topic") / "disk")
    >>> len(found.groups), found.problems
    (22, ())
    """
    segments = read_disk(
        directory,
        OFFSETS_TOPIC,
        has_checksum,
        log_dir=log_dir,
        skip_damaged=skip_damaged,
        batch_limit_bytes=batch_limit_bytes,
    )
    return replay(committed_records(segments), topic_names)
