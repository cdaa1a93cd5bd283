"""Pull or push: the same records read from Kafka's log and, beside it, pushed from a queue for each consumer.

Who keeps the state, and what does a slow consumer cost? A broker that is asked keeps each record once, for as long as
retention says, and one offset for each consumer. A broker that pushes keeps each record for each consumer until it is
acknowledged. The log is Kafka's; the queues are **no rule of Kafka's**, only a comparison with it.

A simulator: the state is both brokers; `Produce`, `Process` and `Rewind` happen to both. `broker_load` compares them.

>>> from kafkalearn.consuming.push import Produce, Settings, simulate
>>> settings = Settings(("billing",), queue_limit=2, retention=4)
>>> broken(settings, simulate(settings, [Produce()] * 3)[-1].state)
('a consumer that is pushed to misses no record',)
>>> settings = Settings(("billing",), queue_limit=2, retention=4, when_full="refuse")
>>> broken(settings, simulate(settings, [Produce()] * 3)[-1].state)
('no producer is refused',)
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TypeAlias, TypedDict, TypeVar

from kafkalearn.base import facts
from kafkalearn.base.checks import Checked, Count, Offset, check_fields, one_of
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown, unknown_name
from kafkalearn.base.promises import Predicate
from kafkalearn.base.simulator import simulator

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Process",
    "Produce",
    "Rewind",
    "Settings",
    "broken",
    "broker_load",
    "check",
    "simulate",
    "start",
    "step",
]


DROP, REFUSE = "drop", "refuse"
WHEN_FULL = (DROP, REFUSE)
"""What the pushing broker does when a queue is full: it drops the oldest waiting record, or refuses the producer."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The consumers, and what each of the two brokers has room for.

    Parameters
    ----------
    consumers : tuple of str
        Their names; each is to get every record, as each consumer group does in Kafka.
    queue_limit : int
        Records that a queue holds for its consumer, those not acknowledged counted.
    prefetch : int
        Records that the pushing broker sends before the first of them is acknowledged, at most `queue_limit`.
    retention : int
        Records that the log keeps, whoever has read them.
    when_full : str
        A name in `WHEN_FULL`.
    """

    consumers: tuple[str, ...]
    queue_limit: Count = 8
    prefetch: Count = 2
    retention: Count = 12
    when_full: str = DROP

    def __post_init__(self) -> None:
        """Refuse what can be no pair of brokers."""
        check_fields(self)
        one_of("when_full", self.when_full, WHEN_FULL)
        if not self.consumers or len(set(self.consumers)) < len(self.consumers):
            raise KafkaLearnError(f"give at least one consumer, each with a name of its own; got {self.consumers!r}")
        if self.prefetch > self.queue_limit:
            raise KafkaLearnError(
                f"prefetch is {self.prefetch}, and a queue holds {self.queue_limit} records: prefetch at most as many"
            )


class Produce(facts.Event):
    """A record is written: once to the log, and once to the queue of each consumer."""


class Process(facts.Event):
    """A consumer processes up to `most` records: it polls and commits; or it acknowledges what was pushed to it."""

    consumer: str
    most: Count = 1


class Rewind(facts.Event):
    """A consumer asks for records once more, from an offset on (``KafkaConsumer.seek``)."""

    consumer: str
    offset: Offset = 0


Event: TypeAlias = Produce | Process | Rewind


class Appended(facts.Effect):
    """The log has one more record."""

    offset: int


class Deleted(facts.Effect):
    """Retention deleted the oldest record of the log, whether or not it was read."""

    offset: int


class Refused(facts.Effect):
    """The pushing broker did not take the record, because at least one queue was full."""

    number: int


class Pushed(facts.Effect):
    """Records were sent to a consumer, which has not acknowledged them yet."""

    consumer: str
    numbers: tuple[int, ...]


class Dropped(facts.Effect):
    """A full queue dropped its oldest waiting record: its consumer never gets it."""

    consumer: str
    number: int


class Pulled(facts.Effect):
    """A consumer read records of the log and committed the offset after them."""

    consumer: str
    offsets: tuple[int, ...]


class Missed(facts.Effect):
    """A consumer found its next records deleted and went on with the first one that is left."""

    consumer: str
    count: int


class Acknowledged(facts.Effect):
    """A consumer acknowledged records that were pushed to it; the broker forgot them."""

    consumer: str
    numbers: tuple[int, ...]


class Rewound(facts.Effect):
    """A consumer reads the log from this offset on again."""

    consumer: str
    offset: int


class NothingToRewind(facts.Effect):
    """The pushing broker has forgotten what was acknowledged and cannot send it again."""

    consumer: str


Effect: TypeAlias = (
    Appended | Deleted | Refused | Pushed | Dropped | Pulled | Missed | Acknowledged | Rewound | NothingToRewind
)
"""What a step led to, on the broker that is asked and on the broker that pushes."""


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


Value = TypeVar("Value")


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


# What each of the two ways costs the broker, and what its consumers miss.

Load = TypedDict(
    "Load", {"way": str, "records held": int, "remembered": int, "read": int, "missed": int, "refused": int}
)
"""A row of `broker_load`."""


def missed_by_pull(brokers: Brokers, reader: Reader) -> int:
    """Records that were deleted before a consumer that pulls has read them, those not noticed yet counted.

    >>> missed_by_pull(Brokers((), (), log_start=7, log_end=9), Reader("billing", position=5, missed_count=1))
    3
    """
    return reader.missed_count + max(0, brokers.log_start - max(reader.position, reader.furthest))


def broker_load(brokers: Brokers) -> list[Load]:
    """Two rows, one for each way: what the broker holds and remembers, and what the consumers have got.

    Returns
    -------
    list of dict
        ``way``; ``records held``; ``remembered`` about consumers: an offset for each that pulls, an entry for each
        record of each that is pushed to; ``read``, ``missed`` by all consumers together; ``refused`` by the broker.

    Examples
    --------
    >>> from kafkalearn.consuming.push import Produce, Settings, simulate
    >>> for row in broker_load(simulate(Settings(("billing", "search")), [Produce()] * 5)[-1].state):
    ...     print(row)
    {'way': 'pull', 'records held': 5, 'remembered': 2, 'read': 0, 'missed': 0, 'refused': 0}
    {'way': 'push', 'records held': 10, 'remembered': 10, 'read': 0, 'missed': 0, 'refused': 0}
    """
    held = sum(len(queue.held) for queue in brokers.queues)
    return [
        {
            "way": "pull",
            "records held": brokers.log_end - brokers.log_start,
            "remembered": len(brokers.readers),
            "read": sum(reader.read_count for reader in brokers.readers),
            "missed": sum(missed_by_pull(brokers, reader) for reader in brokers.readers),
            "refused": 0,
        },
        {
            "way": "push",
            "records held": held,
            "remembered": held,
            "read": sum(queue.read_count for queue in brokers.queues),
            "missed": sum(queue.dropped_count for queue in brokers.queues),
            "refused": brokers.refused_count,
        },
    ]


# What holds of every state, and what a user hopes for.

PULL_MISSES_NONE = "a consumer that pulls misses no record"
PUSH_MISSES_NONE = "a consumer that is pushed to misses no record"
NONE_REFUSED = "no producer is refused"


INVARIANTS: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        "the log keeps as many records as retention says": lambda settings, brokers: (
            brokers.log_end - brokers.log_start == min(brokers.log_end, settings.retention)
        ),
        "a position is an offset of the log or its end": lambda settings, brokers: all(
            0 <= reader.position <= brokers.log_end for reader in brokers.readers
        ),
        "a queue holds no more than its limit": lambda settings, brokers: all(
            len(queue.held) <= settings.queue_limit for queue in brokers.queues
        ),
        "no more is sent than prefetch allows, and no less": lambda settings, brokers: all(
            len(queue.unacknowledged) == min(settings.prefetch, len(queue.held)) for queue in brokers.queues
        ),
        "a queue keeps the order of its records": lambda settings, brokers: all(
            list(queue.held) == sorted(set(queue.held)) for queue in brokers.queues
        ),
        "each record that was taken is processed, held or dropped, for each consumer": lambda settings, brokers: all(
            queue.read_count + queue.dropped_count + len(queue.held) == brokers.log_end - brokers.refused_count
            for queue in brokers.queues
        ),
    }
)
"""What holds in every state."""

PROMISES: MappingProxyType[str, Predicate] = MappingProxyType(
    {
        PULL_MISSES_NONE: lambda settings, brokers: (
            not any(missed_by_pull(brokers, reader) for reader in brokers.readers)
        ),
        PUSH_MISSES_NONE: lambda settings, brokers: not any(queue.dropped_count for queue in brokers.queues),
        NONE_REFUSED: lambda settings, brokers: not brokers.refused_count,
    }
)
"""What a user hopes for. A consumer slower than retention breaks the first; a slow one the second, or the third."""

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
