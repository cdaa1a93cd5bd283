"""The simulator of consuming: `step` tells the events apart, `check` names what always holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.assignor import Member, rejoin
from kafkalearn.assignor.rebalancing import settled
from kafkalearn.consuming.model import (
    ConsumingEvent,
    Group,
    Join,
    Leave,
    Poll,
    Produce,
    Reading,
    Record,
    Settings,
    State,
)
from kafkalearn.errors import IllegalEvent
from kafkalearn.partitioning.keyed import partition_for_key


def step(settings: Settings, state: State, event: ConsumingEvent) -> State:
    """The topic and its groups after `event`.

    Raises
    ------
    IllegalEvent
        If somebody joins who is a member, or leaves or polls who is none.

    Examples
    --------
    >>> from kafkalearn.consuming import start
    >>> settings = Settings(partition_count=2)
    >>> state = step(settings, start(settings), Join("billing", "b0"))
    >>> state = step(settings, state, Produce("order 1", key=b"user-42"))
    >>> step(settings, state, Poll("billing", "b0")).group("billing").readings
    (Reading(member_id='b0', partition=0, offset=0),)

    References
    ----------
    Apache Kafka 0.9 to 4.3, ``KafkaConsumer.poll`` and ``ConsumerCoordinator``.
    """
    match event:
        case Produce(value, key):
            return _produce(settings, state, value, key)
        case Join(group_id, member_id):
            group = state.group(group_id) or _new_group(settings, group_id)
            if member_id in group.member_ids:
                raise IllegalEvent(f"{event!r}: {member_id} is in the group already; its members are {_named(group)}")
            joined = replace(group, member_ids=(*group.member_ids, member_id))
            return _with_group(state, _rebalance(settings, state, joined))
        case Leave(group_id, member_id):
            group = _group_of(state, event, group_id, member_id)
            rest = tuple(each for each in group.member_ids if each != member_id)
            return _with_group(state, _rebalance(settings, state, replace(group, member_ids=rest)))
        case Poll(group_id, member_id, most):
            return _with_group(state, _poll(state, _group_of(state, event, group_id, member_id), member_id, most))
    raise IllegalEvent(f"{event!r} is no event of this simulator; it knows Produce, Join, Leave, Poll")


def _produce(settings: Settings, state: State, value: str, key: bytes | None) -> State:
    if key is None:
        partition, keyless_count = state.keyless_count % settings.partition_count, state.keyless_count + 1
    else:
        partition, keyless_count = partition_for_key(key, settings.partition_count), state.keyless_count
    record = Record(state.record_count, key, value)
    logs = tuple((*log, record) if number == partition else log for number, log in enumerate(state.logs))
    return replace(state, logs=logs, keyless_count=keyless_count)


def _new_group(settings: Settings, group_id: str) -> Group:
    nothing = (None,) * settings.partition_count
    return Group(group_id, positions=nothing, committed=nothing)


def _rebalance(settings: Settings, state: State, group: Group) -> Group:
    """The group with its partitions shared out anew; each is read on from where the group has committed.

    Members of a cooperative group go on where they were in what they keep; the others begin anew in everything.
    """
    members = [Member(member_id, [settings.topic]) for member_id in group.member_ids]
    asking = rejoin(settings.assignor, members, group.assignment, max(group.generation, 1))
    assignment = settled(settings.assignor, {settings.topic: settings.partition_count}, asking)
    before = group.assignment.owners() if settings.assignor == "cooperative-sticky" else {}
    positions = list(group.positions)
    for partition, member_id in assignment.owners().items():
        if before.get(partition) != member_id:
            positions[partition.partition] = _first_position(settings, state, group, partition.partition)
    return replace(group, generation=group.generation + 1, assignment=assignment, positions=tuple(positions))


def _first_position(settings: Settings, state: State, group: Group, partition: int) -> int:
    committed = group.committed[partition]
    if committed is not None:
        return committed
    return 0 if settings.auto_offset_reset == "earliest" else len(state.logs[partition])


def _poll(state: State, group: Group, member_id: str, most: int) -> Group:
    if most < 1:
        raise IllegalEvent(f"a poll asks for at least 1 record (max.poll.records), got {most}")
    partition = _next_partition(state, group, member_id)
    if partition is None:
        return group
    first = group.positions[partition]
    after = min(first + most, len(state.logs[partition]))
    read = tuple(Reading(member_id, partition, offset) for offset in range(first, after))
    return replace(
        group,
        positions=_put(group.positions, partition, after),
        committed=_put(group.committed, partition, after),
        readings=(*group.readings, *read),
    )


def _next_partition(state: State, group: Group, member_id: str) -> int | None:
    """The member's partition whose turn it is, of those in which something is unread; None: there is none."""
    waiting = [number for number in group.owned(member_id) if group.positions[number] < len(state.logs[number])]
    own = (reading.partition for reading in reversed(group.readings) if reading.member_id == member_id)
    last = next(own, -1)
    return min(waiting, key=lambda number: (number <= last, number), default=None)


def _group_of(state: State, event: Leave | Poll, group_id: str, member_id: str) -> Group:
    group = state.group(group_id)
    if group is None:
        raise IllegalEvent(f"{event!r}: there is no group {group_id!r}; there are {_ids(state)}")
    if member_id not in group.member_ids:
        raise IllegalEvent(f"{event!r}: {member_id} is no member of {group_id!r}; its members are {_named(group)}")
    return group


def _with_group(state: State, group: Group) -> State:
    if state.group(group.group_id) is None:
        return replace(state, groups=(*state.groups, group))
    return replace(state, groups=tuple(group if each.group_id == group.group_id else each for each in state.groups))


def _put(values: tuple, index: int, value: object) -> tuple:
    return (*values[:index], value, *values[index + 1 :])


def _named(group: Group) -> str:
    return ", ".join(group.member_ids) or "none"


def _ids(state: State) -> str:
    return ", ".join(repr(group.group_id) for group in state.groups) or "none"


def records_read(state: State, group_id: str, member_id: str | None = None) -> tuple[Record, ...]:
    """The records that a group has read, in the order in which it read them; or only those of one member.

    >>> from functools import partial
    >>> from kafkalearn.consuming import start
    >>> from kafkalearn.trace import run
    >>> settings = Settings(partition_count=2)
    >>> events = [Join("billing", "b0"), *(Produce(f"order {n}") for n in range(3)), *[Poll("billing", "b0")] * 3]
    >>> state = run(partial(step, settings), start(settings), events)[-1].state
    >>> [record.value for record in records_read(state, "billing")]
    ['order 0', 'order 1', 'order 2']
    """
    group = state.group(group_id)
    if group is None:
        raise IllegalEvent(f"there is no group {group_id!r}; there are {_ids(state)}")
    return tuple(
        state.logs[reading.partition][reading.offset]
        for reading in group.readings
        if member_id is None or reading.member_id == member_id
    )


def drain(state: State, group_id: str, most: int = 1) -> Iterable[Poll]:
    """As many polls, member by member in turn, as the group needs to read all that is there.

    >>> from kafkalearn.consuming import start
    >>> settings = Settings(partition_count=2)
    >>> state = step(settings, start(settings), Join("billing", "b0"))
    >>> state = step(settings, state, Produce("order 1"))
    >>> list(drain(state, "billing"))
    [Poll(group_id='billing', member_id='b0', most=1)]
    """
    group = state.group(group_id)
    if group is None:
        raise IllegalEvent(f"there is no group {group_id!r}; there are {_ids(state)}")
    left = {
        member_id: sum(-((group.positions[n] - len(state.logs[n])) // most) for n in group.owned(member_id))
        for member_id in group.member_ids
    }
    while any(left.values()):
        for member_id in group.member_ids:
            if left[member_id]:
                left[member_id] -= 1
                yield Poll(group_id, member_id, most)


def check(settings: Settings, state: State) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one."""
    for group in state.groups:
        owned = sorted(number for member_id in group.member_ids for number in group.owned(member_id))
        everything = list(range(settings.partition_count)) if group.member_ids else []
        assert owned == everything, "every partition belongs to exactly one member of a group that has members"
        for number, log in enumerate(state.logs):
            offsets = [reading.offset for reading in group.readings if reading.partition == number]
            first = offsets[0] if offsets else 0
            assert offsets == list(range(first, first + len(offsets))), (
                "a group reads each record of a partition once, in the order of its offsets"
            )
            committed = group.committed[number]
            assert committed is None or committed == first + len(offsets) <= len(log), "what was read is committed"
    placed = [record.number for log in state.logs for record in log]
    assert sorted(placed) == list(range(state.record_count)), "every record is in one partition, readers or not"
    for log in state.logs:
        assert [record.number for record in log] == sorted(record.number for record in log), "a log is in order"
