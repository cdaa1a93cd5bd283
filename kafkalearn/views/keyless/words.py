"""A producer of keyless records in words: a sentence about a frame, its rule, the whole of it as text."""

from __future__ import annotations

from itertools import pairwise

from kafkalearn.hashing import to_positive
from kafkalearn.partitioning.batching import Batch, all_full
from kafkalearn.partitioning.keyless.effects import PartitionDrawn, RecordAppended
from kafkalearn.partitioning.keyless.events import Drain, Event, Send, SenderLooks, SendToOtherTopic
from kafkalearn.partitioning.keyless.settings import Settings, rule_of
from kafkalearn.partitioning.keyless.state import Producer
from kafkalearn.phrases import counted
from kafkalearn.trace import Frame


def describe_keyless(
    settings: Settings, frame: Frame[Producer, Event], before: Frame[Producer, Event] | None = None
) -> str:
    """A sentence or two about a frame of a producer; the one before it is not needed.

    >>> from kafkalearn.partitioning.keyless import simulate
    >>> settings = Settings(3, "2.3")
    >>> describe_keyless(settings, simulate(settings, [Send()])[1])
    'Record 1 (100 bytes) opens a batch in partition 1.'
    """
    state, event = frame.state, frame.event
    match event:
        case Send():
            (placed,) = (each for each in state.effects if isinstance(each, RecordAppended))
            return _describe_send(state, event, placed) + _describe_draw(state, placed)
        case SendToOtherTopic():
            return "A record without a key goes to another topic."
        case Drain(partitions):
            if partitions is None:
                return "All waiting batches are sent."
            return f"The waiting batches of partitions {', '.join(map(str, partitions))} are sent."
        case SenderLooks():
            return f"The sending thread looks at the queues: {_describe_weights(state)}."
    return f"A producer of Kafka {settings.release} ({rule_of(settings.release)}) has written nothing yet."


def appended_in(state: Producer) -> RecordAppended | None:
    """The record that the last event wrote; None if it wrote none."""
    return next((each for each in state.effects if isinstance(each, RecordAppended)), None)


def _describe_send(state: Producer, event: Send, placed: RecordAppended) -> str:
    kind = "" if event.key is None else f", key {event.key!r}"
    verb = "opens a batch in" if placed.has_opened_batch else "goes to"
    return f"Record {sum(state.record_counts)} ({event.value_bytes} bytes{kind}) {verb} partition {placed.partition}."


def _describe_draw(state: Producer, placed: RecordAppended) -> str:
    """The sticky partition that was drawn while the record was written."""
    drawn = [each for each in state.effects if isinstance(each, PartitionDrawn)]
    if not drawn:
        return ""
    if state.current == drawn[0].previous:
        return f" Partition {state.current} was drawn again."
    when = "for it" if placed.partition == state.current else "for the next"
    return f" Partition {state.current} was drawn {when}."


def weights(state: Producer) -> dict[int, int]:
    """The weight of each partition in the next draw; empty if all are as likely."""
    if state.load is None:
        return {}
    sums = state.load.running_sums
    return dict(zip(state.load.partitions, (b - a for a, b in pairwise((0, *sums))), strict=True))


def _describe_weights(state: Producer) -> str:
    by_partition = weights(state)
    if not by_partition:
        return "every partition is as likely to be drawn"
    return "weights " + ", ".join(f"{weight} for partition {each}" for each, weight in by_partition.items())


def keyless_rule(settings: Settings, state: Producer) -> str:
    """Where the next record goes, in the terms of the release's rule."""
    rule = rule_of(settings.release)
    if rule.startswith("round robin"):
        if state.counter is None:
            return "the counter starts at a random number"
        count = len(settings.candidates)
        index = to_positive(state.counter) % count
        return f"next: {to_positive(state.counter)} % {count} = {index}, partition {settings.candidates[index]}"
    if state.current is None:
        return "next: a partition drawn at random"
    is_filling = not all_full(state.queues[state.current] or ())
    by_rule = _sticky_rule if rule == "sticky" else _uniform_rule
    return by_rule(settings, state, is_filling)


def _sticky_rule(settings: Settings, state: Producer, is_filling: bool) -> str:
    if len(settings.candidates) == 1:
        return f"next: partition {state.current}, there is no other"
    if is_filling:
        return f"next: partition {state.current}, if the record fits into its batch"
    return "next: another partition than now, for a new batch has to be opened"


def _uniform_rule(settings: Settings, state: Producer, is_filling: bool) -> str:
    if state.produced_bytes < settings.batch_size:
        return f"next: partition {state.current}, until {settings.batch_size} bytes went there"
    if is_filling:
        return f"next: partition {state.current}, until its batch is full: enough bytes went there"
    return f"next: a partition drawn anew, enough bytes went to partition {state.current}"


def keyless_text(
    settings: Settings, frame: Frame[Producer, Event], before: Frame[Producer, Event] | None = None
) -> str:
    """A frame of `kafkalearn.partitioning.keyless` as a few lines of text.

    >>> from kafkalearn.partitioning.keyless import simulate
    >>> settings = Settings(2, "2.3", draw=(0,).__getitem__)
    >>> print(keyless_text(settings, simulate(settings, [Send()] * 3)[-1]))
    Record 3 (100 bytes) goes to partition 0.
    next: 3 % 2 = 1, partition 1
      partition 0: 2 written, 0 sent, waiting [2 records, 279 bytes]
      partition 1: 1 written, 0 sent, waiting [1 record, 170 bytes]
    """
    state = frame.state
    head = [describe_keyless(settings, frame), keyless_rule(settings, state)]
    if state.produced_bytes:
        head.append(f"bytes to partition {state.current} since it was drawn: {state.produced_bytes}")
    return "\n".join([*head, *(_lane_text(state, partition) for partition in range(settings.partition_count))])


def _lane_text(state: Producer, partition: int) -> str:
    queue, written = state.queues[partition] or (), state.record_counts[partition]
    sent = written - sum(batch.record_count for batch in queue)
    waiting = " ".join(_batch_text(batch) for batch in queue) or "nothing"
    mark = ">" if partition == state.current else " "
    return f"{mark} partition {partition}: {written} written, {sent} sent, waiting {waiting}"


def _batch_text(batch: Batch) -> str:
    is_full = ", full" if batch.is_full else ""
    return f"[{counted(batch.record_count, 'record')}, {batch.byte_count} bytes{is_full}]"
