"""Transactions as the cleaner sees them: which batches are aborted, and which markers still have data before them.

The cleaner reads batches in order. Data of an aborted transaction goes, whatever its keys are. A marker may go only
if no batch of its transaction was read before it, and then like a tombstone: it gets a delete horizon first.
"""

from __future__ import annotations

from kafkalearn.log.state import Batch, Log, Transaction


class CleanedTransactions:
    """What the cleaner knows of transactions while it reads batches in order."""

    def __init__(self, log: Log, start: int, end: int) -> None:
        """Begin before the first batch of the segment at `start`, to read as far as `end`.

        Aborted transactions are known by their markers: one that ended before `start` is over, and one that ended
        below the log start offset is forgotten, so that its batches are kept or removed by their keys.
        """
        first = max(start, log.log_start_offset)
        ends = ((each, each.last_offset) for each in log.transactions if each.is_aborted)
        known = (each for each, last in ends if last is not None and last >= first and each.first_offset < end)
        self._waiting = sorted(known, key=lambda each: each.first_offset)
        self._aborted: dict[int, Transaction] = {}  # by producer id, begun and not ended here
        self._with_data: set[Transaction] = set()  # aborted, with a batch that was read
        self._committed: set[int] = set()  # producers of which an undecided or committed batch was read

    def read(self, batch: Batch) -> bool:
        """Read the next batch, and answer whether it may go: aborted data, or a marker without data left.

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
            self._with_data.add(self._aborted[batch.producer_id])
            return True
        self._committed.add(batch.producer_id)
        return False

    def _end(self, marker: Batch) -> bool:
        if not marker.records:
            return True  # cleaned before, and kept empty because its producer is live
        if marker.marker == "ABORT":
            return self._aborted.pop(marker.producer_id, None) not in self._with_data
        has_data = marker.producer_id in self._committed
        self._committed.discard(marker.producer_id)
        return not has_data

    @property
    def with_data(self) -> frozenset[Transaction]:
        """The aborted transactions of which a batch was read: the log must still know them."""
        return frozenset(self._with_data)
