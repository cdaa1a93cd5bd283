"""What clients and admins ask: commit, fetch, delete; and what a rebalance writes."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import CLASSIC, COMPLETING, EMPTY, PREPARING, Group
from kafkalearn.offsets.store.cache import append, follow, open_entries, put_group, without_group
from kafkalearn.offsets.store.entries import commit_entry, group_entry, group_tombstones, offset_tombstones
from kafkalearn.offsets.store.expiry import is_subscribed
from kafkalearn.offsets.store.model import (
    FAILED,
    LOADING,
    MOST_METADATA_UNITS,
    NOT_OWNED,
    Answer,
    Commit,
    DeleteGroup,
    DeleteOffset,
    EndTransaction,
    Entry,
    Fetch,
    Produce,
    Settings,
    StateChanged,
    Store,
    StoreGroup,
)
from kafkalearn.versions.releases import at_least

ADMIN_CLIENT_ID = "__admin_client"  # the one client id that may produce to internal topics
_REFUSALS = {LOADING: "COORDINATOR_LOAD_IN_PROGRESS", NOT_OWNED: "NOT_COORDINATOR", FAILED: "NOT_COORDINATOR"}


def refusal(store: Store) -> Answer | None:
    """What every request is answered while the broker is not ready for this partition; None: it is."""
    return Answer(_REFUSALS[store.status]) if store.status in _REFUSALS else None


def commit(settings: Settings, store: Store, event: Commit) -> Store:
    """The store after a commit: an entry more, or an error."""
    error = _commit_error(store, event)
    if error is not None:
        return replace(store, answer=Answer(error))
    entry = commit_entry(settings, event)
    store = append(store, entry, is_in_flight=event.is_in_flight)
    return replace(store, answer=None if event.is_in_flight else Answer())


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


def fetch(store: Store, event: Fetch) -> Store:
    """The store after a fetch, which is answered from memory alone."""
    if event.requires_stable and (event.group_id, event.topic, event.partition) in pending_partitions(store, False):
        return replace(store, answer=Answer("UNSTABLE_OFFSET_COMMIT"))
    group = store.group(event.group_id)
    committed = group.offset(event.topic, event.partition) if group else None
    return replace(store, answer=Answer(offset=-1 if committed is None else committed.offset))


def pending_partitions(store: Store, with_in_flight: bool = True) -> set[tuple[str, str, int]]:
    """Group, topic and partition of the commits that may still change what is committed."""
    offsets = {offset for each in open_entries(store.log).values() for offset in each}
    if with_in_flight:
        offsets |= set(store.in_flight)
    groups = follow((), (store.log[offset] for offset in sorted(offsets)))
    return {(group.group_id, *each.at) for group in groups for each in group.offsets}


def end_transaction(store: Store, event: EndTransaction) -> Store:
    """The store with a marker at the end of the log; a commit brings the transaction's offsets into the cache.

    An entry that a later one has overtaken, or a tombstone wiped out, stays without effect.
    """
    entries = open_entries(store.log).get(event.producer_id, ())
    later = {entry.key: offset for offset, entry in enumerate(store.log) if entry.producer_id is None}
    counted = [store.log[offset] for offset in entries if later.get(store.log[offset].key, -1) < offset]
    marker = Entry(None, None, event.producer_id, "COMMIT" if event.is_commit else "ABORT")
    store = append(store, marker)
    groups = follow(store.groups, counted) if event.is_commit else store.groups
    return replace(store, groups=groups, answer=None)


def store_group(settings: Settings, store: Store, event: StoreGroup) -> Store:
    """The store after a rebalance: the group as it is now, written down whole."""
    if not at_least("0.9.0", settings.release):
        raise IllegalEvent(f"{event!r}: Kafka {settings.release} has no groups in its offsets topic, only offsets")
    lowest = 0 if at_least("4.0", settings.release) else 1  # only the newer coordinator writes a group down at once
    if event.generation < lowest:
        raise IllegalEvent(f"{event!r}: the first generation that Kafka {settings.release} stores is {lowest}")
    return replace(append(store, group_entry(settings, event)), answer=Answer())


def change_state(store: Store, event: StateChanged) -> Store:
    """The store with a group rebalancing; the log does not hear of it."""
    group = store.group(event.group_id)
    if group is None or group.kind != CLASSIC or event.state not in (PREPARING, COMPLETING):
        raise IllegalEvent(
            f"{event!r}: a classic group of the cache may go to {PREPARING} or {COMPLETING}; the cache has "
            f"{[each.group_id for each in store.groups]}, and StoreGroup ends a rebalance"
        )
    return replace(store, groups=put_group(store.groups, replace(group, state=event.state)), answer=None)


def delete_group(settings: Settings, store: Store, event: DeleteGroup) -> Store:
    """The store after DeleteGroups: only an Empty group goes, with all its offsets."""
    group = store.group(event.group_id)
    if group is None:
        return replace(store, answer=Answer("GROUP_ID_NOT_FOUND"))
    if group.state != EMPTY:
        return replace(store, answer=Answer("NON_EMPTY_GROUP"))
    tombstones = offset_tombstones(settings, group, group.offsets) + group_tombstones(settings, group)
    store = append(store, *tombstones)
    return replace(store, groups=without_group(store.groups, group.group_id), answer=Answer())


def delete_offset(settings: Settings, store: Store, event: DeleteOffset) -> Store:
    """The store after OffsetDelete: not for a topic that a live group subscribes to."""
    group = store.group(event.group_id)
    if group is None:
        return replace(store, answer=Answer("GROUP_ID_NOT_FOUND"))
    if group.state != EMPTY and group.kind == CLASSIC and group.protocol_type != "consumer":
        return replace(store, answer=Answer("NON_EMPTY_GROUP"))
    if group.state != EMPTY and is_subscribed(group, event.topic):
        return replace(store, answer=Answer("GROUP_SUBSCRIBED_TO_TOPIC"))
    gone = [each for each in group.offsets if each.at == (event.topic, event.partition)]
    return replace(append(store, *offset_tombstones(settings, group, gone)), answer=Answer())


def produce(settings: Settings, store: Store, event: Produce) -> Store:
    """The store after a stranger's Produce request; since 0.9 only the admin client id gets through."""
    if at_least("0.9.0", settings.release) and event.client_id != ADMIN_CLIENT_ID:
        return replace(store, answer=Answer("INVALID_TOPIC_EXCEPTION"))
    if store.status == NOT_OWNED:
        return replace(store, answer=Answer("NOT_LEADER_OR_FOLLOWER"))
    return replace(store, log=(*store.log, Entry(event.key, event.value, is_foreign=True)), answer=Answer())
