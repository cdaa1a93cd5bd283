"""Where a record lands: with a key and without, in batches, and what another number of partitions changes.

- `partition_for_key`: the partition of a keyed record, by the rule of each client (`PARTITIONERS`).
- `kafkalearn.partitioning.keyless`: a record without a key, by Kafka release; a simulator.
- `evenness` and `load_by_broker`: how even counts are, and what chance has to do with it.
- `moved_share`: the share of keys that move when the number of partitions changes.
"""

from kafkalearn.partitioning.keyed import PARTITIONERS, moved_share, partition_for_key
from kafkalearn.partitioning.skew import evenness, load_by_broker

__all__ = ["PARTITIONERS", "evenness", "load_by_broker", "moved_share", "partition_for_key"]
