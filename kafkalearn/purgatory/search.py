"""Requests that wait for ever: the shortest way of a purgatory to an operation that nobody completes.

An operation is completed by whoever changes what it waits for and *checks its key*, or by its timer. `find_stuck` shows
what each of the two is there for: leave out the checks, and an answer that is due waits for the timer; leave out the
timer too, and it waits for ever.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from kafkalearn.base.checks import one_of
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.base.liveness import Stuck
from kafkalearn.base.liveness import find_stuck as find_stuck_in
from kafkalearn.base.promises import Promises
from kafkalearn.base.search import whole
from kafkalearn.purgatory.operations import (
    COMPLETED_WHEN_TRUE,
    PROMISES,
    CheckAndComplete,
    FactChanged,
    Operation,
    Purgatory,
    PurgatoryEvent,
    Settings,
    TimePassed,
    TryCompleteElseWatch,
    start,
    step,
)

NOBODY_WAITS = "every operation is completed"

PROGRESS: Promises = MappingProxyType(
    {
        NOBODY_WAITS: lambda settings, purgatory: not purgatory.waiting,
        COMPLETED_WHEN_TRUE: PROMISES[COMPLETED_WHEN_TRUE],
    }
)
"""What is to come again after whatever happened; the second is a promise about states too, broken for a moment."""


def find_stuck(
    operations: Sequence[Operation],
    changes: Mapping[str, Iterable[int]],
    promise: str = NOBODY_WAITS,
    *,
    settings: Settings | None = None,
    checks: bool = True,
    timers: bool = True,
    depth: int | None = None,
    budget: int = 50_000,
) -> Stuck[Purgatory, PurgatoryEvent]:
    """The shortest way to an operation that waits for ever, or word that there is none.

    Parameters
    ----------
    operations : sequence of Operation
        Each comes once, whenever.
    changes : mapping of str to iterable of int
        For each fact what it may become: ``{"HW orders-0": [6]}``. Nobody promises that it does.
    promise : str
        A name in `PROGRESS`.
    settings : Settings, optional
        Of the purgatory.
    checks, timers : bool
        Whether each key is checked again at last, and whether time passes until the last timer has run.
    depth, budget
        As for `kafkalearn.base.liveness.find_stuck`.

    Raises
    ------
    KafkaLearnError
        If there is no operation, or no promise of that name.

    Examples
    --------
    >>> from kafkalearn.purgatory.operations import delayed_produce
    >>> produce = delayed_produce("p1", {"orders-0": 5})
    >>> find_stuck([produce], {"HW orders-0": [6]}).outcome
    'nothing left'
    >>> stuck = find_stuck([produce], {"HW orders-0": [6]}, COMPLETED_WHEN_TRUE, checks=False, timers=False)
    >>> [type(frame.event).__name__ for frame in stuck.trace[1:]], stuck.is_dead_end
    (['TryCompleteElseWatch', 'FactChanged'], True)

    References
    ----------
    Apache Kafka, ``DelayedOperationPurgatory``: whoever changes what is waited for calls ``checkAndComplete``.
    """
    one_of("promise", promise, PROGRESS)
    if not operations:
        raise KafkaLearnError("operations must have at least one operation, got none")
    chosen = Settings() if settings is None else settings
    keys = dict.fromkeys(key for operation in operations for key in operation.keys)
    longest_ms = max(operation.timeout_ms for operation in operations)
    events: list[PurgatoryEvent] = [TryCompleteElseWatch(operation) for operation in operations]
    events += [FactChanged(name, value) for name, values in changes.items() for value in values]
    looks = [CheckAndComplete(key) for key in keys] if checks else []
    # Time that passes while somebody waits, as often as somebody may come.
    passing = [TimePassed(longest_ms + chosen.timer.tick_ms)] if timers else []
    fair: list[PurgatoryEvent] = [*looks, *passing]

    def happen(settings: Settings, purgatory: Purgatory, event: PurgatoryEvent) -> Purgatory:
        if isinstance(event, TimePassed) and not purgatory.waiting:
            raise IllegalEvent("nobody waits: time may pass or not")
        return step(settings, purgatory, event)

    model = whole(chosen, happen, {promise: PROGRESS[promise]})
    limits: dict[type, int] = {TryCompleteElseWatch: len(operations), FactChanged: len(events) - len(operations)}
    if timers:
        limits[TimePassed] = len(operations)
    return find_stuck_in(
        model, start(chosen), [*events, *fair], fair=fair,
        depth=depth, budget=budget, at_most=limits,
    )  # fmt: skip
