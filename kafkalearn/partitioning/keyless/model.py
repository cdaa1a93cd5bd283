"""The nouns of keyless partitioning: the rules by release, settings, the producer's state, the events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from types import MappingProxyType
from typing import TypeAlias

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError
from kafkalearn.partitioning.batching import Queue, append, close_last
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least

RULES: MappingProxyType[str, str] = MappingProxyType(
    {
        "round robin, one counter": "0.8.2 to 0.10.1: one counter for all topics of the producer",
        "round robin, a counter a topic": "0.10.2 to 2.3: a counter for each topic",
        "sticky": "2.4 to 3.2, KIP-480: one partition until a new batch has to be opened",
        "uniform sticky": "since 3.3, KIP-794: one partition until batch.size bytes went there",
    }
)
"""The rules by name, with the releases of the Java producer that follow them."""

_RULE_SINCE = (
    ("0.8.2", "round robin, one counter"),
    ("0.10.2", "round robin, a counter a topic"),
    ("2.4", "sticky"),
    ("3.3", "uniform sticky"),
)


def rule_of(release: str = DEFAULT_RELEASE) -> str:
    """The name in `RULES` of what the Java producer of a release does with a record without a key.

    >>> rule_of("2.3"), rule_of("2.4"), rule_of()
    ('round robin, a counter a topic', 'sticky', 'uniform sticky')
    """
    return [rule for since, rule in _RULE_SINCE if at_least(since, release)][-1]


def seeded(seed: int) -> Callable[[int], int]:
    """A random source for `Settings`: draw number `index` of a seed, 31 bits, the same on every machine.

    >>> draw = seeded(7)
    >>> draw(0) == seeded(7)(0), draw(0) == draw(1)
    (True, False)
    """
    return partial(_draw, seed)


def _draw(seed: int, index: int) -> int:
    return Random(f"{seed}/{index}").getrandbits(31)


_SEED_0 = seeded(0)


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same while a producer writes to one topic.

    Parameters
    ----------
    partition_count : int
        All partitions of the topic, at least 1.
    release : str
        Of the Java producer; without one, Kafka 4.3.
    available : tuple of int or None
        The partitions that have a live leader, ascending; None: all of them.
    batch_size : int
        ``batch.size`` in bytes, at least 1.
    is_adaptive : bool
        ``partitioner.adaptive.partitioning.enable``: prefer partitions with short queues (since 3.3).
    draw : callable
        ``draw(index)`` is the random number of the index-th draw, at least 0. To replay a recorded run, give
        the numbers it drew: ``(4, 0, 2).__getitem__``.
    """

    partition_count: int
    release: str = DEFAULT_RELEASE
    available: tuple[int, ...] | None = None
    batch_size: int = 16384
    is_adaptive: bool = True
    draw: Callable[[int], int] = _SEED_0

    def __post_init__(self) -> None:
        """Refuse what no producer can be configured to."""
        whole_number("partition_count", self.partition_count, at_least=1)
        whole_number("batch_size", self.batch_size, at_least=1)
        rule_of(self.release)
        for partition in self.available or ():
            if not 0 <= partition < self.partition_count:
                raise KafkaLearnError(
                    f"available names partition {partition}; the topic has 0 to {self.partition_count - 1}"
                )

    @property
    def candidates(self) -> tuple[int, ...]:
        """The partitions to draw from: the available ones, or all when none is."""
        return self.available or tuple(range(self.partition_count))


@dataclass(frozen=True, slots=True)
class Placement:
    """Where the last record went."""

    partition: int
    appended_bytes: int  # growth of the queue; a record that opens a batch brings its header
    has_opened_batch: bool


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
    last: Placement | None = None


@dataclass(frozen=True, slots=True)
class Send:
    """One record is written; without `key` and `partition` it goes where the release's rule says."""

    value_bytes: int = 100
    key: bytes | None = None
    partition: int | None = None  # named by the application: wins over everything


@dataclass(frozen=True, slots=True)
class SendToOtherTopic:
    """A keyless record for another topic: it advances the counter, where the producer has only one."""


@dataclass(frozen=True, slots=True)
class Drain:
    """The waiting batches of `partitions` (None: of all) are sent, as when linger.ms has passed."""

    partitions: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class SenderLooks:
    """The sending thread looks for batches that are ready, and weighs the partitions by their queues.

    `stalled` partitions are on brokers that have taken nothing for ``partitioner.availability.timeout.ms``.
    """

    stalled: tuple[int, ...] = ()


KeylessEvent: TypeAlias = Send | SendToOtherTopic | Drain | SenderLooks


def start(settings: Settings) -> Producer:
    """A producer that has written nothing yet."""
    return Producer(queues=(None,) * settings.partition_count, record_counts=(0,) * settings.partition_count)


def write(settings: Settings, producer: Producer, event: Send, partition: int) -> Producer:
    """The producer after one more record in `partition`, in its open batch or in a new one."""
    before = producer.queues[partition] or ()
    after = append(before, event.key, event.value_bytes, settings.batch_size)
    growth = sum(batch.byte_count for batch in after) - sum(batch.byte_count for batch in before)
    counts = producer.record_counts
    return replace(
        producer,
        queues=put(producer.queues, partition, after),
        record_counts=put(counts, partition, counts[partition] + 1),
        last=Placement(partition, growth, has_opened_batch=len(after) > len(before)),
    )


def touch(producer: Producer, partition: int) -> Producer:
    """The producer with a queue for `partition`, empty if there was none."""
    return replace(producer, queues=put(producer.queues, partition, producer.queues[partition] or ()))


def close_open_batch(producer: Producer, partition: int) -> Producer:
    """The producer with the last batch of `partition` closed: a record did not fit."""
    return replace(producer, queues=put(producer.queues, partition, close_last(producer.queues[partition] or ())))


def put(values: tuple, index: int, value: object) -> tuple:
    """The tuple with `value` in place of the item at `index`."""
    return (*values[:index], value, *values[index + 1 :])
