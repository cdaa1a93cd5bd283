"""LEO, HW and ISR from the fetch logs of a whole cluster, and one partition of them played again."""

from kafkalearn.spark.replication.marks import high_watermarks, isr_changes, lag_counts, remote_ends
from kafkalearn.spark.replication.replay import marks_at, replayed

__all__ = [
    "high_watermarks",
    "isr_changes",
    "lag_counts",
    "marks_at",
    "remote_ends",
    "replayed",
]
