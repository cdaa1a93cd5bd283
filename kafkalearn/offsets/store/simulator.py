"""The simulator of the coordinator's store: each event has its rule in a file beside this one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, TypeAlias

from kafkalearn.errors import IllegalEvent, no_event
from kafkalearn.offsets.store import loading, removal, requests, transactions, waiting
from kafkalearn.offsets.store.cache import replicated
from kafkalearn.offsets.store.events import (
    Commit,
    DeleteGroup,
    DeleteOffset,
    DeleteTopic,
    Elect,
    EndTransaction,
    Fetch,
    LeaderCrashed,
    Load,
    LoadBuffer,
    Produce,
    Replicated,
    Resign,
    StateChanged,
    StoreEvent,
    StoreGroup,
    Sweep,
    TimeReached,
)
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import FAILED, LOADING, NOT_OWNED, OWNED, Store, start
from kafkalearn.trace import Trace, run

_REFUSALS = {LOADING: "COORDINATOR_LOAD_IN_PROGRESS", NOT_OWNED: "NOT_COORDINATOR", FAILED: "NOT_COORDINATOR"}

_Rule: TypeAlias = Callable[[Settings, Store, Any], Store]  # each takes events of its class

_REQUESTS: dict[type, _Rule] = {  # answered in any case
    Commit: requests.commit,
    Fetch: requests.fetch,
    StoreGroup: requests.store_group,
    DeleteGroup: removal.delete_group,
    DeleteOffset: removal.delete_offset,
}
_OF_THE_COORDINATOR: dict[type, _Rule] = {  # possible only while it owns the partition
    Replicated: replicated,
    TimeReached: waiting.time_reached,
    LeaderCrashed: loading.leader_crashed,
    EndTransaction: transactions.end_transaction,
    StateChanged: requests.change_state,
    Sweep: removal.sweep,
    DeleteTopic: removal.delete_topic,
}
_RULES: dict[type, _Rule] = _REQUESTS | _OF_THE_COORDINATOR | {
    Produce: requests.produce,
    Resign: loading.resign,
    Elect: loading.elect,
    Load: loading.load,
    LoadBuffer: loading.load_buffer,
}  # fmt: skip


def step(settings: Settings, store: Store, event: StoreEvent) -> Store:
    """The store after `event`.

    A request leads to an `Answer` in ``store.effects``; where a broker would refuse, the answer has Kafka's error.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state.

    Examples
    --------
    >>> settings = Settings()
    >>> store = step(settings, start(settings), Commit("billing", "orders", 0, offset=7, now_ms=1000))
    >>> step(settings, store, Fetch("billing", "orders", 0)).effects
    (Answer(error='NONE', offset=7),)
    >>> step(settings, step(settings, store, Resign()), Fetch("billing", "orders", 0)).effects
    (Answer(error='NOT_COORDINATOR', offset=None),)

    References
    ----------
    Apache Kafka: ``OffsetManager`` (0.8.2), ``GroupMetadataManager`` with ``GroupCoordinator`` (0.9 to 3.9),
    ``OffsetMetadataManager`` with ``GroupMetadataManager`` and ``CoordinatorRuntime`` (the default since 4.0).
    """
    kind = type(event)
    if kind not in _RULES:
        raise no_event(event, _RULES)
    if kind in _OF_THE_COORDINATOR and store.status != OWNED:
        raise IllegalEvent(f"{event!r}: the partition is {store.status}; possible now are Elect, Load and requests")
    store = replace(store, effects=())
    if kind in _REQUESTS and store.status in _REFUSALS:
        return store.answering(_REFUSALS[store.status])
    return _RULES[kind](settings, store, event)


def simulate(
    settings: Settings, events: Iterable[StoreEvent], initial: Store | None = None
) -> Trace[Store, StoreEvent]:
    """A run of the store from `initial`, or from a partition that has just been created.

    >>> trace = simulate(Settings(), [Commit("billing", "orders", 0, offset=7, now_ms=1000), Resign()])
    >>> [(frame.state.status, len(frame.state.log), len(frame.state.groups)) for frame in trace]
    [('owned', 0, 0), ('owned', 1, 1), ('not owned', 1, 0)]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


def reloaded(settings: Settings, store: Store) -> Store:
    """The store after the broker lost the partition and got it back: only the log is left to read.

    A group whose last offset was deleted, and that never had members, stays in memory until the next sweep; it is the
    one thing that is lost. A group in a rebalance is as it was stored last.

    >>> store = simulate(Settings(), [Commit("billing", "orders", 0, offset=7, now_ms=1000)])[-1].state
    >>> reloaded(Settings(), store).groups == store.groups
    True
    """
    return simulate(settings, [Resign(), Elect(), Load()], store)[-1].state
