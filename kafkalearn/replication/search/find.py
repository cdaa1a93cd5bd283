"""Searching all schedules of a partition: for the shortest way to lose a record, and for settings under which none is.

`model` is what `kafkalearn.explore.explore` needs; `alphabet` lists the events that may happen; `find` puts the two
together.

In a search, brokers that no event names apart are interchangeable: two states that differ by their names are one. And
where the controller has a choice it may elect any candidate (``successor``), as if the assignment had the order that
does the most harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from functools import partial
from itertools import permutations
from typing import Any, Unpack

from kafkalearn.arguments import iterable, one_of, sequence
from kafkalearn.errors import KafkaLearnError
from kafkalearn.explore import Model, Search, explore
from kafkalearn.explore.model import EventLimits
from kafkalearn.parts import Parts
from kafkalearn.phrases import shown
from kafkalearn.promises import InParts, Promises
from kafkalearn.replication.events import AlterPartitionAnswered, AlterPartitionReassignments, ReplicationEvent
from kafkalearn.replication.processing import Processing
from kafkalearn.replication.promises import INVARIANTS, PROMISES
from kafkalearn.replication.search.naming import named_in, relabelling
from kafkalearn.replication.search.normal_form import process_in_normal_form, split
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import step
from kafkalearn.replication.state import Partition, start

MOST_BROKERS = 6  # a search tries every renaming of the brokers: 720 of six


def renamings(broker_ids: tuple[int, ...]) -> tuple[dict[int, int], ...]:
    """Every way to give the brokers each other's names, but the one that leaves all as they are.

    Raises
    ------
    KafkaLearnError
        If there are more brokers than a search can be made for.
    """
    if len(sequence("broker_ids", broker_ids)) > MOST_BROKERS:
        raise KafkaLearnError(
            f"a search is for at most {MOST_BROKERS} brokers, got {len(broker_ids)}; take fewer replicas"
        )
    orders = (order for order in permutations(broker_ids) if order != broker_ids)
    return tuple(dict(zip(broker_ids, order, strict=True)) for order in orders)


def model(
    settings: Settings, promises: Iterable[str] = tuple(PROMISES)
) -> Model[Settings, Partition, ReplicationEvent]:
    """A partition as a search sees it.

    Parameters
    ----------
    settings : Settings
        Their assignment only decides who leads at the start.
    promises : iterable of str
        Names in `PROMISES`: the search looks for a state that breaks one of them. `INVARIANTS` about one state can be
        named too, to see that no schedule breaks them.

    Raises
    ------
    KafkaLearnError
        If there is no promise of that name.
    """
    unordered = replace(settings, assignment=())
    return Model(
        settings=unordered,
        step=step,
        split=partial(split, unordered),
        happen=partial(process_in_normal_form, unordered),
        promises=tuple(
            (name, partial(_holds, unordered, test))
            for name, test in tests_of({**INVARIANTS, **PROMISES}, settings, promises)
        ),
        relabellings=tuple(map(relabelling, renamings(settings.broker_ids))),
    )


def tests_of(
    statements: Promises, settings: object, names: Iterable[str]
) -> Iterator[tuple[str, Callable[[Processing], bool]]]:
    """The tests of the statements with these names, each with its name; a search remembers them one by one."""
    in_parts: dict[str, InParts[Any, Any, Processing]] = {
        name: each for name, each in statements.items() if isinstance(each, InParts)
    }
    for name in iterable("promises", names, of="names"):
        one_of("promise", name, in_parts)
        yield from ((name, test) for test in in_parts[name].tests(settings))


def _holds(settings: Settings, test: Callable[[Processing], bool], parts: Parts) -> bool:
    return test(Processing(settings, parts))


@dataclass(frozen=True, slots=True)
class OnEveryBroker:
    """An event that may happen to every broker; `on_every_broker` makes one."""

    event: ReplicationEvent


def on_every_broker(event: ReplicationEvent) -> OnEveryBroker:
    """An event for `find` that may happen to every broker, not only to the one it names.

    Raises
    ------
    KafkaLearnError
        If the event names no broker that it happens to.

    Examples
    --------
    >>> from kafkalearn.replication.events import PowerLost
    >>> alphabet(Settings(replica_count=2), on_every_broker(PowerLost(1, flushed_to=5)))
    (PowerLost(broker_id=1, flushed_to=5), PowerLost(broker_id=2, flushed_to=5))
    """
    if isinstance(event, type):
        raise KafkaLearnError(f"the class {event.__name__} stands for every broker already: give it as it is")
    if getattr(event, "broker_id", None) is None:
        raise KafkaLearnError(f"{shown(event)} names no broker that it happens to: give it as it is")
    return OnEveryBroker(event)


def alphabet(settings: Settings, *kinds: type | ReplicationEvent | OnEveryBroker) -> tuple[ReplicationEvent, ...]:
    """The events that a search may use: a class for every broker, an event for itself.

    Parameters
    ----------
    settings : Settings
        How many brokers there are.
    kinds : event classes or events
        A class stands for its event with the defaults, for every broker. An event stands for itself, with the broker
        it names; `on_every_broker` makes it one of every broker. Where the controller may have a choice and the event
        names no successor, there is one event for each successor too.

    Raises
    ------
    KafkaLearnError
        If one of them is neither, or names a broker that does not exist.

    Examples
    --------
    >>> from kafkalearn.replication.events import Fetch, Produce, SessionExpired
    >>> alphabet(Settings(replica_count=2), Produce(acks=1), Fetch)[1:]
    (Fetch(broker_id=1), Fetch(broker_id=2))
    >>> alphabet(Settings(replica_count=2), Fetch(2))
    (Fetch(broker_id=2),)
    >>> alphabet(Settings(replica_count=2), SessionExpired)[::3]
    (SessionExpired(broker_id=1, successor=None), SessionExpired(broker_id=2, successor=1))
    """
    may_reassign = any(
        kind is AlterPartitionReassignments or isinstance(kind, AlterPartitionReassignments) for kind in kinds
    )
    return tuple(event for kind in kinds for event in _events_of(settings.broker_ids, kind, may_reassign))


def _events_of(
    broker_ids: tuple[int, ...], kind: type | ReplicationEvent | OnEveryBroker, may_reassign: bool
) -> Iterator[ReplicationEvent]:
    if not is_dataclass(kind):
        raise KafkaLearnError(f"{shown(kind)} is neither a class of events nor an event")
    events: list[ReplicationEvent]
    if isinstance(kind, OnEveryBroker):
        events = [_with(kind.event, broker_id=broker_id) for broker_id in broker_ids]
    elif isinstance(kind, type):
        needs_broker = any(field.name == "broker_id" and field.default is MISSING for field in fields(kind))
        make: Any = kind  # a class of events
        events = [make(broker_id) for broker_id in broker_ids] if needs_broker else [make()]
    else:
        events = [kind]
    for event in events:
        for broker_id in named_in(event):
            if broker_id not in broker_ids:
                raise KafkaLearnError(
                    f"{event!r}: there is no broker {broker_id!r}; there are {broker_ids[0]} to {broker_ids[-1]}"
                )
        yield event
        if getattr(event, "successor", event) is None and (
            may_reassign or not isinstance(event, AlterPartitionAnswered)
        ):
            others = (successor for successor in broker_ids if successor != getattr(event, "broker_id", None))
            yield from (_with(event, successor=successor) for successor in others)


def _with(event: Any, **brokers: int) -> ReplicationEvent:
    """An event with other brokers in fields that it has."""
    return replace(event, **brokers)


def find(
    settings: Settings,
    kinds: Sequence[type | ReplicationEvent | OnEveryBroker],
    promises: Iterable[str] = tuple(PROMISES),
    **limits: Unpack[EventLimits],
) -> Search[Partition, ReplicationEvent]:
    """The shortest run of a new partition that breaks one of these promises, or the answer that there is none.

    Parameters
    ----------
    settings : Settings
        ``fetch_wait_max_ms=0`` spares the search fetches that wait; it changes no outcome.
    kinds : sequence of event classes or events
        As for `alphabet`: ``BrokerCrashed`` crashes any broker, ``BrokerCrashed(2)`` broker 2 alone.
    promises : iterable of str
        As for `model`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.explore.explore`.

    Examples
    --------
    >>> from kafkalearn.replication.events import BrokerCrashed, Fetch, Produce, SessionExpired
    >>> from kafkalearn.replication.promises import ACKNOWLEDGED_SURVIVE
    >>> settings = Settings(fetch_wait_max_ms=0)
    >>> found = find(settings, [Produce(acks=1), Fetch, BrokerCrashed, SessionExpired], (ACKNOWLEDGED_SURVIVE,))
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Produce', 'BrokerCrashed', 'SessionExpired']
    >>> a_follower = [BrokerCrashed(2), SessionExpired(2)]
    >>> find(settings, [Produce(acks=1), Fetch, *a_follower], (ACKNOWLEDGED_SURVIVE,), at_most={Produce: 1}).outcome
    'nothing left'
    """
    events = alphabet(settings, *iterable("kinds", kinds, of="event classes or events"))
    return explore(model(settings, promises), start(settings), events, **limits)
