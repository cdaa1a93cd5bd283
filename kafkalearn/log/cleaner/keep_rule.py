"""The keep rule: which records a cleaning leaves in the log, and why.

A record stays if it lies behind what the offset map has seen, or is the last of its key. The last of a key that is a
*tombstone* stays for a while: since 3.1 the first cleaning that meets it writes a *delete horizon* into its batch,
and a later one that comes after the horizon drops it. Up to 3.0 the times of the segment files decided instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.log.cleaner.offset_map import OffsetMap
from kafkalearn.log.effects import Cleanable, Decision
from kafkalearn.log.settings import Settings
from kafkalearn.log.state import Batch, Log, Record
from kafkalearn.segments.sizes import bytes_of

BEHIND_THE_MAP = "behind what the map has seen"
LAST_OF_KEY = "last of its key"
TOMBSTONE_NEW = "tombstone, met for the first time"
TOMBSTONE_WAITS = "tombstone, its horizon is not reached"
TOMBSTONE_GONE = "tombstone, its horizon has passed"
TOMBSTONE_YOUNG = "tombstone, its segment is young"
TOMBSTONE_OLD = "tombstone, its segment is old"
OVERTAKEN = "overtaken by offset {}"
NO_KEY = "no key"
ABORTED = "of an aborted transaction"
MARKER = "marker of a transaction"
MARKER_GONE = "marker without a transaction, its horizon has passed"


@dataclass(frozen=True, slots=True)
class Cleaning:
    """What is the same for all records of one cleaning."""

    settings: Settings
    log: Log  # before it
    map: OffsetMap
    cleanable: Cleanable
    now_ms: int
    legacy_horizon_ms: int | None  # None: horizons are in the batches, as since 3.1


def discards_batch(cleaning: Cleaning, batch: Batch, may_go: bool, is_young: bool) -> bool:
    """Whether all of a batch goes because of its transaction; a marker has to wait like a tombstone.

    `may_go` comes from `kafkalearn.log.cleaner.markers.CleanedTransactions`; `is_young` counts up to 3.0: the
    segment's file is younger than the horizon of this cleaning.
    """
    if not may_go or batch.marker is None:
        return may_go
    if cleaning.legacy_horizon_ms is not None:
        return not is_young
    return batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= cleaning.now_ms


def decide(cleaning: Cleaning, batch: Batch, record: Record, is_discarded: bool, is_young: bool) -> Decision:
    """Whether a record stays, and why; `is_discarded` is the answer of `discards_batch`.

    References
    ----------
    Apache Kafka, ``Cleaner.shouldRetainRecord``. The offset decides, not the timestamp.
    """
    if batch.marker is not None:
        return Decision(record.offset, not is_discarded, MARKER_GONE if is_discarded else MARKER)
    if is_discarded:
        return Decision(record.offset, False, ABORTED)
    if record.offset > cleaning.map.latest_offset:
        return Decision(record.offset, True, BEHIND_THE_MAP)
    if record.key is None:
        return Decision(record.offset, False, NO_KEY)
    newest = cleaning.map.offsets.get(bytes_of(record.key), -1)
    if newest > record.offset:
        return Decision(record.offset, False, OVERTAKEN.format(newest))
    if record.value is not None:
        return Decision(record.offset, True, LAST_OF_KEY)
    return _decide_on_tombstone(cleaning, batch, record, is_young)


def _decide_on_tombstone(cleaning: Cleaning, batch: Batch, record: Record, is_young: bool) -> Decision:
    if cleaning.legacy_horizon_ms is not None:
        return Decision(record.offset, is_young, TOMBSTONE_YOUNG if is_young else TOMBSTONE_OLD)
    if batch.delete_horizon_ms is None:
        return Decision(record.offset, True, TOMBSTONE_NEW)
    waits = cleaning.now_ms < batch.delete_horizon_ms
    return Decision(record.offset, waits, TOMBSTONE_WAITS if waits else TOMBSTONE_GONE)
