"""The simulator of a group that reads a partition whose log may be cut: its rules, and what holds of its states.

The consumers' events go to the consumers, all others to the partition.

>>> from kafkalearn.consuming.truncation import Assign, Commit, Poll, Settings, simulate
>>> from kafkalearn.replication import DeleteRecords, Produce, Settings as TopicSettings
>>> settings = Settings(TopicSettings(replica_count=1))
>>> events = [Produce(), Assign("A"), Poll(), Poll(), Produce(2), DeleteRecords(2), Poll(), Poll(), Poll()]
>>> broken(settings, simulate(settings, events)[-1].state)
('no record between two that were given is left out',)
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType

from kafkalearn.base.errors import IllegalEvent, listed, no_event, shown
from kafkalearn.base.promises import Predicate, Since
from kafkalearn.base.simulator import simulator
from kafkalearn.consuming.truncation import model
from kafkalearn.consuming.truncation.model import Consumer, Event, GroupRead, Settings
from kafkalearn.replication.events import NONE, Consume
from kafkalearn.replication.leader import FetchRequest, refusal
from kafkalearn.replication.simulator import HANDLERS
from kafkalearn.replication.simulator import step as step_partition
from kafkalearn.replication.state import UNDEFINED, UNKNOWN, Partition, Record, Replica, end_offset_for

# The broker's side: how a replica answers a consumer that names the leader epoch it knows. Apache Kafka 2.1 to 4.3,
# ``Partition.lastOffsetForLeaderEpoch``, ``Partition.fetchRecords``, ``getLocalLog``.


def refused(replica: Replica, leader_epoch: int | None) -> str:
    """The error for a consumer that asks a broker which does not lead, or in another epoch; ``"NONE"`` if all is well.

    >>> from kafkalearn.replication import Settings, start
    >>> leader, follower, _ = start(Settings()).replicas
    >>> refused(leader, 0), refused(leader, 1), refused(follower, 0)
    ('NONE', 'UNKNOWN_LEADER_EPOCH', 'NOT_LEADER_OR_FOLLOWER')
    """
    asked = FetchRequest(0, 0, 0, leader_epoch, None)
    return refusal(replica.leading is not None, replica.broker.leader_epoch, asked, is_replica=True)


def epoch_end(replica: Replica, leader_epoch: int | None, asked_epoch: int) -> tuple[str, tuple[int, int]]:
    """The answer to OffsetsForLeaderEpoch: an error, and (epoch, end offset); (-1, -1): none."""
    error = refused(replica, leader_epoch)
    if error != NONE:
        return error, UNDEFINED
    return NONE, end_offset_for(replica.log.epochs, asked_epoch, replica.log_end_offset)


def read_from_broker(replica: Replica, leader_epoch: int | None, offset: int) -> tuple[str, tuple[Record, ...]]:
    """The answer to a fetch: an error, and the records up to the high watermark; of followers as up to 2.3.

    Since 2.4 a follower answers a consumer that knows the right epoch (KIP-392); here nobody asks one with it.
    """
    error = refused(replica, leader_epoch)
    if error != NONE:
        return error, ()
    log = replica.log
    if not log.log_start_offset <= offset <= log.log_end_offset:
        return "OFFSET_OUT_OF_RANGE", ()
    return NONE, log.records_from(offset, log.high_watermark)


def first_or_last(replica: Replica, leader_epoch: int | None, is_earliest: bool) -> tuple[str, int]:
    """The answer to ListOffsets: an error, and where the log starts, or what consumers may read up to."""
    return refused(replica, leader_epoch), replica.log.log_start_offset if is_earliest else replica.high_watermark


# The consumer's side: what it does with metadata, with a position that may be gone, and with each answer. Apache Kafka
# 2.3 to 4.3, ``SubscriptionState`` (``maybeValidatePosition``, ``maybeCompleteValidation``), ``Metadata``
# (``updateLastSeenEpochIfNewer``), ``FetchCollector.handleInitializeErrors``, ``OffsetFetcherUtils``.

Polled = tuple[Consumer, tuple[model.Reading, ...], tuple[model.Effect, ...]]


def assigned(settings: Settings, consumer: Consumer, committed: model.Position | None) -> Consumer:
    """A consumer that has got the partition, with its first position.

    A committed epoch that is newer than the metadata says that the metadata is old: nobody is asked before newer comes.
    """
    if committed is None:
        return replace(consumer, position=model.Position(UNKNOWN), doing=model.RESETTING)
    known = replace(consumer, position=committed, doing=model.FETCHING)
    if settings.has_epochs and committed.epoch is not None:
        known = replace(known, newest_epoch=max(known.newest_epoch, committed.epoch))
    return validated_if_needed(known) if settings.validation == model.ALWAYS else known


def validated_if_needed(consumer: Consumer) -> Consumer:
    """The consumer as one that has to ask for its position first, where an epoch makes that possible."""
    can_ask = consumer.doing in (model.FETCHING, model.VALIDATING) and consumer.own_position.epoch is not None
    return replace(consumer, doing=model.VALIDATING) if can_ask else consumer


def learnt(settings: Settings, consumer: Consumer, leader: int | None, leader_epoch: int) -> tuple[Consumer, bool]:
    """The consumer after metadata, and whether it has used it: not if it has heard of a newer epoch."""
    if not settings.has_epochs:
        return replace(consumer, leader=leader), True
    if leader_epoch < consumer.newest_epoch:
        return consumer, False
    is_new = (leader, leader_epoch) != (consumer.leader, consumer.leader_epoch)
    after = replace(consumer, leader=leader, leader_epoch=leader_epoch, newest_epoch=leader_epoch)
    has_to_ask = is_new and consumer.position is not None and settings.validation in (model.AFTER_CHANGES, model.ALWAYS)
    return (validated_if_needed(after) if has_to_ask else after), True


def polled(settings: Settings, consumer: Consumer, partition: Partition) -> Polled:
    """One request of the owner: the consumer after it, what the application was given, and the effects."""
    if consumer.doing == model.FAILED:
        return consumer, (), ()
    asked = _whom_to_ask(consumer, partition)
    if asked is None:
        return consumer, (), (model.NoLeaderKnown(consumer.name),)
    epoch = consumer.leader_epoch if settings.has_epochs else None
    if consumer.doing == model.VALIDATING:
        return _validate(settings, consumer, asked, epoch)
    if consumer.doing == model.RESETTING:
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
    error, (end_epoch, end_offset) = epoch_end(asked, epoch, position.epoch)
    effect = model.OffsetsForLeaderEpochAnswered(consumer.name, position.epoch, end_epoch, end_offset, error)
    if error != NONE:
        return consumer, (), (effect,)
    if (end_epoch, end_offset) == UNDEFINED:
        return _cut(settings, consumer, None, effect)
    if end_offset < position.offset:
        return _cut(settings, consumer, (end_epoch, end_offset), effect)
    return replace(consumer, doing=model.FETCHING), (), (effect,)


def _cut(settings: Settings, consumer: Consumer, divergence: tuple[int, int] | None, effect: model.Effect) -> Polled:
    """The log was cut behind the consumer: it goes back to where the logs part, begins anew, or throws."""
    name, position = consumer.name, consumer.own_position
    if settings.auto_offset_reset == model.NO_RESET:
        thrown = model.ExceptionThrown(name, "LogTruncationException", position.offset, divergence)
        return replace(consumer, doing=model.FAILED), (), (effect, thrown)
    if divergence is None:
        return replace(consumer, doing=model.RESETTING), (), (effect,)
    back = model.Position(divergence[1], divergence[0])
    found = model.TruncationFound(name, position.offset, back.offset)
    return replace(consumer, position=back, doing=model.FETCHING), (), (effect, found)


def _look_up(settings: Settings, consumer: Consumer, asked: Replica, epoch: int | None) -> Polled:
    before = None if consumer.own_position.offset == UNKNOWN else consumer.own_position.offset
    if settings.auto_offset_reset == model.NO_RESET:
        thrown = model.ExceptionThrown(consumer.name, "NoOffsetForPartitionException", None)
        return replace(consumer, doing=model.FAILED), (), (thrown,)
    error, offset = first_or_last(asked, epoch, settings.auto_offset_reset == model.EARLIEST)
    if error != NONE:
        return consumer, (), (model.Fetched(consumer.name, (), error),)
    after = replace(consumer, position=model.Position(offset), doing=model.FETCHING)
    return after, (), (model.OffsetReset(consumer.name, before, offset),)


def _fetch(settings: Settings, consumer: Consumer, asked: Replica, epoch: int | None) -> Polled:
    name, offset = consumer.name, consumer.own_position.offset
    error, records = read_from_broker(asked, epoch, offset)
    effect = model.Fetched(name, tuple(range(offset, offset + len(records))), error)
    if error == "OFFSET_OUT_OF_RANGE":
        if settings.auto_offset_reset == model.NO_RESET:
            thrown = model.ExceptionThrown(name, "OffsetOutOfRangeException", offset)
            return replace(consumer, doing=model.FAILED), (), (effect, thrown)
        return replace(consumer, doing=model.RESETTING), (), (effect,)
    if not records:
        return consumer, (), (effect,)
    read = tuple(model.Reading(name, offset + index, record.value) for index, record in enumerate(records))
    position = model.Position(offset + len(records), records[-1].leader_epoch if settings.has_epochs else None)
    return replace(consumer, position=position), read, (effect,)


CONSUMER_EVENTS = (model.Assign, model.Poll, model.Commit, model.RefreshMetadata)


def step(settings: Settings, group: GroupRead, event: Event) -> GroupRead:
    """The partition and its readers after `event`.

    Raises
    ------
    IllegalEvent
        If there is no such consumer or broker, or nobody owns the partition; and as
        `kafkalearn.replication.simulator.step`.

    Examples
    --------
    >>> from kafkalearn.consuming.truncation import Assign, start
    >>> settings = Settings()
    >>> step(settings, start(settings), Assign("A")).effects
    (Assigned(consumer='A', offset=None, epoch=None),)

    References
    ----------
    Apache Kafka 2.1 to 4.3, KIP-320.
    """
    match event:
        case model.Assign(name):
            return _assign(settings, group, _named(group, event, name))
        case model.Poll():
            return _poll(settings, group, event)
        case model.Commit(has_epoch):
            return _commit(settings, group, event, settings.has_committed_epochs if has_epoch is None else has_epoch)
        case model.RefreshMetadata(name, broker_id):
            return _refresh(settings, group, _named(group, event, name), event, broker_id)
    if type(event) not in HANDLERS or isinstance(event, Consume):
        raise no_event(event, (*CONSUMER_EVENTS, *(each for each in HANDLERS if each is not Consume)))
    partition = step_partition(settings.topic, group.partition, event)
    return replace(group, partition=partition, effects=partition.effects)


def _assign(settings: Settings, group: GroupRead, consumer: Consumer) -> GroupRead:
    given_up = tuple(replace(each, position=None) for each in group.consumers)
    after = assigned(settings, consumer, group.committed)
    effect = model.Assigned(consumer.name, *(group.committed or (None, None)))
    return replace(group, consumers=given_up, effects=(effect,)).with_consumer(after)


def _poll(settings: Settings, group: GroupRead, event: model.Poll) -> GroupRead:
    after, read, effects = polled(settings, _owner(group, event), group.partition)
    committed = 0 if group.committed is None else group.committed.offset
    noted = (each._replace(was_committed=each.offset < committed) for each in read)
    return replace(group, readings=(*group.readings, *noted), effects=effects).with_consumer(after)


def _commit(settings: Settings, group: GroupRead, event: model.Commit, has_epoch: bool) -> GroupRead:
    position = _owner(group, event).own_position
    if position.offset < 0:
        raise IllegalEvent(f"{shown(event)}: the consumer has no position yet; it has to poll first")
    kept = position if has_epoch and settings.has_epochs else model.Position(position.offset)
    return replace(group, committed=kept, effects=(model.Committed(*kept),))


def _refresh(
    settings: Settings, group: GroupRead, consumer: Consumer, event: model.RefreshMetadata, broker_id: int
) -> GroupRead:
    if broker_id not in settings.topic.broker_ids:
        raise IllegalEvent(
            f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.topic.broker_ids)}"
        )
    broker = group.partition.replica(broker_id).broker
    if not broker.is_running:
        raise IllegalEvent(f"{shown(event)}: broker {broker_id} is {broker.status}")
    after, is_used = learnt(settings, consumer, broker.leader, broker.leader_epoch)
    effect = model.MetadataLearnt(consumer.name, broker.leader, broker.leader_epoch, is_used)
    return replace(group, effects=(effect,)).with_consumer(after)


def _named(group: GroupRead, event: Event, name: str) -> Consumer:
    found = next((each for each in group.consumers if each.name == name), None)
    if found is None:
        raise IllegalEvent(
            f"{shown(event)}: there is no consumer {name!r}; there are {listed(each.name for each in group.consumers)}"
        )
    return found


def _owner(group: GroupRead, event: Event) -> Consumer:
    if group.owner is None:
        raise IllegalEvent(f"{shown(event)}: the partition is nobody's yet; Assign it to a consumer first")
    return group.owner


# What holds of every state, and what a user hopes for.

ONE_OWNER = "the partition belongs to at most one consumer"
GOES_ON = "what a group has read stays read"

NONE_AGAIN = "no record that the group has committed is given to it again"
NONE_SKIPPED = "no record between two that were given is left out"
NONE_UNNOTICED = "no position is beyond the log that its consumer reads"


def _none_again(settings: Settings, group: GroupRead) -> bool:
    values = [reading.value for reading in group.readings]
    return not any(
        reading.was_committed and reading.value in values[:place] for place, reading in enumerate(group.readings)
    )


def _none_skipped(settings: Settings, group: GroupRead) -> bool:
    return all(after.offset <= before.offset + 1 for before, after in pairwise(group.readings))


def _none_unnoticed(settings: Settings, group: GroupRead) -> bool:
    owner, leader = group.owner, group.partition.leader
    if owner is None or leader is None or owner.doing != model.FETCHING or not owner.knows_leader:
        return True
    if owner.leader != group.partition.controller.leader or owner.leader_epoch != leader.broker.leader_epoch:
        return True  # it will hear that from the broker it asks
    return owner.own_position.offset <= leader.log_end_offset


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        ONE_OWNER: lambda settings, group: sum(each.position is not None for each in group.consumers) <= 1,
        GOES_ON: Since(lambda settings, before, group: group.readings[: len(before.readings)] == before.readings),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {NONE_AGAIN: _none_again, NONE_SKIPPED: _none_skipped, NONE_UNNOTICED: _none_unnoticed}
)
"""What a user hopes for. What was read and not committed may always come again; a reset brings the rest too."""

simulate, check, broken = simulator(model.start, step, INVARIANTS, PROMISES)
