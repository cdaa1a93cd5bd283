"""The broker's side: how a replica answers a consumer that names the leader epoch it knows.

References
----------
Apache Kafka 2.1 to 4.3, ``Partition.lastOffsetForLeaderEpoch``, ``Partition.fetchRecords``, ``getLocalLog``.
"""

from __future__ import annotations

from kafkalearn.replication.effects import NONE
from kafkalearn.replication.leader.answers import FetchRequest, refusal
from kafkalearn.replication.replica_log.epochs import UNDEFINED, end_offset_for
from kafkalearn.replication.state import Record, Replica


def refused(replica: Replica, leader_epoch: int | None) -> str:
    """The error for a consumer that asks a broker which does not lead, or in another epoch; ``"NONE"`` if all is well.

    >>> from kafkalearn.replication import Settings, start
    >>> leader, follower, _ = start(Settings()).replicas
    >>> refused(leader, 0), refused(leader, 1), refused(follower, 0)
    ('NONE', 'UNKNOWN_LEADER_EPOCH', 'NOT_LEADER_OR_FOLLOWER')
    """
    asked = FetchRequest(0, 0, 0, leader_epoch, None)
    return refusal(replica.leading is not None, replica.broker.leader_epoch, asked, is_replica=True)


def epoch_end(replica: Replica, leader_epoch: int | None, asked_epoch: int) -> tuple[str, tuple[int, int]]:
    """The answer to OffsetsForLeaderEpoch: an error, and (epoch, end offset); (-1, -1): none."""
    error = refused(replica, leader_epoch)
    if error != NONE:
        return error, UNDEFINED
    return NONE, end_offset_for(replica.log.epochs, asked_epoch, replica.log_end_offset)


def read(replica: Replica, leader_epoch: int | None, offset: int) -> tuple[str, tuple[Record, ...]]:
    """The answer to a fetch: an error, and the records up to the high watermark; of followers as up to 2.3.

    Since 2.4 a follower answers a consumer that knows the right epoch (KIP-392); here nobody asks one with it.
    """
    error = refused(replica, leader_epoch)
    if error != NONE:
        return error, ()
    log = replica.log
    if not log.log_start_offset <= offset <= log.log_end_offset:
        return "OFFSET_OUT_OF_RANGE", ()
    return NONE, log.records_from(offset, log.high_watermark)


def first_or_last(replica: Replica, leader_epoch: int | None, is_earliest: bool) -> tuple[str, int]:
    """The answer to ListOffsets: an error, and where the log starts, or what consumers may read up to."""
    return refused(replica, leader_epoch), replica.log.log_start_offset if is_earliest else replica.high_watermark
