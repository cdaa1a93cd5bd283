"""The log of a real partition, from the files of a broker: to be cleaned and written to by the simulator.

Records and batches are in the files, and so is what a broker remembers of producers and transactions: it reads the
same batches when it starts after a crash. How far the cleaner came, and where the log starts, is in two small files
beside the partitions, ``cleaner-offset-checkpoint`` and ``log-start-offset-checkpoint``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from kafkalearn.base.checks import iterable, mapping
from kafkalearn.base.errors import KafkaLearnError, listed
from kafkalearn.formats import batches, disk
from kafkalearn.formats import segments as files
from kafkalearn.formats.compression import BATCH_LIMIT_BYTES
from kafkalearn.formats.disk import by_partition, read_checkpoint
from kafkalearn.formats.records import headers_bytes
from kafkalearn.formats.segments import segment_files
from kafkalearn.log.appending import COMMIT, ProducerState, size_of
from kafkalearn.log.model import Batch, Log, Record, Segment
from kafkalearn.releases.lines import DEFAULT_RELEASE

CLEANED, LOG_STARTS = "cleaner-offset-checkpoint", "log-start-offset-checkpoint"


def log_from_segments(
    segments: Iterable[files.Segment],
    *,
    checkpoint: int | None = None,
    log_start_offset: int | None = None,
    now_ms: int | None = None,
    release: str = DEFAULT_RELEASE,
) -> Log:
    """The log that the segments of one partition are.

    Parameters
    ----------
    segments : iterable of Segment
        As `kafkalearn.formats.disk.read_disk` returns them, of one partition; the last one is the active segment.
    checkpoint : int, optional
        Up to which offset the cleaner has come, exclusive.
    log_start_offset : int, optional
        Without one, where the first segment begins.
    now_ms : int, optional
        The broker's clock: producers that were silent for a day are forgotten. Without it none is.
    release : str
        Of the broker: before 1.0 it remembered one batch of a producer, since then five.

    Returns
    -------
    Log
        With every transaction that has data in the files: open, aborted or committed. All of it is replicated. Of
        the headers of records only their size is kept.

    Raises
    ------
    KafkaLearnError
        If the segments are none, of several partitions or copies, or damaged in the middle.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
    >>> from kafkalearn.formats.disk import read_disk
    >>> disk = read_disk(data_directory("offsets-topic") / "disk", "__consumer_offsets")
    >>> log = log_from_segments(each for each in disk if each.partition == 9)
    >>> log.log_end_offset, len(log.records), len(log.producers)
    (88, 86, 1)

    References
    ----------
    Apache Kafka 4.3, ``LogLoader``, ``UnifiedLog.rebuildProducerState``, ``ProducerAppendInfo.append``; KIP-98.
    """
    logs = by_partition(segments)
    if len(logs) != 1:
        there = f": {listed(f'{topic}-{partition}' for topic, partition in logs)}" if logs else ""
        raise KafkaLearnError(f"the segments of one partition are one log, got those of {len(logs)}{there}")
    (log,) = logs.values()
    known = ProducerState(release)
    for segment in log:
        for batch in segment.batches:
            known.read(batch)
    first, last = log[0], log[-1]
    return Log(
        tuple(map(_segment, log)),
        log_start_offset=max(first.base_offset, log_start_offset or 0),
        log_end_offset=last.batches[-1].last_offset + 1 if last.batches else last.base_offset,
        checkpoint=checkpoint,
        transactions=known.transactions,
        producers=known.producers(now_ms),
    )


def read_log(
    directory: str | Path,
    topic: str | None = None,
    partition: int | None = None,
    *,
    log_dir: str | None = None,
    has_checksum: bool = True,
    skip_damaged: bool = False,
    batch_limit_bytes: int = BATCH_LIMIT_BYTES,
    now_ms: int | None = None,
    release: str = DEFAULT_RELEASE,
) -> Log:
    """The log of a partition, from the folder of a broker.

    The cleaner's checkpoint and the log start offset are read from the files of the log dir, if they are there.

    Parameters
    ----------
    directory : str or Path
        A partition's folder, a log dir, or a folder above several log dirs.
    topic, partition : str, int, optional
        Which one, if the folder has several.
    log_dir : str, optional
        Of which broker, as a path below the folder, if the partition lies there several times.
    has_checksum, skip_damaged, batch_limit_bytes : bool, bool, int
        As in `kafkalearn.formats.disk.read_disk`.
    now_ms, release : int, str
        As in `log_from_segments`.

    Raises
    ------
    KafkaLearnError
        If the folder has no such partition, several and none is named, or a damaged one.

    Examples
    --------
    >>> from kafkalearn.base.files import data_directory
    >>> from kafkalearn.log import Clean, Roll, Settings, simulate
    >>> log = read_log(data_directory("offsets-topic") / "cleaned", partition=0, log_dir="before")
    >>> cleaned = simulate(Settings("compact"), [Roll(), Clean(now_ms=1_800_000_000_000)], log)[-1].state
    >>> len(log.records), len(cleaned.records)
    (119, 27)
    """
    found = segment_files(directory, topic, log_dir, partition)
    there = sorted({(each.topic, each.partition) for each in found})
    if len(there) != 1:
        names = listed(f"{topic}-{partition}" for topic, partition in there)
        raise KafkaLearnError(f"{str(directory)!r} has {len(there)} partitions, {names}; give topic= and partition=")
    ((topic, partition),) = there
    segments = disk.read_disk(
        directory,
        topic,
        has_checksum,
        partition=partition,
        log_dir=log_dir,
        skip_damaged=skip_damaged,
        batch_limit_bytes=batch_limit_bytes,
    )
    around = found[0].path.absolute().parent.parent
    return log_from_segments(
        segments,
        checkpoint=read_checkpoint(around / CLEANED).get((topic, partition)),
        log_start_offset=read_checkpoint(around / LOG_STARTS).get((topic, partition)),
        now_ms=now_ms,
        release=release,
    )


def _segment(segment: files.Segment) -> Segment:
    return Segment(segment.base_offset, tuple(map(_batch, segment.batches)), segment.modified_ms, segment.modified_ms)


def _batch(batch: batches.Batch) -> Batch:
    """A batch of the disk as the simulator has it; a control record has neither key nor value there."""
    marker = None
    if batch.is_control:
        marker = batch.records[0].control if batch.records else COMMIT  # of an emptied one it no longer matters
    records = tuple(
        Record(each.offset, each.key, each.value, each.timestamp_ms, headers_bytes(each.headers))
        if marker is None
        else Record(each.offset, None, None, each.timestamp_ms)
        for each in batch.records
    )
    return Batch(
        batch.base_offset,
        batch.last_offset,
        records,
        batch.size_bytes,
        batch.max_timestamp_ms,
        batch.delete_horizon_ms,
        batch.producer_id,
        batch.producer_epoch,
        batch.base_sequence,
        batch.is_transactional,
        marker,
        codec=batch.compression,
    )


def log_from_records(records: Iterable[Record], horizons_ms: Mapping[int, int] | None = None) -> Log:
    """A log with the records in one closed segment, a batch for each, and an empty active segment behind them.

    Offsets may have gaps: so a part of a real topic can be cleaned here.

    Parameters
    ----------
    records : iterable of Record
        In the order of their offsets.
    horizons_ms : mapping of int to int, optional
        The delete horizon of the batch at an offset, where an earlier pass has set one.

    Raises
    ------
    KafkaLearnError
        If the offsets do not rise.

    Examples
    --------
    >>> log = log_from_records([Record(3, "anna", "Lyon", 1000), Record(7, "anna", None, 2000)])
    >>> log.log_end_offset, [segment.base_offset for segment in log.segments]
    (8, [0, 8])
    """
    horizons_ms = mapping("horizons_ms", {} if horizons_ms is None else horizons_ms, of="offset to milliseconds")
    batches: list[Batch] = []
    for record in iterable("records", records, of="records"):
        if batches and record.offset <= batches[-1].last_offset:
            raise KafkaLearnError(
                f"offset {record.offset} follows {batches[-1].last_offset}: give the records in the order of offsets"
            )
        size_bytes = size_of(record.offset, record.timestamp_ms, (record,))
        horizon_ms = horizons_ms.get(record.offset)
        at, since_ms = record.offset, record.timestamp_ms
        batches.append(Batch(at, at, (record,), size_bytes, since_ms, delete_horizon_ms=horizon_ms))
    if not batches:
        return Log()
    end, last_ms = batches[-1].last_offset + 1, max(batch.max_timestamp_ms for batch in batches)
    return Log((Segment(0, tuple(batches), last_ms), Segment(end, (), last_ms)), log_end_offset=end)
