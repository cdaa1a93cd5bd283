"""The simulator of keyless partitioning: `step` tells the events apart, each rule has a file of its own."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from kafkalearn.arguments import whole_number
from kafkalearn.errors import IllegalEvent
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.partitioning.keyless import round_robin, sticky, uniform
from kafkalearn.partitioning.keyless.model import (
    Drain,
    KeylessEvent,
    Placement,
    Producer,
    Send,
    SenderLooks,
    SendToOtherTopic,
    Settings,
    rule_of,
    start,
    write,
)
from kafkalearn.trace import Trace, run


def step(settings: Settings, producer: Producer, event: KeylessEvent) -> Producer:
    """The producer after `event`.

    Raises
    ------
    IllegalEvent
        If the event names a partition that the topic does not have.

    Examples
    --------
    >>> settings = Settings(partition_count=3, draw=(2, 0).__getitem__)
    >>> step(settings, start(settings), Send(value_bytes=100)).last
    Placement(partition=2, appended_bytes=170, has_opened_batch=True)

    References
    ----------
    Apache Kafka: ``DefaultPartitioner`` (0.8.2 to 3.2), ``StickyPartitionCache`` (2.4 to 3.2, KIP-480),
    ``BuiltInPartitioner`` with ``RecordAccumulator`` (since 3.3, KIP-794).
    """
    match event:
        case Send():
            return _send(settings, producer, event)
        case SendToOtherTopic():
            has_one_counter = rule_of(settings.release) == "round robin, one counter"
            return round_robin.count(settings, producer) if has_one_counter else producer
        case Drain(partitions):
            return _drain(settings, producer, partitions)
        case SenderLooks(stalled):
            _refuse_unknown(settings, event, stalled)
            return replace(producer, load=uniform.weigh(settings, producer, stalled))
    raise IllegalEvent(f"{event!r} is no event of this simulator; it knows Send, SendToOtherTopic, Drain, SenderLooks")


def _send(settings: Settings, producer: Producer, event: Send) -> Producer:
    fixed = _fixed_partition(settings, event)
    rule = rule_of(settings.release)
    if rule == "sticky":
        return sticky.send(settings, producer, event, fixed)
    if fixed is not None:
        return write(settings, producer, event, fixed)
    if rule == "uniform sticky":
        return uniform.send(settings, producer, event)
    return round_robin.send(settings, producer, event)


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
        queues=tuple(
            () if partition in partitions and queue is not None else queue for partition, queue in enumerate(queues)
        ),
    )


def _refuse_unknown(settings: Settings, event: KeylessEvent, partitions: tuple[int, ...]) -> None:
    for partition in partitions:
        if not 0 <= partition < settings.partition_count:
            raise IllegalEvent(
                f"{event!r}: the topic has partitions 0 to {settings.partition_count - 1}, not {partition}; "
                "a real producer waits max.block.ms for new metadata and then fails"
            )


def send_all(
    settings: Settings, record_count: int, value_bytes: int = 100, drain_every: int = 0
) -> Trace[Producer, KeylessEvent]:
    """The run of a producer that writes `record_count` keyless records of one size.

    Parameters
    ----------
    settings : Settings
        Release, partitions and the random source.
    record_count : int
        At least 0.
    value_bytes : int
        Length of each value.
    drain_every : int
        All waiting batches are sent after every so many records; 0: never, as when they are written faster
        than ``linger.ms``.

    Returns
    -------
    tuple of Frame
        A frame for each record and each draining; ``trace[-1].state.record_counts`` is where they all went.

    Examples
    --------
    >>> for release in ("2.3", "2.4", "4.3"):
    ...     print(release, send_all(Settings(5, release), 60)[-1].state.record_counts)
    2.3 (12, 12, 12, 12, 12)
    2.4 (60, 0, 0, 0, 0)
    4.3 (0, 0, 0, 60, 0)
    """
    whole_number("record_count", record_count, at_least=0)
    whole_number("drain_every", drain_every, at_least=0)
    events: list[KeylessEvent] = []
    for number in range(1, record_count + 1):
        events.append(Send(value_bytes))
        if drain_every and number % drain_every == 0:
            events.append(Drain())
    return run(partial(step, settings), start(settings), events)


def placements(trace: Trace[Producer, KeylessEvent]) -> tuple[Placement, ...]:
    """Where each record of a run went, in the order they were written."""
    return tuple(frame.state.last for frame in trace if isinstance(frame.event, Send))


def check(settings: Settings, producer: Producer) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one."""
    for queue, count in zip(producer.queues, producer.record_counts, strict=True):
        waiting = queue or ()
        assert all(batch.is_full for batch in waiting[:-1]), "only the last batch of a queue is filling up"
        assert all(batch.byte_count <= batch.limit_bytes for batch in waiting), "no batch exceeds its buffer"
        assert sum(batch.record_count for batch in waiting) <= count, "nothing waits that was not written"
    assert producer.produced_bytes < 2 * settings.batch_size, "a switch comes at twice batch.size at the latest"
