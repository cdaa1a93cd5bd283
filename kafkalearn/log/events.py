"""What may happen to a log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.errors import KafkaLearnError
from kafkalearn.segments.sizes import Text


@dataclass(frozen=True, slots=True)
class NewBatch:
    """A batch as a producer sends it: records are key, value and timestamp in milliseconds."""

    records: tuple[tuple[Text | None, Text | None, int], ...]
    size_bytes: int | None = None  # None: what such a batch takes without compression
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False

    def __post_init__(self) -> None:
        """Refuse what no producer sends."""
        if not self.records:
            raise KafkaLearnError("a batch has at least one record; give (key, value, timestamp_ms) for each")


@dataclass(frozen=True, slots=True)
class Append:
    """Produce requests, each with one batch."""

    batches: tuple[NewBatch, ...]
    now_ms: int | None = None  # None: the largest timestamp of each batch

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
    """The log start offset moves up, as after a DeleteRecords request."""

    offset: int


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
