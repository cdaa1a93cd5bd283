"""What the members of groups read of a topic, and how far they lag behind.

A topic with partitions, records in it, and groups that read it. *Between* groups it is publish and subscribe: each
group reads every record, whatever the others do. *Inside* a group it is a queue: a partition belongs to one member, so
each record is read by one of them. Records of a partition are read in their order; between partitions there is none.

A simulator: the state is the `Topic` and its groups, `Produce`, `Join`, `Leave` and `Poll` are the events.
`simulate(settings, events)` is a run. `lags` is how far a group is behind, `describe_group` prints it as
``kafka-consumer-groups --describe`` does.

Simpler than a real consumer: a poll commits at once what it read, so nothing is lost or read twice when a member goes
(`kafkalearn.commits` is about that); a rebalance takes no time (`kafkalearn.scenarios` is about that).
"""

from kafkalearn.consuming.describe import DescribedPartition, describe_group
from kafkalearn.consuming.handovers import overtakings
from kafkalearn.consuming.lag import commit_rows, described, lags
from kafkalearn.consuming.simulator import (
    PROMISES,
    Join,
    Leave,
    Poll,
    Produce,
    Settings,
    Topic,
    broken,
    check,
    drain,
    reading_counts,
    records_read,
    simulate,
    start,
    step,
)

__all__ = [
    "PROMISES",
    "DescribedPartition",
    "Join",
    "Leave",
    "Poll",
    "Produce",
    "Settings",
    "Topic",
    "broken",
    "check",
    "commit_rows",
    "describe_group",
    "described",
    "drain",
    "lags",
    "overtakings",
    "reading_counts",
    "records_read",
    "simulate",
    "start",
    "step",
]
