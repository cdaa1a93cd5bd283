"""The old consumer's fetch pipeline: a full queue, a blocked leader finder, resets, large records, a rebalance."""

from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    BrokerCrashed,
    BrokerRestarted,
    CommitOffsets,
    Fetch,
    FindLeaders,
    LeaderMoved,
    LogTruncated,
    Next,
    RecordsDeleted,
    Settings,
    Shutdown,
    StartConnections,
    StopConnections,
)
from tests.contract.simulator import Run, Simulator

OWNS = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, -1)])
BLOCKED = (Append("orders", 0, 9), OWNS, FindLeaders(), *[Fetch(1)] * 3)
MOVED = (*BLOCKED, BrokerCrashed(2), Fetch(2), LeaderMoved("orders", 1, 1), FindLeaders(), Next(0), Next(1))
RESET = (*BLOCKED, RecordsDeleted("orders", 0, 8), Next(0), Fetch(1), Next(0), Fetch(1), *[Next(0)] * 4)

SIMULATOR = Simulator(
    home="kafkalearn.zookeeper.fetching",
    runs=(
        Run(Settings(stream_count=2, fetch_message_max_bytes=100), (*MOVED, BrokerRestarted(2))),
        Run(Settings(stream_count=2, fetch_message_max_bytes=100, auto_offset_reset="smallest"), RESET),
        Run(Settings(stream_count=2, fetch_message_max_bytes=50, release="0.9.0"), (*BLOCKED[:4], Next(0), Next(0))),
        Run(
            Settings(stream_count=2, consumer_timeout_ms=10),
            (
                *BLOCKED[:4],
                Next(0),
                Next(1),
                LogTruncated("orders", 0, 3),
                Fetch(1),
                CommitOffsets(),
                StopConnections(),
            ),
        ),
        Run(Settings(stream_count=2), (*BLOCKED[:4], Next(0), Shutdown(), *[Next(0)] * 9)),
    ),
    senseless=(FindLeaders(), Fetch(1), Next(9), BrokerRestarted(1), LeaderMoved("orders", 7, 1), Append("mail", 0)),
)
