"""What the members of groups read of a topic, and how far they lag behind.

A topic with partitions, records in it, and groups that read it. *Between* groups it is publish and subscribe: each
group reads every record, whatever the others do. *Inside* a group it is a queue: a partition belongs to one member, so
each record is read by one of them. Records of a partition are read in their order; between partitions there is none.

A simulator: `State` is the topic and its groups, `Produce`, `Join`, `Leave` and `Poll` are the events, `step` is the
rule. `lags` is how far a group is behind, `describe_group` prints it as ``kafka-consumer-groups --describe`` does.

Simpler than a real consumer: a poll commits at once what it read, so nothing is lost or read twice when a member goes
(`kafkalearn.commits` is about that); a rebalance takes no time (`kafkalearn.group` is about that).
"""

from kafkalearn.consuming.describe import DescribedPartition, describe_group, describe_warning, lag_columns
from kafkalearn.consuming.lag import PartitionLag, commit_rows, described, lags, lags_by_member, total_lag
from kafkalearn.consuming.model import (
    ConsumingEvent,
    Group,
    Join,
    Leave,
    Poll,
    Produce,
    Reading,
    Record,
    Settings,
    State,
    start,
)
from kafkalearn.consuming.order import Overtaking, overtakings
from kafkalearn.consuming.simulator import check, drain, records_read, step

__all__ = [
    "ConsumingEvent",
    "DescribedPartition",
    "Group",
    "Join",
    "Leave",
    "Overtaking",
    "PartitionLag",
    "Poll",
    "Produce",
    "Reading",
    "Record",
    "Settings",
    "State",
    "check",
    "commit_rows",
    "describe_group",
    "describe_warning",
    "described",
    "drain",
    "lag_columns",
    "lags",
    "lags_by_member",
    "overtakings",
    "records_read",
    "start",
    "step",
    "total_lag",
]
