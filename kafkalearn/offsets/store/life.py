"""The life of the store on a broker: the sweep, the election, the load, the resignation."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import EMPTY, Committed, Group
from kafkalearn.offsets.records.codec import decode
from kafkalearn.offsets.records.record_types import RECORD_TYPES
from kafkalearn.offsets.replay import OFFSET_NUMBERS, rebuild
from kafkalearn.offsets.store.cache import append, append_unconfirmed, counting_entries, without_group
from kafkalearn.offsets.store.entries import group_tombstones, offset_tombstones
from kafkalearn.offsets.store.expiry import is_expired
from kafkalearn.offsets.store.model import (
    FAILED,
    LOADING,
    NOT_OWNED,
    OWNED,
    DeleteTopic,
    Entry,
    Load,
    Settings,
    Store,
    Sweep,
)
from kafkalearn.offsets.store.requests import pending_partitions
from kafkalearn.versions.releases import at_least
from kafkalearn.wire.fields import INT16
from kafkalearn.wire.reader import Reader, Undecodable


def sweep(settings: Settings, store: Store, event: Sweep) -> Store:
    """The store without what has expired: tombstones for offsets, then for groups that died of it."""
    pending = pending_partitions(store)
    for group in store.groups:
        gone = _expired(settings, group, event.now_ms, pending)
        store = append_unconfirmed(store, *offset_tombstones(settings, group, gone))
        if group.state == EMPTY and len(gone) == len(group.offsets) and not _awaits(group, pending):
            store = append_unconfirmed(store, *group_tombstones(settings, group))
            store = replace(store, groups=without_group(store.groups, group.group_id))
    return replace(store, answer=None)


def _expired(settings: Settings, group: Group, now_ms: int, pending: set[tuple[str, str, int]]) -> list[Committed]:
    retention_ms, release = settings.retention_ms, settings.release
    return [
        each
        for each in group.offsets
        if is_expired(group, each, now_ms, retention_ms, release, (group.group_id, *each.at) in pending)
    ]


def _awaits(group: Group, pending: set[tuple[str, str, int]]) -> bool:
    """Whether a commit of the group is in flight or in an open transaction."""
    return any(group_id == group.group_id for group_id, _, _ in pending)


def delete_topic(settings: Settings, store: Store, event: DeleteTopic) -> Store:
    """The store without the offsets committed for a topic.

    Since 4.3 an offset that was committed for another topic of that name stays: the ids tell them apart.
    """
    for group in store.groups:
        gone = [each for each in group.offsets if each.topic == event.topic]
        if at_least("4.3", settings.release) and event.topic_id is not None:
            gone = [each for each in gone if each.topic_id in (None, event.topic_id)]
        store = append(store, *offset_tombstones(settings, group, gone))
    return replace(store, answer=None)


def resign(store: Store) -> Store:
    """The store of a broker that no longer leads the partition: nothing in memory, nothing written."""
    return replace(store, status=NOT_OWNED, groups=(), in_flight=(), read_count=0, answer=None)


def elect(store: Store) -> Store:
    """The store of a broker that has just become the leader: all in the log, nothing in memory."""
    if store.status != NOT_OWNED:
        raise IllegalEvent(
            f"Elect: the broker is the leader already, the partition is {store.status}; Resign comes first"
        )
    return replace(store, status=LOADING, groups=(), in_flight=(), read_count=0, answer=None)


def load(settings: Settings, store: Store, event: Load) -> Store:
    """The store after the next records were read; after the last one the partition is owned."""
    if store.status != LOADING:
        raise IllegalEvent(f"{event!r}: the partition is {store.status}; only after Elect there is something to load")
    left = len(store.log) - store.read_count
    count = left if event.record_count is None else min(event.record_count, left)
    read = store.log[: store.read_count + count]
    if any(_breaks_the_load(settings, entry) for entry in read[store.read_count :]):
        return _broken_off(settings, store, read)
    status = OWNED if len(read) == len(store.log) else LOADING
    return replace(store, status=status, groups=_loaded(read), read_count=len(read), answer=None)


def _loaded(read: tuple[Entry, ...]) -> tuple[Group, ...]:
    return rebuild((entry.key, entry.value) for entry in counting_entries(read)).groups


def _breaks_the_load(settings: Settings, entry: Entry) -> bool:
    """Whether reading the entry ends in an exception: no key, no record, or in old releases an unknown type."""
    if entry.marker is not None:
        return False
    if entry.key is None:
        return True
    try:
        if Reader(entry.key, "key").number(INT16) not in RECORD_TYPES:
            return not at_least("3.4.1", settings.release)
        decode(entry.key, entry.value)
    except Undecodable:
        return True
    return False


def _broken_off(settings: Settings, store: Store, read: tuple[Entry, ...]) -> Store:
    """The store when a record could not be read.

    The coordinator of 4.0 and later gives the partition up. Before, the partition counted as owned, but with no
    group: groups were built after the last record. Up to 0.10.0 the offsets read so far were in the cache already.
    """
    if at_least("4.0", settings.release):
        return replace(store, status=FAILED, groups=(), answer=None)
    groups: tuple[Group, ...] = ()
    if not at_least("0.10.1", settings.release):
        good = read[: next(index for index, entry in enumerate(read) if _breaks_the_load(settings, entry))]
        offsets = [entry for entry in counting_entries(good) if decode(entry.key, None).type.number in OFFSET_NUMBERS]
        groups = rebuild((entry.key, entry.value) for entry in offsets).groups
    return replace(store, status=OWNED, groups=groups, read_count=len(store.log), answer=None)
