"""What a group has read, and the polls in which it reads the rest."""

from __future__ import annotations

from collections.abc import Iterator

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
        member_id: sum(-((group.positions[n] - len(topic.logs[n])) // most) for n in group.owned(member_id))
        for member_id in group.member_ids
    }
    while any(left.values()):
        for member_id in group.member_ids:
            if left[member_id]:
                left[member_id] -= 1
                yield Poll(group_id, member_id, most)
