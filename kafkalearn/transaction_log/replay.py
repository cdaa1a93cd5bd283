"""Every transactional id and how its last transaction stands, from the records of ``__transaction_state``.

As for groups, the last value of each key is all that counts. The coordinator ends a transaction that is open for longer
than its time-out, and forgets a transactional id that did nothing for ``transactional.id.expiration.ms``, unless a
transaction of it is open or ending.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from kafkalearn.arguments import iterable
from kafkalearn.offsets.pairs import Pair, key_values
from kafkalearn.segments.files import Segment
from kafkalearn.segments.records import Record
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.transaction_log.codec import decode_key, decode_value
from kafkalearn.wire.reader import Undecodable

EMPTY, ONGOING, DEAD = "Empty", "Ongoing", "Dead"
PREPARE_COMMIT, PREPARE_ABORT = "PrepareCommit", "PrepareAbort"
COMPLETE_COMMIT, COMPLETE_ABORT = "CompleteCommit", "CompleteAbort"

STATES: MappingProxyType[int, str] = MappingProxyType(
    dict(
        enumerate(
            (
                EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT, DEAD,
                "PrepareEpochFence",
            )
        )
    )
)  # fmt: skip
"""The states of a transaction by the number in a value. The last one is only ever in memory."""

MAY_EXPIRE = (EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT)
EXPIRATION_MS = 7 * 86_400_000  # transactional.id.expiration.ms, the default of every release


@dataclass(frozen=True, slots=True)
class TransactionalId:
    """What the coordinator knows of one transactional id."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    state: str  # a name in `STATES`, or "unknown state N"
    partitions: tuple[TopicPartition, ...]  # with data or offsets of the transaction; none once it is over
    timeout_ms: int
    updated_ms: int
    started_ms: int | None  # None: no transaction was begun yet

    @property
    def is_open(self) -> bool:
        """Whether a transaction is going on, or its markers are being written."""
        return self.state not in (*MAY_EXPIRE, DEAD)

    def is_overdue(self, now_ms: int) -> bool:
        """Whether the coordinator should have ended the transaction already."""
        return self.state == ONGOING and self.started_ms is not None and now_ms > self.started_ms + self.timeout_ms

    def expires_ms(self, expiration_ms: int = EXPIRATION_MS) -> int | None:
        """When the coordinator forgets it, if nothing happens; None: it does not, as long as it is in this state."""
        return self.updated_ms + expiration_ms if self.state in MAY_EXPIRE else None


@dataclass(frozen=True, slots=True)
class ReplayedTransactions:
    """What a set of records says."""

    ids: tuple[TransactionalId, ...]  # sorted
    problems: tuple[str, ...]  # records that could not be read, each with the reason


def replay(records: Iterable[Pair | Record | Segment]) -> ReplayedTransactions:
    """The transactional ids that some records of ``__transaction_state`` describe.

    Parameters
    ----------
    records : iterable of (bytes, bytes or None), of Record, or of Segment
        Keys and values in the order of their offsets; of segments the records that count.

    Returns
    -------
    ReplayedTransactions
        A record that cannot be decoded is left out and named in ``problems``; what came before it for its key counts.

    Examples
    --------
    >>> from kafkalearn.transaction_log.codec import encode_key, encode_value
    >>> value = {"producerId": 7, "producerEpoch": 0, "transactionTimeoutMs": 60000, "transactionStatus": 1,
    ...     "transactionPartitions": [{"topic": "orders", "partitionIds": [0]}],
    ...     "transactionLastUpdateTimestampMs": 2000, "transactionStartTimestampMs": 1000}
    >>> (billing,) = replay([(encode_key("billing"), encode_value(0, value))]).ids
    >>> billing.state, billing.is_overdue(61_000), billing.is_overdue(61_001)
    ('Ongoing', False, True)

    References
    ----------
    Apache Kafka, ``TransactionStateManager.loadTransactionMetadata``, ``shouldExpire`` and
    ``timedOutTransactions``; ``TransactionState`` for the numbers.
    """
    known: dict[str, TransactionalId] = {}
    problems: list[str] = []
    for key, value in key_values(iterable("records", records, of="(key, value), of records or of segments")):
        try:
            if key is None:
                problems.append("TransactionLogKey: it is null; every record of the topic has one")
                continue
            transactional_id = decode_key(key)
            _, fields = decode_value(value)
        except Undecodable as error:
            problems.append(str(error))
            continue
        if fields is None:
            known.pop(transactional_id, None)
        else:
            known[transactional_id] = _of(transactional_id, fields)
    return ReplayedTransactions(tuple(known[each] for each in sorted(known)), tuple(problems))


def _of(transactional_id: str, fields: Mapping[str, Any]) -> TransactionalId:  # what each holds, the layout says
    number, started_ms = fields["transactionStatus"], fields["transactionStartTimestampMs"]
    return TransactionalId(
        transactional_id,
        fields["producerId"],
        fields["producerEpoch"],
        STATES.get(number, f"unknown state {number}"),
        tuple(
            TopicPartition(each["topic"], partition)
            for each in fields["transactionPartitions"] or ()
            for partition in each["partitionIds"]
        ),
        fields["transactionTimeoutMs"],
        fields["transactionLastUpdateTimestampMs"],
        started_ms if started_ms >= 0 else None,
    )
