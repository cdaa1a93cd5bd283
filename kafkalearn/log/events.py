"""What may happen to a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.arguments import whole_number
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.log.sequences import LAST_SEQUENCE, NO_PRODUCER
from kafkalearn.segments.compression import CODECS
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES, Text, batch_bytes


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch as a producer sends it: records are key, value and timestamp in milliseconds.

    A compressed batch has a `codec` and the size it really has: segments, the dirty ratio, retention and
    ``max.message.bytes`` all count compressed bytes. The broker keeps it as it came (``compression.type=producer``).
    The cleaner compresses what is left of a batch again. How many bytes that takes only the codec knows: the size here
    is in proportion to the uncompressed bytes that are left. A batch that is not rewritten keeps its exact size.

    Parameters
    ----------
    records : tuple of (key, value, timestamp in milliseconds)
        At least one.
    size_bytes : int or None
        None: what such a batch takes without compression. More than that: with headers of records.
    producer_id, producer_epoch, base_sequence : int or None
        Of an idempotent producer. An epoch of None is the one that the log knows, or 0; a sequence of None the next.
    is_transactional : bool
        Whether it is part of the producer's transaction.
    codec : str
        A name in `kafkalearn.segments.compression.CODECS`.

    Raises
    ------
    KafkaLearnError
        If no producer sends such a batch, or no batch has that size.
    """

    records: tuple[tuple[Text | None, Text | None, int], ...]
    size_bytes: int | None = None
    producer_id: int = NO_PRODUCER
    producer_epoch: int | None = None
    base_sequence: int | None = None
    is_transactional: bool = False
    codec: str = "none"

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        if not self.records:
            raise KafkaLearnError("a batch has at least one record; give (key, value, timestamp_ms) for each")
        self._refuse_stamp()
        self._refuse_size()

    def _refuse_stamp(self) -> None:
        stamp = {"producer_epoch": self.producer_epoch, "base_sequence": self.base_sequence}
        if self.producer_id < 0:
            if self.is_transactional:
                raise KafkaLearnError("a transaction has a producer id; give producer_id")
            if not {*stamp.values()} <= {None, -1}:
                raise KafkaLearnError("without a producer id a batch has no epoch and no sequence; give producer_id")
            return
        for name, value in stamp.items():
            if value is not None:
                whole_number(name, value, at_least=0)
        if self.base_sequence is not None and self.base_sequence > LAST_SEQUENCE:
            raise KafkaLearnError(f"sequence numbers end at {LAST_SEQUENCE}, got {self.base_sequence}")

    def _refuse_size(self) -> None:
        if self.codec not in CODECS:
            raise unknown_name("codec", self.codec, CODECS)
        if self.codec != "none":
            if self.size_bytes is None:
                raise KafkaLearnError(f"how well {self.codec} packs these records is not known here: give size_bytes")
            whole_number("size_bytes", self.size_bytes, at_least=BATCH_HEADER_BYTES + 1)
        elif self.size_bytes is not None and self.size_bytes < self.uncompressed_bytes:
            raise KafkaLearnError(
                f"these records take {self.uncompressed_bytes} bytes uncompressed, got size_bytes={self.size_bytes}; "
                "if they are compressed, name the codec"
            )

    @property
    def uncompressed_bytes(self) -> int:
        """What the batch takes without compression, and without headers of records."""
        rows = ((index, at_ms, key, value) for index, (key, value, at_ms) in enumerate(self.records))
        return batch_bytes(0, self.records[0][2], rows)


@dataclass(frozen=True, slots=True)
class Append:
    """Produce requests, each with one batch; the broker's clock decides which records are from the future."""

    batches: tuple[NewBatch, ...]
    now_ms: int | None = None  # None: the largest timestamp of each batch, so that none is from the future

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        if not self.batches:
            raise KafkaLearnError("an append has at least one batch; give it as Append((NewBatch(...),))")


@dataclass(frozen=True, slots=True)
class EndTransaction:
    """The transaction coordinator writes the marker that ends a producer's transaction."""

    producer_id: int
    is_commit: bool
    timestamp_ms: int
    producer_epoch: int = 0


@dataclass(frozen=True, slots=True)
class ProducerExpired:
    """The broker forgets a producer that has not written for ``producer.id.expiration.ms``."""

    producer_id: int


@dataclass(frozen=True, slots=True)
class Roll:
    """The active segment is closed and a new one opened."""

    now_ms: int | None = None


@dataclass(frozen=True, slots=True)
class SetHighWatermark:
    """The high watermark stays at this offset until it is set again; None: it follows the log end offset again."""

    offset: int | None


@dataclass(frozen=True, slots=True)
class MoveLogStart:
    """The log start offset moves up, as after a DeleteRecords request, but not beyond the high watermark."""

    offset: int  # -1: the high watermark


@dataclass(frozen=True, slots=True)
class Clean:
    """A cleaner thread looks at the log; if forced, the dirty ratio and the policy do not matter."""

    now_ms: int
    is_forced: bool = False


@dataclass(frozen=True, slots=True)
class Retain:
    """The broker looks for old segments and deletes them."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class CleanerRound:
    """A cleaner thread's whole round: clean if the log is eligible, then look for old segments."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class CleanerFailed:
    """The cleaner met an exception that it did not expect."""

    reason: str = "corrupt batch"
    is_java_error: bool = False  # out of memory, for example: it ends the thread in every release


@dataclass(frozen=True, slots=True)
class Restart:
    """The broker is restarted."""


@dataclass(frozen=True, slots=True)
class ReplaceCleanerThreads:
    """``log.cleaner.threads`` is changed while the broker runs (1.1)."""


LogEvent: TypeAlias = (
    Append | EndTransaction | ProducerExpired | Roll | SetHighWatermark | MoveLogStart
    | Clean | Retain | CleanerRound | CleanerFailed | Restart | ReplaceCleanerThreads
)  # fmt: skip
