"""What happens to a producer: it writes, and batches are sent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT, whole_number
from kafkalearn.fields import Checked, Index, Whole

MOST_RECORDS = 1_000_000  # of one call of `sends`


@dataclass(frozen=True, slots=True)
class Send(Checked):
    """One record is written; without `key` and `partition` it goes where the release's rule says."""

    value_bytes: Annotated[int, Whole(0, LARGEST_INT)] = 100
    key: bytes | None = None
    partition: Index | None = None  # named by the application: it wins over everything


@dataclass(frozen=True, slots=True)
class SendToOtherTopic(Checked):
    """A keyless record for another topic: it advances the counter, where the producer has only one."""


@dataclass(frozen=True, slots=True)
class Drain(Checked):
    """The waiting batches of `partitions` (None: of all) are sent, as when linger.ms has passed."""

    partitions: tuple[Index, ...] | None = None


@dataclass(frozen=True, slots=True)
class SenderLooks(Checked):
    """The sending thread looks for batches that are ready, and weighs the partitions by their queues.

    `stalled` partitions are on brokers that have taken nothing for ``partitioner.availability.timeout.ms``.
    """

    stalled: tuple[Index, ...] = ()


Event: TypeAlias = Send | SendToOtherTopic | Drain | SenderLooks


def sends(record_count: int, value_bytes: int = 100, drain_every: int = 0) -> tuple[Event, ...]:
    """The events of a producer that writes so many keyless records of one size.

    Parameters
    ----------
    record_count : int
        0 to 1,000,000.
    value_bytes : int
        Length of each value.
    drain_every : int
        All waiting batches are sent after every so many records; 0: never, as when records are written faster
        than ``linger.ms``.

    Examples
    --------
    >>> sends(3, drain_every=2)[1:3]
    (Send(value_bytes=100, key=None, partition=None), Drain(partitions=None))
    """
    whole_number("record_count", record_count, 0, MOST_RECORDS)
    whole_number("drain_every", drain_every, at_least=0)
    events: list[Event] = []
    one = Send(value_bytes)
    for number in range(1, record_count + 1):
        events.append(one)
        if drain_every and number % drain_every == 0:
            events.append(Drain())
    return tuple(events)
