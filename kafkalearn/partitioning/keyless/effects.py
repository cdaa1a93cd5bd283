"""What an event led to in the producer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class RecordAppended:
    """A record went into the queue of a partition."""

    partition: int
    appended_bytes: int  # growth of the queue; a record that opens a batch brings its header
    has_opened_batch: bool


@dataclass(frozen=True, slots=True)
class CounterStarted:
    """The counter of round robin was used for the first time, and starts at a random number."""

    counter: int


@dataclass(frozen=True, slots=True)
class PartitionDrawn:
    """The sticky partition was drawn at random."""

    partition: int
    previous: int | None  # the sticky partition until then


@dataclass(frozen=True, slots=True)
class BatchesSent:
    """The waiting batches of a partition were sent."""

    partition: int
    batch_count: int


@dataclass(frozen=True, slots=True)
class QueuesWeighed:
    """The sending thread has weighed the partitions by their queues."""

    is_uniform: bool  # every candidate is as likely to be drawn


Effect: TypeAlias = RecordAppended | CounterStarted | PartitionDrawn | BatchesSent | QueuesWeighed
