"""The simulator: the consumers' events go to the consumers, all others to the partition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.consuming.truncation import consumer as consuming
from kafkalearn.consuming.truncation.effects import Assigned, Committed, MetadataLearnt
from kafkalearn.consuming.truncation.events import Assign, Commit, Event, Poll, RefreshMetadata
from kafkalearn.consuming.truncation.settings import Settings
from kafkalearn.consuming.truncation.state import Consumer, GroupRead, Position, start
from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.phrases import listed, shown
from kafkalearn.replication.events import Consume
from kafkalearn.replication.simulator import HANDLERS
from kafkalearn.replication.simulator import step as step_partition
from kafkalearn.trace import Trace, run

CONSUMER_EVENTS = (Assign, Poll, Commit, RefreshMetadata)


def simulate(settings: Settings, events: Iterable[Event], initial: GroupRead | None = None) -> Trace[GroupRead, Event]:
    """A run: the partition and its readers after each event.

    Examples
    --------
    >>> from kafkalearn.replication import Produce, Settings as TopicSettings
    >>> settings = Settings(TopicSettings(replica_count=1))
    >>> end = simulate(settings, [Produce(3), Assign("A"), Poll(), Poll(), Commit()])[-1].state
    >>> end.committed, [reading.value for reading in end.readings]
    (Position(offset=3, epoch=0), ['m1', 'm2', 'm3'])
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, group: GroupRead, event: Event) -> GroupRead:
    """The partition and its readers after `event`.

    Raises
    ------
    IllegalEvent
        If there is no such consumer or broker, or nobody owns the partition; and as
        `kafkalearn.replication.simulator.step`.

    Examples
    --------
    >>> settings = Settings()
    >>> step(settings, start(settings), Assign("A")).effects
    (Assigned(consumer='A', offset=None, epoch=None),)

    References
    ----------
    Apache Kafka 2.1 to 4.3, KIP-320; see `kafkalearn.consuming.truncation.consumer` and ``broker``.
    """
    match event:
        case Assign(name):
            return _assign(settings, group, _named(group, event, name))
        case Poll():
            return _poll(settings, group, event)
        case Commit(has_epoch):
            return _commit(settings, group, event, settings.has_committed_epochs if has_epoch is None else has_epoch)
        case RefreshMetadata(name, broker_id):
            return _refresh(settings, group, _named(group, event, name), event, broker_id)
    if type(event) not in HANDLERS or isinstance(event, Consume):
        raise no_event(event, (*CONSUMER_EVENTS, *(each for each in HANDLERS if each is not Consume)))
    partition = step_partition(settings.topic, group.partition, event)
    return replace(group, partition=partition, effects=partition.effects)


def _assign(settings: Settings, group: GroupRead, consumer: Consumer) -> GroupRead:
    given_up = tuple(replace(each, position=None) for each in group.consumers)
    after = consuming.assigned(settings, consumer, group.committed)
    effect = Assigned(consumer.name, *(group.committed or (None, None)))
    return replace(group, consumers=given_up, effects=(effect,)).with_consumer(after)


def _poll(settings: Settings, group: GroupRead, event: Poll) -> GroupRead:
    after, read, effects = consuming.polled(settings, _owner(group, event), group.partition)
    committed = 0 if group.committed is None else group.committed.offset
    noted = (each._replace(was_committed=each.offset < committed) for each in read)
    return replace(group, readings=(*group.readings, *noted), effects=effects).with_consumer(after)


def _commit(settings: Settings, group: GroupRead, event: Commit, has_epoch: bool) -> GroupRead:
    position = _owner(group, event).own_position
    if position.offset < 0:
        raise IllegalEvent(f"{shown(event)}: the consumer has no position yet; it has to poll first")
    kept = position if has_epoch and settings.has_epochs else Position(position.offset)
    return replace(group, committed=kept, effects=(Committed(*kept),))


def _refresh(
    settings: Settings, group: GroupRead, consumer: Consumer, event: RefreshMetadata, broker_id: int
) -> GroupRead:
    if broker_id not in settings.topic.broker_ids:
        raise IllegalEvent(
            f"{shown(event)}: there is no broker {broker_id}; there are {listed(settings.topic.broker_ids)}"
        )
    broker = group.partition.replica(broker_id).broker
    if not broker.is_running:
        raise IllegalEvent(f"{shown(event)}: broker {broker_id} is {broker.status}")
    after, is_used = consuming.learnt(settings, consumer, broker.leader, broker.leader_epoch)
    effect = MetadataLearnt(consumer.name, broker.leader, broker.leader_epoch, is_used)
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
