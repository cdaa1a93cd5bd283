"""Partitions that go to another member of the group, and where it would begin with nothing but its own offsets."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.consuming.effects import Assigned, Polled
from kafkalearn.consuming.events import ConsumingEvent
from kafkalearn.consuming.state import Topic
from kafkalearn.trace import Trace


@dataclass(frozen=True, slots=True)
class Handover:
    """A partition has a new owner.

    Attributes
    ----------
    at : int
        The frame.
    group_id, partition, member_id
        What went to whom.
    committed : int
        The group's offset there, where the new owner reads on.
    own : int or None
        What the new owner has committed there itself, when it had the partition earlier; None: nothing.
    """

    at: int
    group_id: str
    partition: int
    member_id: str
    committed: int
    own: int | None

    @property
    def set_back(self) -> int:
        """Records that the group would read again here if each member kept its own offsets (with ``earliest``)."""
        return self.committed - (self.own or 0)


def handovers(trace: Trace[Topic, ConsumingEvent]) -> tuple[Handover, ...]:
    """Every partition of a run that went to another member, if the group has committed something there.

    The run must be one in which the group keeps the offsets, as in Kafka.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Leave, Poll, Produce, Settings, simulate
    >>> joins = [Join("billing", "b0"), Join("billing", "b1")]
    >>> events = [*joins, *[Produce()] * 4, Poll("billing", "b0", 3), Leave("billing", "b0")]
    >>> (handover,) = handovers(simulate(Settings(1), events))
    >>> handover.member_id, handover.committed, handover.own, handover.set_back
    ('b1', 3, None, 3)
    """
    owners: dict[tuple[str, int], str] = {}
    own_offsets: dict[tuple[str, int, str], int] = {}
    found = []
    for frame in trace:
        for effect in frame.state.effects:
            if isinstance(effect, Polled):
                own_offsets[effect.group_id, effect.partition, effect.member_id] = effect.offsets[-1] + 1
            if not isinstance(effect, Assigned):
                continue
            group_id, member_id = effect.group_id, effect.member_id
            for number in effect.partitions:
                committed = frame.state.existing_group(group_id).committed[number]
                if committed is not None and owners.get((group_id, number)) != member_id:
                    own = own_offsets.get((group_id, number, member_id))
                    found.append(Handover(frame.index, group_id, number, member_id, committed, own))
                owners[group_id, number] = member_id
    return tuple(found)


def owner_rows(trace: Trace[Topic, ConsumingEvent]) -> list[dict[str, object]]:
    """Every assignment of a run as plain rows, a row for each partition; the moment is the frame's number.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Settings, simulate
    >>> owner_rows(simulate(Settings(1), [Join("billing", "b0")]))
    [{'group_id': 'billing', 'member_id': 'b0', 'topic': 'orders', 'partition': 0, 'assigned_at': 1}]
    """
    return [
        {
            "group_id": effect.group_id,
            "member_id": effect.member_id,
            "topic": frame.state.name,
            "partition": number,
            "assigned_at": frame.index,
        }
        for frame in trace
        for effect in frame.state.effects
        if isinstance(effect, Assigned)
        for number in effect.partitions
    ]
