"""A topic and the groups that read it, in words: a sentence about a frame, and the whole of it as text."""

from __future__ import annotations

from kafkalearn.consuming.effects import Appended, Committed, Polled
from kafkalearn.consuming.events import ConsumingEvent, Join, Leave, Poll, Produce
from kafkalearn.consuming.lag import lags
from kafkalearn.consuming.state import Group, Topic
from kafkalearn.phrases import counted
from kafkalearn.trace import Frame

MOST_VALUES = 6  # records more than that are counted, not named


def describe_consuming(frame: Frame[Topic, ConsumingEvent], before: Frame[Topic, ConsumingEvent] | None = None) -> str:
    """A sentence or two about a frame of `kafkalearn.consuming`; the frame before it is not needed.

    Examples
    --------
    >>> from kafkalearn.consuming import Settings, simulate
    >>> events = [Join("billing", "b0"), Join("billing", "b1"), Produce("A1", key=b"A"), Poll("billing", "b0")]
    >>> for frame in simulate(Settings(partition_count=1), events):
    ...     print(describe_consuming(frame))
    The topic orders has 1 partition and no group reads it.
    b0 joins billing, which rebalances: b0 has 0.
    b1 joins billing, which rebalances: b0 has 0, b1 has nothing.
    A1 goes to partition 0, offset 0.
    b0 reads of partition 0: A1. billing commits 1 there.
    """
    topic = frame.state
    match frame.event:
        case Produce(value):
            (appended,) = (each for each in topic.effects if isinstance(each, Appended))
            return f"{value or 'A record'} goes to partition {appended.partition}, offset {appended.offset}."
        case Join(group_id, member_id):
            return f"{member_id} joins {group_id}, which rebalances: {_owned_words(topic.existing_group(group_id))}."
        case Leave(group_id, member_id):
            group = topic.existing_group(group_id)
            rest = f"which rebalances: {_owned_words(group)}" if group.member_ids else "which has no members any more"
            return f"{member_id} leaves {group_id}, {rest}."
        case Poll(group_id, member_id) if not topic.effects:
            group = topic.existing_group(group_id)
            why = "owns nothing" if member_id in group.idle_member_ids else "has read all there is"
            return f"{member_id} polls and gets nothing: it {why}."
        case Poll():
            return _poll_words(topic)
    return f"The topic {topic.name} has {counted(len(topic.logs), 'partition')} and no group reads it."


def _poll_words(topic: Topic) -> str:
    (polled,) = (each for each in topic.effects if isinstance(each, Polled))
    (committed,) = (each for each in topic.effects if isinstance(each, Committed))
    values = [topic.logs[polled.partition][offset].value or "a record" for offset in polled.offsets]
    what = ", ".join(values) if len(values) <= MOST_VALUES else f"{len(values)} records"
    return (
        f"{polled.member_id} reads of partition {polled.partition}: {what}. "
        f"{polled.group_id} commits {committed.offset} there."
    )


def _owned_words(group: Group) -> str:
    return ", ".join(f"{each} has {' '.join(map(str, group.owned(each))) or 'nothing'}" for each in group.member_ids)


def consuming_text(frame: Frame[Topic, ConsumingEvent], before: Frame[Topic, ConsumingEvent] | None = None) -> str:
    """A frame of `kafkalearn.consuming` in plain text: the partitions with their records, and where each group is.

    Examples
    --------
    >>> from kafkalearn.consuming import Settings, simulate
    >>> events = [Join("billing", "b0"), Produce("A1"), Produce("B1"), Produce("A2"), Poll("billing", "b0")]
    >>> print(consuming_text(simulate(Settings(partition_count=2), events)[-1]))
    b0 reads of partition 0: A1. billing commits 1 there.
    partition 0: A1 A2
    partition 1: B1
    billing, generation 1: b0 has 0 1
      partition 0: committed 1, lag 1
      partition 1: committed nothing yet
    """
    topic = frame.state
    lines = [describe_consuming(frame)]
    for number, log in enumerate(topic.logs):
        lines.append(f"partition {number}: {' '.join(record.value or '?' for record in log) or 'empty'}")
    for group in topic.groups:
        lines.append(f"{group.group_id}, generation {group.generation}: {_owned_words(group) or 'no members'}")
        for each in lags(topic, group.group_id):
            committed = "nothing yet" if each.committed is None else f"{each.committed}, lag {each.lag}"
            lines.append(f"  partition {each.partition}: committed {committed}")
    return "\n".join(lines)
