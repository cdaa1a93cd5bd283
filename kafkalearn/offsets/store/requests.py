"""What clients ask, to commit and to fetch; what a rebalance stores; what somebody produces into the topic."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.group_states import COMPLETING, EMPTY, PREPARING
from kafkalearn.offsets.groups import CLASSIC, Group
from kafkalearn.offsets.store.cache import append, put_group
from kafkalearn.offsets.store.entries import commit_entry, group_entry
from kafkalearn.offsets.store.events import Commit, Fetch, Produce, StateChanged, StoreGroup
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import NOT_OWNED, Entry, Store
from kafkalearn.offsets.store.transactions import pending_partitions
from kafkalearn.versions.releases import at_least

ADMIN_CLIENT_ID = "__admin_client"  # the one client id that may produce to internal topics
MOST_METADATA_UNITS = 4096  # offset.metadata.max.bytes, which counts UTF-16 units


def commit(settings: Settings, store: Store, event: Commit) -> Store:
    """The store after a commit: an entry more, or an error."""
    error = _commit_error(store, event)
    if error is not None:
        return store.answering(error)
    store = append(store, commit_entry(settings, event), is_in_flight=event.is_in_flight)
    return store if event.is_in_flight else store.answering()


def _commit_error(store: Store, event: Commit) -> str | None:
    group = store.group(event.group_id)
    if group is None:
        error = None if event.generation < 0 else "ILLEGAL_GENERATION"
    elif event.generation < 0 and group.state == EMPTY:
        error = None
    else:
        error = _member_error(group, event)
    if error is None and len(event.metadata.encode("utf-16-be", "surrogatepass")) > 2 * MOST_METADATA_UNITS:
        return "OFFSET_METADATA_TOO_LARGE"
    return error


def _member_error(group: Group, event: Commit) -> str | None:
    if event.generation >= 0 or event.member_id:
        member = next((each for each in group.members if each.member_id == event.member_id), None)
        if member is None:
            return "UNKNOWN_MEMBER_ID"
        if group.kind != CLASSIC:
            return None if event.generation == member.epoch else "STALE_MEMBER_EPOCH"
        if event.generation != group.epoch:
            return "ILLEGAL_GENERATION"
    elif event.producer_id is None:
        return "UNKNOWN_MEMBER_ID"
    is_undecided = group.state == COMPLETING and event.producer_id is None
    return "REBALANCE_IN_PROGRESS" if is_undecided else None


def fetch(settings: Settings, store: Store, event: Fetch) -> Store:
    """The store after a fetch, which is answered from memory alone."""
    if event.requires_stable and (event.group_id, event.topic, event.partition) in pending_partitions(store, False):
        return store.answering("UNSTABLE_OFFSET_COMMIT")
    group = store.group(event.group_id)
    committed = group.offset(event.topic, event.partition) if group else None
    return store.answering(offset=-1 if committed is None else committed.offset)


def store_group(settings: Settings, store: Store, event: StoreGroup) -> Store:
    """The store after a rebalance: the group as it is now, written down whole."""
    if not at_least("0.9.0", settings.release):
        raise IllegalEvent(f"{event!r}: Kafka {settings.release} has no groups in its offsets topic, only offsets")
    lowest = 0 if at_least("4.0", settings.release) else 1  # only the newer coordinator writes a group down at once
    if event.generation < lowest:
        raise IllegalEvent(f"{event!r}: the first generation that Kafka {settings.release} stores is {lowest}")
    return append(store, group_entry(settings, event)).answering()


def change_state(settings: Settings, store: Store, event: StateChanged) -> Store:
    """The store with a group that rebalances; nothing is written."""
    group = store.group(event.group_id)
    if group is None or group.kind != CLASSIC or event.state not in (PREPARING, COMPLETING):
        raise IllegalEvent(
            f"{event!r}: a classic group of the cache may go to {PREPARING} or {COMPLETING}; the cache has "
            f"{[each.group_id for each in store.groups]}, and StoreGroup ends a rebalance"
        )
    return replace(store, groups=put_group(store.groups, replace(group, state=event.state)))


def produce(settings: Settings, store: Store, event: Produce) -> Store:
    """The store after a Produce request of somebody else; since 0.9 only the admin client id may write."""
    if at_least("0.9.0", settings.release) and event.client_id != ADMIN_CLIENT_ID:
        return store.answering("INVALID_TOPIC_EXCEPTION")
    if store.status == NOT_OWNED:
        return store.answering("NOT_LEADER_OR_FOLLOWER")
    return replace(store, log=(*store.log, Entry(event.key, event.value, is_foreign=True))).answering()
