"""Deleting records: the leader does it at once, and answers when all live replicas have followed.

A follower learns the leader's log start from the answer to its fetch, moves its own, and tells it with its *next*
fetch. So a delete waits for two fetches of each follower, as a write with acks=all does.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.purgatory.requests.effects import DeleteAnswered, DeleteParked
from kafkalearn.purgatory.requests.events import DelayedDelete
from kafkalearn.purgatory.requests.state import Broker, WaitingDelete
from kafkalearn.replication.effects import NONE, RecordsDeleted

TIMED_OUT = "REQUEST_TIMED_OUT"


def ask(broker: Broker, event: DelayedDelete) -> Broker:
    """The partition whose leader has just deleted: the request is answered, or waits for the other replicas.

    References
    ----------
    Apache Kafka 4.3, ``ReplicaManager.deleteRecords`` and ``delayedDeleteRecordsRequired``.
    """
    deleted = next(each for each in broker.effects if isinstance(each, RecordsDeleted))
    others = tuple(each for each in broker.effects if each is not deleted)
    number = broker.delete_count + 1
    broker = replace(broker, delete_count=number)
    if deleted.error != NONE:
        return replace(broker, effects=(*others, DeleteAnswered(number, None, deleted.error)))
    required = broker.partition.high_watermark if event.before_offset < 0 else event.before_offset
    low_watermark = broker.low_watermark
    assert required is not None, "who has just deleted leads"
    assert low_watermark is not None, "who has just deleted leads"
    if low_watermark >= required:
        return replace(broker, effects=(*others, DeleteAnswered(number, low_watermark)))
    if event.timeout_ms == 0:
        return replace(broker, effects=(*others, DeleteAnswered(number, low_watermark, TIMED_OUT)))
    waiting = WaitingDelete(number, required, broker.partition.now_ms + event.timeout_ms)
    return replace(broker, deletes=(*broker.deletes, waiting), effects=(*others, DeleteParked(number)))


def settle(broker: Broker, has_changed: bool) -> tuple[tuple[WaitingDelete, ...], list[DeleteAnswered]]:
    """Who goes on waiting, and the answers of those who do not; `has_changed`: another leader, or another epoch.

    References
    ----------
    Apache Kafka 4.3, ``kafka.server.DelayedDeleteRecords.tryComplete``.
    """
    low = broker.low_watermark
    left: list[WaitingDelete] = []
    answers: list[DeleteAnswered] = []
    for each in broker.deletes:
        if has_changed or low is None:
            answers.append(DeleteAnswered(each.request, None, "NOT_LEADER_OR_FOLLOWER"))
        elif low >= each.required_offset:
            answers.append(DeleteAnswered(each.request, low))
        elif each.deadline_ms <= broker.partition.now_ms:
            answers.append(DeleteAnswered(each.request, low, TIMED_OUT))
        else:
            left.append(each)
    return tuple(left), answers
