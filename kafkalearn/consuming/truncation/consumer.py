"""The consumer's side: what it does with metadata, with a position that may be gone, and with each answer.

References
----------
Apache Kafka 2.3 to 4.3, ``SubscriptionState`` (``maybeValidatePosition``, ``maybeCompleteValidation``), ``Metadata``
(``updateLastSeenEpochIfNewer``), ``FetchCollector.handleInitializeErrors``, ``OffsetFetcherUtils``.
"""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.consuming.truncation import broker
from kafkalearn.consuming.truncation.effects import (
    Effect,
    ExceptionThrown,
    Fetched,
    NoLeaderKnown,
    OffsetReset,
    OffsetsForLeaderEpochAnswered,
    TruncationFound,
)
from kafkalearn.consuming.truncation.settings import AFTER_CHANGES, ALWAYS, EARLIEST, NO_RESET, Settings
from kafkalearn.consuming.truncation.state import (
    FAILED,
    FETCHING,
    RESETTING,
    VALIDATING,
    Consumer,
    Position,
    Reading,
)
from kafkalearn.replication.effects import NONE
from kafkalearn.replication.replica_log.epochs import UNDEFINED
from kafkalearn.replication.state import UNKNOWN, Partition, Replica

Polled = tuple[Consumer, tuple[Reading, ...], tuple[Effect, ...]]


def assigned(settings: Settings, consumer: Consumer, committed: Position | None) -> Consumer:
    """A consumer that has got the partition, with its first position.

    A committed epoch that is newer than the metadata says that the metadata is old: nobody is asked before newer comes.
    """
    if committed is None:
        return replace(consumer, position=Position(UNKNOWN), doing=RESETTING)
    known = replace(consumer, position=committed, doing=FETCHING)
    if settings.has_epochs and committed.epoch is not None:
        known = replace(known, newest_epoch=max(known.newest_epoch, committed.epoch))
    return validated_if_needed(known) if settings.validation == ALWAYS else known


def validated_if_needed(consumer: Consumer) -> Consumer:
    """The consumer as one that has to ask for its position first, where an epoch makes that possible."""
    can_ask = consumer.doing in (FETCHING, VALIDATING) and consumer.own_position.epoch is not None
    return replace(consumer, doing=VALIDATING) if can_ask else consumer


def learnt(settings: Settings, consumer: Consumer, leader: int | None, leader_epoch: int) -> tuple[Consumer, bool]:
    """The consumer after metadata, and whether it has used it: not if it has heard of a newer epoch."""
    if not settings.has_epochs:
        return replace(consumer, leader=leader), True
    if leader_epoch < consumer.newest_epoch:
        return consumer, False
    is_new = (leader, leader_epoch) != (consumer.leader, consumer.leader_epoch)
    after = replace(consumer, leader=leader, leader_epoch=leader_epoch, newest_epoch=leader_epoch)
    has_to_ask = is_new and consumer.position is not None and settings.validation in (AFTER_CHANGES, ALWAYS)
    return (validated_if_needed(after) if has_to_ask else after), True


def polled(settings: Settings, consumer: Consumer, partition: Partition) -> Polled:
    """One request of the owner: the consumer after it, what the application was given, and the effects."""
    if consumer.doing == FAILED:
        return consumer, (), ()
    asked = _whom_to_ask(consumer, partition)
    if asked is None:
        return consumer, (), (NoLeaderKnown(consumer.name),)
    epoch = consumer.leader_epoch if settings.has_epochs else None
    if consumer.doing == VALIDATING:
        return _validate(settings, consumer, asked, epoch)
    if consumer.doing == RESETTING:
        return _look_up(settings, consumer, asked, epoch)
    return _fetch(settings, consumer, asked, epoch)


def _whom_to_ask(consumer: Consumer, partition: Partition) -> Replica | None:
    if consumer.leader is None or not consumer.knows_leader:
        return None
    replica = partition.replica(consumer.leader)
    return replica if replica.is_running else None


def _validate(settings: Settings, consumer: Consumer, asked: Replica, epoch: int | None) -> Polled:
    position = consumer.own_position
    assert position.epoch is not None  # or there would be nothing to ask for: see `validated_if_needed`
    error, (end_epoch, end_offset) = broker.epoch_end(asked, epoch, position.epoch)
    effect = OffsetsForLeaderEpochAnswered(consumer.name, position.epoch, end_epoch, end_offset, error)
    if error != NONE:
        return consumer, (), (effect,)
    if (end_epoch, end_offset) == UNDEFINED:
        return _cut(settings, consumer, None, effect)
    if end_offset < position.offset:
        return _cut(settings, consumer, (end_epoch, end_offset), effect)
    return replace(consumer, doing=FETCHING), (), (effect,)


def _cut(settings: Settings, consumer: Consumer, divergence: tuple[int, int] | None, effect: Effect) -> Polled:
    """The log was cut behind the consumer: it goes back to where the logs part, begins anew, or throws."""
    name, position = consumer.name, consumer.own_position
    if settings.auto_offset_reset == NO_RESET:
        thrown = ExceptionThrown(name, "LogTruncationException", position.offset, divergence)
        return replace(consumer, doing=FAILED), (), (effect, thrown)
    if divergence is None:
        return replace(consumer, doing=RESETTING), (), (effect,)
    back = Position(divergence[1], divergence[0])
    found = TruncationFound(name, position.offset, back.offset)
    return replace(consumer, position=back, doing=FETCHING), (), (effect, found)


def _look_up(settings: Settings, consumer: Consumer, asked: Replica, epoch: int | None) -> Polled:
    before = None if consumer.own_position.offset == UNKNOWN else consumer.own_position.offset
    if settings.auto_offset_reset == NO_RESET:
        thrown = ExceptionThrown(consumer.name, "NoOffsetForPartitionException", None)
        return replace(consumer, doing=FAILED), (), (thrown,)
    error, offset = broker.first_or_last(asked, epoch, settings.auto_offset_reset == EARLIEST)
    if error != NONE:
        return consumer, (), (Fetched(consumer.name, (), error),)
    after = replace(consumer, position=Position(offset), doing=FETCHING)
    return after, (), (OffsetReset(consumer.name, before, offset),)


def _fetch(settings: Settings, consumer: Consumer, asked: Replica, epoch: int | None) -> Polled:
    name, offset = consumer.name, consumer.own_position.offset
    error, records = broker.read(asked, epoch, offset)
    effect = Fetched(name, tuple(range(offset, offset + len(records))), error)
    if error == "OFFSET_OUT_OF_RANGE":
        if settings.auto_offset_reset == NO_RESET:
            thrown = ExceptionThrown(name, "OffsetOutOfRangeException", offset)
            return replace(consumer, doing=FAILED), (), (effect, thrown)
        return replace(consumer, doing=RESETTING), (), (effect,)
    if not records:
        return consumer, (), (effect,)
    read = tuple(Reading(name, offset + index, record.value) for index, record in enumerate(records))
    position = Position(offset + len(records), records[-1].leader_epoch if settings.has_epochs else None)
    return replace(consumer, position=position), read, (effect,)
