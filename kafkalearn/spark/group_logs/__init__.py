"""What the logs of coordinators say about their groups: rebalances, how long each lasted, and why."""

from kafkalearn.spark.group_logs.rows import log_rows
from kafkalearn.spark.group_logs.standstill import (
    EVENT_SCHEMA,
    rebalances,
    standstill_by_cause,
    standstill_by_group,
)

__all__ = ["EVENT_SCHEMA", "log_rows", "rebalances", "standstill_by_cause", "standstill_by_group"]
