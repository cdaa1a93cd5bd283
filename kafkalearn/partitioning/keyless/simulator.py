"""The simulator of keyless partitioning; the rule of each release is in a file of its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.partitioning.keyed import partition_for_key
from kafkalearn.partitioning.keyless import round_robin, sticky, uniform
from kafkalearn.partitioning.keyless.effects import BatchesSent, QueuesWeighed, RecordAppended
from kafkalearn.partitioning.keyless.events import Drain, Event, Send, SenderLooks, SendToOtherTopic
from kafkalearn.partitioning.keyless.settings import Settings, rule_of
from kafkalearn.partitioning.keyless.state import Producer, start, write
from kafkalearn.phrases import shown
from kafkalearn.trace import Trace, run


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
            return round_robin.count(settings, producer) if has_one_counter else producer
        case Drain(partitions):
            return _drain(settings, producer, partitions)
        case SenderLooks(stalled):
            _refuse_unknown(settings, event, stalled)
            load = uniform.weigh(settings, producer, stalled)
            return replace(producer, load=load, effects=(QueuesWeighed(is_uniform=load is None),))
    raise no_event(event, (Send, SendToOtherTopic, Drain, SenderLooks))


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


def simulate(settings: Settings, events: Iterable[Event], initial: Producer | None = None) -> Trace[Producer, Event]:
    """A run of a producer: from `initial`, or from one that has written nothing yet.

    Examples
    --------
    >>> for release in ("2.3", "2.4", "4.3"):
    ...     print(release, simulate(Settings(5, release), [Send()] * 60)[-1].state.record_counts)
    2.3 (12, 12, 12, 12, 12)
    2.4 (60, 0, 0, 0, 0)
    4.3 (0, 0, 0, 60, 0)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def appended(trace: Trace[Producer, Event]) -> tuple[RecordAppended, ...]:
    """Where each record of a run went, in the order they were written."""
    effects = [effect for frame in trace[1:] for effect in frame.state.effects]
    return tuple(effect for effect in effects if isinstance(effect, RecordAppended))
