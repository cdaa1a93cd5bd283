"""Commits inside transactions: which are still open, which count, and what a marker changes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from kafkalearn.offsets.records.record_types import state_key
from kafkalearn.offsets.store.cache import append, follow
from kafkalearn.offsets.store.events import EndTransaction
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import Entry, Store


def open_entries(log: Iterable[Entry]) -> dict[int, tuple[int, ...]]:
    """The transactions that have not ended: producer id to the offsets of their entries."""
    return _transactions(log)[0]


def committed_entries(log: Sequence[Entry]) -> list[Entry]:
    """The entries in the order of the log, without markers and without those of aborted and open transactions."""
    still_open, left_out = _transactions(log)
    left_out = left_out.union(*still_open.values())
    return [entry for offset, entry in enumerate(log) if offset not in left_out]


def _transactions(log: Iterable[Entry]) -> tuple[dict[int, tuple[int, ...]], set[int]]:
    """The entries of open transactions by producer id, and the offsets of markers and of what was aborted."""
    still_open: dict[int, tuple[int, ...]] = {}
    left_out: set[int] = set()
    for offset, entry in enumerate(log):
        if entry.producer_id is None:
            continue
        if entry.marker is not None:
            ended = still_open.pop(entry.producer_id, ())
            left_out |= {offset, *(ended if entry.marker == "ABORT" else ())}
        else:
            still_open[entry.producer_id] = (*still_open.get(entry.producer_id, ()), offset)
    return still_open, left_out


def open_partitions(store: Store) -> set[tuple[str, str, int]]:
    """Group, topic and partition of the commits in transactions that have not ended."""
    return _partitions(store, {offset for each in open_entries(store.log).values() for offset in each})


def in_flight_partitions(store: Store) -> set[tuple[str, str, int]]:
    """Group, topic and partition of the commits outside of transactions that the replicas have not confirmed."""
    return _partitions(store, {offset for offset in store.in_flight if store.log[offset].producer_id is None})


def _partitions(store: Store, offsets: set[int]) -> set[tuple[str, str, int]]:
    groups = follow((), (store.log[offset] for offset in sorted(offsets)))
    return {(group.group_id, each.topic, each.partition) for group in groups for each in group.offsets}


def end_transaction(settings: Settings, store: Store, event: EndTransaction) -> Store:
    """The store with a marker at the end of the log; a commit brings the transaction's offsets into the cache.

    An entry that a later one has overtaken, or a tombstone wiped out, has no effect.
    """
    written = [(offset, store.log[offset]) for offset in open_entries(store.log).get(event.producer_id, ())]
    later = {
        state_key(entry.key): offset
        for offset, entry in enumerate(store.log)
        if entry.key is not None and entry.producer_id is None
    }
    newest = [
        entry for offset, entry in written if entry.key is not None and later.get(state_key(entry.key), -1) < offset
    ]
    marker = Entry(None, None, event.producer_id, "COMMIT" if event.is_commit else "ABORT")
    store = append(store, marker)
    return replace(store, groups=follow(store.groups, newest)) if event.is_commit else store
