"""What a group has read, and the polls in which it reads the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from kafkalearn.arguments import LARGEST_INT, whole_number
from kafkalearn.consuming.events import Poll
from kafkalearn.consuming.state import Record, Topic


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
