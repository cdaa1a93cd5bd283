"""The simulator of the coordinator's store: `step` tells the events apart; `check` names what always holds."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import EMPTY, STABLE, Group
from kafkalearn.offsets.replay import rebuild
from kafkalearn.offsets.store import life, requests
from kafkalearn.offsets.store.cache import confirm, counting_entries
from kafkalearn.offsets.store.model import (
    OWNED,
    STATUSES,
    Answer,
    Commit,
    DeleteGroup,
    DeleteOffset,
    DeleteTopic,
    Elect,
    EndTransaction,
    Fetch,
    Load,
    Produce,
    Replicated,
    Resign,
    Settings,
    StateChanged,
    Store,
    StoreEvent,
    StoreGroup,
    Sweep,
)

_REQUESTS = (Commit, Fetch, StoreGroup, DeleteGroup, DeleteOffset)


def step(settings: Settings, store: Store, event: StoreEvent) -> Store:
    """The store after `event`.

    What a broker would refuse is an `Answer` with an error, kept in ``store.answer``.

    Raises
    ------
    IllegalEvent
        If the event makes no sense in this state.

    Examples
    --------
    >>> settings = Settings()
    >>> store = step(settings, Store(), Commit("billing", "orders", 0, offset=7, now_ms=1000))
    >>> step(settings, store, Fetch("billing", "orders", 0)).answer
    Answer(error='NONE', offset=7)
    >>> step(settings, step(settings, store, Resign()), Fetch("billing", "orders", 0)).answer
    Answer(error='NOT_COORDINATOR', offset=None)

    References
    ----------
    Apache Kafka: ``OffsetManager`` (0.8.2), ``GroupMetadataManager`` with ``GroupCoordinator`` (0.9 to 3.9),
    ``OffsetMetadataManager`` with ``GroupMetadataManager`` and ``CoordinatorRuntime`` (the default since 4.0).
    """
    if isinstance(event, _REQUESTS):
        refused = requests.refusal(store)
        return _answer_request(settings, store, event) if refused is None else replace(store, answer=refused)
    match event:
        case Elect():
            return life.elect(store)
        case Load():
            return life.load(settings, store, event)
        case Produce():
            return requests.produce(settings, store, event)
    if store.status != OWNED and not isinstance(event, Resign):
        raise IllegalEvent(f"{event!r}: the partition is {store.status}; possible now are Elect, Load and requests")
    match event:
        case Replicated():
            return replace(confirm(store), answer=Answer())
        case EndTransaction():
            return requests.end_transaction(store, event)
        case StateChanged():
            return requests.change_state(store, event)
        case Sweep():
            return life.sweep(settings, store, event)
        case DeleteTopic():
            return life.delete_topic(settings, store, event)
        case Resign():
            return life.resign(store)
    raise IllegalEvent(f"{event!r} is no event of this simulator")


def _answer_request(settings: Settings, store: Store, event: StoreEvent) -> Store:
    match event:
        case Commit():
            return requests.commit(settings, store, event)
        case Fetch():
            return requests.fetch(store, event)
        case StoreGroup():
            return requests.store_group(settings, store, event)
        case DeleteGroup():
            return requests.delete_group(settings, store, event)
    return requests.delete_offset(settings, store, event)


def reloaded(settings: Settings, store: Store) -> Store:
    """The store after the broker lost the partition and got it back: what the log alone can tell.

    A group whose last offset was deleted, and that never had members, lives on in memory until the next sweep; this
    is the one thing that is lost. A group in a rebalance is as it was stored last.

    >>> settings = Settings()
    >>> store = step(settings, Store(), Commit("billing", "orders", 0, offset=7, now_ms=1000))
    >>> reloaded(settings, store).groups == store.groups
    True
    """
    return step(settings, step(settings, step(settings, store, Resign()), Elect()), Load())


def check(store: Store) -> None:
    """Pass in silence if the state keeps its promises; else AssertionError names the broken one."""
    assert store.status in STATUSES, "the broker is something to the partition"
    ids = [group.group_id for group in store.groups]
    assert ids == sorted(set(ids)), "every group is in the cache once"
    for group in store.groups:
        partitions = [each.at for each in group.offsets]
        assert partitions == sorted(set(partitions)), "a group has one offset for a partition"
    assert all(0 <= offset < len(store.log) for offset in store.in_flight), "what is in flight is in the log"
    assert store.read_count <= len(store.log), "nothing is read beyond the end"
    if store.status == OWNED and not store.in_flight and not _is_ahead(store):
        told = rebuild((entry.key, entry.value) for entry in counting_entries(store.log)).groups
        assert lasting(store.groups) == told, "the cache is what the log says"


def _is_ahead(store: Store) -> bool:
    """Whether cache and log may differ: a group is rebalancing, or somebody else wrote into the log."""
    is_rebalancing = any(group.state not in (EMPTY, STABLE) for group in store.groups)
    return is_rebalancing or any(entry.is_foreign for entry in store.log)


def lasting(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """The groups that the log tells of; a blank one is in memory only, until the next sweep."""
    return tuple(group for group in groups if not group.is_blank)
