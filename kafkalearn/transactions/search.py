"""The search for the shortest schedule of a transactional producer that breaks a promise."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Unpack

from kafkalearn.base.checks import one_of
from kafkalearn.base.search import EventLimits, Search, explore, whole
from kafkalearn.transactions import client, processing
from kafkalearn.transactions.client import Application, Arrived, Ended, Event, GaveUp, Sent, Settings, Started
from kafkalearn.transactions.model import OFFSETS_PARTITION, CoordinatorLoaded, MarkerArrived, TimePassed

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
