"""Searching all schedules of a partition: for the shortest way to lose a record, and for settings under which none is.

`model` is what `kafkalearn.explore.explore` needs; `alphabet` names events for every broker; `find` puts the two
together.

In a search, brokers are interchangeable: two states that differ by their names are one. So where the controller has a
choice it may elect any candidate (``successor``), as if the assignment had the order that does the most harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields, replace
from functools import partial
from itertools import permutations

from kafkalearn.explore import Draft, Model, Search, explore
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.processing import Work
from kafkalearn.replication.promises import PROMISES, clauses
from kafkalearn.replication.search.naming import relabelling
from kafkalearn.replication.search.normal_form import happen_in_normal_form, split
from kafkalearn.replication.settings import Settings
from kafkalearn.replication.simulator import start, step
from kafkalearn.replication.state import Partition


def model(settings: Settings, promises: tuple[str, ...] = PROMISES) -> Model[Partition, ReplicationEvent]:
    """A partition as a search sees it.

    Parameters
    ----------
    settings : Settings
        Their assignment only decides who leads at the start.
    promises : tuple of str
        Of `PROMISES`: those whose breaking is looked for.

    Raises
    ------
    KafkaLearnError
        If there is no promise of that name.
    """
    unordered = replace(settings, assignment=())
    orders = [order for order in permutations(settings.broker_ids) if order != settings.broker_ids]
    return Model(
        step=partial(step, unordered),
        split=partial(split, unordered),
        happen=partial(happen_in_normal_form, unordered),
        promises=tuple((name, partial(_holds, unordered, holds)) for name, holds in clauses(settings, promises)),
        relabellings=tuple(relabelling(dict(zip(settings.broker_ids, order, strict=True))) for order in orders),
    )


def _holds(settings: Settings, holds: Callable[[Work], bool], draft: Draft) -> bool:
    return holds(Work(settings, draft))


def alphabet(settings: Settings, *kinds: type | ReplicationEvent) -> tuple[ReplicationEvent, ...]:
    """The events that a search may use: each kind for every broker.

    Parameters
    ----------
    settings : Settings
        How many brokers there are.
    kinds : event classes or events
        A class stands for its events with nothing but the defaults; an event for the same one of every broker. Where
        the controller may have a choice, there is one for each successor too.

    Examples
    --------
    >>> from kafkalearn.replication import Fetch, Produce, SessionExpired
    >>> alphabet(Settings(replica_count=2), Produce(acks=1), Fetch)[1:]
    (Fetch(broker_id=1), Fetch(broker_id=2))
    >>> alphabet(Settings(replica_count=2), SessionExpired)[::3]
    (SessionExpired(broker_id=1, successor=None), SessionExpired(broker_id=2, successor=1))
    """
    return tuple(event for kind in kinds for event in _of_every_broker(settings.broker_ids, kind))


def _of_every_broker(broker_ids: tuple[int, ...], kind: type | ReplicationEvent) -> Iterator[ReplicationEvent]:
    names = [field.name for field in fields(kind)]
    if isinstance(kind, type):
        needs_broker = "broker_id" in names and fields(kind)[names.index("broker_id")].default is MISSING
        kind = kind(broker_ids[0]) if needs_broker else kind()
    if getattr(kind, "broker_id", None) is None:
        yield kind
        return
    for broker_id in broker_ids:
        yield replace(kind, broker_id=broker_id)
        if "successor" in names:
            for successor in broker_ids:
                if successor != broker_id:
                    yield replace(kind, broker_id=broker_id, successor=successor)


def find(
    settings: Settings,
    kinds: Sequence[type | ReplicationEvent],
    promises: tuple[str, ...] = PROMISES,
    **limits: object,
) -> Search[Partition, ReplicationEvent]:
    """The shortest run of a new partition that breaks one of these promises, or word that there is none.

    Parameters
    ----------
    settings : Settings
        ``fetch_wait_max_ms=0`` spares the search fetches that wait; it changes no outcome.
    kinds : sequence of event classes or events
        As for `alphabet`.
    promises : tuple of str
        Of `PROMISES`.
    limits
        ``depth``, ``budget``, ``at_most`` and ``progress``, as for `kafkalearn.explore.explore`.

    Examples
    --------
    >>> from kafkalearn.replication import ACKNOWLEDGED_SURVIVE, BrokerCrashed, Fetch, Produce, SessionExpired
    >>> settings = Settings(fetch_wait_max_ms=0)
    >>> found = find(settings, [Produce(acks=1), Fetch, BrokerCrashed, SessionExpired], (ACKNOWLEDGED_SURVIVE,))
    >>> [type(frame.event).__name__ for frame in found.trace[1:]]
    ['Produce', 'BrokerCrashed', 'SessionExpired']
    """
    return explore(model(settings, promises), start(settings), alphabet(settings, *kinds), **limits)
