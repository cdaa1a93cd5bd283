"""Keyless records since 3.3 (KIP-794): one partition until batch.size bytes went there, then a weighted draw."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import accumulate

from kafkalearn.arguments import sequence, whole_number
from kafkalearn.partitioning.batching import all_full, has_room
from kafkalearn.partitioning.keyless.effects import RecordAppended
from kafkalearn.partitioning.keyless.events import Send
from kafkalearn.partitioning.keyless.settings import Settings, rule_of
from kafkalearn.partitioning.keyless.state import Load, Producer, close_open_batch, move_to, touch, write


def send(settings: Settings, producer: Producer, event: Send) -> Producer:
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
    is_due = producer.produced_bytes >= settings.batch_size and all_full(producer.queue(producer.drawn))
    if not is_due:
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


def weigh(settings: Settings, producer: Producer, stalled: tuple[int, ...]) -> Load | None:
    """The weights after the sending thread has looked at the queues; None: every candidate is as likely."""
    is_used = settings.is_adaptive and rule_of(settings.release) == "uniform sticky"
    if not is_used or None in producer.queues or settings.partition_count < 2:
        return None
    led = range(settings.partition_count) if settings.available is None else settings.available
    # A broker counts as stalled only for partitions that have something waiting for it.
    partitions = tuple(each for each in led if each not in stalled or not producer.queues[each])
    sizes = tuple(len(producer.queue(each)) for each in partitions)
    sums = queue_weights(sizes, is_whole=len(partitions) == settings.partition_count)
    return None if sums is None else Load(sums, partitions)
