"""What an x-ray finds that needs a person: a kind, a place, and a sentence."""

from __future__ import annotations

from dataclasses import dataclass

DAMAGE = "damage"
TORN_TAIL = "torn tail"
UNREADABLE = "unreadable"
CHECKPOINT = "checkpoint"
EPOCH = "leader epochs"
COPIES = "copies differ"
OPEN_TRANSACTION = "open transaction"
FUTURE = "timestamp from the future"
CENTURY = "timestamp of another century"
NOT_CLEANED = "not cleaned"
NOT_SHRINKING = "does not shrink"
NOT_DELETED = "not deleted"
OVERDUE = "transaction is overdue"
RECORDS = "records that cannot be read"

KINDS = (
    UNREADABLE, DAMAGE, CHECKPOINT, EPOCH, COPIES, NOT_CLEANED, NOT_SHRINKING, OPEN_TRANSACTION, OVERDUE,
    NOT_DELETED, FUTURE, CENTURY, RECORDS, TORN_TAIL,
)  # fmt: skip
"""The kinds, in the order in which an answer has them: what may have lost records first."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One of them."""

    kind: str  # a name in `KINDS`
    where: str  # a partition, with its log dir if there are copies
    words: str

    @property
    def rank(self) -> tuple[int, str]:
        """Where it stands among others."""
        return KINDS.index(self.kind), self.where
