"""What clients ask, to commit and to fetch; what a rebalance stores; what somebody produces into the topic."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.group_states import COMPLETING, EMPTY, PREPARING
from kafkalearn.offsets.groups import CLASSIC, CONSUMER, STREAMS, Group
from kafkalearn.offsets.metadata import metadata_fits
from kafkalearn.offsets.store.cache import append, append_unconfirmed, put_group
from kafkalearn.offsets.store.entries import commit_entry, group_entry, group_tombstones
from kafkalearn.offsets.store.events import Commit, Fetch, Produce, StateChanged, StoreGroup
from kafkalearn.offsets.store.newer_entries import newer_entries, newer_group
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import NOT_OWNED, Entry, Store
from kafkalearn.offsets.store.transactions import in_flight_partitions, open_partitions
from kafkalearn.versions.releases import at_least

ADMIN_CLIENT_ID = "__admin_client"  # the one client id that may produce to internal topics
METADATA_TOO_LARGE = "OFFSET_METADATA_TOO_LARGE"
KINDS = {CLASSIC: "0.9.0", CONSUMER: "4.0", STREAMS: "4.2"}  # that commit offsets; since when, early access apart


def commit(settings: Settings, store: Store, event: Commit) -> Store:
    """The store after a commit: an entry more, or an error."""
    error = _commit_error(settings, store, event)
    if error is not None:
        return _with_its_group(settings, store, event, error).answering(error)
    entry = commit_entry(settings, event)
    if not event.is_in_flight:
        return append(store, entry).answering()
    if settings.waits_for_replicas:
        return append(store, entry, is_in_flight=True)
    unreplicated = (*store.unreplicated, len(store.log))
    return replace(append_unconfirmed(store, entry), unreplicated=unreplicated).answering()


def _with_its_group(settings: Settings, store: Store, event: Commit, error: str) -> Store:
    """The store after a refused commit: if only its text is too long, its group is there from now on, and is empty.

    Kafka makes the group before it looks at what the commit brings, since 0.10.1; nothing of it is written down.
    """
    is_new = error == METADATA_TOO_LARGE and store.group(event.group_id) is None
    if not (is_new and at_least("0.10.1", settings.release)):
        return store
    return replace(store, groups=put_group(store.groups, Group(event.group_id)))


def _commit_error(settings: Settings, store: Store, event: Commit) -> str | None:
    group = store.group(event.group_id)
    if group is None:
        error = None if event.generation < 0 else _no_group(settings, event)
    elif event.generation < 0 and group.state == EMPTY:
        error = None
    else:
        error = _member_error(group, event)
    if error is None and not metadata_fits(event.metadata, settings.metadata_max_bytes):
        return METADATA_TOO_LARGE
    return error


def _no_group(settings: Settings, event: Commit) -> str:
    """The answer to a member of a group that is not there; clients of today ask with version 9 or later."""
    is_old_request = event.retention_ms is not None or not at_least("4.0", settings.release)
    return "ILLEGAL_GENERATION" if is_old_request else "GROUP_ID_NOT_FOUND"


def _member_error(group: Group, event: Commit) -> str | None:
    if event.generation >= 0 or event.member_id:
        member = next((each for each in group.members if each.member_id == event.member_id), None)
        if member is None:
            return "UNKNOWN_MEMBER_ID"
        if group.kind != CLASSIC and event.retention_ms is not None:
            return "UNSUPPORTED_VERSION"  # requests that carry it are older than the newer protocols
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
    unstable = open_partitions(store)
    if not at_least("4.0", settings.release):
        unstable |= in_flight_partitions(store)
    if event.requires_stable and (event.group_id, event.topic, event.partition) in unstable:
        return store.answering("UNSTABLE_OFFSET_COMMIT")
    group = store.group(event.group_id)
    committed = group.offset(event.topic, event.partition) if group else None
    return store.answering(offset=-1 if committed is None else committed.offset)


def store_group(settings: Settings, store: Store, event: StoreGroup) -> Store:
    """The store after a rebalance: the group as it is now, written down.

    A group without members makes room for one of another kind; first it gets its tombstones.
    """
    known = store.group(event.group_id)
    _refuse_senseless(settings, event, known)
    if known is not None and known.kind != event.kind:
        store = append(store, *group_tombstones(settings, known))
    if event.kind == CLASSIC:
        return append(store, group_entry(settings, event)).answering()
    store = append(store, *newer_entries(store, event))
    return replace(store, groups=put_group(store.groups, newer_group(event, store.group(event.group_id)))).answering()


def _refuse_senseless(settings: Settings, event: StoreGroup, known: Group | None) -> None:
    if event.kind not in KINDS:
        raise IllegalEvent(f"{event!r}: the kinds of groups that commit offsets are {', '.join(KINDS)}")
    if not at_least("0.9.0", settings.release):
        raise IllegalEvent(f"{event!r}: Kafka {settings.release} has no groups in its offsets topic, only offsets")
    if not at_least(KINDS[event.kind], settings.release):
        raise IllegalEvent(
            f"{event!r}: Kafka {settings.release} has no {event.kind} groups; they came with {KINDS[event.kind]}"
        )
    # Only the newer coordinator writes a classic group down at once.
    lowest = 0 if event.kind == CLASSIC and at_least("4.0", settings.release) else 1
    if event.generation < lowest:
        raise IllegalEvent(f"{event!r}: the first generation that Kafka {settings.release} stores is {lowest}")
    if event.kind != CLASSIC and (event.leader is not None or any(each.assigned for each in event.members)):
        raise IllegalEvent(
            f"{event!r}: a {event.kind} group has no leader, and what its members are assigned is not stored here; "
            "leave leader and assigned out"
        )
    if known is not None and known.kind != event.kind and known.state != EMPTY:
        raise IllegalEvent(
            f"{event!r}: {event.group_id} is a {known.kind} group with members; it changes its kind here only when it "
            "is Empty: StoreGroup without members comes first"
        )


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
