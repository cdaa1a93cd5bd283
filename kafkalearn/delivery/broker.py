"""The broker's side: a produce request arrives, its stamp is judged, its records are written or not.

In this order, as in Kafka: who leads, whether the ISR is big enough, whether the sequence number follows on. What a
broker remembers of a producer is what its own log says: a follower that becomes leader knows the batches it copied.
"""

from __future__ import annotations

from typing import NamedTuple

from kafkalearn.delivery.events import BatchAppended, BatchRefused, DuplicateRecognised, ProduceRequest
from kafkalearn.delivery.processing import DeliveryWork
from kafkalearn.delivery.sequences import Entry, Remembered, Stamp, Verdict, is_forgotten, judge, remember
from kafkalearn.delivery.state import Appended
from kafkalearn.replication import NONE, NoReachableLeader, ParkedProduce, Produce, ProduceAnswered, Requests
from kafkalearn.replication.leader.producing import produce
from kafkalearn.replication.leader.waiting import park_produce, tell_producer
from kafkalearn.replication.state import Log


class Receipt(NamedTuple):
    """What became of a request at once."""

    error: str | None = None  # None: there is no answer yet, or there will be none
    base_offset: int | None = None


def producer_state(
    log: Log, appended: tuple[Appended, ...], producer_id: int, now_ms: int = 0, release: str = "4.3"
) -> Entry | None:
    """What the broker with this log remembers of a producer; None: nothing.

    Parameters
    ----------
    log : kafkalearn.replication.Log
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


def produce_by_hand(work: DeliveryWork, event: ProduceRequest) -> None:
    """A request that no producer here waits for."""
    stamp = None
    if event.producer_id is not None:
        stamp = Stamp(event.producer_id, event.producer_epoch, event.first_sequence, len(event.values))
    request = Produce(len(event.values), event.acks, tuple(event.values), event.timeout_ms, event.to_broker)
    receive(work, request, stamp, None)


def receive(work: DeliveryWork, request: Produce, stamp: Stamp | None, number: int | None) -> Receipt:
    """One request reaches its broker.

    References
    ----------
    Apache Kafka 4.3, ``Partition.appendRecordsToLeader`` and ``UnifiedLog.analyzeAndValidateProducerState``.
    """
    target = work.leader_id if request.to_broker is None else request.to_broker
    if target is None or not work.existing(target).is_running:
        work.tell(NoReachableLeader())
        return Receipt()
    verdict = _verdict(work, target, request, stamp)
    if verdict.is_accepted:
        return _append(work, target, request, stamp, number)
    index = _numbered(work, request)
    if verdict.duplicate_of is not None:
        return _answer_duplicate(work, target, request, verdict.duplicate_of, index, number)
    work.tell(BatchRefused(number, verdict.error))
    work.tell(ProduceAnswered(index, verdict.error))
    return Receipt(verdict.error)


def _verdict(work: DeliveryWork, target: int, request: Produce, stamp: Stamp | None) -> Verdict:
    """What the stamp says; a broker that will refuse the request anyway does not come to look at it."""
    leading = work.leading(target)
    if stamp is None or leading is None:
        return Verdict()
    if request.acks == "all" and len(leading.isr) < work.settings.effective_min_isr:
        return Verdict()
    release = work.settings.release
    known = producer_state(work.log(target), work.appended, stamp.producer_id, work.now_ms, release)
    return judge(known, stamp, release)


def _append(work: DeliveryWork, target: int, request: Produce, stamp: Stamp | None, number: int | None) -> Receipt:
    before, effect_count = work.log(target).log_end_offset, len(work.effects)
    produce(work, request)
    is_written = work.log(target).log_end_offset > before
    if is_written:
        work.effects.insert(effect_count, BatchAppended(number, before))
        if stamp is not None:
            leader_epoch = work.broker(target).leader_epoch
            work.appended = (*work.appended, Appended(leader_epoch, before, stamp, work.now_ms))
    answer = _own_answer(work.effects[effect_count:], before if is_written else None)
    if answer is None:
        return Receipt(base_offset=before if is_written else None)
    if not is_written:
        work.effects.insert(effect_count, BatchRefused(number, answer.error))
    return Receipt(answer.error, answer.base_offset)


def _own_answer(effects: list, base_offset: int | None) -> ProduceAnswered | None:
    """The answer to this very request: writing it may have answered others that waited."""
    answers = [each for each in effects if isinstance(each, ProduceAnswered) and each.base_offset == base_offset]
    return answers[0] if answers else None


def _numbered(work: DeliveryWork, request: Produce) -> int:
    request_count, value_count = work.requests
    work.note_requests(Requests(request_count + 1, value_count + len(request.values)))
    return request_count + 1


def _answer_duplicate(
    work: DeliveryWork, target: int, request: Produce, known: Remembered, index: int, number: int | None
) -> Receipt:
    """The old offset is answered as soon as the old batch is committed."""
    end = known.base_offset + len(request.values)
    work.tell(DuplicateRecognised(number, known.base_offset))
    if work.log(target).high_watermark >= end:
        tell_producer(work, target, index, NONE, known.base_offset, end)
        return Receipt(NONE, known.base_offset)
    park_produce(work, target, ParkedProduce(index, known.base_offset, end, work.now_ms + request.timeout_ms))
    return Receipt(base_offset=known.base_offset)
