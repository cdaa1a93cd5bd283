"""What always holds of a purgatory, and what waits for somebody to look, to clean or to be quick."""

from __future__ import annotations

from kafkalearn.promises import Promises, Since, failing, judges
from kafkalearn.purgatory.operations.effects import AT_ONCE, WHILE_LISTED, Completed, Parked
from kafkalearn.purgatory.operations.settings import Settings
from kafkalearn.purgatory.operations.state import Purgatory
from kafkalearn.purgatory.wheel import promises as of_wheels

COMPLETED_WHEN_TRUE = "no operation waits whose condition is true"
WITHIN_TIMEOUT = "no operation waits past its timeout"
LISTS_HOLD_WAITING = "the lists hold nothing but what waits"


def _is_listed_under_its_keys(settings: Settings, purgatory: Purgatory) -> bool:
    listed = dict(purgatory.lists)
    return all(operation.name in listed.get(key, ()) for operation in purgatory.waiting for key in operation.keys)


def _is_in_the_timer(settings: Settings, purgatory: Purgatory) -> bool:
    return sorted(timer.name for timer in purgatory.wheels.timers) == sorted(each.name for each in purgatory.waiting)


def _completed_once(settings: Settings, before: Purgatory, purgatory: Purgatory) -> bool:
    """Whether each that was completed waited until then or came just now, and waits no more; and nobody else left."""
    completed = [effect for effect in purgatory.effects if isinstance(effect, Completed)]
    names = {each.name for each in completed}
    parked = {effect.name for effect in purgatory.effects if isinstance(effect, Parked)}
    open_names = parked | {operation.name for operation in before.waiting}
    came = {each.name for each in completed if each.how in (AT_ONCE, WHILE_LISTED)}
    still_open = {operation.name for operation in purgatory.waiting}
    return len(names) == len(completed) and names - came <= open_names and still_open == open_names - names


INVARIANTS: Promises = {
    "an operation waits once": lambda settings, purgatory: (
        len({operation.name for operation in purgatory.waiting}) == len(purgatory.waiting)
    ),
    "an operation that waits is on the list of each of its keys": _is_listed_under_its_keys,
    "what waits is in the timer, and nothing else": _is_in_the_timer,
    "the timer keeps the invariants of wheels": lambda settings, purgatory: (
        not failing(of_wheels.INVARIANTS, settings.timer, purgatory.wheels)
    ),
    "every operation is completed once": Since(_completed_once),
}
PROMISES: Promises = {
    COMPLETED_WHEN_TRUE: lambda settings, purgatory: (
        not any(operation.condition.holds(purgatory.facts) for operation in purgatory.waiting)
    ),
    WITHIN_TIMEOUT: lambda settings, purgatory: (
        not of_wheels.broken(settings.timer, purgatory.wheels, names=(of_wheels.NEVER_LATE,))
    ),
    LISTS_HOLD_WAITING: lambda settings, purgatory: all(
        purgatory.is_waiting(name) for _, names in purgatory.lists for name in names
    ),
}
"""The first is broken until somebody checks the key, the last until the lists are walked or purged."""

check, broken = judges(INVARIANTS, PROMISES)
