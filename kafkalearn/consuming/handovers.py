"""Records that a group reads in another order, and partitions that go to another of its members."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.base.trace import Trace
from kafkalearn.consuming.simulator import Assigned, ConsumingEvent, Polled, Record, Topic, records_read


@dataclass(frozen=True, slots=True)
class Overtaking:
    """A record that was read after one that was produced later."""

    late: Record
    overtaken_by: Record

    @property
    def is_of_one_key(self) -> bool:
        """Whether both have the same key, so that it can matter."""
        return self.late.key is not None and self.late.key == self.overtaken_by.key


def overtakings(topic: Topic, group_id: str) -> tuple[Overtaking, ...]:
    """For each record that a group read too late, the last-produced record that it had read before.

    Two records of one partition never overtake each other; two of different partitions may, in every group again.

    Examples
    --------
    >>> from kafkalearn.consuming import Join, Poll, Produce, Settings, simulate
    >>> events = [*(Produce(f"order {n}") for n in range(3)), Join("billing", "b0"), *[Poll("billing", "b0", 9)] * 2]
    >>> topic = simulate(Settings(partition_count=2), events)[-1].state
    >>> [(each.overtaken_by.value, each.late.value) for each in overtakings(topic, "billing")]
    [('order 2', 'order 1')]
    """
    found = []
    newest: Record | None = None
    for record in records_read(topic, group_id):
        if newest is not None and record.number < newest.number:
            found.append(Overtaking(record, newest))
        newest = record if newest is None or record.number > newest.number else newest
    return tuple(found)


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
