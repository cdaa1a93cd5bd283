"""What holds whenever groups read a topic, and what a user hopes for.

Kafka keeps the order of a partition, and so that of a key; not that of a topic. The shortest run in which a group
reads two records in another order than that in which they were produced:

>>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
>>> settings = Settings(partition_count=2)
>>> events = [*[Produce()] * 3, Join("billing", "b0"), Poll("billing", "b0", most=2), Poll("billing", "b0")]
>>> broken(settings, simulate(settings, events)[-1].state)
('a group reads records in the order in which they were produced',)
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType

from kafkalearn.consuming.reading import reading_counts, records_read
from kafkalearn.consuming.settings import MEMBER, Settings
from kafkalearn.consuming.state import Group, OwnOffset, Topic
from kafkalearn.promises import Predicate, judges

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


def _no_record_is_skipped(settings: Settings, topic: Topic) -> bool:
    """Whether all that is before a group's position has been read by it."""
    return not any(reading_counts(topic, group.group_id).missed for group in topic.groups)


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
        NONE_SKIPPED: _no_record_is_skipped,
        NONE_TWICE: lambda settings, topic: (
            not any(reading_counts(topic, group.group_id).again for group in topic.groups)
        ),
        NONE_IDLE: lambda settings, topic: not any(group.idle_member_ids for group in topic.groups),
    }
)
"""What a user hopes for. Two partitions can break the first, ``latest`` the second, too many members the last; to
break the third, the offsets must be kept by member.
"""

check, broken = judges(INVARIANTS, PROMISES)
