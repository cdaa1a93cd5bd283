"""What always holds of requests that wait for a partition, and what accidents and settings break."""

from __future__ import annotations

from kafkalearn.promises import Promises, Since, failing, judges
from kafkalearn.purgatory.requests.effects import ConsumerAnswered
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.purgatory.requests.simulator import is_ready
from kafkalearn.purgatory.requests.state import Broker
from kafkalearn.replication.effects import NONE, ProduceAnswered
from kafkalearn.replication.promises import INVARIANTS as OF_THE_PARTITION

WITHIN_TIMEOUT = "no request waits past its timeout"
ALL_ANSWERED = "every produce request that waits is answered"
WITHOUT_ERROR = "no consumer gets an error"
ENOUGH_BYTES = "a consumer that waits gets as many bytes as it asked for"


def _has_no_answer_yet(settings: Settings, broker: Broker) -> bool:
    now_ms = broker.partition.now_ms
    return not any(is_ready(broker, each.fetch) or each.deadline_ms <= now_ms for each in broker.consumers)


def _has_all_sizes(settings: Settings, broker: Broker) -> bool:
    leader = broker.partition.leader
    return leader is None or len(broker.record_bytes) == leader.log_end_offset


def _answers(broker: Broker) -> list[ConsumerAnswered]:
    return [effect for effect in broker.effects if isinstance(effect, ConsumerAnswered)]


def _answered_once(settings: Settings, before: Broker, broker: Broker) -> bool:
    """Whether all who no longer wait were answered, once each, and nobody was who still waits."""
    names = [answer.name for answer in _answers(broker)]
    waiting = {each.fetch.name for each in broker.consumers}
    gone = {each.fetch.name for each in before.consumers} - waiting
    return len(set(names)) == len(names) and gone <= set(names) and waiting.isdisjoint(names)


def _within_timeout(settings: Settings, broker: Broker) -> bool:
    waiting = (each for replica in broker.partition.replicas for requests in replica.waiting for each in requests)
    return all(each.deadline_ms >= broker.partition.now_ms for each in (*broker.consumers, *waiting))


def _all_answered(settings: Settings, before: Broker, broker: Broker) -> bool:
    answered = {effect.request for effect in broker.effects if isinstance(effect, ProduceAnswered)}
    return _waiting_produces(before) <= _waiting_produces(broker) | answered


def _waiting_produces(broker: Broker) -> set[int]:
    return {each.request for replica in broker.partition.replicas for each in replica.waiting.produces}


def _enough_bytes(settings: Settings, before: Broker, broker: Broker) -> bool:
    asked = {each.fetch.name: each.fetch.min_bytes for each in before.consumers}
    got = {each.name: sum(broker.record_bytes[offset] for offset, _ in each.records) for each in _answers(broker)}
    return all(got[name] >= asked[name] for name in asked.keys() & got.keys())


INVARIANTS: Promises = {
    "a consumer waits with one fetch": lambda settings, broker: (
        len({waiting.fetch.name for waiting in broker.consumers}) == len(broker.consumers)
    ),
    "no consumer waits that could be answered": _has_no_answer_yet,
    "each record of the leader has its size": _has_all_sizes,
    "the partition keeps the invariants of replication": Since(
        lambda settings, before, broker: not failing(OF_THE_PARTITION, settings, broker.partition, before.partition)
    ),
    "every fetch of a consumer is answered once": Since(_answered_once),
}
PROMISES: Promises = {
    WITHIN_TIMEOUT: _within_timeout,
    ALL_ANSWERED: Since(_all_answered),
    WITHOUT_ERROR: Since(lambda settings, before, broker: all(answer.error == NONE for answer in _answers(broker))),
    ENOUGH_BYTES: Since(_enough_bytes),
}
"""A leader that is frozen breaks the first, one that crashes the second, an election the third; the last breaks
wherever ``fetch.max.wait.ms`` ends the wait. What the partition itself promises is in `kafkalearn.replication`."""

check, broken = judges(INVARIANTS, PROMISES)
