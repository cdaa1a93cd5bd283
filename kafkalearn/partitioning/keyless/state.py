"""The producer's state: its queues of batches, and where the next keyless record goes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TypeVar

from kafkalearn.partitioning.batching import Queue, append, close_last
from kafkalearn.partitioning.keyless.effects import Effect, PartitionDrawn, RecordAppended
from kafkalearn.partitioning.keyless.events import Send
from kafkalearn.partitioning.keyless.settings import Settings

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Load:
    """The weights of adaptive partitioning: running sums, and the partition each belongs to."""

    running_sums: tuple[int, ...]
    partitions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Producer:
    """What a producer knows of one topic: its queues of batches, and where the next keyless record goes."""

    queues: tuple[Queue | None, ...]  # None: nothing was ever written there
    record_counts: tuple[int, ...]  # written to each partition so far
    draw_count: int = 0
    counter: int | None = None  # of round robin; None until the first keyless record
    current: int | None = None  # the sticky partition; None until it is drawn
    produced_bytes: int = 0  # to the current partition since it was drawn (since 3.3)
    load: Load | None = None  # None: every candidate is as likely
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def drawn(self) -> int:
        """The sticky partition; only the rules that draw one ask, once they have drawn it."""
        assert self.current is not None
        return self.current

    def queue(self, partition: int) -> Queue:
        """The batches of a partition; none if nothing was ever written there."""
        return self.queues[partition] or ()


def start(settings: Settings) -> Producer:
    """A producer that has written nothing yet."""
    return Producer(queues=(None,) * settings.partition_count, record_counts=(0,) * settings.partition_count)


def write(settings: Settings, producer: Producer, event: Send, partition: int) -> Producer:
    """The producer after one more record in `partition`, in its open batch or in a new one."""
    before = producer.queue(partition)
    after = append(before, event.key, event.value_bytes, settings.batch_size)
    growth = sum(batch.byte_count for batch in after) - sum(batch.byte_count for batch in before)
    counts = producer.record_counts
    appended = RecordAppended(partition, growth, has_opened_batch=len(after) > len(before))
    return replace(
        producer,
        queues=put(producer.queues, partition, after),
        record_counts=put(counts, partition, counts[partition] + 1),
        effects=(*producer.effects, appended),
    )


def move_to(producer: Producer, partition: int, draw_count: int) -> Producer:
    """The producer with another sticky partition, drawn with the last of so many draws."""
    drawn = PartitionDrawn(partition, producer.current)
    return replace(producer, current=partition, draw_count=draw_count, effects=(*producer.effects, drawn))


def touch(producer: Producer, partition: int) -> Producer:
    """The producer with a queue for `partition`, empty if there was none."""
    return replace(producer, queues=put(producer.queues, partition, producer.queue(partition)))


def close_open_batch(producer: Producer, partition: int) -> Producer:
    """The producer with the last batch of `partition` closed: a record did not fit."""
    return replace(producer, queues=put(producer.queues, partition, close_last(producer.queue(partition))))


def put(values: tuple[Item, ...], index: int, value: Item) -> tuple[Item, ...]:
    """The tuple with `value` in place of the item at `index`."""
    return (*values[:index], value, *values[index + 1 :])
