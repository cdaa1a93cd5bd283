"""A partition and the consumers that wait for it, at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafkalearn.purgatory.requests.effects import RequestEffect
from kafkalearn.purgatory.requests.events import ConsumerFetch
from kafkalearn.purgatory.requests.settings import Settings
from kafkalearn.replication.state import Partition
from kafkalearn.replication.state import start as start_partition


@dataclass(frozen=True, slots=True)
class WaitingConsumer:
    """A consumer's fetch on the leader."""

    fetch: ConsumerFetch
    deadline_ms: int
    number: int  # in the order they came


@dataclass(frozen=True, slots=True)
class WaitingDelete:
    """A request to delete records on the leader, which has deleted them already."""

    request: int
    required_offset: int  # the low watermark that answers it
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Broker:
    """The partition with those who wait for it; `effects` are what the last event led to, in order."""

    partition: Partition
    record_bytes: tuple[int, ...] = ()  # by offset, from 0
    consumers: tuple[WaitingConsumer, ...] = ()
    fetch_count: int = 0
    deletes: tuple[WaitingDelete, ...] = ()
    delete_count: int = 0
    effects: tuple[RequestEffect, ...] = field(default=(), compare=False)

    def committed_bytes(self, offset: int) -> int:
        """The bytes of the records from an offset to the high watermark."""
        return sum(self.record_bytes[offset : self.partition.high_watermark or 0])

    @property
    def low_watermark(self) -> int | None:
        """The smallest log start of the live replicas, as the leader knows them from their fetches; None: no leader.

        References
        ----------
        Apache Kafka 4.3, ``Partition.lowWatermarkIfLeader``.
        """
        leader = self.partition.leader
        if leader is None:
            return None
        fenced = self.partition.controller.fenced
        followers = ((number, remote) for number, remote in enumerate(leader.remotes, start=1) if remote is not None)
        starts = (remote.log_start_offset for number, remote in followers if number not in fenced)
        return min([leader.log.log_start_offset, *starts])


def start(settings: Settings) -> Broker:
    """A new partition, and nobody waits.

    >>> start(Settings(replica_count=2)).consumers
    ()
    """
    return Broker(start_partition(settings))
