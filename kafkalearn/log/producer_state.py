"""What a broker knows of producers and transactions once it has read the batches of a log, as after a crash.

References
----------
Apache Kafka 4.3, ``ProducerStateManager``, ``ProducerAppendInfo.append``, ``ProducerStateEntry``; KIP-98.
"""

from __future__ import annotations

from kafkalearn.log.sequences import EXPIRATION_MS, ProducerStateEntry, Stamp, is_forgotten, remember
from kafkalearn.log.state import Producer, Transaction
from kafkalearn.segments.batches import Batch
from kafkalearn.versions.releases import at_least

NO_EPOCH = -1
COMMIT, ABORT = "COMMIT", "ABORT"
EARLIER_EXPIRATION_MS = 7 * EXPIRATION_MS  # up to 3.3


class ProducerState:
    """What a broker remembers of producers and transactions when it has read batches in order."""

    def __init__(self, release: str) -> None:
        """Before the first batch; `release` is the broker's."""
        self.release = release
        self.entries: dict[int, ProducerStateEntry] = {}
        self.last_offsets: dict[int, int] = {}
        self.begun: dict[int, int] = {}  # producer id -> first offset of its open transaction
        self.ended: list[Transaction] = []

    def read(self, batch: Batch) -> None:
        """Read the next batch."""
        if batch.producer_id < 0:
            return
        entry = self.entries.get(batch.producer_id)
        if batch.is_control:
            self.entries[batch.producer_id] = self._after_marker(entry, batch)
            return
        count = batch.last_offset - batch.base_offset + 1
        stamp = Stamp(batch.producer_id, batch.producer_epoch, batch.base_sequence, count)
        self.entries[batch.producer_id] = remember(
            entry, stamp, batch.base_offset, batch.max_timestamp_ms, self.release
        )
        self.last_offsets[batch.producer_id] = batch.last_offset
        if batch.is_transactional:
            self.begun.setdefault(batch.producer_id, batch.base_offset)

    def _after_marker(self, entry: ProducerStateEntry | None, batch: Batch) -> ProducerStateEntry:
        """A marker ends the transaction and may raise the epoch; one that was emptied says nothing any more."""
        if not batch.records:
            return entry or ProducerStateEntry(NO_EPOCH, ())
        (marker, *_) = batch.records
        first = self.begun.pop(batch.producer_id, None)
        if first is not None:
            self.ended.append(Transaction(batch.producer_id, first, batch.base_offset, marker.control == ABORT))
        batches = entry.batches if entry is not None and entry.producer_epoch == batch.producer_epoch else ()
        return ProducerStateEntry(batch.producer_epoch, batches, marker.timestamp_ms)

    @property
    def transactions(self) -> tuple[Transaction, ...]:
        """Those that have ended and those that are open, as they began."""
        still_open = (Transaction(producer_id, first) for producer_id, first in self.begun.items())
        return tuple(sorted((*self.ended, *still_open), key=lambda each: each.first_offset))

    def producers(self, now_ms: int | None) -> tuple[Producer, ...]:
        """All producers, without those that were silent for too long and have no open transaction."""
        expiration_ms = EXPIRATION_MS if at_least("3.4", self.release) else EARLIER_EXPIRATION_MS
        return tuple(
            Producer(
                producer_id,
                entry.producer_epoch,
                self.last_offsets[producer_id] if entry.batches else None,
                entry.batches,
            )
            for producer_id, entry in sorted(self.entries.items())
            if now_ms is None or producer_id in self.begun or not is_forgotten(entry, now_ms, expiration_ms)
        )
