"""The producer's side: batches go out, answers are heard, what failed is sent again or given up.

What waits keeps its order, but how a batch that failed comes back to the queue differs. An idempotent producer puts
it where its sequence number belongs. Any other puts it at the front: of two that fail together, the older goes back
first, so the newer stands before it, and is sent first.
"""

from __future__ import annotations

from kafkalearn.delivery.broker import receive
from kafkalearn.delivery.events import (
    AnswerArrived,
    ApplicationTold,
    BatchWillBeRetried,
    ConnectionLost,
    EpochRaised,
    GaveUp,
    RequestArrived,
    RequestSent,
    Send,
)
from kafkalearn.delivery.processing import DeliveryWork
from kafkalearn.delivery.sequences import NO_PRODUCER, OUT_OF_ORDER, UNKNOWN_PRODUCER, Stamp, after
from kafkalearn.delivery.settings import FOR_EVER
from kafkalearn.delivery.state import (
    ANSWERED,
    AT_BROKER,
    NETWORK_EXCEPTION,
    ON_ITS_WAY,
    TIMEOUT,
    Batch,
    Request,
    Told,
)
from kafkalearn.errors import KafkaLearnError
from kafkalearn.replication import DOWN, FROZEN, NONE, Produce, ProduceAnswered
from kafkalearn.versions.releases import at_least

PRODUCER_ID = 1  # what InitProducerId gave out

RETRIABLE = frozenset(
    {
        NETWORK_EXCEPTION,
        "NOT_LEADER_OR_FOLLOWER",
        "NOT_ENOUGH_REPLICAS",
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "REQUEST_TIMED_OUT",
    }
)
"""Errors after which every producer tries again; an idempotent one does so after a gap in its numbers too."""


def send(work: DeliveryWork, event: Send) -> None:
    """The application hands a batch over."""
    producer = work.producer
    values = _values(work, event)
    timeout_ms = work.setup.producer.delivery_timeout_ms
    deadline_ms = None if timeout_ms is None else work.now_ms + timeout_ms
    batch = Batch(producer.batch_count + 1, values, deadline_ms=deadline_ms)
    work.producer = producer._replace(
        batch_count=producer.batch_count + 1,
        value_count=producer.value_count + (0 if event.values else len(values)),
        waiting=(*producer.waiting, batch),
    )
    if not producer.waiting and _may_go_out(work):
        _go_out(work)


def _values(work: DeliveryWork, event: Send) -> tuple[str, ...]:
    count = work.producer.value_count
    values = tuple(event.values) or tuple(f"m{count + number}" for number in range(1, event.record_count + 1))
    if not values:
        raise KafkaLearnError("a batch needs at least one record: record_count must be at least 1, got 0")
    known = {value for _, sent, _ in work.producer.sent for value in sent}
    repeated = sorted(known & set(values))
    work.require(
        not repeated and len(set(values)) == len(values),
        "{}: each record needs a value of its own, to be told from the others; {} was sent before",
        event,
        repeated or list(values),
    )
    return values


def request_sent(work: DeliveryWork, event: RequestSent) -> None:
    """The backoff is over, or there is room again."""
    work.require(bool(work.producer.waiting), "{}: no batch waits to go out", event)
    work.require(work.leader_id is not None, "{}: no broker leads, the batch keeps waiting", event)
    work.require(_may_go_out(work), "{}: the batch has to wait for those in flight", event)
    _go_out(work)


def _may_go_out(work: DeliveryWork) -> bool:
    producer, settings = work.producer, work.setup.producer
    if work.leader_id is None or len(producer.in_flight) >= settings.max_in_flight:
        return False
    is_repeated = producer.waiting[0].stamp is not None
    # An idempotent producer sends again only what is next in line: so nothing can overtake it a second time.
    return not is_repeated or all(request.batch.number > producer.waiting[0].number for request in producer.in_flight)


def _go_out(work: DeliveryWork) -> None:
    batch = _stamped(work, work.producer.waiting[0])
    producer, settings = work.producer, work.setup.producer
    request = Request(batch, work.leader_id, deadline_ms=work.now_ms + settings.request_timeout_ms)
    work.producer = producer._replace(waiting=producer.waiting[1:], in_flight=(*producer.in_flight, request))
    if settings.acks == 0:
        _tell(work, batch, NONE)  # nobody will answer: the client calls it done


def _stamped(work: DeliveryWork, batch: Batch) -> Batch:
    """The batch with its sequence number, which it keeps as long as the producer keeps its epoch."""
    producer = work.producer
    is_done = batch.stamp is not None and batch.stamp.producer_epoch == producer.producer_epoch
    if is_done or not work.setup.producer.is_idempotent:
        return batch
    first, count = producer.next_sequence, len(batch.values)
    work.producer = producer._replace(producer_id=PRODUCER_ID, next_sequence=after(first, count))
    return batch._replace(stamp=Stamp(PRODUCER_ID, producer.producer_epoch, first, count))


def request_arrived(work: DeliveryWork, event: RequestArrived) -> None:
    """A broker works on one request of a connection at a time, and on the oldest first."""
    request = _oldest(work, ON_ITS_WAY)
    work.require(request is not None, "{}: no request is on its way", event)
    status = work.broker(request.to_broker).status
    work.require(status != FROZEN, "{}: broker {} stands still and reads nothing", event, request.to_broker)
    at_broker = [each for each in work.producer.in_flight if each.stage == AT_BROKER]
    work.require(
        all(each.to_broker != request.to_broker for each in at_broker),
        "{}: the broker still has a request of this connection to answer",
        event,
    )
    settings, batch = work.setup.producer, request.batch
    produce = Produce(
        len(batch.values), settings.acks, batch.values, settings.request_timeout_ms, to_broker=request.to_broker
    )
    receipt = receive(work, produce, batch.stamp, batch.number)
    if settings.acks == 0:
        _drop(work, request)
    elif receipt.error is None:
        _replace_request(work, request, request._replace(stage=AT_BROKER, base_offset=receipt.base_offset))
    else:
        answered = request._replace(stage=ANSWERED, base_offset=receipt.base_offset, error=receipt.error)
        _replace_request(work, request, answered)


def _oldest(work: DeliveryWork, stage: str) -> Request | None:
    return next((each for each in work.producer.in_flight if each.stage == stage), None)


def answer_arrived(work: DeliveryWork, event: AnswerArrived) -> None:
    """The producer hears what became of a request."""
    request = _oldest(work, ANSWERED)
    work.require(request is not None, "{}: no answer is on its way", event)
    if request.error == NONE:
        _drop(work, request)
        if not _is_told(work, request.batch):
            _tell(work, request.batch, NONE)
    else:
        fail(work, (request,), request.error)


def connection_lost(work: DeliveryWork, event: ConnectionLost) -> None:
    """Everything in flight fails at once."""
    in_flight = work.producer.in_flight
    work.require(bool(in_flight), "{}: nothing is in flight", event)
    fail(work, in_flight, NETWORK_EXCEPTION)


def gave_up(work: DeliveryWork, event: GaveUp) -> None:
    """The oldest batch has had its time."""
    unresolved = work.producer.unresolved
    work.require(bool(unresolved), "{}: the application waits for nothing", event)
    _give_up(work, unresolved[0])


def _give_up(work: DeliveryWork, batch: Batch) -> None:
    """What is in flight may arrive all the same; its answer interests nobody any more."""
    producer = work.producer
    waiting = tuple(each for each in producer.waiting if each.number != batch.number)
    work.producer = producer._replace(waiting=waiting)
    _tell(work, batch, TIMEOUT)
    if batch.stamp is not None:
        _raise_epoch(work)  # nobody knows whether its numbers were used


def fail(work: DeliveryWork, requests: tuple[Request, ...], error: str) -> None:
    """Requests have come to nothing: their batches are sent again, or the application is told."""
    for request in requests:
        _drop(work, request)
        if _is_told(work, request.batch):
            continue
        if _is_retried(work, request.batch, error):
            _put_back(work, request.batch, error)
        else:
            _tell(work, request.batch, error)


def _is_told(work: DeliveryWork, batch: Batch) -> bool:
    return any(each.number == batch.number for each in work.producer.told)


def _is_retried(work: DeliveryWork, batch: Batch, error: str) -> bool:
    if batch.attempt_count >= work.setup.producer.retries:
        return False
    if error in RETRIABLE:
        return True
    if batch.stamp is None or error not in (OUT_OF_ORDER, UNKNOWN_PRODUCER):
        return False
    is_next = all(batch.number < each.number for each in work.producer.unresolved)
    if is_next and batch.stamp.producer_epoch == work.producer.producer_epoch:
        # Nothing older is missing, so there is a gap in the log itself: since 2.5 the producer counts anew.
        if not at_least("2.5", work.setup.producer.release):
            return False
        _raise_epoch(work)
    return True


def _raise_epoch(work: DeliveryWork) -> None:
    epoch = work.producer.producer_epoch + 1
    work.producer = work.producer._replace(producer_epoch=epoch, next_sequence=0)
    work.tell(EpochRaised(epoch))


def _put_back(work: DeliveryWork, batch: Batch, error: str) -> None:
    producer = work.producer
    is_counted = work.setup.producer.retries < FOR_EVER
    again = batch._replace(attempt_count=batch.attempt_count + is_counted)
    waiting = (again, *producer.waiting)
    if producer.producer_id != NO_PRODUCER:
        waiting = tuple(sorted(waiting))
    work.producer = producer._replace(waiting=waiting)
    work.tell(BatchWillBeRetried(batch.number, error))


def _tell(work: DeliveryWork, batch: Batch, error: str) -> None:
    producer = work.producer
    work.producer = producer._replace(told=(*producer.told, Told(batch.number, batch.values, error)))
    work.tell(ApplicationTold(batch.number, error))


def _drop(work: DeliveryWork, request: Request) -> None:
    producer = work.producer
    work.producer = producer._replace(in_flight=tuple(each for each in producer.in_flight if each != request))


def _replace_request(work: DeliveryWork, old: Request, new: Request) -> None:
    producer = work.producer
    in_flight = tuple(new if each == old else each for each in producer.in_flight)
    work.producer = producer._replace(in_flight=in_flight)


def hear(work: DeliveryWork, effect_count: int) -> None:
    """After anything that happened to the partition: broken connections are noticed, answers are on their way."""
    if not work.producer.in_flight:
        return
    broken = tuple(each for each in work.producer.in_flight if work.broker(each.to_broker).status == DOWN)
    if broken:
        fail(work, broken, NETWORK_EXCEPTION)
    answers = [each for each in work.effects[effect_count:] if isinstance(each, ProduceAnswered)]
    for request in work.producer.in_flight:
        if request.stage == AT_BROKER and not _is_parked(work, request):
            errors = [each.error for each in answers if each.base_offset == request.base_offset]
            if errors:
                _replace_request(work, request, request._replace(stage=ANSWERED, error=errors[0]))


def _is_parked(work: DeliveryWork, request: Request) -> bool:
    parked = work.waiting(request.to_broker).produces
    return any(each.base_offset == request.base_offset for each in parked)


def look_at_clock(work: DeliveryWork) -> None:
    """Time has passed: requests that were not answered fail, batches that had their time are given up."""
    late = [each for each in work.producer.in_flight if work.now_ms > each.deadline_ms]
    if late:  # the client closes the connection, and with it goes all else that is in flight on it
        silent = {each.to_broker for each in late}
        fail(work, tuple(each for each in work.producer.in_flight if each.to_broker in silent), NETWORK_EXCEPTION)
    for batch in work.producer.unresolved:
        if batch.deadline_ms is not None and work.now_ms >= batch.deadline_ms:
            _give_up(work, batch)
