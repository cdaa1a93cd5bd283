"""What leaves the store: expired offsets at the sweep, and what is deleted by request."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.group_states import EMPTY
from kafkalearn.offsets.groups import CLASSIC, SHARE, Committed, Group
from kafkalearn.offsets.store.cache import append, append_unconfirmed, confirm, without_group
from kafkalearn.offsets.store.entries import group_tombstones, offset_tombstones
from kafkalearn.offsets.store.events import DeleteGroup, DeleteOffset, DeleteTopic, Sweep
from kafkalearn.offsets.store.expiry import is_expired, is_subscribed
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import Entry, Store
from kafkalearn.offsets.store.transactions import in_flight_partitions, open_partitions
from kafkalearn.versions.releases import at_least


def sweep(settings: Settings, store: Store, event: Sweep) -> Store:
    """The store without what has expired: tombstones for offsets, then for Empty groups that have none left.

    Up to 3.9 a commit in flight protects its partition, and one in an open transaction the group only; tombstones
    count at once. Since 4.0 what is written counts for the sweep though no replica has it yet, an open transaction
    protects its partitions and the group, and tombstones wait for the replicas as all else does.
    """
    if at_least("4.0", settings.release):
        return _sweep_as_written(settings, store, event)
    in_flight = in_flight_partitions(store)
    pending_groups = {group_id for group_id, _, _ in in_flight | open_partitions(store)}
    for group in store.groups:
        gone = _expired(settings, group, event.now_ms, in_flight)
        store = append_unconfirmed(store, *offset_tombstones(settings, group, gone))
        if _is_left_blank(group, gone) and group.group_id not in pending_groups:
            store = append_unconfirmed(store, *group_tombstones(settings, group))
            store = replace(store, groups=without_group(store.groups, group.group_id))
    return store


def _sweep_as_written(settings: Settings, store: Store, event: Sweep) -> Store:
    pending, has_in_flight = open_partitions(store), bool(store.in_flight)
    pending_groups = {group_id for group_id, _, _ in pending}
    written: list[Entry] = []
    for group in confirm(store).groups:
        gone = _expired(settings, group, event.now_ms, pending)
        written += offset_tombstones(settings, group, gone)
        is_swept = group.kind != SHARE or not at_least("4.1", settings.release)
        if is_swept and _is_left_blank(group, gone) and group.group_id not in pending_groups:
            written += group_tombstones(settings, group)
    return append(store, *written, is_in_flight=has_in_flight)


def _is_left_blank(group: Group, gone: list[Committed]) -> bool:
    return group.state == EMPTY and len(gone) == len(group.offsets)


def _expired(settings: Settings, group: Group, now_ms: int, pending: set[tuple[str, str, int]]) -> list[Committed]:
    """The offsets that go; those of `pending`, partitions with their group, do not."""
    retention_ms, release = settings.retention_ms, settings.release
    return [
        each
        for each in group.offsets
        if is_expired(group, each, now_ms, retention_ms, release, (group.group_id, *each.at) in pending)
    ]


def delete_group(settings: Settings, store: Store, event: DeleteGroup) -> Store:
    """The store after DeleteGroups: only an Empty group goes, with all its offsets."""
    group = store.group(event.group_id)
    if group is None:
        return store.answering("GROUP_ID_NOT_FOUND")
    if group.state != EMPTY:
        return store.answering("NON_EMPTY_GROUP")
    tombstones = offset_tombstones(settings, group, group.offsets) + group_tombstones(settings, group)
    store = append(store, *tombstones)
    return replace(store, groups=without_group(store.groups, group.group_id)).answering()


def delete_offset(settings: Settings, store: Store, event: DeleteOffset) -> Store:
    """The store after OffsetDelete: not for a topic that a live group subscribes to."""
    group = store.group(event.group_id)
    if group is None:
        return store.answering("GROUP_ID_NOT_FOUND")
    if group.state != EMPTY and group.kind == CLASSIC and group.protocol_type != "consumer":
        return store.answering("NON_EMPTY_GROUP")
    if group.state != EMPTY and is_subscribed(group, event.topic):
        return store.answering("GROUP_SUBSCRIBED_TO_TOPIC")
    gone = [each for each in group.offsets if each.at == (event.topic, event.partition)]
    return append(store, *offset_tombstones(settings, group, gone)).answering()


def delete_topic(settings: Settings, store: Store, event: DeleteTopic) -> Store:
    """The store without the offsets committed for a topic.

    Since 4.3 an offset that was committed for another topic of that name stays: the ids distinguish them.
    """
    for group in store.groups:
        gone = [each for each in group.offsets if each.topic == event.topic]
        if at_least("4.3", settings.release) and event.topic_id is not None:
            gone = [each for each in gone if each.topic_id in (None, event.topic_id)]
        store = append(store, *offset_tombstones(settings, group, gone))
    return store
