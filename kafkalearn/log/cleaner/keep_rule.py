"""The keep rule: which records a cleaning leaves in the log, and why.

A record stays if it lies behind what the offset map has seen, or is the last of its key. The last of a key that is a
*tombstone* stays for a while: since 3.1 the first cleaning that meets it writes a *delete horizon* into its batch,
and a later one that comes after the horizon drops it. Up to 3.0 the times of the segment files decided instead.
"""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.log.cleaner.offset_map import OffsetMap
from kafkalearn.log.model import Batch, Cleanable, Record, Verdict
from kafkalearn.log.settings import Settings

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
class Round:
    """What is the same for all records of one cleaning."""

    settings: Settings
    map: OffsetMap
    cleanable: Cleanable
    now_ms: int
    legacy_horizon_ms: int | None  # None: horizons are in the batches, as since 3.1


def batch_goes(round_: Round, batch: Batch, is_discarded: bool, is_young: bool) -> bool:
    """Whether all of a batch goes for the sake of its transaction; a marker has to wait like a tombstone.

    `is_discarded` is what `kafkalearn.log.cleaner.markers.TransactionWalk` says; `is_young` counts up to 3.0: the
    segment's file is younger than the horizon of the round.
    """
    if not is_discarded or batch.marker is None:
        return is_discarded
    if round_.legacy_horizon_ms is not None:
        return not is_young
    return batch.delete_horizon_ms is not None and batch.delete_horizon_ms <= round_.now_ms


def verdict(round_: Round, batch: Batch, record: Record, goes: bool, is_young: bool) -> Verdict:
    """Whether a record stays, and why; `goes` is what `batch_goes` says of its batch.

    References
    ----------
    Apache Kafka, ``Cleaner.shouldRetainRecord``. The offset decides, not the timestamp.
    """
    if batch.marker is not None:
        return Verdict(record.offset, not goes, MARKER_GONE if goes else MARKER)
    if goes:
        return Verdict(record.offset, False, ABORTED)
    if record.offset > round_.map.latest_offset:
        return Verdict(record.offset, True, BEHIND_THE_MAP)
    if record.key is None:
        return Verdict(record.offset, False, NO_KEY)
    newest = round_.map.offsets.get(record.key, -1)
    if newest > record.offset:
        return Verdict(record.offset, False, OVERTAKEN.format(newest))
    if record.value is not None:
        return Verdict(record.offset, True, LAST_OF_KEY)
    return _on_tombstone(round_, batch, record, is_young)


def _on_tombstone(round_: Round, batch: Batch, record: Record, is_young: bool) -> Verdict:
    if round_.legacy_horizon_ms is not None:
        return Verdict(record.offset, is_young, TOMBSTONE_YOUNG if is_young else TOMBSTONE_OLD)
    if batch.delete_horizon_ms is None:
        return Verdict(record.offset, True, TOMBSTONE_NEW)
    waits = round_.now_ms < batch.delete_horizon_ms
    return Verdict(record.offset, waits, TOMBSTONE_WAITS if waits else TOMBSTONE_GONE)
