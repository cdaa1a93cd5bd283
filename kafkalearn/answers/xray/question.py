"""What is in these segment files: the question `xray`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kafkalearn.answers.xray.given import given_logs, newest_ms
from kafkalearn.answers.xray.report import Xray
from kafkalearn.answers.xray.run import Progress, Run
from kafkalearn.answers.xray.settings import xray_settings
from kafkalearn.arguments import flag, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.compression import BATCH_LIMIT_BYTES
from kafkalearn.versions.releases import DEFAULT_RELEASE


def xray(
    paths: str | Path | Iterable[str | Path],
    *,
    topic: str | None = None,
    partition: int | None = None,
    group: str | None = None,
    offsets_partition_count: int = 50,
    headers_only: bool = False,
    settings: Mapping[str, object] | None = None,
    release: str = DEFAULT_RELEASE,
    now_ms: int | None = None,
    is_fast: bool | None = None,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
    progress: Progress = lambda read_bytes, all_bytes: None,
) -> Xray:
    """What is in segment files, and what is wrong with them; nothing is written.

    Parameters
    ----------
    paths : str, Path, or several of them
        Segment files, partitions' folders, brokers' data directories, or folders above several of these.
    topic, partition : str, int, optional
        Only these.
    group : str, optional
        Only the partition of the offsets topic that holds this group, and of its groups only this one.
    offsets_partition_count : int
        ``offsets.topic.num.partitions``, which says where a group is.
    headers_only : bool
        True: of each batch only the header is read, and believed: no keys, tombstones, checksums, groups.
    settings : mapping of str to object, optional
        Settings of the topics, ``offsets.retention.minutes`` and ``transactional.id.expiration.ms``, by Kafka's names;
        Kafka's defaults for such a topic else. A topic that the cleaner's checkpoint names counts as compacted.
    release : str
        Of the broker.
    now_ms : int, optional
        The moment of which the files tell; without one, when any of them was written last.
    is_fast : bool, optional
        Whether records are read with NumPy; None: if ``kafkalearn[fast]`` is installed. The answer is the same.
    batch_limit_bytes : int
        A batch that decodes to more is not read.
    progress : callable
        Called while files are read, with how many bytes of how many are done.

    Returns
    -------
    Xray
        Each log with its counts, what the cleaner or retention would do, groups and transactions of the internal
        topics, and what was found. Files may grow meanwhile: each is read as it was when it was opened. Memory is
        that of a block (about 200 MB), of the keys of an internal topic, and of the simulator for logs up to
        `kafkalearn.answers.xray.cleaning.SIMULATED_BYTES`.

    Raises
    ------
    KafkaLearnError
        If nothing can be x-rayed: no such file, no segment in it, settings that no broker has.

    Examples
    --------
    >>> from kafkalearn.datafiles import data_directory
    >>> found = xray(data_directory("offsets-topic") / "cleaned" / "before", partition=0, now_ms=1_795_176_700_000)
    >>> found.logs[0].census.record_count, found.logs[0].cleaning.found.cleanable_bytes, len(found.groups.groups)
    (119, 0, 1)

    References
    ----------
    Apache Kafka 0.11 to 4.3: ``DumpLogSegments`` and ``TransactionsCommand`` for what is shown, ``LogCleanerManager``,
    ``UnifiedLog`` and the coordinators for what it means.
    """
    flag("headers_only", headers_only)
    whole_number("batch_limit_bytes", batch_limit_bytes, at_least=1)
    known = xray_settings(settings, release)
    if group is not None:
        if (topic, partition, headers_only) != (None, None, False):
            raise KafkaLearnError("a group is in one partition, in its records: give no topic, partition, headers_only")
        topic, partition = OFFSETS_TOPIC, offsets_partition(group, offsets_partition_count)
    logs = given_logs([paths] if isinstance(paths, str | Path) else paths, topic, partition)
    now_ms = newest_ms(logs) if now_ms is None else whole_number("now_ms", now_ms, at_least=0)
    run = Run(known, now_ms, headers_only, is_fast, batch_limit_bytes, progress, logs, group)
    return run.answer()
