"""Key -> partition on Spark, and what happens to keys when a topic gets more partitions."""

from kafkalearn.spark.partitioning.keyed import with_partition
from kafkalearn.spark.partitioning.resizing import moved_share_by_count, moves_by_key

__all__ = [
    "moved_share_by_count",
    "moves_by_key",
    "with_partition",
]
