"""What happens to a partition and those who wait for it: all that happens in replication, and fetches of consumers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.fields import Checked, Offset, Whole
from kafkalearn.replication.events import Produce, ReplicationEvent, RequestMillis

RECORD_BYTES = 100


@dataclass(frozen=True, slots=True)
class ConsumerFetch(Checked):
    """A consumer asks the leader for committed records, and is ready to wait."""

    name: str
    offset: Offset
    min_bytes: Annotated[int, Whole(0, LARGEST_INT)] = 1  # fetch.min.bytes
    max_wait_ms: RequestMillis = 500  # fetch.max.wait.ms


@dataclass(frozen=True, slots=True)
class SizedProduce(Checked):
    """A `Produce` whose records have `record_bytes` each."""

    produce: Produce
    record_bytes: Annotated[int, Whole(1, LARGEST_INT)] = RECORD_BYTES


@dataclass(frozen=True, slots=True)
class DelayedDelete(Checked):
    """An administrator deletes the records below an offset; the answer waits until all live replicas have done so."""

    before_offset: int  # -1: the high watermark
    timeout_ms: RequestMillis = 30_000


RequestEvent: TypeAlias = ConsumerFetch | SizedProduce | DelayedDelete | ReplicationEvent
