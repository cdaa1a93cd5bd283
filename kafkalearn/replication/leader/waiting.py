"""Requests that wait on the leader: fetches that found nothing, acks=all requests below the high watermark."""

from __future__ import annotations

from kafkalearn.replication.effects import NONE, ProduceAnswered, ProduceParked
from kafkalearn.replication.leader.answers import FetchRequest, deliver_answer, read, request_of
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.state import ParkedFetch, ParkedProduce


def park_fetch(processing: Processing, leader_id: int, request: FetchRequest) -> None:
    """Let a fetch wait."""
    waiting = processing.waiting(leader_id)
    deadline_ms = processing.now_ms + processing.settings.fetch_wait_max_ms
    others = _without_broker(waiting.fetches, request.broker_id)
    parked = ParkedFetch(request.broker_id, request.fetch_offset, deadline_ms)
    processing.put_waiting(leader_id, waiting._replace(fetches=(*others, parked)))


def drop_fetches_of(processing: Processing, broker_id: int) -> None:
    """Forget the waiting fetch of a broker that no longer listens."""
    if processing.settings.fetch_wait_max_ms == 0:
        return
    leader_id = processing.broker(broker_id).leader
    if leader_id is not None and leader_id != broker_id:
        _drop_fetch(processing, leader_id, broker_id)


def _drop_fetch(processing: Processing, leader_id: int, broker_id: int) -> None:
    waiting = processing.waiting(leader_id)
    processing.put_waiting(leader_id, waiting._replace(fetches=_without_broker(waiting.fetches, broker_id)))


def _without_broker(parked: tuple[ParkedFetch, ...], broker_id: int) -> tuple[ParkedFetch, ...]:
    return tuple(each for each in parked if each.broker_id != broker_id)


def has_news(processing: Processing, leader_id: int, broker_id: int) -> bool:
    """Whether 2.4 and 2.5 answer for the high watermark alone: it is above the one last sent to this follower."""
    if not processing.settings.rules.answers_new_high_watermark:
        return False
    remote = processing.remote(leader_id, broker_id)
    return processing.log(leader_id).high_watermark > remote.last_sent_high_watermark


def answer_fetches(processing: Processing, leader_id: int) -> None:
    """Answer the waiting fetches for which there is something now."""
    if processing.settings.fetch_wait_max_ms == 0:
        return
    for parked in processing.waiting(leader_id).fetches:
        answer = read(processing.log(leader_id), _request_again(processing, parked))
        if answer.has_content or has_news(processing, leader_id, parked.broker_id):
            answer_fetch(processing, leader_id, parked)


def answer_fetch(processing: Processing, leader_id: int, parked: ParkedFetch) -> None:
    """Answer one waiting fetch; it reads again, and carries the high watermark of this moment."""
    request = _request_again(processing, parked)
    _drop_fetch(processing, leader_id, parked.broker_id)
    deliver_answer(processing, leader_id, request, read(processing.log(leader_id), request))


def _request_again(processing: Processing, parked: ParkedFetch) -> FetchRequest:
    broker_id = parked.broker_id
    request = request_of(processing.settings, broker_id, processing.broker(broker_id), processing.log(broker_id))
    return request._replace(fetch_offset=parked.fetch_offset)


def park_produce(processing: Processing, leader_id: int, parked: ParkedProduce) -> None:
    """Let an acks=all request wait."""
    waiting = processing.waiting(leader_id)
    processing.put_waiting(leader_id, waiting._replace(produces=(*waiting.produces, parked)))
    processing.emit(ProduceParked(parked.request))


def answer_produces(processing: Processing, leader_id: int) -> None:
    """Answer the acks=all requests that the high watermark has passed."""
    for parked in processing.waiting(leader_id).produces:
        if processing.log(leader_id).high_watermark >= parked.required_offset:
            answer_produce(processing, leader_id, parked, error_after_append(processing, leader_id))


def answer_produce(processing: Processing, leader_id: int, parked: ParkedProduce, error: str) -> None:
    """Answer one waiting request."""
    waiting = processing.waiting(leader_id)
    kept = tuple(each for each in waiting.produces if each != parked)
    processing.put_waiting(leader_id, waiting._replace(produces=kept))
    respond_to_producer(processing, leader_id, parked.request, error, parked.base_offset, parked.required_offset)


def error_after_append(processing: Processing, leader_id: int) -> str:
    """The answer to acks=all once its records are committed: an error if the ISR has become too small meanwhile."""
    is_enough = len(processing.leadership(leader_id).maximal_isr) >= processing.needed_isr(leader_id)
    return NONE if is_enough else "NOT_ENOUGH_REPLICAS_AFTER_APPEND"


def respond_to_producer(
    processing: Processing, leader_id: int, request: int, error: str, base_offset: int, end_offset: int
) -> None:
    """Answer a producer whose records were written; the ledger notes what was acknowledged."""
    processing.emit(ProduceAnswered(request, error, base_offset))
    if error == NONE:
        records = processing.log(leader_id).records_from(base_offset, end_offset)
        promised = tuple((base_offset + index, record.value) for index, record in enumerate(records))
        processing.acknowledged = tuple(sorted(processing.acknowledged + promised))


def expire(processing: Processing, leader_id: int) -> None:
    """Answer what has waited too long, in the order of the deadlines."""
    fetches, produces = processing.waiting(leader_id)
    for parked in sorted((*fetches, *produces), key=lambda each: each.deadline_ms):
        if parked.deadline_ms > processing.now_ms:
            continue
        if isinstance(parked, ParkedFetch):
            answer_fetch(processing, leader_id, parked)
        else:
            answer_produce(processing, leader_id, parked, "REQUEST_TIMED_OUT")
