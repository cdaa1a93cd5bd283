"""What the settings of the topic itself change: where a group is, what the cleaner may clean, how large a batch is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from kafkalearn.coordinator.rule import offsets_partition
from kafkalearn.log import Append, Clean, NewBatch, Settings, simulate
from kafkalearn.offsets.records.codec import encode_key, encode_value
from kafkalearn.phrases import counted

BATCH_BYTES: Mapping[int, int] = MappingProxyType({0: 7397, 1: 925, 2: 1553, 3: 1556, 4: 587})
"""By codec: how large a broker of 4.3.1 wrote a commit of `billing` for 100 partitions of `orders`, with topic ids."""


def partition_of_billing(partition_count: int) -> str:
    """The partition of the offsets topic that billing belongs to."""
    return f"partition {offsets_partition('billing', partition_count)}"


def cleaned(segment_bytes: int) -> str:
    """How many of 500 commits for one partition are left when the cleaner has run."""
    key = encode_key(1, {"group": "billing", "topic": "orders", "partition": 0})
    value = encode_value(1, 4, {"offset": 7, "metadata": "", "commitTimestamp": 0})
    settings = Settings("compact", segment_bytes=segment_bytes, min_cleanable_dirty_ratio=0.0)
    events = [Append((NewBatch(((key, value, at_ms),)),)) for at_ms in range(500)]
    log = simulate(settings, [*events, Clean(1000)])[-1].state
    left = sum(len(batch.records) for segment in log.segments for batch in segment.batches)
    return f"{counted(len(log.segments), 'segment')}, {counted(left, 'record')} left"


def created_on_two_brokers(replication_factor: int) -> str:
    """What the first group is answered while two brokers live, since 0.11 (KIP-115): all replicas, or no topic."""
    if replication_factor > 2:
        return "no topic is created; COORDINATOR_NOT_AVAILABLE"
    return f"the topic, with {counted(replication_factor, 'replica')}"


def batch_of_100_partitions(codec: int) -> str:
    """How large the batch of one commit for 100 partitions is."""
    return counted(BATCH_BYTES[codec], "byte")
