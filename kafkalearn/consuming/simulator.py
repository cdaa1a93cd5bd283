"""The simulator of groups that read a topic: the rule of each event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from kafkalearn.assignor.members import Member
from kafkalearn.assignor.rebalancing import rejoin, settled
from kafkalearn.consuming.effects import Appended, Assigned, Committed, ConsumingEffect, Polled
from kafkalearn.consuming.events import ConsumingEvent, Join, Leave, Poll, Produce
from kafkalearn.consuming.settings import MEMBER, Settings
from kafkalearn.consuming.state import Group, OwnOffset, Reading, Record, Topic, start
from kafkalearn.errors import IllegalEvent, KafkaLearnError, no_event
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.phrases import shown
from kafkalearn.trace import Trace, run

Value = TypeVar("Value")


def simulate(
    settings: Settings, events: Iterable[ConsumingEvent], initial: Topic | None = None
) -> Trace[Topic, ConsumingEvent]:
    """A run: the topic and its groups after each event.

    Parameters
    ----------
    settings : Settings
        What stays the same.
    events : iterable of ConsumingEvent
        In order.
    initial : Topic, optional
        Where the run begins; without it, an empty topic that nobody reads.

    Raises
    ------
    IllegalEvent
        As `step`.

    Examples
    --------
    >>> events = [Join("billing", "b0"), Produce("order 1", key=b"user-42"), Poll("billing", "b0")]
    >>> trace = simulate(Settings(partition_count=2), events)
    >>> trace[-1].state.group("billing").readings
    (Reading(member_id='b0', partition=0, offset=0),)
    >>> trace[2].state.effects
    (Appended(partition=0, offset=0),)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, topic: Topic, event: ConsumingEvent) -> Topic:
    """The topic and its groups after `event`.

    Raises
    ------
    IllegalEvent
        If a member joins once more, or one that is not in the group leaves or polls.

    Examples
    --------
    >>> settings = Settings(partition_count=2)
    >>> step(settings, start(settings), Join("billing", "b0")).effects
    (Assigned(group_id='billing', member_id='b0', partitions=(0, 1)),)

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``KafkaConsumer.poll`` and ``ConsumerCoordinator``.
    """
    match event:
        case Produce(value, key):
            return _produce(settings, topic, value, key)
        case Join(group_id, member_id):
            group = topic.group(group_id) or _new_group(settings, group_id)
            if member_id in group.member_ids:
                raise IllegalEvent(
                    f"{shown(event)}: {member_id} is in the group already; its members are {_named(group)}"
                )
            return _rebalance(settings, topic, group, (*group.member_ids, member_id))
        case Leave(_, member_id):
            group = _group_of_member(topic, event)
            return _rebalance(settings, topic, group, tuple(each for each in group.member_ids if each != member_id))
        case Poll():
            return _poll(settings, topic, _group_of_member(topic, event), event)
    raise no_event(event, (Produce, Join, Leave, Poll))


def _produce(settings: Settings, topic: Topic, value: str, key: bytes | None) -> Topic:
    if key is None:
        partition, keyless_count = topic.keyless_count % settings.partition_count, topic.keyless_count + 1
    else:
        partition, keyless_count = partition_for_key(key, settings.partition_count), topic.keyless_count
    log = topic.logs[partition]
    logs = _put(topic.logs, partition, (*log, Record(topic.record_count, key, value)))
    return replace(topic, logs=logs, keyless_count=keyless_count, effects=(Appended(partition, len(log)),))


def _new_group(settings: Settings, group_id: str) -> Group:
    nothing = (None,) * settings.partition_count
    return Group(group_id, positions=nothing, committed=nothing)


def _rebalance(settings: Settings, topic: Topic, group: Group, member_ids: tuple[str, ...]) -> Topic:
    """The partitions are shared out anew among these members; each is read on from where the group has committed.

    Members of a cooperative group go on where they were in what they keep; the others begin anew in everything.
    """
    members = [Member(member_id, [settings.topic]) for member_id in member_ids]
    asking = rejoin(settings.assignor, members, group.assignment, max(group.generation, 1))
    assignment = settled(settings.assignor, {settings.topic: settings.partition_count}, asking)
    before = group.assignment.owners() if settings.assignor == "cooperative-sticky" else {}
    positions, committed = list(group.positions), list(group.committed)
    for partition, member_id in assignment.owners().items():
        number = partition.partition
        if settings.offsets_kept_by == MEMBER:
            committed[number] = _own_offset(group, member_id, number)
        if before.get(partition) != member_id:
            positions[number] = _first_position(settings, topic, committed[number], number)
    group = replace(
        group,
        member_ids=member_ids,
        generation=group.generation + 1,
        assignment=assignment,
        positions=tuple(positions),
        committed=tuple(committed),
    )
    return _with_group(topic, group, *(Assigned(group.group_id, each, group.owned(each)) for each in member_ids))


def _own_offset(group: Group, member_id: str, partition: int) -> int | None:
    own = (each for each in group.own_offsets if (each.member_id, each.partition) == (member_id, partition))
    return next((each.offset for each in own), None)


def _first_position(settings: Settings, topic: Topic, committed: int | None, partition: int) -> int:
    if committed is not None:
        return committed
    return 0 if settings.auto_offset_reset == "earliest" else len(topic.logs[partition])


def _poll(settings: Settings, topic: Topic, group: Group, event: Poll) -> Topic:
    partition = _next_partition(topic, group, event.member_id)
    if partition is None:
        return _with_group(topic, group)
    first = group.position(partition)
    after = min(first + event.most, len(topic.logs[partition]))
    offsets = tuple(range(first, after))
    group = replace(
        group,
        positions=_put(group.positions, partition, after),
        committed=_put(group.committed, partition, after),
        own_offsets=_with_own(settings, group, OwnOffset(event.member_id, partition, after)),
        readings=(*group.readings, *(Reading(event.member_id, partition, offset) for offset in offsets)),
    )
    polled = Polled(group.group_id, event.member_id, partition, offsets)
    return _with_group(topic, group, polled, Committed(group.group_id, partition, after))


def _with_own(settings: Settings, group: Group, own: OwnOffset) -> tuple[OwnOffset, ...]:
    if settings.offsets_kept_by != MEMBER:
        return ()
    place = (own.member_id, own.partition)
    others = [each for each in group.own_offsets if (each.member_id, each.partition) != place]
    return tuple(sorted([*others, own], key=lambda each: (each.member_id, each.partition)))


def _next_partition(topic: Topic, group: Group, member_id: str) -> int | None:
    """The member's partition whose turn it is, of those in which something is unread; None: there is none."""
    waiting = [number for number in group.owned(member_id) if group.position(number) < len(topic.logs[number])]
    own = (reading.partition for reading in reversed(group.readings) if reading.member_id == member_id)
    last = next(own, -1)
    return min(waiting, key=lambda number: (number <= last, number), default=None)


def _group_of_member(topic: Topic, event: Leave | Poll) -> Group:
    try:
        group = topic.existing_group(event.group_id)
    except KafkaLearnError as error:
        raise IllegalEvent(f"{shown(event)}: {error}") from None
    if event.member_id not in group.member_ids:
        raise IllegalEvent(
            f"{shown(event)}: {event.member_id} is no member of {event.group_id!r}; its members are {_named(group)}"
        )
    return group


def _with_group(topic: Topic, group: Group, *effects: ConsumingEffect) -> Topic:
    ids = [each.group_id for each in topic.groups]
    place = ids.index(group.group_id) if group.group_id in ids else len(ids)
    return replace(topic, groups=_put(topic.groups, place, group), effects=effects)


def _put(values: tuple[Value, ...], index: int, value: Value) -> tuple[Value, ...]:
    return (*values[:index], value, *values[index + 1 :])


def _named(group: Group) -> str:
    return ", ".join(group.member_ids) or "none"
