"""What the exercises of chapter 10 run: stories of a record, schedules of the reader, settings put to the search."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.delivery.effects import BatchRefused
from kafkalearn.delivery.events import (
    AnswerArrived,
    ConnectionLost,
    DeliveryEvent,
    RequestArrived,
    RequestSent,
    Send,
)
from kafkalearn.delivery.produce_errors import NO, produce_error
from kafkalearn.delivery.record_results import DOUBLED, LOST, OUT_OF_ORDER, record_results
from kafkalearn.delivery.search.matrix import witnesses_of
from kafkalearn.delivery.settings import ProducerSettings, Settings, TopicSettings
from kafkalearn.delivery.simulator import simulate
from kafkalearn.delivery.state import Delivery
from kafkalearn.errors import KafkaLearnError
from kafkalearn.log.sequences import BatchMetadata, ProducerStateEntry, Stamp, judge
from kafkalearn.phrases import shown
from kafkalearn.replication.events import (
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerRestarted,
    Fetch,
    PowerLost,
    SessionExpired,
    TimePassed,
)

SENT = (Send(), RequestArrived())
LEADER_DIES = (BrokerCrashed(1), SessionExpired(1))
FOLLOWER_GOES = (BrokerCrashed(2), SessionExpired(2))
FOLLOWER_COMES = (BrokerRestarted(2), Fetch(2), Fetch(2), AlterPartitionAnswered())

_TWO = TopicSettings(2, fetch_wait_max_ms=0)
_BOTH = TopicSettings(2, min_insync_replicas=2, fetch_wait_max_ms=0)
_NEVER_AGAIN = ProducerSettings(acks="all", retries=0)
_RETRIED = (*SENT, ConnectionLost(), RequestSent(), RequestArrived(), Fetch(2), Fetch(2), AnswerArrived())

STORIES: Mapping[str, tuple[Settings, tuple[DeliveryEvent, ...]]] = {
    "a": (Settings(_TWO, ProducerSettings(acks=1)), (*SENT, AnswerArrived(), *LEADER_DIES)),
    "b": (Settings(_TWO, ProducerSettings(acks="all", is_idempotent=False)), _RETRIED),
    "c": (Settings(_TWO, ProducerSettings(acks="all")), _RETRIED),
    "d": (Settings(_BOTH, _NEVER_AGAIN), (*FOLLOWER_GOES, *SENT, AnswerArrived())),
    "e": (
        Settings(_BOTH, _NEVER_AGAIN),
        (*SENT, *FOLLOWER_GOES, TimePassed(30_000), AnswerArrived(), *FOLLOWER_COMES),
    ),
}
"""The stories of the first exercise: settings and schedule."""


def result_in(story: str) -> str:
    """The result of the one record of a story."""
    settings, events = STORIES[story]
    return record_results(simulate(settings, events)[-1].state)[0].result


QUIET = Settings(TopicSettings(fetch_wait_max_ms=0), ProducerSettings(acks=1))


def end_of(events: list[DeliveryEvent]) -> Delivery:
    """Where a schedule of the reader leads, with acks=1 on three brokers."""
    return simulate(QUIET, events)[-1].state


def is_lost(events: list[DeliveryEvent]) -> bool:
    """Whether an acknowledged record is gone at the end of a schedule."""
    return any(record.result == LOST for record in record_results(end_of(events)))


def has_crash(events: list[DeliveryEvent]) -> bool:
    """Whether anything in a schedule is a failure rather than a planned act."""
    return any(isinstance(each, BrokerCrashed | PowerLost | SessionExpired) for each in events)


FAILED = (
    "NOT_ENOUGH_REPLICAS",
    "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
    "TIMEOUT",
    "MESSAGE_TOO_LARGE",
    "UNKNOWN_TOPIC_OR_PARTITION",
    "TOPIC_AUTHORIZATION_FAILED",
)
"""Errors of the exercise on what a service puts aside."""

AGAIN, LOOK, FIX = "again", "look", "fix"


def advice(name: str) -> str:
    """What to do with a record whose callback got this error: send it again, look first, or fix something first."""
    error = produce_error(name)
    if not error.is_retriable:
        return FIX
    return AGAIN if error.written == NO else LOOK


NAMES = ("acks", "enable.idempotence", "min.insync.replicas", "unclean.leader.election.enable")


def settings_of(answer: Mapping[str, object]) -> Settings:
    """The settings of an answer, on three brokers.

    Raises
    ------
    KafkaLearnError
        If a setting is missing, unknown, or refused by Kafka.
    """
    if set(answer) != set(NAMES):
        raise KafkaLearnError(f"the settings are {', '.join(NAMES)}; got {', '.join(map(shown, answer))}")
    for name in (NAMES[1], NAMES[3]):
        if not isinstance(answer[name], bool):
            raise KafkaLearnError(f"{name} must be True or False, got {shown(answer[name])}")
    topic = TopicSettings(
        3,
        min_insync_replicas=answer["min.insync.replicas"],
        is_unclean_election_enabled=answer["unclean.leader.election.enable"],
        fetch_wait_max_ms=0,
    )
    return Settings(topic, ProducerSettings(acks=answer["acks"], is_idempotent=answer["enable.idempotence"]))


HURTS = ("the leader dies", "the followers are away, the leader dies", "the last in sync loses its power")


def worst_of(answer: Mapping[str, object]) -> tuple[str, str] | None:
    """The first failure that costs or doubles a record under the settings of an answer, and the result; None: none."""
    settings = settings_of(answer)
    for failure in HURTS:
        for result, _ in witnesses_of(settings, failure)[0]:
            if result in (LOST, DOUBLED, OUT_OF_ORDER):
                return failure, result
    return None


def takes_records_without_one(answer: Mapping[str, object]) -> bool:
    """Whether a record is taken while one broker of three is away."""
    events = [BrokerCrashed(3), SessionExpired(3), *SENT]
    effects = simulate(settings_of(answer), events)[-1].state.effects
    return not any(isinstance(each, BatchRefused) for each in effects)


def verdict(epoch: int, batches: list[tuple[int, int]], batch_epoch: int, first: int, last: int) -> str:
    """What a broker does with a batch: "write", "duplicate", or the name of the error."""
    known = ProducerStateEntry(epoch, tuple(BatchMetadata(*ends, base_offset=0) for ends in batches))
    judged = judge(known, Stamp(7, batch_epoch, first, last - first + 1))
    if judged.duplicate_of is not None:
        return "duplicate"
    return "write" if judged.is_accepted else judged.error


_SINGLE = [(number, number) for number in range(3, 8)]
VERDICT_CASES = (
    (0, _SINGLE, 0, 8, 8),
    (0, _SINGLE, 0, 7, 7),
    (0, _SINGLE, 0, 3, 3),
    (0, _SINGLE, 0, 2, 2),
    (0, _SINGLE, 0, 9, 9),
    (0, [(0, 2), (3, 4)], 0, 3, 3),
    (0, [(0, 2), (3, 4)], 0, 0, 2),
    (0, [(0, 2), (3, 4)], 0, 0, 1),
    (0, [(0, 2), (3, 4)], 0, 5, 9),
    (1, [(0, 0)], 0, 1, 1),
    (1, [(0, 0)], 0, 0, 0),
    (1, [(0, 4)], 2, 0, 0),
    (1, [(0, 4)], 2, 5, 5),
)
"""Known epoch, known batches, and the epoch, first and last sequence of the batch that comes."""
