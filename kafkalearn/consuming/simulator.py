"""The simulator of groups that read a topic: its settings, events, effects and state, its rules, and what holds of it.

Kafka keeps the order of a partition, and so that of a key; not that of a topic. The shortest run in which a group
reads two records in another order than that in which they were produced:

>>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
>>> settings = Settings(partition_count=2)
>>> events = [*[Produce()] * 3, Join("billing", "b0"), Poll("billing", "b0", most=2), Poll("billing", "b0")]
>>> broken(settings, simulate(settings, events)[-1].state)
('a group reads records in the order in which they were produced',)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from kafkalearn.assignors.members import Assignment, Member
from kafkalearn.assignors.registry import CLIENT_ASSIGNORS, rejoin, settled
from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_INT, Checked, Count, PartitionCount, check_fields, one_of, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown
from kafkalearn.base.promises import Predicate
from kafkalearn.base.simulator import simulator
from kafkalearn.partitioning.keyed import partition_for_key

Value = TypeVar("Value")

RESETS = ("earliest", "latest")
"""Where a group begins in a partition for which it has committed nothing (``auto.offset.reset``)."""

GROUP, MEMBER = "group", "member"
OFFSETS_KEPT_BY = (GROUP, MEMBER)
"""Whose the committed offsets are: those of the whole group, as in Kafka, or of each member alone."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The topic, and how its groups read it.

    Parameters
    ----------
    partition_count : int
        Partitions of the topic, 1 to 10,000.
    topic : str
        Its name.
    assignor : str
        How every group shares the partitions: a name in `kafkalearn.assignors.registry.CLIENT_ASSIGNORS`.
    auto_offset_reset : str
        A name in `RESETS`. (The default of a real consumer is ``latest``.)
    offsets_kept_by : str
        A name in `OFFSETS_KEPT_BY`. ``"member"`` is not Kafka's: it shows what a rebalance would cost if each member
        kept its own progress, so that a new owner of a partition knows nothing of what the old one has read.
    """

    partition_count: PartitionCount
    topic: str = "orders"
    assignor: str = "range"
    auto_offset_reset: str = "earliest"
    offsets_kept_by: str = GROUP

    def __post_init__(self) -> None:
        """Refuse what no topic and no consumer can be."""
        check_fields(self)
        one_of("assignor of a client", self.assignor, CLIENT_ASSIGNORS)
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        one_of("offsets_kept_by", self.offsets_kept_by, OFFSETS_KEPT_BY)


class Produce(facts.Event):
    """A record is written: to the partition of its key; without a key, to the next partition in turn."""

    value: str = ""
    key: bytes | None = None


class Join(facts.Event):
    """A consumer joins a group, which exists from its first member on; the group rebalances."""

    group_id: str
    member_id: str


class Leave(facts.Event):
    """A member leaves its group, which rebalances; what the group has committed stays."""

    group_id: str
    member_id: str


class Poll(facts.Event):
    """A member asks for records: up to `most` of *one* of its partitions, which take turns; it commits them at once."""

    group_id: str
    member_id: str
    most: Count = 1


ConsumingEvent: TypeAlias = Produce | Join | Leave | Poll


class Appended(facts.Effect):
    """A record was written at the end of a partition."""

    partition: int
    offset: int


class Assigned(facts.Effect):
    """A rebalance assigned a member all that it owns from now on, perhaps nothing. There is one for each member."""

    group_id: str
    member_id: str
    partitions: tuple[int, ...]  # ascending


class Polled(facts.Effect):
    """A poll returned records, all of one partition. A poll that returns none has no effect."""

    group_id: str
    member_id: str
    partition: int
    offsets: tuple[int, ...]  # ascending, at least one


class Committed(facts.Effect):
    """A group committed the next offset to read in a partition."""

    group_id: str
    partition: int
    offset: int


ConsumingEffect: TypeAlias = Appended | Assigned | Polled | Committed


@dataclass(frozen=True, slots=True)
class Record:
    """One record of the topic. Its offset is its place in its partition."""

    number: int  # in the order in which all records of the topic were produced
    key: bytes | None
    value: str


@dataclass(frozen=True, slots=True)
class Reading:
    """One record, read by one member of a group."""

    member_id: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class OwnOffset:
    """What one member has committed in a partition, where each member keeps its own offsets."""

    member_id: str
    partition: int
    offset: int


@dataclass(frozen=True, slots=True)
class Group:
    """One group: its members, what each of them owns, and how far the group has read."""

    group_id: str
    member_ids: tuple[str, ...] = ()  # in the order in which they joined
    generation: int = 0  # one more with each rebalance
    assignment: Assignment = field(default_factory=lambda: Assignment({}))
    positions: tuple[int | None, ...] = ()  # of each partition the next offset to read; None: never owned
    committed: tuple[int | None, ...] = ()  # of each partition what counts as committed; None: nothing yet
    own_offsets: tuple[OwnOffset, ...] = ()  # of each member, in order; none where the group keeps them
    readings: tuple[Reading, ...] = ()  # in the order in which they were read

    @property
    def idle_member_ids(self) -> tuple[str, ...]:
        """The members that own nothing."""
        return tuple(member_id for member_id in self.member_ids if not self.assignment[member_id])

    def owned(self, member_id: str) -> tuple[int, ...]:
        """The partitions of a member, ascending."""
        return tuple(sorted(partition.partition for partition in self.assignment.get(member_id, ())))

    def position(self, partition: int) -> int:
        """The next offset to read in a partition; 0 where nobody has ever owned it."""
        return self.positions[partition] or 0

    def owner(self, partition: int) -> str | None:
        """The member that owns a partition; None: there is none."""
        return next((member_id for member_id in self.member_ids if partition in self.owned(member_id)), None)


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic and all the groups that read it."""

    name: str
    logs: tuple[tuple[Record, ...], ...]  # of each partition its records
    groups: tuple[Group, ...] = ()  # in the order in which their first members joined
    keyless_count: int = 0  # records without a key so far: each goes to the next partition in turn
    effects: tuple[ConsumingEffect, ...] = field(default=(), compare=False)  # of the last event

    def group(self, group_id: str) -> Group | None:
        """The group of that id; None: nobody has ever joined it."""
        return next((group for group in self.groups if group.group_id == group_id), None)

    def existing_group(self, group_id: str) -> Group:
        """The group of that id; KafkaLearnError if nobody has ever joined it."""
        group = self.group(group_id)
        if group is None:
            known = ", ".join(repr(each.group_id) for each in self.groups) or "none"
            raise KafkaLearnError(f"there is no group {shown(group_id)}; there are {known}")
        return group

    @property
    def record_count(self) -> int:
        """How many records the topic holds."""
        return sum(map(len, self.logs))


def start(settings: Settings) -> Topic:
    """An empty topic that nobody reads."""
    return Topic(settings.topic, logs=((),) * settings.partition_count)


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
            nothing = (None,) * settings.partition_count
            group = topic.group(group_id) or Group(group_id, positions=nothing, committed=nothing)
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


def _rebalance(settings: Settings, topic: Topic, group: Group, member_ids: tuple[str, ...]) -> Topic:
    """The partitions are shared out anew among these members; each is read on from where the group has committed.

    Members of a cooperative group go on where they were in what they keep; the others begin anew in everything.
    """
    members = [Member(member_id, [settings.topic]) for member_id in member_ids]
    asking = rejoin(settings.assignor, members, group.assignment, max(group.generation, 1))
    assignment = settled(settings.assignor, {settings.topic: settings.partition_count}, asking)
    before = group.assignment.owners() if settings.assignor == "cooperative-sticky" else {}
    own_offsets = {(each.member_id, each.partition): each.offset for each in group.own_offsets}
    positions, committed = list(group.positions), list(group.committed)
    for partition, member_id in assignment.owners().items():
        number = partition.partition
        if settings.offsets_kept_by == MEMBER:
            committed[number] = own_offsets.get((member_id, number))
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
    last = next((each.partition for each in reversed(group.readings) if each.member_id == member_id), -1)
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


# What a group has read, and the polls in which it reads the rest.


def records_read(topic: Topic, group_id: str, member_id: str | None = None) -> tuple[Record, ...]:
    """The records that a group has read, in the order in which it read them; or only those of one member.

    Raises
    ------
    KafkaLearnError
        If nobody has ever joined such a group.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Produce, Settings, simulate
    >>> events = [Join("billing", "b0"), *(Produce(f"order {n}") for n in range(3)), *[Poll("billing", "b0")] * 3]
    >>> topic = simulate(Settings(partition_count=2), events)[-1].state
    >>> [record.value for record in records_read(topic, "billing")]
    ['order 0', 'order 1', 'order 2']
    """
    return tuple(
        topic.logs[reading.partition][reading.offset]
        for reading in topic.existing_group(group_id).readings
        if member_id is None or reading.member_id == member_id
    )


@dataclass(frozen=True, slots=True)
class ReadingCounts:
    """What a group has read of a topic, in records.

    Attributes
    ----------
    read : int
        Different records.
    again : int
        How often it has read a record that it had read before.
    missed : int
        Records before the position of the group's reader that nobody in the group has read.
    """

    read: int
    again: int
    missed: int


def reading_counts(topic: Topic, group_id: str) -> ReadingCounts:
    """How many records a group has read, how many once more, and how many it has passed without reading them.

    Raises
    ------
    KafkaLearnError
        If nobody has ever joined such a group.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, simulate
    >>> joins = [Join("billing", "b0"), Join("billing", "b1")]
    >>> events = [*joins, *[Produce()] * 4, Poll("billing", "b0", 4), Leave("billing", "b0"), Poll("billing", "b1", 4)]
    >>> reading_counts(simulate(Settings(1), events)[-1].state, "billing")
    ReadingCounts(read=4, again=0, missed=0)
    >>> reading_counts(simulate(Settings(1, offsets_kept_by="member"), events)[-1].state, "billing")
    ReadingCounts(read=4, again=4, missed=0)
    """
    group = topic.existing_group(group_id)
    read = {(each.partition, each.offset) for each in group.readings}
    passed = sum(map(group.position, range(len(group.positions))))
    before = sum(offset < group.position(partition) for partition, offset in read)
    return ReadingCounts(len(read), len(group.readings) - len(read), passed - before)


def drain(topic: Topic, group_id: str, most: int = 1) -> Iterator[Poll]:
    """As many polls, member by member in turn, as the group needs to read all that is there.

    Raises
    ------
    KafkaLearnError
        If nobody has ever joined such a group.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Produce, Settings, simulate
    >>> topic = simulate(Settings(partition_count=2), [Join("billing", "b0"), Produce("order 1")])[-1].state
    >>> list(drain(topic, "billing"))
    [Poll(group_id='billing', member_id='b0', most=1)]
    """
    whole_number("most", most, 1, LARGEST_INT)
    group = topic.existing_group(group_id)
    left = {
        member_id: sum(-((group.position(n) - len(topic.logs[n])) // most) for n in group.owned(member_id))
        for member_id in group.member_ids
    }
    while any(left.values()):
        for member_id in group.member_ids:
            if left[member_id]:
                left[member_id] -= 1
                yield Poll(group_id, member_id, most)


# What holds of every state, and what a user hopes for.

IN_ORDER = "a group reads records in the order in which they were produced"
NONE_SKIPPED = "a group skips no record"
NONE_TWICE = "a group reads no record twice"
NONE_IDLE = "every member of a group owns a partition"


def _each_partition_has_one_owner(settings: Settings, topic: Topic) -> bool:
    everything = list(range(settings.partition_count))
    return all(
        sorted(number for member_id in group.member_ids for number in group.owned(member_id))
        == (everything if group.member_ids else [])
        for group in topic.groups
    )


def _each_partition_is_read_in_its_order(settings: Settings, topic: Topic) -> bool:
    return settings.offsets_kept_by == MEMBER or all(
        offsets == list(range(offsets[0], offsets[0] + len(offsets)))
        for group in topic.groups
        for number in range(settings.partition_count)
        if (offsets := [reading.offset for reading in group.readings if reading.partition == number])
    )


def _what_was_read_is_committed(settings: Settings, topic: Topic) -> bool:
    if settings.offsets_kept_by == MEMBER:
        return all(_own_last_reads(group) == set(group.own_offsets) for group in topic.groups)
    last_read = {
        (group.group_id, reading.partition): reading.offset for group in topic.groups for reading in group.readings
    }
    committed = {
        (group.group_id, number): offset - 1
        for group in topic.groups
        for number, offset in enumerate(group.committed)
        if offset is not None
    }
    return committed == last_read


def _own_last_reads(group: Group) -> set[OwnOffset]:
    """What each member has read last in a partition, as it would commit it."""
    last = {(each.member_id, each.partition): each.offset + 1 for each in group.readings}
    return {OwnOffset(member_id, partition, offset) for (member_id, partition), offset in last.items()}


def _keys_are_in_order(settings: Settings, topic: Topic) -> bool:
    for group in topic.groups if settings.offsets_kept_by != MEMBER else ():
        records = [record for record in records_read(topic, group.group_id) if record.key is not None]
        keys = {record.key for record in records}
        if not all(_is_rising(record.number for record in records if record.key == key) for key in keys):
            return False
    return True


def _is_rising(numbers: Iterable[int]) -> bool:
    numbers = list(numbers)
    return numbers == sorted(numbers)


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "each partition belongs to exactly one member of a group that has members": _each_partition_has_one_owner,
        "a group reads each record of a partition once, in the order of offsets": _each_partition_is_read_in_its_order,
        "a group reads the records of a key in the order in which they were produced": _keys_are_in_order,
        "what was read is committed, and nothing else": _what_was_read_is_committed,
        "each record is in one partition, whether or not somebody reads it": lambda settings, topic: (
            sorted(record.number for log in topic.logs for record in log) == list(range(topic.record_count))
        ),
        "a partition keeps the order in which its records were produced": lambda settings, topic: all(
            _is_rising(record.number for record in log) for log in topic.logs
        ),
    }
)
"""What holds in every state: Kafka's own promises; those of the group's offsets only where the group keeps them."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        IN_ORDER: lambda settings, topic: all(
            _is_rising(record.number for record in records_read(topic, group.group_id)) for group in topic.groups
        ),
        NONE_SKIPPED: lambda settings, topic: (
            not any(reading_counts(topic, group.group_id).missed for group in topic.groups)
        ),
        NONE_TWICE: lambda settings, topic: (
            not any(reading_counts(topic, group.group_id).again for group in topic.groups)
        ),
        NONE_IDLE: lambda settings, topic: not any(group.idle_member_ids for group in topic.groups),
    }
)
"""What a user hopes for. Two partitions can break the first, ``latest`` the second, too many members the last; to
break the third, the offsets must be kept by member.
"""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
