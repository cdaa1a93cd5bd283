"""The log and the cache kept in step: what is appended, what it changes, which transactions are still open."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.offsets.groups import Committed, Group
from kafkalearn.offsets.records.codec import OffsetsRecord, decode
from kafkalearn.offsets.replay import OFFSET_NUMBERS, classic_group, committed
from kafkalearn.offsets.store.model import Entry, Store

GROUP_NUMBERS = (2, 3)  # the records whose tombstone ends a group


def put_group(groups: tuple[Group, ...], group: Group) -> tuple[Group, ...]:
    """The cache with `group` in it, instead of what it had under that id."""
    others = (each for each in groups if each.group_id != group.group_id)
    return tuple(sorted((*others, group), key=lambda each: each.group_id))


def without_group(groups: tuple[Group, ...], group_id: str) -> tuple[Group, ...]:
    """The cache without a group."""
    return tuple(group for group in groups if group.group_id != group_id)


def put_offset(group: Group, one: Committed) -> Group:
    """The group with one committed offset more, or another one for its partition."""
    others = (each for each in group.offsets if each.at != one.at)
    return replace(group, offsets=tuple(sorted((*others, one), key=lambda each: each.at)))


def append(store: Store, *entries: Entry, is_in_flight: bool = False) -> Store:
    """The store with entries at the end of its log; unless they are in flight, the cache follows at once.

    An entry in a transaction changes nothing before the transaction ends.
    """
    first = len(store.log)
    added = tuple(range(first, first + len(entries)))
    store = replace(store, log=store.log + entries, in_flight=store.in_flight + added)
    return store if is_in_flight else confirm(store)


def append_unconfirmed(store: Store, *entries: Entry) -> Store:
    """The store with entries that wait for no replica, as those of the sweep; what is in flight stays so."""
    after = append(replace(store, in_flight=()), *entries)
    return replace(after, in_flight=store.in_flight)


def confirm(store: Store) -> Store:
    """The store when the replicas have everything: what was in flight is taken into the cache."""
    waiting = (store.log[offset] for offset in store.in_flight)
    groups = follow(store.groups, (entry for entry in waiting if entry.producer_id is None))
    return replace(store, groups=groups, in_flight=())


def follow(groups: tuple[Group, ...], entries: Iterable[Entry]) -> tuple[Group, ...]:
    """The cache after some entries of the log."""
    for entry in entries:
        if entry.marker is None:
            groups = _replay(groups, decode(entry.key, entry.value))
    return groups


def _replay(groups: tuple[Group, ...], record: OffsetsRecord) -> tuple[Group, ...]:
    known = next((each for each in groups if each.group_id == record.group), None)
    if record.type.number in OFFSET_NUMBERS:
        if record.is_tombstone:
            return groups if known is None else _without_offset(groups, known, record)
        return put_group(groups, put_offset(known or Group(record.group), committed(record)))
    if record.type.number not in GROUP_NUMBERS:
        return groups  # what goes with a group of the new protocol; its own record tells
    left = Group(record.group) if record.is_tombstone else classic_group(record.group, record.value)
    left = replace(left, offsets=known.offsets if known else ())
    is_gone = record.is_tombstone and not left.offsets
    return without_group(groups, record.group) if is_gone else put_group(groups, left)


def _without_offset(groups: tuple[Group, ...], group: Group, record: OffsetsRecord) -> tuple[Group, ...]:
    at = (record.key["topic"], record.key["partition"])
    return put_group(groups, replace(group, offsets=tuple(each for each in group.offsets if each.at != at)))


def open_entries(log: tuple[Entry, ...]) -> dict[int, tuple[int, ...]]:
    """The transactions that have not ended: producer id to the offsets of their entries."""
    found: dict[int, tuple[int, ...]] = {}
    for offset, entry in enumerate(log):
        if entry.producer_id is None:
            continue
        if entry.marker is None:
            found[entry.producer_id] = (*found.get(entry.producer_id, ()), offset)
        else:
            found.pop(entry.producer_id, None)
    return found


def counting_entries(log: tuple[Entry, ...]) -> list[Entry]:
    """The entries whose word counts: no markers, nothing of aborted or open transactions, in the order of the log."""
    uncounted = {offset for offsets in open_entries(log).values() for offset in offsets}
    waiting: dict[int, list[int]] = {}
    for offset, entry in enumerate(log):
        if entry.producer_id is None:
            continue
        if entry.marker is None:
            waiting.setdefault(entry.producer_id, []).append(offset)
        else:
            ended = waiting.pop(entry.producer_id, [])
            uncounted |= {offset, *(ended if entry.marker == "ABORT" else ())}
    return [entry for offset, entry in enumerate(log) if offset not in uncounted]
