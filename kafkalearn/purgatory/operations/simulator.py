"""The purgatory: operations that wait for a condition or for time, and the lists of those who watch a key.

An operation is completed once, by whoever comes first: the request that brings it finds its condition true (before or
just after it was put on the lists), an event on one of its keys makes somebody look again, or its time is over. One
that was completed through one key stays on the lists of its other keys until these are walked or purged.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.purgatory.operations.conditions import Facts, with_fact
from kafkalearn.purgatory.operations.effects import (
    AT_ONCE,
    BY_EVENT,
    BY_FORCE,
    BY_TIME,
    WHILE_LISTED,
    Checked,
    Completed,
    Parked,
    PurgatoryEffect,
    Purged,
)
from kafkalearn.purgatory.operations.events import (
    CheckAndComplete,
    FactChanged,
    ForceComplete,
    PurgatoryEvent,
    TimePassed,
    TryCompleteElseWatch,
)
from kafkalearn.purgatory.operations.kinds import Operation
from kafkalearn.purgatory.operations.settings import Settings
from kafkalearn.purgatory.operations.state import Purgatory, start
from kafkalearn.purgatory.wheel.events import Add, Advance, Cancel
from kafkalearn.purgatory.wheel.simulator import step as step_wheels
from kafkalearn.trace import Trace, run


def step(settings: Settings, purgatory: Purgatory, event: PurgatoryEvent) -> Purgatory:
    """The purgatory after `event`; its `effects` are what was completed and how, what waits, what was walked.

    Raises
    ------
    IllegalEvent
        If an operation watches nothing or has the name of one that is listed, if one is forced that does not wait, or
        time runs backwards.

    Examples
    --------
    >>> from kafkalearn.purgatory.operations.kinds import delayed_produce
    >>> settings = Settings()
    >>> parked = step(settings, start(settings), TryCompleteElseWatch(delayed_produce("p1", {"orders-0": 7})))
    >>> parked.effects
    (Parked(name='p1'),)
    >>> step(settings, step(settings, parked, FactChanged("HW orders-0", 8)), CheckAndComplete("orders-0")).effects
    (Completed(name='p1', how='by an event'), Checked(key='orders-0', completed_count=1))

    References
    ----------
    Apache Kafka 4.3, ``org.apache.kafka.server.purgatory.DelayedOperationPurgatory`` and ``DelayedOperation``.
    """
    purgatory = replace(purgatory, effects=())
    match event:
        case TryCompleteElseWatch(operation, changed_meanwhile):
            return _try_complete_else_watch(settings, purgatory, operation, changed_meanwhile)
        case FactChanged(name, value):
            return replace(purgatory, facts=with_fact(purgatory.facts, name, value))
        case CheckAndComplete(key):
            return _check_and_complete(settings, purgatory, key)
        case ForceComplete(name):
            if not purgatory.is_waiting(name):
                raise IllegalEvent(f"no operation {name!r} waits; waiting: {_names(purgatory)}")
            return _complete(settings, purgatory, name, BY_FORCE)
        case TimePassed(ms):
            return _pass(settings, purgatory, ms)
    raise no_event(event, (TryCompleteElseWatch, FactChanged, CheckAndComplete, ForceComplete, TimePassed))


def simulate(
    settings: Settings, events: Iterable[PurgatoryEvent], initial: Purgatory | None = None
) -> Trace[Purgatory, PurgatoryEvent]:
    """The trace of some events, from `initial` or from an empty purgatory.

    >>> [frame.state.wheels.now_ms for frame in simulate(Settings(), [TimePassed(20), TimePassed(5)])]
    [0, 20, 25]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def _names(purgatory: Purgatory) -> str:
    return ", ".join(operation.name for operation in purgatory.waiting) or "nothing"


def _try_complete_else_watch(
    settings: Settings, purgatory: Purgatory, operation: Operation, changed_meanwhile: Facts
) -> Purgatory:
    if not operation.keys:
        raise IllegalEvent(f"operation {operation.name!r} watches no key: nobody would ever look at it again")
    if any(operation.name in names for _, names in purgatory.lists):
        raise IllegalEvent(f"an operation {operation.name!r} is listed already; give each a name of its own")
    if operation.condition.holds(purgatory.facts):
        return _with_effect(purgatory, Completed(operation.name, AT_ONCE))
    listed = _with_entries(purgatory, operation)
    for name, value in changed_meanwhile:
        listed = replace(listed, facts=with_fact(listed.facts, name, value))
    if operation.condition.holds(listed.facts):
        return _with_effect(listed, Completed(operation.name, WHILE_LISTED))
    wheels = step_wheels(settings.timer, listed.wheels, Add(operation.name, operation.timeout_ms))
    waiting = (*listed.waiting, operation)
    parked = _with_effect(replace(listed, wheels=wheels, waiting=waiting), Parked(operation.name))
    return _expire(settings, parked)  # with no time at all: the timer runs it as it comes


def _with_entries(purgatory: Purgatory, operation: Operation) -> Purgatory:
    lists = dict(purgatory.lists)
    for key in operation.keys:
        lists[key] = (*lists.get(key, ()), operation.name)
    count = purgatory.estimated_count + 1
    return replace(purgatory, lists=tuple(sorted(lists.items())), estimated_count=count)


def _check_and_complete(settings: Settings, purgatory: Purgatory, key: str) -> Purgatory:
    names = dict(purgatory.lists).get(key, ())
    ready = {each.name for each in purgatory.waiting if each.name in names and each.condition.holds(purgatory.facts)}
    for name in sorted(ready, key=names.index):
        purgatory = _complete(settings, purgatory, name, BY_EVENT)
    return _with_effect(_walked(purgatory, {key}), Checked(key, len(ready)))


def _complete(settings: Settings, purgatory: Purgatory, name: str, how: str) -> Purgatory:
    """The one way out; its timer is cancelled, its entries on other lists stay."""
    waiting = tuple(operation for operation in purgatory.waiting if operation.name != name)
    wheels = purgatory.wheels
    if wheels.is_waiting(name):
        wheels = step_wheels(settings.timer, wheels, Cancel(name))
    return _with_effect(replace(purgatory, waiting=waiting, wheels=wheels), Completed(name, how))


def _pass(settings: Settings, purgatory: Purgatory, ms: int) -> Purgatory:
    wheels = step_wheels(settings.timer, purgatory.wheels, Advance(purgatory.wheels.now_ms + ms))
    return _purge(settings, _expire(settings, replace(purgatory, wheels=wheels)))


def _expire(settings: Settings, purgatory: Purgatory) -> Purgatory:
    """Complete the operations whose timers have just run."""
    for timer in [timer for effect in purgatory.wheels.effects for timer in effect.fired]:
        purgatory = _complete(settings, purgatory, timer.name, BY_TIME)
    return purgatory


def _purge(settings: Settings, purgatory: Purgatory) -> Purgatory:
    """Walk all lists when too many entries must be of completed operations; the reaper does so after each round."""
    if purgatory.estimated_count - purgatory.delayed_count <= settings.purge_interval:
        return purgatory
    purged = replace(_walked(purgatory, dict(purgatory.lists)), estimated_count=purgatory.delayed_count)
    return _with_effect(purged, Purged(purgatory.watched_count - purged.watched_count))


def _walked(purgatory: Purgatory, keys: Container[str]) -> Purgatory:
    """The lists of some keys without what is completed; a list that is empty then goes."""
    lists = (
        (key, tuple(filter(purgatory.is_waiting, names)) if key in keys else names) for key, names in purgatory.lists
    )
    return replace(purgatory, lists=tuple((key, names) for key, names in lists if names))


def _with_effect(purgatory: Purgatory, effect: PurgatoryEffect) -> Purgatory:
    return replace(purgatory, effects=(*purgatory.effects, effect))
