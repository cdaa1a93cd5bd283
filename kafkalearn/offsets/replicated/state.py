"""The brokers of a partition of the offsets topic, and what each coordinator among them has in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.replicated.effects import ReplicatedEffect
from kafkalearn.offsets.replicated.settings import Settings
from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.events import StoreEvent
from kafkalearn.offsets.store.state import LOADING, NOT_OWNED, OWNED, Entry
from kafkalearn.replication import state as partition_state
from kafkalearn.replication.state import Partition


class Known(NamedTuple):
    """The groups as the log describes them up to an offset."""

    end_offset: int
    groups: tuple[Group, ...] = ()


class Waiting(NamedTuple):
    """A request whose answer is ready and waits for the high watermark."""

    request: StoreEvent
    answer: Answer
    end_offset: int  # the high watermark that lets the answer go
    deadline_ms: int  # offsets.commit.timeout.ms after it came
    entries: tuple[int, ...] = ()  # what was written for it


class Coordinator(NamedTuple):
    """What a broker that leads the partition has in memory."""

    leader_epoch: int
    status: str = LOADING  # as in `kafkalearn.offsets.store`: owned, loading or failed
    read_count: int = 0  # entries read so far, while loading
    known: tuple[Known, ...] = (Known(0),)  # rising; the first is replicated, the last is all that is written
    waiting: tuple[Waiting, ...] = ()

    @property
    def confirmed(self) -> Known:
        """The groups as of the high watermark."""
        return self.known[0]

    @property
    def written(self) -> Known:
        """The groups with all that is in the log, replicated or not."""
        return self.known[-1]


@dataclass(frozen=True, slots=True)
class ReplicatedStore:
    """A partition of the offsets topic on its brokers, at one moment."""

    partition: Partition
    coordinators: tuple[Coordinator | None, ...]  # by broker id from 1; None: it does not lead
    entries: tuple[Entry, ...] = ()  # all that was ever appended; a record's value is the number of its entry
    acknowledged: tuple[int, ...] = ()  # entries of requests that were answered without an error
    effects: tuple[ReplicatedEffect, ...] = field(default=(), compare=False)  # of the last event, in order

    def coordinator(self, broker_id: int) -> Coordinator | None:
        """The coordinator on a broker; None: it does not lead the partition."""
        return self.coordinators[broker_id - 1]

    def status(self, broker_id: int) -> str:
        """What a broker is to the partition, by the names of `kafkalearn.offsets.store`."""
        coordinator = self.coordinator(broker_id)
        return NOT_OWNED if coordinator is None else coordinator.status

    def log(self, broker_id: int) -> tuple[Entry, ...]:
        """The entries in a broker's log, by offset."""
        return tuple(self.entries[number] for number in self.numbers(broker_id))

    def numbers(self, broker_id: int) -> tuple[int, ...]:
        """The numbers of the entries in a broker's log, by offset."""
        return tuple(int(record.value) for record in self.partition.replica(broker_id).log.records)


def start(settings: Settings) -> ReplicatedStore:
    """A new partition: nothing is written, broker 1 leads and coordinates.

    >>> start(Settings()).status(1), start(Settings()).status(2)
    ('owned', 'not owned')
    """
    partition = partition_state.start(settings.partition)
    first = Coordinator(partition.controller.leader_epoch, OWNED)
    return ReplicatedStore(partition, (first, *(None for _ in settings.partition.broker_ids[1:])))
