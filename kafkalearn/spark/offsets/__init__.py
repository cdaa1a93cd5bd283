"""Raw records of ``__consumer_offsets`` on Spark: decoded, from segment files, and as the state of every group."""

from kafkalearn.spark.offsets.decode import decode_offsets
from kafkalearn.spark.offsets.printing import group_findings
from kafkalearn.spark.offsets.state import (
    commits_per_second,
    dead_groups,
    group_members,
    group_states,
    lag_of,
    latest_state,
)

__all__ = [
    "commits_per_second",
    "dead_groups",
    "decode_offsets",
    "group_findings",
    "group_members",
    "group_states",
    "lag_of",
    "latest_state",
]
