"""The log and the cache kept in step: what is appended, and what that changes in the cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from kafkalearn.offsets.groups import Committed, Group
from kafkalearn.offsets.newer_groups import GROUP_RECORDS
from kafkalearn.offsets.records.codec import OffsetsRecord, decode
from kafkalearn.offsets.records.record_types import GROUP_TYPE, OFFSET_TYPES
from kafkalearn.offsets.replay import classic_group, committed
from kafkalearn.offsets.store.events import Replicated
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import Entry, Store

GROUP_NUMBERS = (GROUP_TYPE, *GROUP_RECORDS.values())  # the records whose tombstone ends a group


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
    return replace(after, in_flight=store.in_flight, timed_out=store.timed_out, unreplicated=store.unreplicated)


def confirm(store: Store) -> Store:
    """The store when the replicas have everything: what was in flight is taken into the cache."""
    waiting = (store.log[offset] for offset in store.in_flight)
    groups = follow(store.groups, (entry for entry in waiting if entry.producer_id is None))
    return replace(store, groups=groups, in_flight=(), timed_out=(), unreplicated=())


def replicated(settings: Settings, store: Store, event: Replicated) -> Store:
    """The store when the replicas have confirmed all that was written; who has got an error gets no other answer."""
    confirmed = confirm(store)
    is_answered = bool(store.in_flight) and set(store.in_flight) <= set(store.timed_out)
    return confirmed if is_answered else confirmed.answering()


def follow(groups: tuple[Group, ...], entries: Iterable[Entry]) -> tuple[Group, ...]:
    """The cache after some entries of the log; what they make of a group of a newer protocol is not followed."""
    for entry in entries:
        if entry.key is not None:  # a marker has none
            groups = _replay(groups, decode(entry.key, entry.value))
    return groups


def _replay(groups: tuple[Group, ...], record: OffsetsRecord) -> tuple[Group, ...]:
    known = next((each for each in groups if each.group_id == record.group), None)
    if record.type.number in OFFSET_TYPES:
        if record.is_tombstone:
            return groups if known is None else _without_offset(groups, known, record)
        return put_group(groups, put_offset(known or Group(record.group), committed(record)))
    ends_a_group = record.is_tombstone and record.type.number in GROUP_NUMBERS
    if record.type.number != GROUP_TYPE and not ends_a_group:
        return groups  # a group of a newer protocol has many records: `newer_group` says what they make together
    left = Group(record.group) if record.is_tombstone else classic_group(record.group, record.fields)
    left = replace(left, offsets=known.offsets if known else ())
    is_gone = record.is_tombstone and not left.offsets
    return without_group(groups, record.group) if is_gone else put_group(groups, left)


def _without_offset(groups: tuple[Group, ...], group: Group, record: OffsetsRecord) -> tuple[Group, ...]:
    at = (record.key["topic"], record.key["partition"])
    return put_group(groups, replace(group, offsets=tuple(each for each in group.offsets if each.at != at)))
