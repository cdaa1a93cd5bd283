"""The search for the shortest schedule of a transactional producer that breaks a promise, or keeps a reader waiting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Unpack

from kafkalearn.base.checks import iterable, one_of
from kafkalearn.base.liveness import Stuck
from kafkalearn.base.liveness import find_stuck as find_stuck_in
from kafkalearn.base.promises import Promises
from kafkalearn.base.search import EventLimits, Search, checked_limits, explore, whole
from kafkalearn.transactions import client, processing
from kafkalearn.transactions.client import Application, Arrived, Ended, Event, GaveUp, Sent, Settings, Started
from kafkalearn.transactions.model import (
    OFFSETS_PARTITION,
    ONGOING,
    PREPARE_ABORT,
    PREPARE_COMMIT,
    CoordinatorLoaded,
    MarkerArrived,
    TimePassed,
)

ONE_INSTANCE: tuple[Event, ...] = (
    Started(),
    Sent(),
    Arrived(),
    GaveUp(),
    Ended(),
    Ended(commit=False),
    MarkerArrived(client.TRANSACTIONAL_ID, "t-0"),
)
"""One instance and one partition: requests that arrive, that are given up, and that arrive late."""

TWO_INSTANCES: tuple[Event, ...] = (*ONE_INSTANCE, Started("b"), Sent(instance="b"), Ended(instance="b"))
"""A second instance takes over while the first one still runs: it was paused, or was thought dead."""

WITH_A_TIMER: tuple[Event, ...] = (*ONE_INSTANCE, TimePassed(70_000))
"""The transaction may take longer than ``transaction.timeout.ms``: then the coordinator aborts it."""

WITH_A_FAILOVER: tuple[Event, ...] = (*ONE_INSTANCE, Sent("t-1"), MarkerArrived("x", "t-1"), CoordinatorLoaded())
"""The coordinator moves to another broker, which sends the markers of a decided transaction once more."""


def find(
    settings: Settings,
    events: Sequence[Event] = ONE_INSTANCE,
    promises: Iterable[str] = tuple(client.PROMISES),
    **limits: Unpack[EventLimits],
) -> Search[Application, Event]:
    """The shortest run of a transactional producer that breaks one of these promises, or the answer that there is none.

    Parameters
    ----------
    settings : Settings
        Of the client and its cluster.
    events : sequence of Event
        What may happen, in any order: `ONE_INSTANCE`, `TWO_INSTANCES`, `WITH_A_TIMER`, or a choice of one's own.
    promises : iterable of str
        Names in `kafkalearn.transactions.client.PROMISES`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.base.search.explore`.

    Examples
    --------
    A record that comes after the abort of its transaction, where brokers do not verify (before KIP-890):

    >>> from kafkalearn.transactions.model import Settings as Cluster
    >>> old = Settings(Cluster(transaction_version=0, verification=False))
    >>> found = find(old, depth=8)
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Started', 'Sent', 'GaveUp', 'Ended', 'MarkerArrived', 'Arrived']
    >>> found.broken
    ('a reader is held back only by a transaction that its coordinator knows to be open',)
    """
    chosen = {one_of("promise", name, client.PROMISES): client.PROMISES[name] for name in promises}
    return explore(whole(settings, client.step, chosen), client.start(settings), tuple(events), **limits)


REBALANCE: tuple[processing.Event, ...] = tuple(
    each
    for worker in ("a", "b")
    for each in (
        processing.Assigned(worker),
        processing.OffsetFetched(worker),
        processing.Processed(worker),
        processing.OffsetsSent(worker),
        processing.Ended(worker),
        processing.Ended(worker, commit=False),
    )
)
"""Two workers of a group; a rebalance may give the partition to either at any moment."""


def find_twice(
    settings: processing.Settings,
    events: Sequence[processing.Event] = REBALANCE,
    promises: Iterable[str] = tuple(processing.PROMISES),
    **limits: Unpack[EventLimits],
) -> Search[processing.Processing, processing.Event]:
    """The shortest run of two workers that processes a record twice, or parts offset and output; or that there is none.

    Parameters and limits are those of `find`; the markers of both workers may arrive at any moment.

    Examples
    --------
    Before KIP-447, with one transactional id for each worker:

    >>> old = processing.Settings(record_count=1, waits=False, names_member=False)
    >>> found = find_twice(old, at_most={processing.Assigned: 2})
    >>> found.broken, len(found.trace) - 1
    (('each input record has at most one result',), 10)
    """
    markers = [
        MarkerArrived(identity, partition)
        for identity in dict.fromkeys(processing.id_of(settings, worker) for worker in ("a", "b"))
        for partition in (processing.OUTPUT, OFFSETS_PARTITION)
    ]
    chosen = {one_of("promise", name, processing.PROMISES): processing.PROMISES[name] for name in promises}
    model = whole(settings, processing.step, chosen)
    return explore(model, processing.start(settings), (*events, *markers), **limits)


READ_ON = "a reader of committed records is held back by nothing but a transaction that goes on"
DECIDED_ENDS = "no transaction is between its decision and its last marker"


def _reads_on(settings: Settings, state: Application) -> bool:
    if any(each.status == ONGOING for each in state.cluster.transactions):
        return True  # its timer ends it
    return all(each.last_stable_offset == each.end_offset for each in state.cluster.partitions)


def _has_ended(settings: Settings, state: Application) -> bool:
    return not any(each.status in (PREPARE_COMMIT, PREPARE_ABORT) for each in state.cluster.transactions)


PROGRESS: Promises = MappingProxyType({READ_ON: _reads_on, DECIDED_ENDS: _has_ended})
"""What is to come again after whatever happened, as predicates of settings and state."""

A_RECORD: Mapping[type, int] = MappingProxyType({Started: 1, Sent: 1, TimePassed: 1, CoordinatorLoaded: 1})
"""How often events may happen, if nothing else is said: one transaction, of one record."""


def find_stuck(
    settings: Settings,
    events: Sequence[Event] = WITH_A_TIMER,
    promise: str = READ_ON,
    *,
    fair: Iterable[Event | type] = (MarkerArrived, Arrived, TimePassed),
    depth: int | None = None,
    budget: int = 50_000,
    at_most: Mapping[type, int] = A_RECORD,
) -> Stuck[Application, Event]:
    """The shortest way to a reader who is held back for ever, or word that there is none.

    Parameters
    ----------
    settings, events
        As for `find`. A transaction that its coordinator knows to go on holds nobody back for longer than its timer.
    promise : str
        A name in `PROGRESS`.
    fair : iterable of events or types
        What happens at last, if it stays possible: requests and markers arrive, time passes. The producer need not end.
    depth, budget, at_most
        As for `kafkalearn.base.liveness.find_stuck`.

    Examples
    --------
    A *hanging transaction*: a record that comes after the abort of its transaction holds readers back, and no timer
    ends that, for its coordinator knows of none.

    >>> from kafkalearn.transactions.model import Settings as Cluster
    >>> found = find_stuck(Settings(Cluster(transaction_version=0, verification=False)))
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Started', 'Sent', 'GaveUp', 'Ended', 'MarkerArrived', 'Arrived', 'TimePassed']
    >>> find_stuck(Settings(Cluster(transaction_version=0))).outcome  # verified, KIP-890
    'nothing left'

    References
    ----------
    KIP-664, hanging transactions; KIP-890, which ends them.
    """
    chosen = {one_of("promise", promise, PROGRESS): PROGRESS[promise]}
    events = tuple(iterable("events", events, of="events"))
    kinds = {type(event) for event in events}
    happens = [each for each in iterable("fair", fair, of="events or types") if each in kinds or each in events]
    limits = {kind: count for kind, count in checked_limits(at_most).items() if kind in kinds}
    model = whole(settings, client.step, chosen)
    return find_stuck_in(
        model, client.start(settings), tuple(events), fair=happens, depth=depth, budget=budget, at_most=limits
    )
