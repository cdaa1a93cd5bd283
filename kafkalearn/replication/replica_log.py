"""One replica's log on its disk: append, and truncation by high watermark or leader epoch (KIP-101, KIP-279).

Pure functions of `Log`; the epoch cache and the high watermark follow the records as Kafka makes them follow.
"""

from __future__ import annotations

from itertools import groupby

from kafkalearn.replication.settings import Rules, Settings
from kafkalearn.replication.state import (
    UNDEFINED,
    UNKNOWN,
    Log,
    Record,
    assign,
    assign_before_kafka_7415,
    cut_from_end,
    cut_from_start,
    end_offset_before_kip_279,
    end_offset_for,
)


def append(rules: Rules, log: Log, values: tuple[str, ...], leader_epoch: int) -> Log:
    """The leader's log with one more batch, stamped with its epoch (-1: none, before 0.11), which may begin with it."""
    batch = tuple(Record(value, leader_epoch) for value in values)
    epochs = log.epochs
    if leader_epoch != UNKNOWN and not rules.notes_epochs_at_elections:
        epochs = assign_before_kafka_7415(epochs, leader_epoch, log.log_end_offset)
    return log._replace(records=log.records + batch, epochs=epochs)


def copy(rules: Rules, log: Log, records: tuple[Record, ...]) -> Log:
    """A follower's log with batches from the leader, as they are; the epochs that begin in them are noted."""
    if not records:
        return log
    epochs, offset = log.epochs, log.log_end_offset
    for leader_epoch, batch in groupby(records, key=lambda record: record.leader_epoch):
        if leader_epoch != UNKNOWN:
            note = assign if rules.notes_epochs_at_elections else assign_before_kafka_7415
            epochs = note(epochs, leader_epoch, offset)
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


# Where a follower's log parts from its leader's, and how it is cut: four rules in twelve years (`TRUNCATIONS`).
# The first cut at the follower's own high watermark, which lags: committed records went, or wrong ones stayed
# (KIP-101). The others compare leader epochs.


def newest_epoch(log: Log) -> int:
    """The newest epoch a log has noted, -1 if it has none."""
    return log.epochs[-1][0] if log.epochs else UNKNOWN


def diverging_epoch(leader: Log, fetch_offset: int, last_epoch: int) -> tuple[int, int] | None:
    """What a leader since 2.8 answers to a fetch from a log that parts from its own; None: it does not part.

    Returns
    -------
    tuple of (int, int) or None
        The largest epoch the leader has up to the one sent, and where it ends there. `epochs.UNDEFINED`: the
        leader knows no such epoch and answers OFFSET_OUT_OF_RANGE.

    References
    ----------
    Apache Kafka 2.7 to 4.3, ``Partition.readRecords``; KIP-595.
    """
    epoch, end_offset = end_offset_for(leader.epochs, last_epoch, leader.log_end_offset)
    if (epoch, end_offset) == UNDEFINED or epoch < last_epoch or end_offset < fetch_offset:
        return epoch, end_offset
    return None


def cut_for(follower: Log, epoch: int, end_offset: int) -> tuple[int, bool]:
    """Where a follower cuts its log if `epoch` ends there at the leader, and whether that is the whole cut.

    Returns
    -------
    tuple of (int, bool)
        The offset to cut to. False: the follower does not know that epoch either; it cuts where its own next
        smaller epoch ends, and has to ask again.

    References
    ----------
    Apache Kafka 2.0 to 4.3, ``AbstractFetcherThread.getOffsetTruncationState``; KIP-279.
    """
    end = follower.log_end_offset
    own_epoch, own_end = end_offset_for(follower.epochs, epoch, end)
    if (own_epoch, own_end) == UNDEFINED:
        return min(end_offset, end), True
    if own_epoch != epoch:
        return min(own_end, end), False
    return min(end_offset, own_end, end), True


def cut_before_fetching(settings: Settings, follower: Log, leader: Log) -> tuple[Log, bool]:
    """The log of a new follower of 0.11 to 2.7 that has asked its leader once, and whether that was the whole cut."""
    asked = newest_epoch(follower)
    if settings.rules.truncation == "epoch, asked once":
        end = end_offset_before_kip_279(leader.epochs, asked, leader.log_end_offset)
        offset, is_whole = (follower.high_watermark if end == UNKNOWN else end), True
    else:
        epoch, end = end_offset_for(leader.epochs, asked, leader.log_end_offset)
        offset, is_whole = (follower.high_watermark, True) if end == UNKNOWN else cut_for(follower, epoch, end)
    return truncate(follower, offset), is_whole


def cut_out_of_range(follower: Log, leader: Log) -> Log:
    """The log of a follower after OFFSET_OUT_OF_RANGE, once it has asked where the leader's log lies."""
    if leader.log_end_offset < follower.log_end_offset:
        return truncate(follower, leader.log_end_offset)
    if leader.log_start_offset > follower.log_end_offset:
        return begin_anew(follower, leader.log_start_offset)
    return follower
