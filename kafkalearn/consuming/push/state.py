"""The state: a log with an offset for each consumer, and beside it a queue for each consumer."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.consuming.push.effects import Effect
from kafkalearn.consuming.push.settings import Settings
from kafkalearn.errors import unknown_name


@dataclass(frozen=True, slots=True)
class Reader:
    """A consumer that pulls. All that the broker keeps about it is the committed offset, its position."""

    consumer: str
    position: int = 0  # the next offset to read
    furthest: int = 0  # the highest position it has had: what is before it was read, or deleted too early
    read_count: int = 0
    missed_count: int = 0  # records that were deleted before it came to them


@dataclass(frozen=True, slots=True)
class Queue:
    """A consumer that is pushed to: the broker keeps each of its records until it is acknowledged."""

    consumer: str
    unacknowledged: tuple[int, ...] = ()  # sent, by their numbers
    waiting: tuple[int, ...] = ()  # not sent yet
    read_count: int = 0
    dropped_count: int = 0

    @property
    def held(self) -> tuple[int, ...]:
        """All records that the broker holds for this consumer, oldest first."""
        return self.unacknowledged + self.waiting


@dataclass(frozen=True, slots=True)
class Brokers:
    """Two brokers that were given the same records: one is asked for them, one pushes them."""

    readers: tuple[Reader, ...]
    queues: tuple[Queue, ...]
    log_start: int = 0  # the oldest offset that the log still has
    log_end: int = 0  # the offset of the next record; as a number, that of the next record for the queues
    refused_count: int = 0  # records that the pushing broker did not take
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # of the last event

    def reader(self, consumer: str) -> Reader:
        """The consumer as one that pulls; KafkaLearnError if there is none of that name."""
        return self.readers[self.place(consumer)]

    def queue(self, consumer: str) -> Queue:
        """The queue of a consumer; KafkaLearnError if there is none of that name."""
        return self.queues[self.place(consumer)]

    def place(self, consumer: str) -> int:
        """Where a consumer stands among all; KafkaLearnError if there is none of that name."""
        names = [each.consumer for each in self.readers]
        if consumer not in names:
            raise unknown_name("consumer", consumer, names)
        return names.index(consumer)


def start(settings: Settings) -> Brokers:
    """An empty log and empty queues."""
    return Brokers(tuple(map(Reader, settings.consumers)), tuple(map(Queue, settings.consumers)))
