"""What a follower asks, what a leader reads for it, and what the follower makes of the answer."""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.replication.effects import NONE, BrokerHalted, FetchAnswered
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.replica_log import disk, truncation
from kafkalearn.replication.replica_log.epochs import UNDEFINED
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import DOWN, UNKNOWN, Broker, Log, Record


class FetchRequest(NamedTuple):
    """What a follower sends."""

    broker_id: int
    fetch_offset: int  # its own LEO
    log_start_offset: int
    leader_epoch: int | None  # that it knows; None before 2.1
    last_epoch: int | None  # the newest in its cache; None before 2.8, or if it has none


class FetchAnswer(NamedTuple):
    """What a leader answers."""

    error: str = NONE
    high_watermark: int | None = None
    log_start_offset: int = 0
    records: tuple[Record, ...] = ()
    diverging: tuple[int, int] | None = None  # (epoch, end offset): here the logs part

    @property
    def has_content(self) -> bool:
        """Whether there is a reason to answer at once."""
        return bool(self.records) or self.error != NONE or self.diverging is not None


def request_of(settings: Settings, broker_id: int, broker: Broker, log: Log) -> FetchRequest:
    """The fetch that a follower sends next."""
    newest = truncation.newest_epoch(log)
    sends_newest = settings.rules.truncation == "epoch, in the fetch" and newest != UNKNOWN
    return FetchRequest(
        broker_id,
        log.log_end_offset,
        log.log_start_offset,
        broker.leader_epoch if settings.rules.fences_fetches else None,
        newest if sends_newest else None,
    )


def refusal(is_leader: bool, leader_epoch: int, request: FetchRequest, is_replica: bool) -> str:
    """Step 1: the error for one who asks the wrong broker, or in the wrong epoch; ``"NONE"`` if all is well.

    The epoch is looked at first: a follower knows it too. `is_replica` says whether the leader knows the sender as one
    who holds a replica.
    """
    if request.leader_epoch is not None and request.leader_epoch != leader_epoch:
        return "FENCED_LEADER_EPOCH" if request.leader_epoch < leader_epoch else "UNKNOWN_LEADER_EPOCH"
    if not is_leader:
        return "NOT_LEADER_OR_FOLLOWER"
    if not is_replica:
        return "NOT_LEADER_OR_FOLLOWER" if request.leader_epoch is None else "UNKNOWN_LEADER_EPOCH"
    return NONE


def read(log: Log, request: FetchRequest) -> FetchAnswer:
    """Steps 2 to 5: the answer from the leader's log as it is, with records up to the LEO, not the high watermark.

    References
    ----------
    Apache Kafka 4.3, ``Partition.fetchRecords`` and ``readRecords``.
    """
    answer = FetchAnswer(NONE, log.high_watermark, log.log_start_offset)  # 2
    if request.last_epoch is not None:  # 3
        diverging = truncation.diverging_epoch(log, request.fetch_offset, request.last_epoch)
        if diverging == UNDEFINED or request.fetch_offset < log.log_start_offset:
            return FetchAnswer("OFFSET_OUT_OF_RANGE")
        if diverging is not None:
            return answer._replace(diverging=diverging)
    if not log.log_start_offset <= request.fetch_offset <= log.log_end_offset:  # 4
        return FetchAnswer("OFFSET_OUT_OF_RANGE")
    return answer._replace(records=log.records_from(request.fetch_offset))  # 5


def deliver_answer(processing: Processing, leader_id: int, request: FetchRequest, answer: FetchAnswer) -> None:
    """The follower acts on an answer, unless its log has moved since it asked."""
    broker_id = request.broker_id
    log = processing.log(broker_id)
    if not processing.broker(broker_id).is_running or log.log_end_offset != request.fetch_offset:
        return
    leader_log = processing.log(leader_id)
    if answer.error == "OFFSET_OUT_OF_RANGE" and _halts(processing.settings, log, leader_log):
        processing.put_log(broker_id, disk.found_again(log))
        processing.put_broker(broker_id, Broker(DOWN, was_stopped_cleanly=False))
        processing.emit(BrokerHalted(broker_id))
        return
    after = log_after(log, answer, leader_log)
    processing.put_log(broker_id, after)
    is_asked_to_cut = answer.diverging is not None or answer.error == "OFFSET_OUT_OF_RANGE"
    ends = (log.log_end_offset, after.log_end_offset) if is_asked_to_cut else (None, None)
    values = tuple((request.fetch_offset + index, record.value) for index, record in enumerate(answer.records))
    processing.emit(FetchAnswered(broker_id, answer.high_watermark, values, answer.error, answer.diverging, *ends))


def _halts(settings: Settings, log: Log, leader_log: Log) -> bool:
    is_ahead = leader_log.log_end_offset < log.log_end_offset
    return is_ahead and settings.rules.halts_beyond_leader and not settings.is_unclean_election_enabled


def log_after(log: Log, answer: FetchAnswer, leader_log: Log) -> Log:
    """A follower's log after an answer: cut or copied to, its high watermark as the leader has it.

    The high watermark is overwritten, not raised: it can go down.

    References
    ----------
    Apache Kafka 4.3, ``AbstractFetcherThread`` and ``ReplicaFetcherThread.processPartitionData``.
    """
    if answer.error == "OFFSET_OUT_OF_RANGE":
        return truncation.cut_out_of_range(log, leader_log)
    if answer.error != NONE:
        return log
    if answer.diverging is not None:
        cut, _ = truncation.cut_for(log, *answer.diverging)
        return disk.truncate(log, cut)
    copied = disk.copy(log, answer.records)
    leaders = answer.high_watermark
    assert leaders is not None, "an answer without an error has the leader's high watermark"
    high_watermark = max(min(copied.log_end_offset, leaders), copied.log_start_offset)
    return disk.move_start(copied._replace(high_watermark=high_watermark), answer.log_start_offset)
