"""Whether a group reads records in the order in which they were produced."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.consuming.reading import records_read
from kafkalearn.consuming.state import Record, Topic


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
