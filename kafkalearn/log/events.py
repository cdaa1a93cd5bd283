"""What may happen to a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import one_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Millis, Whole, check_fields
from kafkalearn.log.sequences import LAST_SEQUENCE, NO_PRODUCER
from kafkalearn.segments.compression import CODECS
from kafkalearn.segments.sizes import BATCH_HEADER_BYTES, Text, batch_bytes

ProducerId: TypeAlias = Annotated[int, Whole(NO_PRODUCER)]
ProducerEpoch: TypeAlias = Annotated[int, Whole(-1, 2**15 - 1)]
Stamped: TypeAlias = Annotated[int, Whole(-1)]  # milliseconds in a record; -1: it has none


@dataclass(frozen=True, slots=True)
class NewBatch(Checked):
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

    records: tuple[tuple[Text | None, Text | None, Stamped], ...]
    size_bytes: Count | None = None
    producer_id: ProducerId = NO_PRODUCER
    producer_epoch: ProducerEpoch | None = None
    base_sequence: Annotated[int, Whole(-1, LAST_SEQUENCE)] | None = None
    is_transactional: bool = False
    codec: str = "none"

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        check_fields(self)
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
            if value == -1:
                raise KafkaLearnError(f"{name} must be at least 0, got -1; leave it out for the next one")

    def _refuse_size(self) -> None:
        one_of("codec", self.codec, CODECS)
        if self.codec != "none":
            if self.size_bytes is None:
                raise KafkaLearnError(f"how well {self.codec} packs these records is not known here: give size_bytes")
            Whole(BATCH_HEADER_BYTES + 1)("size_bytes", self.size_bytes)
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
class Append(Checked):
    """Produce requests, each with one batch; the broker's clock decides which records are from the future."""

    batches: tuple[NewBatch, ...]
    now_ms: Millis | None = None  # None: the largest timestamp of each batch, so that none is from the future

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        check_fields(self)
        if not self.batches:
            raise KafkaLearnError("an append has at least one batch; give it as Append((NewBatch(...),))")


@dataclass(frozen=True, slots=True)
class EndTransaction(Checked):
    """The transaction coordinator writes the marker that ends a producer's transaction."""

    producer_id: ProducerId
    is_commit: bool
    timestamp_ms: Stamped
    producer_epoch: ProducerEpoch = 0


@dataclass(frozen=True, slots=True)
class ProducerExpired(Checked):
    """The broker forgets a producer that has not written for ``producer.id.expiration.ms``."""

    producer_id: ProducerId


@dataclass(frozen=True, slots=True)
class Roll(Checked):
    """The active segment is closed and a new one opened."""

    now_ms: Millis | None = None


@dataclass(frozen=True, slots=True)
class SetHighWatermark(Checked):
    """The high watermark stays at this offset until it is set again; None: it follows the log end offset again."""

    offset: int | None


@dataclass(frozen=True, slots=True)
class MoveLogStart(Checked):
    """The log start offset moves up, as after a DeleteRecords request, but not beyond the high watermark."""

    offset: int  # -1: the high watermark


@dataclass(frozen=True, slots=True)
class Clean(Checked):
    """A cleaner thread looks at the log; if forced, the dirty ratio and the policy do not matter."""

    now_ms: Millis
    is_forced: bool = False


@dataclass(frozen=True, slots=True)
class Retain(Checked):
    """The broker looks for old segments and deletes them."""

    now_ms: Millis


@dataclass(frozen=True, slots=True)
class CleanerRound(Checked):
    """A cleaner thread's whole round: clean if the log is eligible, then look for old segments."""

    now_ms: Millis


@dataclass(frozen=True, slots=True)
class CleanerFailed(Checked):
    """The cleaner met an exception that it did not expect."""

    reason: str = "corrupt batch"
    is_java_error: bool = False  # out of memory, for example: it ends the thread in every release


@dataclass(frozen=True, slots=True)
class Restart(Checked):
    """The broker is restarted."""


@dataclass(frozen=True, slots=True)
class ReplaceCleanerThreads(Checked):
    """``log.cleaner.threads`` is changed while the broker runs (1.1)."""


LogEvent: TypeAlias = (
    Append | EndTransaction | ProducerExpired | Roll | SetHighWatermark | MoveLogStart
    | Clean | Retain | CleanerRound | CleanerFailed | Restart | ReplaceCleanerThreads
)  # fmt: skip
