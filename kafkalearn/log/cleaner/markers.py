"""Transactions as the cleaner sees them: which batches are aborted, and which markers still have any in front.

The cleaner walks through batches in order. Data of an aborted transaction goes whatever its keys say. A marker may
go only when no batch of its transaction was met before it, and then like a tombstone: it gets a horizon first.
"""

from __future__ import annotations

from kafkalearn.log.model import Batch, Log, Transaction


class TransactionWalk:
    """What is known of transactions at a place in the log."""

    def __init__(self, log: Log, start: int, end: int) -> None:
        """At the first batch of the segment at `start`, on a walk to `end`.

        Aborted transactions are known by their markers: one that ended before `start` is over, and one that ended
        below the log start offset is forgotten, so that its batches are judged by their keys.
        """
        first = max(start, log.log_start_offset)
        aborted = (each for each in log.transactions if each.is_aborted)
        known = (each for each in aborted if each.last_offset >= first and each.first_offset < end)
        self._waiting = sorted(known, key=lambda each: each.first_offset)
        self._aborted: dict[int, Transaction] = {}  # by producer id, begun and not ended here
        self._met: set[Transaction] = set()  # aborted, with a batch that was met
        self._committed: set[int] = set()  # producers of which an undecided or committed batch was met

    def is_discarded(self, batch: Batch) -> bool:
        """Whether the batch may go for the sake of its transaction: aborted data, or a marker without any data left.

        References
        ----------
        Apache Kafka, ``CleanedTransactionMetadata``.
        """
        while self._waiting and self._waiting[0].first_offset <= batch.last_offset:
            begun = self._waiting.pop(0)
            self._aborted.setdefault(begun.producer_id, begun)
        if batch.marker is not None:
            return self._end(batch)
        if not batch.is_transactional:
            return False
        if batch.producer_id in self._aborted:
            self._met.add(self._aborted[batch.producer_id])
            return True
        self._committed.add(batch.producer_id)
        return False

    def _end(self, marker: Batch) -> bool:
        if not marker.records:
            return True  # cleaned before and kept empty for its producer's sake
        if marker.marker == "ABORT":
            return self._aborted.pop(marker.producer_id, None) not in self._met
        was_met = marker.producer_id in self._committed
        self._committed.discard(marker.producer_id)
        return not was_met

    @property
    def met(self) -> frozenset[Transaction]:
        """The aborted transactions of which a batch was met, and which the log must go on knowing."""
        return frozenset(self._met)
