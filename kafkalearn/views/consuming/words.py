"""A topic and the groups that read it, in words: a sentence about a frame, and the whole of it as text."""

from __future__ import annotations

from collections.abc import Iterable

from kafkalearn.consuming import ConsumingEvent, Group, Join, Leave, Poll, Produce, Settings, State, lags
from kafkalearn.trace import Frame

MOST_VALUES = 6  # records more than that are counted, not named


def describe_consuming(
    settings: Settings, frame: Frame[State, ConsumingEvent], before: Frame[State, ConsumingEvent] | None = None
) -> str:
    """A sentence or two about a frame of `kafkalearn.consuming`; `before` tells what a poll has read.

    Examples
    --------
    >>> from functools import partial
    >>> from kafkalearn.consuming import start, step
    >>> from kafkalearn.trace import run
    >>> settings = Settings(partition_count=1)
    >>> events = [Join("billing", "b0"), Join("billing", "b1"), Produce("A1", key=b"A"), Poll("billing", "b0")]
    >>> trace = run(partial(step, settings), start(settings), events)
    >>> for frame, before in zip(trace, (None, *trace)):
    ...     print(describe_consuming(settings, frame, before))
    The topic orders has 1 partition and no group reads it.
    b0 joins billing, which rebalances: b0 has 0.
    b1 joins billing, which rebalances: b0 has 0, b1 has nothing.
    A1 goes to partition 0, offset 0.
    b0 reads of partition 0: A1. billing commits 1 there.
    """
    state, event = frame.state, frame.event
    match event:
        case Produce(value):
            partition, offset = _place_of_newest(state)
            return f"{value or 'A record'} goes to partition {partition}, offset {offset}."
        case Join(group_id, member_id):
            return f"{member_id} joins {group_id}, which rebalances: {_owned_words(state.group(group_id))}."
        case Leave(group_id, member_id):
            group = state.group(group_id)
            rest = f"which rebalances: {_owned_words(group)}" if group.member_ids else "which has no members any more"
            return f"{member_id} leaves {group_id}, {rest}."
        case Poll(group_id, member_id):
            return _poll_words(state, event, state.group(group_id), before)
    count = settings.partition_count
    return f"The topic {settings.topic} has {count} partition{'' if count == 1 else 's'} and no group reads it."


def _place_of_newest(state: State) -> tuple[int, int]:
    newest = state.record_count - 1
    return next(
        (partition, len(log) - 1) for partition, log in enumerate(state.logs) if log and log[-1].number == newest
    )


def _poll_words(state: State, event: Poll, group: Group, before: Frame | None) -> str:
    if before is None:  # what it read cannot be told without the frame before; the last record will do
        read = tuple(each for each in group.readings[-1:] if each.member_id == event.member_id)
    else:
        read = group.readings[len(before.state.group(event.group_id).readings) :]
    if not read:
        why = "owns nothing" if event.member_id in group.idle_member_ids else "has read all there is"
        return f"{event.member_id} polls and gets nothing: it {why}."
    partition = read[0].partition
    values = [state.logs[partition][each.offset].value for each in read]
    named = ", ".join(value or "a record" for value in values)
    what = named if len(values) <= MOST_VALUES else f"{len(values)} records"
    committed = group.committed[partition]
    return f"{event.member_id} reads of partition {partition}: {what}. {event.group_id} commits {committed} there."


def _owned_words(group: Group) -> str:
    return ", ".join(f"{each} has {number_list(group.owned(each))}" for each in group.member_ids)


def number_list(numbers: Iterable[int]) -> str:
    """Partition numbers in words.

    >>> number_list([0, 2]), number_list([])
    ('0 2', 'nothing')
    """
    return " ".join(map(str, numbers)) or "nothing"


def consuming_text(
    settings: Settings, frame: Frame[State, ConsumingEvent], before: Frame[State, ConsumingEvent] | None = None
) -> str:
    """A frame of `kafkalearn.consuming` in plain text: the partitions with their records, and where each group is.

    Examples
    --------
    >>> from functools import partial
    >>> from kafkalearn.consuming import start, step
    >>> from kafkalearn.trace import run
    >>> settings = Settings(partition_count=2)
    >>> events = [Join("billing", "b0"), Produce("A1"), Produce("B1"), Produce("A2"), Poll("billing", "b0")]
    >>> print(consuming_text(settings, run(partial(step, settings), start(settings), events)[-1]))
    b0 reads of partition 0: A1. billing commits 1 there.
    partition 0: A1 A2
    partition 1: B1
    billing, generation 1: b0 has 0 1
      partition 0: committed 1, lag 1
      partition 1: committed nothing yet
    """
    state = frame.state
    lines = [describe_consuming(settings, frame, before)]
    for number, log in enumerate(state.logs):
        lines.append(f"partition {number}: {' '.join(record.value or '?' for record in log) or 'empty'}")
    for group in state.groups:
        lines.append(f"{group.group_id}, generation {group.generation}: {_owned_words(group) or 'no members'}")
        for each in lags(state, group.group_id):
            known = "nothing yet" if each.committed is None else f"{each.committed}, lag {each.lag}"
            lines.append(f"  partition {each.partition}: committed {known}")
    return "\n".join(lines)
