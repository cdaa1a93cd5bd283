"""The fetch pipeline of the old consumer: how a record comes from a broker to the application, through four layers.

Fetcher threads, one for each broker and fetcher id, ask a broker for all their partitions at once. What comes back of
one partition is a chunk. It goes into the queue of the stream that owns the partition, by way of the partition's info,
which knows how far has been fetched and how far consumed. The stream's iterator takes chunk by chunk, record by
record. A queue is bounded: where it is full, the fetcher waits, and all that it serves waits with it.

`Pipeline` is the state. Events are what threads do (`FindLeaders`, `Fetch`), what the application does (`Next`), what
the connector does (`StartConnections`, `StopConnections`, `Shutdown`, `CommitOffsets`), and what happens to brokers.

>>> owns = StartConnections([Assigned("orders", 0, offset=0)])
>>> trace = simulate(Settings(), [Append("orders", 0, count=3), owns, FindLeaders(), Fetch(1), Next()])
>>> for frame in trace[3:]:
...     print(*(type(effect).__name__ for effect in frame.state.effects))
FetcherStarted PartitionAdded
Enqueued
Read
"""

from kafkalearn.zookeeper.fetching.cluster import (
    Append,
    Assigned,
    BrokerCrashed,
    BrokerStarted,
    CommitOffsets,
    Fetch,
    FindLeaders,
    LeaderMoved,
    LogTruncated,
    Next,
    RecordsDeleted,
    Shutdown,
    StartConnections,
    StopConnections,
)
from kafkalearn.zookeeper.fetching.model import Settings, start
from kafkalearn.zookeeper.fetching.simulator import INVARIANTS, PROMISES, broken, check, simulate, step
from kafkalearn.zookeeper.fetching.threads import fetcher_id

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "Append",
    "Assigned",
    "BrokerCrashed",
    "BrokerStarted",
    "CommitOffsets",
    "Fetch",
    "FindLeaders",
    "LeaderMoved",
    "LogTruncated",
    "Next",
    "RecordsDeleted",
    "Settings",
    "Shutdown",
    "StartConnections",
    "StopConnections",
    "broken",
    "check",
    "fetcher_id",
    "simulate",
    "start",
    "step",
]
