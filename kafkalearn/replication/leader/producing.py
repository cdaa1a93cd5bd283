"""Requests of clients: a batch is produced, records are read, records are deleted."""

from __future__ import annotations

from kafkalearn.replication.effects import NONE, ConsumerRead, NoReachableLeader, ProduceAnswered, RecordsDeleted
from kafkalearn.replication.events import Consume, DeleteRecords, Produce, TimePassed
from kafkalearn.replication.leader.leading import lift
from kafkalearn.replication.leader.waiting import (
    answer_fetches,
    answer_produces,
    error_after_append,
    expire,
    park_produce,
    respond_to_producer,
)
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.replica_log import disk
from kafkalearn.replication.state import UNKNOWN, ParkedProduce, Requests

TO_HIGH_WATERMARK = -1  # DeleteRecords: everything consumers may read


def produce(processing: Processing, event: Produce) -> None:
    """One batch reaches a broker, if there is one to take it.

    References
    ----------
    Apache Kafka 4.3, ``ReplicaManager.appendRecords`` and ``Partition.appendRecordsToLeader``.
    """
    target = processing.leader_id if event.to_broker is None else event.to_broker
    if target is None or not processing.existing(target).is_running:
        processing.emit(NoReachableLeader())
        return
    request, values = numbered(processing, event)
    error = refusal(processing, target, event)
    if error == NONE:
        _append(processing, target, event, request, values)
    elif event.acks != 0:
        processing.emit(ProduceAnswered(request, error))


def numbered(processing: Processing, event: Produce) -> tuple[int, tuple[str, ...]]:
    """The number of this request and the values of its records: given, or the next of m1, m2, ..."""
    request_count, value_count = processing.requests
    count = len(event.values) or event.record_count
    values = event.values or tuple(f"m{value_count + number}" for number in range(1, count + 1))
    processing.requests = Requests(request_count + 1, value_count + count)
    return request_count + 1, values


def refusal(processing: Processing, leader_id: int, event: Produce) -> str:
    """The error for a request that a broker does not write; ``"NONE"`` if it does."""
    leading = processing.leading(leader_id)
    if leading is None:
        return "NOT_LEADER_OR_FOLLOWER"
    if event.acks == "all" and len(leading.isr) < processing.needed_isr(leader_id):
        return "NOT_ENOUGH_REPLICAS"
    return NONE


def _append(processing: Processing, leader_id: int, event: Produce, request: int, values: tuple[str, ...]) -> None:
    log, has_epochs = processing.log(leader_id), processing.settings.rules.has_leader_epochs
    epoch = processing.broker(leader_id).leader_epoch if has_epochs else UNKNOWN
    processing.put_log(leader_id, disk.append(log, values, epoch))
    has_risen = lift(processing, leader_id)
    _answer(processing, leader_id, event, request, log.log_end_offset)
    if has_risen:
        answer_produces(processing, leader_id)
    answer_fetches(processing, leader_id)


def _answer(processing: Processing, leader_id: int, event: Produce, request: int, base_offset: int) -> None:
    log = processing.log(leader_id)
    end = log.log_end_offset
    if event.acks == 1:
        respond_to_producer(processing, leader_id, request, NONE, base_offset, end)
    elif event.acks == "all" and log.high_watermark >= end:
        error = error_after_append(processing, leader_id)
        respond_to_producer(processing, leader_id, request, error, base_offset, end)
    elif event.acks == "all":
        park_produce(
            processing, leader_id, ParkedProduce(request, base_offset, end, processing.now_ms + event.timeout_ms)
        )


def consume(processing: Processing, event: Consume) -> None:
    """Records from an offset up to the high watermark; nothing, without an error, between there and the LEO."""
    leader_id = processing.acting_leader()
    if leader_id is None:
        processing.emit(NoReachableLeader())
        return
    log, offset = processing.log(leader_id), event.offset
    if not log.log_start_offset <= offset <= log.log_end_offset:
        processing.emit(ConsumerRead((), "OFFSET_OUT_OF_RANGE"))
        return
    records = log.records_from(offset, log.high_watermark)
    processing.emit(ConsumerRead(tuple((offset + index, record.value) for index, record in enumerate(records))))


def delete_records(processing: Processing, event: DeleteRecords) -> None:
    """The log start moves up, never past the high watermark; followers learn it from their fetches."""
    leader_id = processing.acting_leader()
    if leader_id is None:
        processing.refuse("{}: there is no leader to delete records at", event)
    log = processing.log(leader_id)
    offset = log.high_watermark if event.before_offset == TO_HIGH_WATERMARK else event.before_offset
    if not 0 <= offset <= log.high_watermark:
        processing.emit(RecordsDeleted(log.log_start_offset, "OFFSET_OUT_OF_RANGE"))
        return
    moved = disk.move_start(log, offset)
    processing.put_log(leader_id, moved)
    processing.emit(RecordsDeleted(moved.log_start_offset))


def time_passed(processing: Processing, event: TimePassed) -> None:
    """The clock moves on, and requests that have waited too long are answered."""
    processing.now_ms += event.ms
    for broker_id in processing.settings.broker_ids:
        if processing.leading(broker_id) is not None and processing.broker(broker_id).is_running:
            expire(processing, broker_id)
