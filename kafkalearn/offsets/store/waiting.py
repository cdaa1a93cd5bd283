"""Commits that wait for the replicas for too long: `offsets.commit.timeout.ms`."""

from __future__ import annotations

from dataclasses import replace

from kafkalearn.offsets.records.codec import decode
from kafkalearn.offsets.records.record_types import OFFSET_TYPES
from kafkalearn.offsets.replay import committed
from kafkalearn.offsets.store.effects import Answer
from kafkalearn.offsets.store.events import TimeReached
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import Entry, Store
from kafkalearn.versions.releases import at_least


def time_reached(settings: Settings, store: Store, event: TimeReached) -> Store:
    """The store at a time: each commit that has waited long enough is answered with an error.

    Its record stays in the log. Since 4.0 the commit counts as soon as the replicas have it, though its sender got
    an error. Up to 3.9 the coordinator gives it up: memory keeps the offset before it, and only who loads the log
    next finds the new one.

    References
    ----------
    Apache Kafka 4.3, ``CoordinatorRuntime`` and ``GroupCoordinatorService.handleOperationException``; up to 3.9
    ``GroupMetadataManager.storeOffsets`` and ``GroupMetadata.failPendingOffsetWrite``.
    """
    is_new = at_least("4.0", settings.release)
    late = tuple(
        offset
        for offset in store.in_flight
        if offset not in store.timed_out and _waited_ms(store.log[offset], event.now_ms) >= settings.commit_timeout_ms
    )
    error = "COORDINATOR_NOT_AVAILABLE" if is_new else "REQUEST_TIMED_OUT"
    store = replace(store, effects=tuple(Answer(error) for _ in late))
    if is_new:
        return replace(store, timed_out=(*store.timed_out, *late))
    in_flight = tuple(offset for offset in store.in_flight if offset not in late)
    return replace(store, in_flight=in_flight, unreplicated=(*store.unreplicated, *late))


def _waited_ms(entry: Entry, now_ms: int) -> int:
    """How long the sender of a commit has waited; -1 of an entry that nobody is to be answered for."""
    record = None if entry.key is None else decode(entry.key, entry.value)  # a marker has no key
    if record is None or record.type.number not in OFFSET_TYPES or record.is_tombstone:
        return -1
    return now_ms - committed(record).commit_ms
