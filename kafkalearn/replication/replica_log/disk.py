"""What is done to one replica's log: appended to, copied to, cut, moved at its start, found again after a restart.

Pure functions of one `Log`; the epoch cache and the high watermark follow the records as Kafka makes them follow.
"""

from __future__ import annotations

from itertools import groupby

from kafkalearn.replication.replica_log.epochs import assign, cut_from_end, cut_from_start
from kafkalearn.replication.state import UNKNOWN, Log, Record


def append(log: Log, values: tuple[str, ...], leader_epoch: int) -> Log:
    """The leader's log with one more batch, stamped with its epoch (-1: none, before 0.11)."""
    batch = tuple(Record(value, leader_epoch) for value in values)
    return log._replace(records=log.records + batch)


def copy(log: Log, records: tuple[Record, ...]) -> Log:
    """A follower's log with batches from the leader, as they are; the epochs that begin in them are noted."""
    if not records:
        return log
    epochs, offset = log.epochs, log.log_end_offset
    for leader_epoch, batch in groupby(records, key=lambda record: record.leader_epoch):
        if leader_epoch != UNKNOWN:
            epochs = assign(epochs, leader_epoch, offset)
        offset += len(tuple(batch))
    return log._replace(records=log.records + records, epochs=epochs)


def truncate(log: Log, end_offset: int) -> Log:
    """The log cut to end at `end_offset`; high watermark and log start come down with it."""
    kept = min(end_offset, log.log_end_offset)
    return log._replace(
        records=log.records_from(log.first_offset, kept),
        first_offset=min(log.first_offset, kept),
        log_start_offset=min(log.log_start_offset, kept),
        high_watermark=min(log.high_watermark, kept),
        # Also where no record goes: an epoch without records may stand at the end.
        epochs=cut_from_end(log.epochs, kept),
    )


def move_start(log: Log, log_start_offset: int) -> Log:
    """The log with its start moved up; the records before it are still on disk."""
    if log_start_offset <= log.log_start_offset:
        return log
    return log._replace(
        log_start_offset=log_start_offset,
        high_watermark=max(log.high_watermark, log_start_offset),
        epochs=cut_from_start(log.epochs, log_start_offset),
    )


def begin_anew(log: Log, offset: int) -> Log:
    """An empty log that begins at `offset`: the leader no longer has what this replica would need."""
    return log._replace(records=(), first_offset=offset, log_start_offset=offset, high_watermark=offset, epochs=())


def checkpointed(log: Log) -> Log:
    """The log once its high watermark is written to disk."""
    return log._replace(checkpointed_high_watermark=log.high_watermark)


def found_again(log: Log) -> Log:
    """The log as a starting process finds it, with the high watermark that was last written down."""
    found = min(max(log.checkpointed_high_watermark, log.log_start_offset), log.log_end_offset)
    return log._replace(high_watermark=found)
