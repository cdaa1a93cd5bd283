"""Requests of clients: a batch is produced, records are read, records are deleted."""

from __future__ import annotations

from kafkalearn.errors import KafkaLearnError
from kafkalearn.replication.effects import NONE, ConsumerRead, NoReachableLeader, ProduceAnswered, RecordsDeleted
from kafkalearn.replication.events import Consume, DeleteRecords, Produce, TimePassed
from kafkalearn.replication.leader.leading import lift
from kafkalearn.replication.leader.waiting import (
    answer_fetches,
    answer_produces,
    error_after_append,
    expire,
    park_produce,
    tell_producer,
)
from kafkalearn.replication.processing import Work
from kafkalearn.replication.replica_log import disk
from kafkalearn.replication.state import UNKNOWN, ParkedProduce, Requests

ACKS = (0, 1, "all")
TO_HIGH_WATERMARK = -1  # DeleteRecords: everything consumers may read


def produce(work: Work, event: Produce) -> None:
    """One batch reaches a broker, or nobody.

    References
    ----------
    Apache Kafka 4.3, ``ReplicaManager.appendRecords`` and ``Partition.appendRecordsToLeader``.
    """
    _refuse_unknown_acks(event)
    target = work.leader_id if event.to_broker is None else event.to_broker
    if target is None or not work.existing(target).is_running:
        work.tell(NoReachableLeader())
        return
    request, values = _numbered(work, event)
    error = _refusal(work, target, event)
    if error == NONE:
        _append(work, target, event, request, values)
    elif event.acks != 0:
        work.tell(ProduceAnswered(request, error))


def _refuse_unknown_acks(event: Produce) -> None:
    if event.acks not in ACKS:
        raise KafkaLearnError(f"acks must be 0, 1 or 'all', got {event.acks!r}; brokers answer INVALID_REQUIRED_ACKS")


def _numbered(work: Work, event: Produce) -> tuple[int, tuple[str, ...]]:
    """The number of this request and the values of its records: given, or the next of m1, m2, ..."""
    request_count, value_count = work.requests
    count = len(event.values) or event.record_count
    values = event.values or tuple(f"m{value_count + number}" for number in range(1, count + 1))
    work.note_requests(Requests(request_count + 1, value_count + count))
    return request_count + 1, values


def _refusal(work: Work, leader_id: int, event: Produce) -> str:
    leading = work.leading(leader_id)
    if leading is None:
        return "NOT_LEADER_OR_FOLLOWER"
    if event.acks == "all" and len(leading.isr) < work.settings.effective_min_isr:
        return "NOT_ENOUGH_REPLICAS"
    return NONE


def _append(work: Work, leader_id: int, event: Produce, request: int, values: tuple[str, ...]) -> None:
    log, has_epochs = work.log(leader_id), work.settings.rules.has_leader_epochs
    epoch = work.broker(leader_id).leader_epoch if has_epochs else UNKNOWN
    work.put_log(leader_id, disk.append(log, values, epoch))
    has_risen = lift(work, leader_id)
    _answer(work, leader_id, event, request, log.log_end_offset)
    if has_risen:
        answer_produces(work, leader_id)
    answer_fetches(work, leader_id)


def _answer(work: Work, leader_id: int, event: Produce, request: int, base_offset: int) -> None:
    log = work.log(leader_id)
    end = log.log_end_offset
    if event.acks == 1:
        tell_producer(work, leader_id, request, NONE, base_offset, end)
    elif event.acks == "all" and log.high_watermark >= end:
        error = error_after_append(work.settings, work.leading(leader_id))
        tell_producer(work, leader_id, request, error, base_offset, end)
    elif event.acks == "all":
        park_produce(work, leader_id, ParkedProduce(request, base_offset, end, work.now_ms + event.timeout_ms))


def consume(work: Work, event: Consume) -> None:
    """Records from an offset up to the high watermark; nothing, without an error, between there and the LEO."""
    leader_id = work.acting_leader()
    if leader_id is None:
        work.tell(NoReachableLeader())
        return
    log, offset = work.log(leader_id), event.offset
    if not log.log_start_offset <= offset <= log.log_end_offset:
        work.tell(ConsumerRead((), "OFFSET_OUT_OF_RANGE"))
        return
    records = log.records_from(offset, log.high_watermark)
    work.tell(ConsumerRead(tuple((offset + index, record.value) for index, record in enumerate(records))))


def delete_records(work: Work, event: DeleteRecords) -> None:
    """The log start moves up, never past the high watermark; followers hear of it with their fetches."""
    leader_id = work.acting_leader()
    work.require(leader_id is not None, "{}: there is no leader to delete records at", event)
    log = work.log(leader_id)
    offset = log.high_watermark if event.before_offset == TO_HIGH_WATERMARK else event.before_offset
    if not 0 <= offset <= log.high_watermark:
        work.tell(RecordsDeleted(log.log_start_offset, "OFFSET_OUT_OF_RANGE"))
        return
    moved = disk.move_start(log, offset)
    work.put_log(leader_id, moved)
    work.tell(RecordsDeleted(moved.log_start_offset))


def time_passed(work: Work, event: TimePassed) -> None:
    """The clock moves on, and requests that have waited too long are answered."""
    work.require(event.ms >= 0, "{}: time does not run backwards", event)
    work.now_ms += event.ms
    for broker_id in work.settings.broker_ids:
        if work.leading(broker_id) is not None and work.broker(broker_id).is_running:
            expire(work, broker_id)
