"""The purgatory: operations that wait for a condition or for time, and the lists of those who watch a key.

An operation is completed once, by whoever comes first: the request that brings it finds its condition true (before or
just after it was put on the lists), an event on one of its keys makes somebody look again, or its time is over. One
that was completed through one key stays on the lists of its other keys until these are walked or purged.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from kafkalearn.errors import IllegalEvent
from kafkalearn.purgatory import wheel
from kafkalearn.purgatory.operations.conditions import Condition, Facts, with_fact
from kafkalearn.purgatory.wheel.simulator import Wheels

PURGE_INTERVAL = 1000  # 1 for DeleteRecords

AT_ONCE, WHILE_LISTED, BY_EVENT, BY_FORCE, BY_TIME = "at once", "while listed", "by an event", "by force", "by time"
"""How an operation was completed. `BY_TIME` alone runs onExpiration too."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A request that may have to wait."""

    name: str
    keys: tuple[str, ...]  # what it watches, such as "orders-0" or "billing c1"
    condition: Condition
    timeout_ms: int
    kind: str = ""  # "produce", "fetch", "join", "heartbeat": for the eye


@dataclass(frozen=True, slots=True)
class TryCompleteElseWatch:
    """A request comes: done at once if its condition holds, else listed under its keys and given to the timer.

    `told_meanwhile` are facts that somebody tells while it is being listed: the gap that the second test closes.
    """

    operation: Operation
    told_meanwhile: Facts = ()


@dataclass(frozen=True, slots=True)
class Tell:
    """A fact changes, and nobody looks yet: ``Tell("HW orders-0", 8)``."""

    name: str
    value: int


@dataclass(frozen=True, slots=True)
class CheckAndComplete:
    """Somebody calls the watchers of a key to look again."""

    key: str


@dataclass(frozen=True, slots=True)
class ForceComplete:
    """An operation is completed whatever its condition says, as a heartbeat completes the one before."""

    name: str


@dataclass(frozen=True, slots=True)
class TimePassed:
    """The clock moves on, and the reaper empties the buckets that are due."""

    ms: int


PurgatoryEvent: TypeAlias = TryCompleteElseWatch | Tell | CheckAndComplete | ForceComplete | TimePassed


@dataclass(frozen=True, slots=True)
class Completed:
    """An operation has come to its end; with `has_expired` its onExpiration ran too."""

    name: str
    how: str

    @property
    def has_expired(self) -> bool:
        """Whether time ended it."""
        return self.how == BY_TIME


@dataclass(frozen=True, slots=True)
class Parked:
    """An operation waits."""

    name: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The list of a key was walked: how many completed in this call."""

    key: str
    completed_count: int


@dataclass(frozen=True, slots=True)
class Purged:
    """All lists were walked to drop what is completed."""

    dropped_count: int


@dataclass(frozen=True, slots=True)
class Purgatory:
    """All that waits, at one moment."""

    wheels: Wheels = field(default_factory=Wheels)
    facts: Facts = ()
    waiting: tuple[Operation, ...] = ()  # not completed, in the order they came
    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()  # key -> names, completed ones too
    estimated_count: int = 0  # what a purge compares with the timer: grows by each listed one, set by a purge
    purge_interval: int = PURGE_INTERVAL
    effects: tuple[Completed | Parked | Checked | Purged, ...] = ()

    @property
    def watched_count(self) -> int:
        """Entries on all lists; an operation on three lists counts three times."""
        return sum(len(names) for _, names in self.lists)

    @property
    def delayed_count(self) -> int:
        """Operations in the timer."""
        return len(self.wheels.timers)

    def is_waiting(self, name: str) -> bool:
        """Whether an operation still waits."""
        return any(operation.name == name for operation in self.waiting)


def step(purgatory: Purgatory, event: PurgatoryEvent) -> Purgatory:
    """The purgatory after `event`; its `effects` tell what was completed, and how.

    Raises
    ------
    IllegalEvent
        If an operation watches nothing or has the name of one that waits, if one is forced that does not wait, or
        time runs backwards.

    Examples
    --------
    >>> from kafkalearn.purgatory.operations.conditions import Reached
    >>> produce = Operation("p1", ("orders-0",), Reached((("HW orders-0", 8),)), timeout_ms=30_000)
    >>> parked = step(Purgatory(), TryCompleteElseWatch(produce))
    >>> parked.effects
    (Parked(name='p1'),)
    >>> step(step(parked, Tell("HW orders-0", 8)), CheckAndComplete("orders-0")).effects
    (Completed(name='p1', how='by an event'), Checked(key='orders-0', completed_count=1))

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.purgatory.DelayedOperationPurgatory`` and ``DelayedOperation``.
    """
    purgatory = replace(purgatory, effects=())
    match event:
        case TryCompleteElseWatch(operation, told_meanwhile):
            return _try_complete_else_watch(purgatory, operation, told_meanwhile)
        case Tell(name, value):
            return replace(purgatory, facts=with_fact(purgatory.facts, name, value))
        case CheckAndComplete(key):
            return _check_and_complete(purgatory, key)
        case ForceComplete(name):
            if not purgatory.is_waiting(name):
                raise IllegalEvent(f"no operation {name!r} waits; waiting: {_names(purgatory)}")
            return _complete(purgatory, name, BY_FORCE)
        case TimePassed(ms):
            return _pass(purgatory, ms)
    raise IllegalEvent(
        f"{event!r} is no event of this simulator; it knows TryCompleteElseWatch, Tell, CheckAndComplete, "
        "ForceComplete, TimePassed"
    )


def _names(purgatory: Purgatory) -> str:
    return ", ".join(operation.name for operation in purgatory.waiting) or "nothing"


def _try_complete_else_watch(purgatory: Purgatory, operation: Operation, told_meanwhile: Facts) -> Purgatory:
    if not operation.keys:
        raise IllegalEvent(f"operation {operation.name!r} watches no key: nobody would ever look at it again")
    if any(operation.name in names for _, names in purgatory.lists):
        raise IllegalEvent(f"an operation {operation.name!r} is listed already; give each a name of its own")
    if operation.condition.holds(purgatory.facts):
        return _tell(purgatory, Completed(operation.name, AT_ONCE))
    listed = _with_entries(purgatory, operation)
    for name, value in told_meanwhile:
        listed = replace(listed, facts=with_fact(listed.facts, name, value))
    if operation.condition.holds(listed.facts):
        return _tell(listed, Completed(operation.name, WHILE_LISTED))
    timed = wheel.step(listed.wheels, wheel.Add(operation.name, operation.timeout_ms))
    parked = replace(listed, wheels=timed, waiting=(*listed.waiting, operation))
    if timed.effects[-1].place is None:  # no time at all: the timer runs it as it comes
        return _complete(_tell(parked, Parked(operation.name)), operation.name, BY_TIME)
    return _tell(parked, Parked(operation.name))


def _with_entries(purgatory: Purgatory, operation: Operation) -> Purgatory:
    lists = dict(purgatory.lists)
    for key in operation.keys:
        lists[key] = (*lists.get(key, ()), operation.name)
    count = purgatory.estimated_count + 1
    return replace(purgatory, lists=tuple(sorted(lists.items())), estimated_count=count)


def _check_and_complete(purgatory: Purgatory, key: str) -> Purgatory:
    names = dict(purgatory.lists).get(key, ())
    completed_count = 0
    by_name = {operation.name: operation for operation in purgatory.waiting}
    for name in names:
        if name in by_name and by_name[name].condition.holds(purgatory.facts):
            purgatory = _complete(purgatory, name, BY_EVENT)
            completed_count += 1
    kept = tuple(name for name in names if purgatory.is_waiting(name))
    lists = {**dict(purgatory.lists), key: kept}
    purgatory = replace(purgatory, lists=tuple(sorted((each, its) for each, its in lists.items() if its)))
    return _tell(purgatory, Checked(key, completed_count))


def _complete(purgatory: Purgatory, name: str, how: str) -> Purgatory:
    """The one way out; its timer is cancelled, its entries on other lists stay."""
    waiting = tuple(operation for operation in purgatory.waiting if operation.name != name)
    wheels = purgatory.wheels
    if any(timer.name == name for timer in wheels.timers):
        wheels = wheel.step(wheels, wheel.Cancel(name))
    return _tell(replace(purgatory, waiting=waiting, wheels=wheels), Completed(name, how))


def _pass(purgatory: Purgatory, ms: int) -> Purgatory:
    wheels = wheel.step(purgatory.wheels, wheel.Advance(purgatory.wheels.now_ms + ms))
    purgatory = replace(purgatory, wheels=replace(wheels, effects=()))
    for flushed in wheels.effects:
        for name in flushed.fired:
            purgatory = _complete(purgatory, name, BY_TIME)
    return _purge(purgatory)


def _purge(purgatory: Purgatory) -> Purgatory:
    """Walk all lists when too many entries must be of completed operations; the reaper does so after each round."""
    if purgatory.estimated_count - purgatory.delayed_count <= purgatory.purge_interval:
        return purgatory
    kept = {key: tuple(_still_waiting(purgatory, names)) for key, names in purgatory.lists}
    purged = replace(
        purgatory,
        lists=tuple((key, names) for key, names in kept.items() if names),
        estimated_count=purgatory.delayed_count,
    )
    return _tell(purged, Purged(purgatory.watched_count - purged.watched_count))


def _still_waiting(purgatory: Purgatory, names: tuple[str, ...]) -> Iterator[str]:
    return (name for name in names if purgatory.is_waiting(name))


def _tell(purgatory: Purgatory, effect: Completed | Parked | Checked | Purged) -> Purgatory:
    return replace(purgatory, effects=(*purgatory.effects, effect))


def check(purgatory: Purgatory) -> tuple[str, ...]:
    """The promises that this moment breaks, each as a sentence; empty if all is well.

    >>> check(Purgatory())
    ()
    """
    broken = list(wheel.check(purgatory.wheels))
    listed = dict(purgatory.lists)
    for operation in purgatory.waiting:
        if any(operation.name not in listed.get(key, ()) for key in operation.keys):
            broken.append(f"{operation.name} waits and is not on the list of each of its keys")
    if {timer.name for timer in purgatory.wheels.timers} != {operation.name for operation in purgatory.waiting}:
        broken.append("what waits and what is in the timer are not the same")
    return tuple(broken)
