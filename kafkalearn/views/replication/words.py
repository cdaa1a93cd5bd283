"""A replicated partition in words: a few sentences about a frame, and the whole of it as plain text."""

from __future__ import annotations

from kafkalearn.phrases import capitalised
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.promises import broken
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.state import Log, Partition
from kafkalearn.trace import Frame
from kafkalearn.views.replication.effects import (
    changes_in_words,
    effects_in_words,
    event_in_words,
    falls_in_words,
)
from kafkalearn.views.replication.replica_status import (
    assignment_in_words,
    head_in_words,
    remote_in_words,
    remote_of,
    replica_status,
    waiting_in_words,
)

MOST_RECORDS = 20


def describe_replication(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> str:
    """A few short sentences about a frame of `kafkalearn.replication`: the event, and what it led to.

    A broken promise has its name there. With `before` the text says what has changed.

    >>> from kafkalearn.replication import Fetch, Produce, simulate
    >>> settings = Settings(replica_count=2)
    >>> trace = simulate(settings, [Produce(2, acks=1), Fetch(2), Fetch(2)])
    >>> for frame, earlier in zip(trace[1:], trace):
    ...     print(describe_replication(settings, frame, earlier))
    2 records come to broker 1, acks=1. Request 1 is answered: written at offset 0.
    Broker 2 fetches from 0. Broker 2 gets offsets 0 to 1 and HW 0.
    Broker 2 fetches from 2. The HW rises from 0 to 2. The fetch of broker 2 waits: there is nothing yet.
    """
    state, earlier = frame.state, None if before is None else before.state
    said = [
        event_in_words(frame, earlier),
        *changes_in_words(state, earlier),
        *effects_in_words(frame),
        *falls_in_words(state, earlier),
        *_promises_in_words(settings, state, earlier),
    ]
    return " ".join(f"{capitalised(each)}." for each in said)


def _promises_in_words(settings: Settings, state: Partition, before: Partition | None) -> list[str]:
    """Which promises are broken now, and which were so before."""
    known = () if before is None else broken(settings, before)
    wrong = broken(settings, state)
    new = [each for each in wrong if each not in known]
    old = [each for each in wrong if each in known]
    return [f"{when}: {'; '.join(names)}" for when, names in (("broken", new), ("still broken", old)) if names]


def replication_text(
    settings: Settings,
    frame: Frame[Partition, ReplicationEvent],
    before: Frame[Partition, ReplicationEvent] | None = None,
) -> str:
    """A frame of `kafkalearn.replication` as a few lines of text; ``|`` in a log is its high watermark.

    >>> from kafkalearn.replication import Fetch, Produce, simulate
    >>> settings = Settings(replica_count=2)
    >>> trace = simulate(settings, [Produce(2), Fetch(2), Fetch(2), Produce()])
    >>> print(replication_text(settings, trace[-1], trace[-2]))
    1 record comes to broker 1, acks=all. Request 2 waits for HW 3. Broker 2 gets offset 2 and HW 2.
    leader 1, epoch 0, ISR 1, 2
      1 leader, epoch 0  LEO 3, HW 2           0:m1 1:m2 | 2:m3
      2 in the ISR       LEO 3, HW 2, known 2  0:m1 1:m2 | 2:m3
    waits: request 2 for HW 3
    """
    state = frame.state
    names = _padded([replica_status(state, id_) for id_ in settings.broker_ids])
    marks = _padded([_marks(state, id_) for id_ in settings.broker_ids])
    logs = [log_in_words(replica.log) for replica in state.replicas]
    rows = [f"  {id_} {'  '.join(parts)}" for id_, *parts in zip(settings.broker_ids, names, marks, logs, strict=True)]
    waits, wrong = waiting_in_words(state), broken(settings, state)
    tail = [f"waits: {waits}"] if waits else []
    tail += [f"BROKEN: {'; '.join(wrong)}"] if wrong else []
    assignment = assignment_in_words(settings, state)
    head = [describe_replication(settings, frame, before), head_in_words(state), *([assignment] if assignment else [])]
    lines = [*head, *rows, *tail]
    return "\n".join(line.rstrip() for line in lines)


def _padded(words: list[str]) -> list[str]:
    return [each.ljust(max(map(len, words))) for each in words]


def _marks(state: Partition, broker_id: int) -> str:
    replica, remote = state.replica(broker_id), remote_of(state, broker_id)
    known = "" if remote is None else f", known {remote_in_words(remote)}"
    return f"LEO {replica.log_end_offset}, HW {replica.high_watermark}{known}"


def log_in_words(log: Log) -> str:
    """A log with its high watermark as a bar; of a long one the newest records."""
    first = max(log.log_start_offset, log.first_offset, log.log_end_offset - MOST_RECORDS)
    cells = ["..."] if first > log.log_start_offset else []
    for offset in range(first, log.log_end_offset):
        cells += ["|"] if offset == log.high_watermark else []
        cells.append(f"{offset}:{log.records[offset - log.first_offset].value}")
    cells += ["|"] if log.high_watermark == log.log_end_offset else []
    return " ".join(cells)
