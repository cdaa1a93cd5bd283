"""The producer's retries, requests in flight, timeouts, and the broker's side: what is judged, written, sent again.

A broker looks, as in Kafka, at who leads, whether the ISR is big enough, whether the sequence number follows on. What
it remembers of a producer is what its own log says: a follower that becomes leader knows the batches it copied.

What waits at the producer keeps its order, but how a batch that failed comes back to the queue differs. An idempotent
producer puts it where its sequence number belongs. Any other puts it at the front: of two that fail together, the older
goes back first, so the newer stands before it, and is sent first.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

from kafkalearn.base.trace import Parts
from kafkalearn.delivery import model
from kafkalearn.delivery.model import Batch, DeliveryEffect, Request, StampedBatch
from kafkalearn.delivery.produce_errors import produce_errors
from kafkalearn.log.sequences import (
    NO_PRODUCER,
    OUT_OF_ORDER,
    UNKNOWN_PRODUCER,
    BatchMetadata,
    ProducerStateEntry,
    Stamp,
    Verdict,
    after,
    is_forgotten,
    judge,
    remember,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, at_least
from kafkalearn.replication.events import NONE, Effect, NoReachableLeader, Produce, ProduceAnswered
from kafkalearn.replication.leader import numbered, park_produce, produce, produce_refusal, respond_to_producer
from kafkalearn.replication.processing import (
    FIRST_REPLICA,
    PARTS_OF_REPLICA,
    Normaliser,
    Processing,
    partition_of,
    parts_of,
)
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.replication.state import DOWN, FROZEN, Broker, Log, ParkedProduce

# An event being processed: the parts of the partition and of its producer, to be read and replaced by their names.


def places_of_producer(topic: TopicSettings) -> tuple[int, int]:
    """The places of the producer, and of what was appended for it: behind all parts of the partition."""
    first = FIRST_REPLICA + PARTS_OF_REPLICA * topic.broker_count
    return first, first + 1


def parts_of_delivery(delivery: model.Delivery) -> tuple[Hashable, ...]:
    """The parts of a delivery, each at its place."""
    return (*parts_of(delivery.partition), delivery.producer, delivery.appended)


def delivery_of(parts: tuple[Hashable, ...], effects: tuple[DeliveryEffect, ...]) -> model.Delivery:
    """The delivery made of these parts; the partition has those of the effects that are its own."""
    at: Any = parts  # what is at which place, `parts_of_delivery` says
    *of_partition, producer, appended = at
    own = tuple(each for each in effects if isinstance(each, Effect))
    return model.Delivery(partition_of(tuple(of_partition), own), producer, appended, effects)


class DeliveryProcessing(Processing):
    """The partition's parts, and the producer's; `settings` are the partition's, as its rules expect them."""

    __slots__ = ("appended_place", "is_concerned", "producer_place", "producer_settings")

    def __init__(self, settings: model.Settings, parts: Parts, normaliser: Normaliser | None = None) -> None:
        """Begin with the parts as they are before the event."""
        super().__init__(settings.topic, parts, normaliser)
        self.producer_settings = settings.producer
        self.producer_place, self.appended_place = places_of_producer(settings.topic)
        self.is_concerned = False  # whether the producer has acted, or a broker has gone down with its connections

    def emit(self, effect: DeliveryEffect) -> None:
        """Add an effect of this event."""
        self.effects.append(effect)

    def put_broker(self, broker_id: int, broker: Broker) -> None:
        """Replace the status of a broker."""
        self.is_concerned = self.is_concerned or broker.status == DOWN
        super().put_broker(broker_id, broker)

    @property
    def producer(self) -> model.Producer:
        """The client's side."""
        return self.read(self.producer_place)

    @producer.setter
    def producer(self, producer: model.Producer) -> None:
        self.is_concerned = True
        self.write(self.producer_place, producer)

    @property
    def appended(self) -> tuple[StampedBatch, ...]:
        """The stamped batches that leaders wrote."""
        return self.read(self.appended_place)

    @appended.setter
    def appended(self, appended: tuple[StampedBatch, ...]) -> None:
        self.write(self.appended_place, appended)


# The broker's side: a produce request arrives, its stamp is judged, its records are written or not.


class Receipt(NamedTuple):
    """What the broker answers to a request at once."""

    error: str | None = None  # None: there is no answer yet, or there will be none
    base_offset: int | None = None


def producer_state(
    log: Log, appended: tuple[StampedBatch, ...], producer_id: int, now_ms: int = 0, release: str = DEFAULT_RELEASE
) -> ProducerStateEntry | None:
    """What the broker with this log remembers of a producer; None: nothing.

    Parameters
    ----------
    log : Log
        Its log.
    appended : tuple of StampedBatch
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
    >>> appended = tuple(StampedBatch(0, each, Stamp(7, 0, each)) for each in range(3))
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


def produce_by_hand(processing: DeliveryProcessing, event: model.ProduceRequest) -> None:
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
    processing.emit(model.BatchRefused(number, verdict.error))
    processing.emit(ProduceAnswered(index, verdict.error))
    return Receipt(verdict.error)


def _verdict(processing: DeliveryProcessing, target: int, request: Produce, stamp: Stamp | None) -> Verdict:
    """What the stamp says; a broker that refuses the request for another reason does not look at it."""
    if stamp is None or produce_refusal(processing, target, request) != NONE:
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
        processing.effects.insert(effect_count, model.BatchAppended(number, before))
        if stamp is not None:
            leader_epoch = processing.broker(target).leader_epoch
            processing.appended = (*processing.appended, StampedBatch(leader_epoch, before, stamp, processing.now_ms))
    answer = _own_answer(processing.effects[effect_count:], before if is_written else None)
    if answer is None:
        return Receipt(base_offset=before if is_written else None)
    if not is_written:
        processing.effects.insert(effect_count, model.BatchRefused(number, answer.error))
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
    processing.emit(model.DuplicateRecognised(number, known.base_offset))
    if processing.log(target).high_watermark >= end:
        respond_to_producer(processing, target, index, NONE, known.base_offset, end)
        return Receipt(NONE, known.base_offset)
    deadline_ms = processing.now_ms + request.timeout_ms
    park_produce(processing, target, ParkedProduce(index, known.base_offset, end, deadline_ms))
    return Receipt(base_offset=known.base_offset)


# The producer's side.

PRODUCER_ID = 1  # the answer to InitProducerId

RETRIABLE = frozenset(each.name for each in produce_errors() if each.is_retriable and each.code is not None)
"""Errors after which every producer tries again; an idempotent one does so after a gap in its numbers too."""


def send(processing: DeliveryProcessing, event: model.Send) -> None:
    """The application gives the producer a batch."""
    values = _values(processing, event)
    given_out = 0 if event.values else len(values)
    processing.producer = processing.producer._replace(value_count=processing.producer.value_count + given_out)
    _take(processing, values)


def send_again(processing: DeliveryProcessing, event: model.SendAgain) -> None:
    """The application gives the producer what it has stored after an error; nothing tells the two sends from others."""
    stored = processing.producer.put_aside
    processing.require(bool(stored), "{}: the application has put nothing aside", event)
    processing.producer = processing.producer._replace(put_aside=stored[1:])
    _take(processing, stored[0].values)


def _take(processing: DeliveryProcessing, values: tuple[str, ...]) -> None:
    """A batch of these records comes to the producer."""
    producer = processing.producer
    timeout_ms = processing.producer_settings.delivery_timeout_ms
    deadline_ms = None if timeout_ms is None else processing.now_ms + timeout_ms
    batch = Batch(producer.batch_count + 1, values, deadline_ms=deadline_ms)
    processing.producer = producer._replace(
        batch_count=producer.batch_count + 1,
        waiting=(*producer.waiting, batch),
    )
    if not producer.waiting and _may_send(processing):
        _send_request(processing)


def _values(processing: DeliveryProcessing, event: model.Send) -> tuple[str, ...]:
    count = processing.producer.value_count
    values = tuple(event.values) or tuple(f"m{count + number}" for number in range(1, event.record_count + 1))
    known = {value for _, sent, _ in processing.producer.sent for value in sent}
    repeated = sorted(known & set(values))
    processing.require(
        not repeated and len(set(values)) == len(values),
        "{}: each record needs a value of its own, to be known from the others; {} was sent before",
        event,
        repeated or list(values),
    )
    return values


def request_sent(processing: DeliveryProcessing, event: model.RequestSent) -> None:
    """The backoff is over, or there is room again."""
    processing.require(bool(processing.producer.waiting), "{}: no batch waits to go out", event)
    processing.require(processing.leader_id is not None, "{}: no broker leads, the batch keeps waiting", event)
    processing.require(_may_send(processing), "{}: the batch has to wait for those in flight", event)
    _send_request(processing)


def _may_send(processing: DeliveryProcessing) -> bool:
    producer, settings = processing.producer, processing.producer_settings
    if processing.leader_id is None or len(producer.in_flight) >= settings.max_in_flight:
        return False
    is_repeated = producer.waiting[0].stamp is not None
    # An idempotent producer sends again only what is next in line: so nothing can overtake it a second time.
    return not is_repeated or all(request.batch.number > producer.waiting[0].number for request in producer.in_flight)


def _send_request(processing: DeliveryProcessing) -> None:
    batch = _stamped(processing, processing.producer.waiting[0])
    producer, settings = processing.producer, processing.producer_settings
    leader_id = processing.leader_id
    assert leader_id is not None, "where nobody leads nothing may be sent"
    request = Request(batch, leader_id, deadline_ms=processing.now_ms + settings.request_timeout_ms)
    processing.producer = producer._replace(waiting=producer.waiting[1:], in_flight=(*producer.in_flight, request))
    if settings.acks == 0:
        _call_back(processing, batch, NONE)  # no answer will come: the client is done with it


def _stamped(processing: DeliveryProcessing, batch: Batch) -> Batch:
    """The batch with its sequence number, which it keeps as long as the producer keeps its epoch."""
    producer = processing.producer
    is_done = batch.stamp is not None and batch.stamp.producer_epoch == producer.producer_epoch
    if is_done or not processing.producer_settings.is_idempotent:
        return batch
    first, count = producer.next_sequence, len(batch.values)
    processing.producer = producer._replace(producer_id=PRODUCER_ID, next_sequence=after(first, count))
    return batch._replace(stamp=Stamp(PRODUCER_ID, producer.producer_epoch, first, count))


def request_arrived(processing: DeliveryProcessing, event: model.RequestArrived) -> None:
    """A broker works on one request of a connection at a time, and on the oldest first."""
    request = _oldest(processing, model.ON_ITS_WAY)
    if request is None:
        processing.refuse("{}: no request is on its way", event)
    status = processing.broker(request.to_broker).status
    processing.require(status != FROZEN, "{}: broker {} stands still and reads nothing", event, request.to_broker)
    at_broker = [each for each in processing.producer.in_flight if each.stage == model.AT_BROKER]
    processing.require(
        all(each.to_broker != request.to_broker for each in at_broker),
        "{}: the broker still has a request of this connection to answer",
        event,
    )
    settings, batch = processing.producer_settings, request.batch
    produce = Produce(
        len(batch.values), settings.acks, batch.values, settings.request_timeout_ms, to_broker=request.to_broker
    )
    receipt = receive(processing, produce, batch.stamp, batch.number)
    if settings.acks == 0:
        _drop(processing, request)
    elif receipt.error is None:
        _replace_request(processing, request, request._replace(stage=model.AT_BROKER, base_offset=receipt.base_offset))
    else:
        answered = request._replace(stage=model.ANSWERED, base_offset=receipt.base_offset, error=receipt.error)
        _replace_request(processing, request, answered)


def _oldest(processing: DeliveryProcessing, stage: str) -> Request | None:
    return next((each for each in processing.producer.in_flight if each.stage == stage), None)


def answer_arrived(processing: DeliveryProcessing, event: model.AnswerArrived) -> None:
    """The producer learns the result of a request."""
    request = _oldest(processing, model.ANSWERED)
    if request is None:
        processing.refuse("{}: no answer is on its way", event)
    if request.error == NONE:
        _drop(processing, request)
        if not _is_called_back(processing, request.batch):
            _call_back(processing, request.batch, NONE)
    else:
        fail(processing, (request,), request.error)


def late_answer_arrived(processing: DeliveryProcessing, event: model.LateAnswerArrived) -> None:
    """The producer learns the result as the batch's time is over: after an error it raises its epoch at once.

    It does so although it is not known whether the batch was written, and although others are in flight, which get new
    numbers with the epoch: one of them that was written is written again (KAFKA-14397). Before 2.5 they get new
    numbers within the epoch, which is not modelled.

    References
    ----------
    Apache Kafka 3.9, ``Sender.completeBatch``, ``TransactionManager.handleFailedBatch``; the classes of 4.4.0 too.
    """
    request = _oldest(processing, model.ANSWERED)
    if request is None:
        processing.refuse("{}: no answer is on its way", event)
    batch, is_idempotent = request.batch, request.batch.stamp is not None
    release = processing.producer_settings.release
    is_modelled = at_least("2.5", release) or (at_least("2.1", release) and not is_idempotent)
    processing.require(is_modelled, "{}: what a producer of {} does then is not modelled", event, release)
    if request.error == NONE or _is_called_back(processing, batch):
        answer_arrived(processing, model.AnswerArrived())
        return
    _drop(processing, request)
    _call_back(processing, batch, request.error)
    if is_idempotent and batch.attempt_count < processing.producer_settings.retries:
        _raise_epoch(processing)


def connection_lost(processing: DeliveryProcessing, event: model.ConnectionLost) -> None:
    """Everything in flight fails at once."""
    in_flight = processing.producer.in_flight
    processing.require(bool(in_flight), "{}: nothing is in flight", event)
    fail(processing, in_flight, model.NETWORK_EXCEPTION)


def gave_up(processing: DeliveryProcessing, event: model.GaveUp) -> None:
    """The time of the oldest batch is over."""
    unresolved = processing.producer.unresolved
    processing.require(bool(unresolved), "{}: the application waits for no callback", event)
    _give_up(processing, unresolved[0])


def _give_up(processing: DeliveryProcessing, batch: Batch) -> None:
    """What is in flight may still arrive; its answer is not used any more."""
    producer = processing.producer
    waiting = tuple(each for each in producer.waiting if each.number != batch.number)
    processing.producer = producer._replace(waiting=waiting)
    _call_back(processing, batch, model.TIMEOUT)
    if batch.stamp is not None:
        _raise_epoch(processing)  # it is not known whether its numbers were used


def fail(processing: DeliveryProcessing, requests: tuple[Request, ...], error: str) -> None:
    """Requests have failed: their batches are sent again, or their callbacks get the error."""
    for request in requests:
        _drop(processing, request)
        if _is_called_back(processing, request.batch):
            continue
        if _is_retried(processing, request.batch, error):
            _put_back(processing, request.batch, error)
        else:
            _call_back(processing, request.batch, error)
            if _is_refused_for_good(processing, request.batch):
                _raise_epoch(processing)


def _is_refused_for_good(processing: DeliveryProcessing, batch: Batch) -> bool:
    """Whether its numbers were used for nothing: since 2.5 an idempotent producer counts anew then."""
    settings = processing.producer_settings
    is_known = batch.attempt_count < settings.retries  # after the last try nobody knows what was written
    return batch.stamp is not None and is_known and at_least("2.5", settings.release)


def _is_called_back(processing: DeliveryProcessing, batch: Batch) -> bool:
    return any(each.number == batch.number for each in processing.producer.callbacks)


def _is_retried(processing: DeliveryProcessing, batch: Batch, error: str) -> bool:
    if batch.attempt_count >= processing.producer_settings.retries:
        return False
    if error in RETRIABLE:
        return True
    if batch.stamp is None or error not in (OUT_OF_ORDER, UNKNOWN_PRODUCER):
        return False
    is_next = all(batch.number < each.number for each in processing.producer.unresolved)
    if is_next and batch.stamp.producer_epoch == processing.producer.producer_epoch:
        # Nothing older is missing, so there is a gap in the log itself: since 2.5 the producer counts anew.
        if not at_least("2.5", processing.producer_settings.release):
            return False
        _raise_epoch(processing)
    return True


def _raise_epoch(processing: DeliveryProcessing) -> None:
    epoch = processing.producer.producer_epoch + 1
    processing.producer = processing.producer._replace(producer_epoch=epoch, next_sequence=0)
    processing.emit(model.EpochRaised(epoch))


def _put_back(processing: DeliveryProcessing, batch: Batch, error: str) -> None:
    producer = processing.producer
    is_counted = processing.producer_settings.retries < model.FOR_EVER
    again = batch._replace(attempt_count=batch.attempt_count + is_counted)
    waiting = (again, *producer.waiting)
    if producer.producer_id != NO_PRODUCER:
        waiting = tuple(sorted(waiting))
    processing.producer = producer._replace(waiting=waiting)
    processing.emit(model.BatchWillBeRetried(batch.number, error))


def _call_back(processing: DeliveryProcessing, batch: Batch, error: str) -> None:
    producer, callback = processing.producer, model.Callback(batch.number, batch.values, error)
    is_put_aside = error != NONE and processing.producer_settings.puts_failures_aside
    put_aside = (*producer.put_aside, callback) if is_put_aside else producer.put_aside
    processing.producer = producer._replace(callbacks=(*producer.callbacks, callback), put_aside=put_aside)
    processing.emit(model.CallbackInvoked(batch.number, error))
    if is_put_aside:
        processing.emit(model.BatchPutAside(batch.number, error))


def _drop(processing: DeliveryProcessing, request: Request) -> None:
    producer = processing.producer
    processing.producer = producer._replace(in_flight=tuple(each for each in producer.in_flight if each != request))


def _replace_request(processing: DeliveryProcessing, old: Request, new: Request) -> None:
    producer = processing.producer
    in_flight = tuple(new if each == old else each for each in producer.in_flight)
    processing.producer = producer._replace(in_flight=in_flight)


def receive_answers(processing: DeliveryProcessing, effect_count: int) -> None:
    """After each event: broken connections are noticed, answers are on their way.

    Most events of the partition break and answer nothing. Then the producer is not looked at, so that a search need not
    work out a fetch again for each of its states.
    """
    answers = [each for each in processing.effects[effect_count:] if isinstance(each, ProduceAnswered)]
    if not (answers or processing.is_concerned):
        return
    broken = tuple(each for each in processing.producer.in_flight if processing.broker(each.to_broker).status == DOWN)
    if broken:
        fail(processing, broken, model.NETWORK_EXCEPTION)
    for request in processing.producer.in_flight:
        if request.stage == model.AT_BROKER and not _is_parked(processing, request):
            errors = [each.error for each in answers if each.base_offset == request.base_offset]
            if errors:
                _replace_request(processing, request, request._replace(stage=model.ANSWERED, error=errors[0]))


def _is_parked(processing: DeliveryProcessing, request: Request) -> bool:
    parked = processing.waiting(request.to_broker).produces
    return any(each.base_offset == request.base_offset for each in parked)


def apply_timeouts(processing: DeliveryProcessing) -> None:
    """Time has passed: requests that were not answered fail, batches whose time is over are given up."""
    late = [each for each in processing.producer.in_flight if processing.now_ms > each.deadline_ms]
    if late:  # the client closes the connection, and with it goes all else that is in flight on it
        silent = {each.to_broker for each in late}
        lost = tuple(each for each in processing.producer.in_flight if each.to_broker in silent)
        fail(processing, lost, model.NETWORK_EXCEPTION)
    for batch in processing.producer.unresolved:
        if batch.deadline_ms is not None and processing.now_ms >= batch.deadline_ms:
            _give_up(processing, batch)
