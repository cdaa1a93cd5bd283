"""The broker's side: a produce request arrives, its stamp is judged, its records are written or not.

In this order, as in Kafka: who leads, whether the ISR is big enough, whether the sequence number follows on. What a
broker remembers of a producer is what its own log says: a follower that becomes leader knows the batches it copied.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafkalearn.delivery.effects import BatchAppended, BatchRefused, DeliveryEffect, DuplicateRecognised
from kafkalearn.delivery.events import ProduceRequest
from kafkalearn.delivery.processing import DeliveryProcessing
from kafkalearn.delivery.state import Appended
from kafkalearn.log.sequences import (
    BatchMetadata,
    ProducerStateEntry,
    Stamp,
    Verdict,
    is_forgotten,
    judge,
    remember,
)
from kafkalearn.replication.effects import NONE, NoReachableLeader, ProduceAnswered
from kafkalearn.replication.events import Produce
from kafkalearn.replication.leader.producing import numbered, produce, refusal
from kafkalearn.replication.leader.waiting import park_produce, respond_to_producer
from kafkalearn.replication.state import Log, ParkedProduce


class Receipt(NamedTuple):
    """What the broker answers to a request at once."""

    error: str | None = None  # None: there is no answer yet, or there will be none
    base_offset: int | None = None


def producer_state(
    log: Log, appended: tuple[Appended, ...], producer_id: int, now_ms: int = 0, release: str = "4.3"
) -> ProducerStateEntry | None:
    """What the broker with this log remembers of a producer; None: nothing.

    Parameters
    ----------
    log : Log
        Its log.
    appended : tuple of Appended
        All stamped batches that leaders have written; only those that this log holds count.
    producer_id : int
        Whose state.
    now_ms : int
        A producer that was silent for ``producer.id.expiration.ms`` is forgotten.
    release : str
        Of the broker.

    Examples
    --------
    >>> from kafkalearn.replication.state import Record
    >>> log = Log(records=(Record("m1", 0), Record("m2", 0)))
    >>> appended = (Appended(0, 0, Stamp(7, 0, 0)), Appended(0, 1, Stamp(7, 0, 1)), Appended(0, 2, Stamp(7, 0, 2)))
    >>> producer_state(log, appended, 7).last_sequence  # the third did not reach this broker
    1

    References
    ----------
    Apache Kafka 4.3, ``ProducerStateManager`` and ``UnifiedLog.rebuildProducerState``.
    """
    entry = None
    for each in sorted(appended, key=lambda batch: batch.base_offset):
        if each.stamp.producer_id == producer_id and each.is_in(log):
            entry = remember(entry, each.stamp, each.base_offset, each.timestamp_ms, release)
    return None if entry is None or is_forgotten(entry, now_ms) else entry


def produce_by_hand(processing: DeliveryProcessing, event: ProduceRequest) -> None:
    """A request made by hand: no producer here waits for its answer."""
    stamp = None
    if event.producer_id is not None:
        stamp = Stamp(event.producer_id, event.producer_epoch, event.first_sequence, len(event.values))
    request = Produce(len(event.values), event.acks, tuple(event.values), event.timeout_ms, event.to_broker)
    receive(processing, request, stamp, None)


def receive(processing: DeliveryProcessing, request: Produce, stamp: Stamp | None, number: int | None) -> Receipt:
    """One request reaches its broker.

    References
    ----------
    Apache Kafka 4.3, ``Partition.appendRecordsToLeader`` and ``UnifiedLog.analyzeAndValidateProducerState``.
    """
    target = processing.leader_id if request.to_broker is None else request.to_broker
    if target is None or not processing.existing(target).is_running:
        processing.emit(NoReachableLeader())
        return Receipt()
    verdict = _verdict(processing, target, request, stamp)
    if verdict.is_accepted:
        return _append(processing, target, request, stamp, number)
    index, _ = numbered(processing, request)
    if verdict.duplicate_of is not None:
        return _answer_duplicate(processing, target, request, verdict.duplicate_of, index, number)
    processing.emit(BatchRefused(number, verdict.error))
    processing.emit(ProduceAnswered(index, verdict.error))
    return Receipt(verdict.error)


def _verdict(processing: DeliveryProcessing, target: int, request: Produce, stamp: Stamp | None) -> Verdict:
    """What the stamp says; a broker that refuses the request for another reason does not look at it."""
    if stamp is None or refusal(processing, target, request) != NONE:
        return Verdict()
    release = processing.settings.release
    known = producer_state(processing.log(target), processing.appended, stamp.producer_id, processing.now_ms, release)
    return judge(known, stamp, release)


def _append(
    processing: DeliveryProcessing, target: int, request: Produce, stamp: Stamp | None, number: int | None
) -> Receipt:
    before, effect_count = processing.log(target).log_end_offset, len(processing.effects)
    produce(processing, request)
    is_written = processing.log(target).log_end_offset > before
    if is_written:
        processing.effects.insert(effect_count, BatchAppended(number, before))
        if stamp is not None:
            leader_epoch = processing.broker(target).leader_epoch
            processing.appended = (*processing.appended, Appended(leader_epoch, before, stamp, processing.now_ms))
    answer = _own_answer(processing.effects[effect_count:], before if is_written else None)
    if answer is None:
        return Receipt(base_offset=before if is_written else None)
    if not is_written:
        processing.effects.insert(effect_count, BatchRefused(number, answer.error))
    return Receipt(answer.error, answer.base_offset)


def _own_answer(effects: Sequence[DeliveryEffect], base_offset: int | None) -> ProduceAnswered | None:
    """The answer to this very request: writing it may have answered others that waited."""
    answers = [each for each in effects if isinstance(each, ProduceAnswered) and each.base_offset == base_offset]
    return answers[0] if answers else None


def _answer_duplicate(
    processing: DeliveryProcessing, target: int, request: Produce, known: BatchMetadata, index: int, number: int | None
) -> Receipt:
    """The old offset is answered as soon as the old batch is committed."""
    end = known.base_offset + len(request.values)
    processing.emit(DuplicateRecognised(number, known.base_offset))
    if processing.log(target).high_watermark >= end:
        respond_to_producer(processing, target, index, NONE, known.base_offset, end)
        return Receipt(NONE, known.base_offset)
    park_produce(
        processing, target, ParkedProduce(index, known.base_offset, end, processing.now_ms + request.timeout_ms)
    )
    return Receipt(base_offset=known.base_offset)
