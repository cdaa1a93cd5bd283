"""The partition lost and won: the resignation, the election, and the load, which reads the log into the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kafkalearn.errors import IllegalEvent
from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.records.codec import decode
from kafkalearn.offsets.records.record_types import RECORD_TYPES
from kafkalearn.offsets.replay import replay
from kafkalearn.offsets.store.events import Elect, LeaderCrashed, Load, LoadBuffer, Resign
from kafkalearn.offsets.store.settings import Settings
from kafkalearn.offsets.store.state import FAILED, LOADING, NOT_OWNED, OWNED, Entry, Store
from kafkalearn.offsets.store.transactions import committed_entries
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES, MARKER_BYTES, length_of, record_bytes
from kafkalearn.versions.releases import at_least
from kafkalearn.wire.fields import INT16
from kafkalearn.wire.reader import Reader, Undecodable


def resign(settings: Settings, store: Store, event: Resign) -> Store:
    """The store of a broker that no longer leads the partition: nothing in memory, nothing written."""
    return replace(_forgotten(store), status=NOT_OWNED)


def leader_crashed(settings: Settings, store: Store, event: LeaderCrashed) -> Store:
    """The store of the replica that is leader now: the log without what was not replicated, nothing in memory."""
    missing = (*store.in_flight, *store.unreplicated)
    return replace(_forgotten(store), status=LOADING, log=store.log[: min(missing, default=None)])


def _forgotten(store: Store) -> Store:
    return replace(store, groups=(), in_flight=(), timed_out=(), unreplicated=(), read_count=0)


def elect(settings: Settings, store: Store, event: Elect) -> Store:
    """The store of a broker that has just become the leader: all in the log, nothing in memory."""
    if store.status != NOT_OWNED:
        raise IllegalEvent(
            f"{event!r}: the broker is the leader already, the partition is {store.status}; Resign comes first"
        )
    return replace(_forgotten(store), status=LOADING)


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
    return replace(store, status=status, groups=logged_groups(read), read_count=len(read))


def load_buffer(settings: Settings, store: Store, event: LoadBuffer) -> Store:
    """The store after one read of the log, as `load`.

    In the simulator each entry is a batch of its own, in format 2.
    """
    size_bytes = 0
    for count, entry in enumerate(store.log[store.read_count :]):
        size_bytes += entry_bytes(entry)
        if size_bytes > settings.load_buffer_bytes:
            return load(settings, store, Load(max(1, count)))
    return load(settings, store, Load())


def entry_bytes(entry: Entry) -> int:
    """How many bytes an entry takes as a batch of its own.

    >>> entry_bytes(Entry(bytes.fromhex("0002000a746573742d67726f7570"), None))
    82
    """
    if entry.marker is not None:
        return MARKER_BYTES
    return BATCH_HEADER_BYTES + record_bytes(length_of(entry.key), length_of(entry.value))


def logged_groups(log: Sequence[Entry]) -> tuple[Group, ...]:
    """The groups that the committed entries of a log describe; an entry without a key describes none."""
    return replay((entry.key, entry.value) for entry in committed_entries(log) if entry.key is not None).groups


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
        return replace(store, status=FAILED, groups=())
    groups: tuple[Group, ...] = ()
    if not at_least("0.10.1", settings.release):
        good = read[: next(index for index, entry in enumerate(read) if _breaks_the_load(settings, entry))]
        groups = tuple(Group(each.group_id, offsets=each.offsets) for each in logged_groups(good) if each.offsets)
    return replace(store, status=OWNED, groups=groups, read_count=len(store.log))
