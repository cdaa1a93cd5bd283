"""What happens to a partition and those who wait for it: all that happens in replication, and fetches of consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.replication.events import Produce, ReplicationEvent

RECORD_BYTES = 100


@dataclass(frozen=True, slots=True)
class ConsumerFetch:
    """A consumer asks the leader for committed records, and is ready to wait."""

    name: str
    offset: int
    min_bytes: int = 1  # fetch.min.bytes
    max_wait_ms: int = 500  # fetch.max.wait.ms


@dataclass(frozen=True, slots=True)
class SizedProduce:
    """A `Produce` whose records have `record_bytes` each."""

    produce: Produce
    record_bytes: int = RECORD_BYTES


RequestEvent: TypeAlias = ConsumerFetch | SizedProduce | ReplicationEvent
