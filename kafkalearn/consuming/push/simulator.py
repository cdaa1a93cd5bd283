"""The simulator of one stream of records that is pulled from a log and, beside it, pushed from queues."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from kafkalearn.consuming.push.effects import (
    Acknowledged,
    Appended,
    Deleted,
    Dropped,
    Effect,
    Missed,
    NothingToRewind,
    Pulled,
    Pushed,
    Refused,
    Rewound,
)
from kafkalearn.consuming.push.events import Event, Process, Produce, Rewind
from kafkalearn.consuming.push.settings import REFUSE, Settings
from kafkalearn.consuming.push.state import Brokers, Queue, Reader, start
from kafkalearn.errors import IllegalEvent, KafkaLearnError, no_event
from kafkalearn.phrases import shown
from kafkalearn.trace import Trace, run

Value = TypeVar("Value")


def simulate(settings: Settings, events: Iterable[Event], initial: Brokers | None = None) -> Trace[Brokers, Event]:
    """A run: both brokers after each event.

    Parameters
    ----------
    settings : Settings
        What stays the same.
    events : iterable of Event
        In order; each happens to both brokers.
    initial : Brokers, optional
        Where the run begins; without it, nothing was written.

    Raises
    ------
    IllegalEvent
        As `step`.

    Examples
    --------
    >>> settings = Settings(("billing", "search"), queue_limit=3)
    >>> brokers = simulate(settings, [event for _ in range(5) for event in (Produce(), Process("billing"))])[-1].state
    >>> brokers.queue("search").held, brokers.queue("search").dropped_count
    ((0, 1, 4), 2)
    >>> brokers.reader("search").position, brokers.log_end
    (0, 5)
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def step(settings: Settings, brokers: Brokers, event: Event) -> Brokers:
    """Both brokers after `event`.

    Raises
    ------
    IllegalEvent
        If there is no consumer of that name, or it is to read again what the log does not have.

    Examples
    --------
    >>> settings = Settings(("billing",))
    >>> step(settings, start(settings), Produce()).effects
    (Appended(offset=0), Pushed(consumer='billing', numbers=(0,)))

    References
    ----------
    The log is that of Apache Kafka (pull: ``KafkaConsumer.poll``; ``docs/design.html``, "Push vs. pull"). The queues
    are a comparison and no rule of Kafka's.
    """
    match event:
        case Produce():
            return _produce(settings, brokers)
        case Process(_, most):
            return _process(settings, brokers, _place(brokers, event), most)
        case Rewind(_, offset):
            return _rewind(brokers, event, _place(brokers, event), offset)
    raise no_event(event, (Produce, Process, Rewind))


def _place(brokers: Brokers, event: Process | Rewind) -> int:
    try:
        return brokers.place(event.consumer)
    except KafkaLearnError as error:
        raise IllegalEvent(f"{shown(event)}: {error}") from None


def _produce(settings: Settings, brokers: Brokers) -> Brokers:
    number = brokers.log_end
    log_start = max(brokers.log_start, number + 1 - settings.retention)
    effects: list[Effect] = [Appended(number), *map(Deleted, range(brokers.log_start, log_start))]
    brokers = replace(brokers, log_start=log_start, log_end=number + 1)
    if settings.when_full == REFUSE and any(len(queue.held) == settings.queue_limit for queue in brokers.queues):
        return replace(brokers, refused_count=brokers.refused_count + 1, effects=(*effects, Refused(number)))
    queues = []
    for queue in brokers.queues:
        queue, more = _enqueued(settings, queue, number)
        queues.append(queue)
        effects += more
    return replace(brokers, queues=tuple(queues), effects=tuple(effects))


def _enqueued(settings: Settings, queue: Queue, number: int) -> tuple[Queue, list[Effect]]:
    effects: list[Effect] = []
    waiting, dropped_count = (*queue.waiting, number), queue.dropped_count
    if len(queue.unacknowledged) + len(waiting) > settings.queue_limit:
        effects.append(Dropped(queue.consumer, waiting[0]))
        waiting, dropped_count = waiting[1:], dropped_count + 1
    queue, pushed = _pushed_on(settings, replace(queue, waiting=waiting, dropped_count=dropped_count))
    return queue, effects + pushed


def _pushed_on(settings: Settings, queue: Queue) -> tuple[Queue, list[Effect]]:
    """The broker sends what waits, until `prefetch` records are not acknowledged."""
    room = settings.prefetch - len(queue.unacknowledged)
    sent = queue.waiting[:room]
    if not sent:
        return queue, []
    queue = replace(queue, unacknowledged=queue.unacknowledged + sent, waiting=queue.waiting[room:])
    return queue, [Pushed(queue.consumer, sent)]


def _process(settings: Settings, brokers: Brokers, place: int, most: int) -> Brokers:
    reader, pulled = _read(brokers, brokers.readers[place], most)
    queue, pushed = _acknowledge(settings, brokers.queues[place], most)
    return replace(
        brokers,
        readers=_put(brokers.readers, place, reader),
        queues=_put(brokers.queues, place, queue),
        effects=(*pulled, *pushed),
    )


def _read(brokers: Brokers, reader: Reader, most: int) -> tuple[Reader, list[Effect]]:
    """The consumer polls; where its position was deleted it goes on with the oldest record, as with ``earliest``."""
    first = max(reader.position, brokers.log_start)
    after = min(first + most, brokers.log_end)
    missed = max(0, first - max(reader.position, reader.furthest))
    effects: list[Effect] = [Missed(reader.consumer, missed)] if missed else []
    if after > first:
        effects.append(Pulled(reader.consumer, tuple(range(first, after))))
    furthest = max(after, reader.furthest)
    counts = (reader.read_count + after - first, reader.missed_count + missed)
    return Reader(reader.consumer, after, furthest, *counts), effects


def _acknowledge(settings: Settings, queue: Queue, most: int) -> tuple[Queue, list[Effect]]:
    """The consumer processes what was pushed to it, and what is pushed meanwhile, up to `most` records."""
    done, left = queue.held[:most], queue.held[most:]
    if not done:
        return queue, []
    in_hand = tuple(each for each in queue.unacknowledged if each not in done)
    after = replace(
        queue,
        unacknowledged=in_hand,
        waiting=left[len(in_hand) :],
        read_count=queue.read_count + len(done),
    )
    after, pushed = _pushed_on(settings, after)
    return after, [Acknowledged(queue.consumer, done), *pushed]


def _rewind(brokers: Brokers, event: Rewind, place: int, offset: int) -> Brokers:
    if not brokers.log_start <= offset <= brokers.log_end:
        raise IllegalEvent(f"{shown(event)}: give an offset of the log, {brokers.log_start} to {brokers.log_end}")
    reader = replace(brokers.readers[place], position=offset)
    effects = (Rewound(event.consumer, offset), NothingToRewind(event.consumer))
    return replace(brokers, readers=_put(brokers.readers, place, reader), effects=effects)


def _put(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    return (*values[:place], value, *values[place + 1 :])
