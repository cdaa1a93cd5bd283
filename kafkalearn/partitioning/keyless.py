"""The default partitioner for records without a key, by release: round robin, sticky partitioner, uniform sticky.

The Java producer has had four rules, `RULES`. Up to 2.3 it dealt keyless records out one by one, from a counter
with a random start. Since 2.4 it stays on one partition (*sticky*) so that batches fill up: until a new batch has
to be opened (KIP-480), or, since 3.3, until enough bytes went there (KIP-794), and then draws another one.

A simulator: the state is a producer, the events are `Send`, `SendToOtherTopic`, `Drain` and `SenderLooks`; `sends`
makes the events of many records. Nothing is random in it: `Settings.draw` stands for the producer's random source.

>>> for release in ("2.3", "2.4", "4.3"):
...     print(release, simulate(Settings(5, release), [Send()] * 60)[-1].state.record_counts)
2.3 (12, 12, 12, 12, 12)
2.4 (60, 0, 0, 0, 0)
4.3 (0, 0, 0, 60, 0)
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import accumulate
from random import Random
from types import MappingProxyType
from typing import Annotated, TypeAlias, TypeVar

from kafkalearn.base import facts
from kafkalearn.base.checks import (
    LARGEST_INT,
    LARGEST_LONG,
    Checked,
    Count,
    Index,
    PartitionCount,
    Whole,
    check_fields,
    sequence,
    whole_number,
)
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown
from kafkalearn.base.hashing import int32, to_positive
from kafkalearn.base.simulator import simulator
from kafkalearn.base.trace import Trace
from kafkalearn.formats.records import BATCH_HEADER_BYTES, length_of, record_bytes
from kafkalearn.formats.wire import varint_bytes
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.releases.lines import DEFAULT_RELEASE, RELEASES, AnswersFor, ReleaseName, at_least

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "RULES",
    "Drain",
    "Send",
    "SendToOtherTopic",
    "SenderLooks",
    "Settings",
    "broken",
    "check",
    "queue_weights",
    "rule_of",
    "seeded",
    "sends",
    "simulate",
    "start",
    "step",
]


# The rules and the settings.

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
    return partial(_draw, whole_number("seed", seed, at_least=-LARGEST_LONG))


def _draw(seed: int, index: int) -> int:
    return Random(f"{seed}/{index}").getrandbits(31)


ANSWERS_FOR = AnswersFor("partitioning.keyless", RELEASES[0])


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while a producer writes to one topic.

    Parameters
    ----------
    partition_count : int
        All partitions of the topic, 1 to 10,000.
    release : str
        Of the Java producer; without one, the newest line.
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

    partition_count: PartitionCount
    release: ReleaseName = DEFAULT_RELEASE
    available: tuple[Index, ...] | None = None
    batch_size: Count = 16384
    is_adaptive: bool = True
    draw: Callable[[int], int] = field(default=seeded(0))

    def __post_init__(self) -> None:
        """Refuse what no producer can be configured to."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        if not callable(self.draw):
            raise KafkaLearnError(f"draw must be a function of the number of a draw, got {shown(self.draw)}")
        for partition in self.available or ():
            if partition >= self.partition_count:
                raise KafkaLearnError(
                    f"available names partition {partition}; the topic has 0 to {self.partition_count - 1}"
                )

    @property
    def candidates(self) -> tuple[int, ...]:
        """The partitions to draw from: the available ones, or all when none is."""
        return self.available or tuple(range(self.partition_count))


# The producer's batches, to the byte.
#
# The producer keeps a queue of *batches* for each partition. A record goes into the last batch if it still has
# room, else that batch is closed and a new one opened. Which partition a record without a key goes to depends on
# this since 2.4, so it is computed as the producer does it: record format version 2, no compression, no headers,
# all records of a batch with the same timestamp.

MAX_RECORD_OVERHEAD_BYTES = 21  # what the producer reserves for a record beside key and value


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch of a partition's queue, waiting to be sent."""

    record_count: int
    byte_count: int  # header included
    limit_bytes: int  # of its buffer: batch.size, or more if the first record needs more
    is_closed: bool = False  # a record did not fit: nothing is appended any more

    @property
    def is_full(self) -> bool:
        """Whether the producer counts it as ready: closed, or filled up to its limit."""
        return self.is_closed or self.byte_count >= self.limit_bytes


Queue: TypeAlias = tuple[Batch, ...]


def has_room(queue: Queue, key: bytes | None, value_bytes: int) -> bool:
    """Whether the record fits into the last batch of the queue; an empty queue has no batch to fit into."""
    if not queue or queue[-1].is_closed:
        return False
    last = queue[-1]
    return last.byte_count + record_bytes(length_of(key), value_bytes, last.record_count) <= last.limit_bytes


def append(queue: Queue, key: bytes | None, value_bytes: int, batch_size: int) -> Queue:
    """The queue after one more record: in its last batch if it fits, else in a new one behind it.

    Parameters
    ----------
    queue : tuple of Batch
        The partition's queue, oldest first.
    key : bytes or None
        None is a record without a key.
    value_bytes : int
        Length of the value.
    batch_size : int
        ``batch.size``. A record larger than that gets a batch of its own.

    Examples
    --------
    >>> queue = append((), None, 100, batch_size=1000)
    >>> queue[-1].byte_count  # 61 of header, 109 of record
    170
    >>> for _ in range(8):
    ...     queue = append(queue, None, 100, batch_size=1000)
    >>> [batch.record_count for batch in queue]
    [8, 1]

    References
    ----------
    Apache Kafka, ``RecordAccumulator.append`` and ``MemoryRecordsBuilder.hasRoomFor``.
    """
    if has_room(queue, key, value_bytes):
        last = queue[-1]
        byte_count = last.byte_count + record_bytes(length_of(key), value_bytes, last.record_count)
        return (*queue[:-1], replace(last, record_count=last.record_count + 1, byte_count=byte_count))
    return (*close_last(queue), _open_batch(key, value_bytes, batch_size))


def close_last(queue: Queue) -> Queue:
    """The queue with its last batch closed, as a record that did not fit leaves it."""
    return (*queue[:-1], replace(queue[-1], is_closed=True)) if queue else queue


def all_full(queue: Queue) -> bool:
    """Whether no batch is still filling up: only the last one can be, and an empty queue has none."""
    return not queue or queue[-1].is_full


def _open_batch(key: bytes | None, value_bytes: int, batch_size: int) -> Batch:
    key_part = 1 if key is None else varint_bytes(len(key)) + len(key)
    reserved = BATCH_HEADER_BYTES + MAX_RECORD_OVERHEAD_BYTES + key_part + varint_bytes(value_bytes) + value_bytes + 1
    used = BATCH_HEADER_BYTES + record_bytes(length_of(key), value_bytes)
    return Batch(record_count=1, byte_count=used, limit_bytes=max(batch_size, reserved))


# The state.


@dataclass(frozen=True, slots=True)
class PartitionLoadStats:
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
    load: PartitionLoadStats | None = None  # None: every candidate is as likely
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


Item = TypeVar("Item")


def put(values: tuple[Item, ...], index: int, value: Item) -> tuple[Item, ...]:
    """The tuple with `value` in place of the item at `index`."""
    return (*values[:index], value, *values[index + 1 :])


# Events: the producer writes, and batches are sent.

MOST_RECORDS = 1_000_000  # of one call of `sends`


class Send(facts.Event):
    """One record is written; without `key` and `partition` it goes where the release's rule says."""

    value_bytes: Annotated[int, Whole(0, LARGEST_INT)] = 100
    key: bytes | None = None
    partition: Index | None = None  # named by the application: it wins over everything


class SendToOtherTopic(facts.Event):
    """A keyless record for another topic: it advances the counter, where the producer has only one."""


class Drain(facts.Event):
    """The waiting batches of `partitions` (None: of all) are sent, as when linger.ms has passed."""

    partitions: tuple[Index, ...] | None = None


class SenderLooks(facts.Event):
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


# Effects: what an event led to in the producer.


class RecordAppended(facts.Effect):
    """A record went into the queue of a partition."""

    partition: int
    appended_bytes: int  # growth of the queue; a record that opens a batch brings its header
    has_opened_batch: bool


class CounterStarted(facts.Effect):
    """The counter of round robin was used for the first time, and starts at a random number."""

    counter: int


class PartitionDrawn(facts.Effect):
    """The sticky partition was drawn at random."""

    partition: int
    previous: int | None  # the sticky partition until then


class BatchesSent(facts.Effect):
    """The waiting batches of a partition were sent."""

    partition: int
    batch_count: int


class QueuesWeighed(facts.Effect):
    """The sending thread has weighed the partitions by their queues."""

    is_uniform: bool  # every candidate is as likely to be drawn


Effect: TypeAlias = RecordAppended | CounterStarted | PartitionDrawn | BatchesSent | QueuesWeighed


# The step.


def step(settings: Settings, producer: Producer, event: Event) -> Producer:
    """The producer after `event`.

    Raises
    ------
    IllegalEvent
        If the event names a partition that the topic does not have.

    Examples
    --------
    >>> settings = Settings(partition_count=3, draw=(2, 0).__getitem__)
    >>> step(settings, start(settings), Send(value_bytes=100)).effects[-1]
    RecordAppended(partition=2, appended_bytes=170, has_opened_batch=True)

    References
    ----------
    Apache Kafka: ``DefaultPartitioner`` (0.8.2 to 3.2), ``StickyPartitionCache`` (2.4 to 3.2, KIP-480),
    ``BuiltInPartitioner`` with ``RecordAccumulator`` (since 3.3, KIP-794).
    """
    producer = replace(producer, effects=())
    match event:
        case Send():
            return _send(settings, producer, event)
        case SendToOtherTopic():
            has_one_counter = rule_of(settings.release) == "round robin, one counter"
            return _counted(settings, producer)[1] if has_one_counter else producer
        case Drain(partitions):
            return _drain(settings, producer, partitions)
        case SenderLooks(stalled):
            _refuse_unknown(settings, event, stalled)
            load = weigh(settings, producer, stalled)
            return replace(producer, load=load, effects=(QueuesWeighed(is_uniform=load is None),))
    raise no_event(event, (Send, SendToOtherTopic, Drain, SenderLooks))


def _send(settings: Settings, producer: Producer, event: Send) -> Producer:
    fixed = _fixed_partition(settings, event)
    rule = rule_of(settings.release)
    if rule == "sticky":
        return send_sticky(settings, producer, event, fixed)
    if fixed is not None:
        return write(settings, producer, event, fixed)
    if rule == "uniform sticky":
        return send_uniform(settings, producer, event)
    return send_round_robin(settings, producer, event)


def _fixed_partition(settings: Settings, event: Send) -> int | None:
    if event.partition is not None:
        _refuse_unknown(settings, event, (event.partition,))
        return event.partition
    return None if event.key is None else partition_for_key(event.key, settings.partition_count)


def _drain(settings: Settings, producer: Producer, partitions: tuple[int, ...] | None) -> Producer:
    if partitions is None:
        partitions = tuple(range(settings.partition_count))
    _refuse_unknown(settings, Drain(partitions), partitions)
    queues = producer.queues
    return replace(
        producer,
        queues=tuple(() if each in partitions and queue is not None else queue for each, queue in enumerate(queues)),
        effects=tuple(
            BatchesSent(each, len(queue)) for each in sorted(set(partitions)) if (queue := producer.queue(each))
        ),
    )


def _refuse_unknown(settings: Settings, event: Event, partitions: tuple[int, ...]) -> None:
    for partition in partitions:
        if not 0 <= partition < settings.partition_count:
            raise IllegalEvent(
                f"{shown(event)}: the topic has partitions 0 to {settings.partition_count - 1}, not {partition}; "
                "a real producer waits max.block.ms for new metadata and then fails"
            )


def appended(trace: Trace[Producer, Event]) -> tuple[RecordAppended, ...]:
    """Where each record of a run went, in the order they were written."""
    effects = [effect for frame in trace[1:] for effect in frame.state.effects]
    return tuple(effect for effect in effects if isinstance(effect, RecordAppended))


# Keyless records up to 2.3: dealt out one by one, from a counter with a random start.


def send_round_robin(settings: Settings, producer: Producer, event: Send) -> Producer:
    """The producer after a keyless record: the counter picks among the available partitions.

    References
    ----------
    Apache Kafka 0.8.2.1 to 2.3, ``DefaultPartitioner`` (0.8.2: ``Partitioner``). 0.8.2.0 alone counted over all
    partitions and skipped those without a leader one by one; that is not modelled.
    """
    counter, counted = _counted(settings, producer)
    return write(settings, counted, event, settings.candidates[to_positive(counter) % len(settings.candidates)])


def _counted(settings: Settings, producer: Producer) -> tuple[int, Producer]:
    """The counter, and the producer with it one further; the first use draws where it starts."""
    counter = producer.counter
    if counter is None:
        counter = settings.draw(producer.draw_count)
        producer = replace(producer, draw_count=producer.draw_count + 1, effects=(CounterStarted(counter),))
    return counter, replace(producer, counter=int32(counter + 1))


# Keyless records from 2.4 to 3.2 (KIP-480): one partition until a new batch has to be opened.

GIVE_UP_AFTER_DRAWS = 10_000  # a source that never gives another partition would keep the sticky rule drawing


def send_sticky(settings: Settings, producer: Producer, event: Send, fixed: int | None) -> Producer:
    """The producer after a record; `fixed` is the partition its key or the application names, None for neither.

    A record that would open a batch on the sticky partition moves the sticky partition first, and a keyless one
    goes along. One with a key stays where its key belongs, but moves the sticky partition all the same.

    References
    ----------
    Apache Kafka 2.4 to 3.2, ``StickyPartitionCache.nextPartition`` and ``KafkaProducer.doSend``; KIP-480.
    """
    if producer.current is None and fixed is None:
        producer = _draw_other(settings, producer)
    partition = producer.drawn if fixed is None else fixed
    if not has_room(producer.queue(partition), event.key, event.value_bytes):
        producer = close_open_batch(producer, partition)
        if producer.current in (None, partition):  # a keyed record's new batch moves the sticky partition too
            producer = _draw_other(settings, producer)
        partition = producer.drawn if fixed is None else fixed
    return write(settings, producer, event, partition)


def _draw_other(settings: Settings, producer: Producer) -> Producer:
    """Another partition than the current one, unless there is only one to draw, or none is available."""
    candidates = settings.candidates
    if settings.available is not None and len(settings.available) == 1:
        return replace(producer, current=settings.available[0])  # there is nothing to draw
    must_differ = settings.available != ()
    for index in range(producer.draw_count, producer.draw_count + GIVE_UP_AFTER_DRAWS):
        drawn = candidates[settings.draw(index) % len(candidates)]
        if drawn != producer.current or not must_differ or len(candidates) == 1:
            return move_to(producer, drawn, draw_count=index + 1)
    raise KafkaLearnError(
        f"draw gave partition {producer.current} {GIVE_UP_AFTER_DRAWS} times running; the sticky rule draws until "
        "it gets another one: give Settings a draw function that varies, for example seeded(1)"
    )


# Keyless records since 3.3 (KIP-794): one partition until batch.size bytes went there, then a weighted draw.


def send_uniform(settings: Settings, producer: Producer, event: Send) -> Producer:
    """The producer after a keyless record.

    Another partition is drawn once batch.size bytes went to the current one *and* none of its batches is still
    filling up, so that no batch is sent half empty; at twice batch.size in any case.

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``RecordAccumulator.append`` and ``BuiltInPartitioner.updatePartitionInfo``; KIP-794.
    """
    if producer.current is None:
        producer = _draw_next(settings, producer)
    producer = _switch_if_due(settings, touch(producer, producer.drawn))
    if not has_room(producer.queue(producer.drawn), event.key, event.value_bytes):
        # Not fitting closes the last batch, which may make a postponed switch due.
        producer = _switch_if_due(settings, close_open_batch(producer, producer.drawn))
    producer = write(settings, producer, event, producer.drawn)
    appended = producer.effects[-1]
    assert isinstance(appended, RecordAppended)  # the last thing that writing says
    grown = replace(producer, produced_bytes=producer.produced_bytes + appended.appended_bytes)
    if grown.produced_bytes >= 2 * settings.batch_size:
        return _draw_next(settings, grown)
    return _switch_if_due(settings, grown, in_mid_send=False)


def _switch_if_due(settings: Settings, producer: Producer, in_mid_send: bool = True) -> Producer:
    """Another current partition once batch.size bytes went to this one and none of its batches is filling up."""
    if producer.produced_bytes < settings.batch_size or not all_full(producer.queue(producer.drawn)):
        return producer
    drawn = _draw_next(settings, producer)
    return touch(drawn, drawn.drawn) if in_mid_send else drawn


def _draw_next(settings: Settings, producer: Producer) -> Producer:
    drawn = settings.draw(producer.draw_count)
    if producer.load is None:
        current = settings.candidates[drawn % len(settings.candidates)]
    else:
        sums = producer.load.running_sums
        current = producer.load.partitions[bisect_right(sums, drawn % sums[-1])]
    return move_to(replace(producer, produced_bytes=0), current, producer.draw_count + 1)


def queue_weights(queue_sizes: tuple[int, ...], is_whole: bool = True) -> tuple[int, ...] | None:
    """The running sums with which a draw is compared, from the number of waiting batches of each partition.

    The weight of a partition is ``longest queue + 1 - its own queue``.

    Parameters
    ----------
    queue_sizes : tuple of int
        Waiting batches of each partition that takes part.
    is_whole : bool
        Whether all partitions of the topic take part.

    Returns
    -------
    tuple of int or None
        None: draw uniformly, because the queues are equal or the topic has fewer than two partitions.

    Examples
    --------
    >>> queue_weights((0, 3, 1))
    (4, 5, 8)

    References
    ----------
    Apache Kafka 3.3 to 4.3, ``BuiltInPartitioner.updatePartitionLoadStats``.
    """
    given = enumerate(sequence("queue_sizes", queue_sizes, of="numbers of batches"))
    queue_sizes = tuple(whole_number(f"queue_sizes[{place}]", size, at_least=0) for place, size in given)
    if not queue_sizes or (is_whole and (len(queue_sizes) < 2 or len(set(queue_sizes)) == 1)):
        return None
    longest = max(queue_sizes)
    return tuple(accumulate(longest + 1 - size for size in queue_sizes))


def weigh(settings: Settings, producer: Producer, stalled: tuple[int, ...]) -> PartitionLoadStats | None:
    """The weights after the sending thread has looked at the queues; None: every candidate is as likely."""
    is_used = settings.is_adaptive and rule_of(settings.release) == "uniform sticky"
    if not is_used or None in producer.queues or settings.partition_count < 2:
        return None
    led = range(settings.partition_count) if settings.available is None else settings.available
    # A broker counts as stalled only for partitions that have something waiting for it.
    partitions = tuple(each for each in led if each not in stalled or not producer.queues[each])
    sizes = tuple(len(producer.queue(each)) for each in partitions)
    sums = queue_weights(sizes, is_whole=len(partitions) == settings.partition_count)
    return None if sums is None else PartitionLoadStats(sums, partitions)


# What holds in every producer, and what a user hopes for: no rule keeps both promises.


def _only_the_last_fills_up(settings: Settings, producer: Producer) -> bool:
    return all(batch.is_full for queue in producer.queues for batch in (queue or ())[:-1])


def _fit_their_buffers(settings: Settings, producer: Producer) -> bool:
    return all(batch.byte_count <= batch.limit_bytes for queue in producer.queues for batch in queue or ())


def _were_written(settings: Settings, producer: Producer) -> bool:
    waiting = [sum(batch.record_count for batch in queue or ()) for queue in producer.queues]
    return all(count <= written for count, written in zip(waiting, producer.record_counts, strict=True))


INVARIANTS = {
    "only the last batch of a queue is filling up": _only_the_last_fills_up,
    "no batch exceeds its buffer": _fit_their_buffers,
    "every record that waits was written": _were_written,
    "another partition is drawn at twice batch.size at the latest": lambda settings, producer: (
        producer.produced_bytes < 2 * settings.batch_size
    ),
}

PROMISES = {
    "no partition is two records ahead of another": lambda settings, producer: (
        max(producer.record_counts) - min(producer.record_counts) < 2
    ),
    "only one batch is filling up": lambda settings, producer: (
        sum(not all_full(queue or ()) for queue in producer.queues) < 2
    ),
}

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
