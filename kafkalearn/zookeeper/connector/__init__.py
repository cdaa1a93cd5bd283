"""The old high-level consumer (up to 1.1): a group that agrees through ZooKeeper, with nobody in charge.

A simulator. What an application does is an event (`CreateMessageStreams`, `Read`, `Shutdown`, `Crash`), and so is each
turn of a consumer's threads: the event thread of ZooKeeper's client (`HandleEvent`), the watcher thread that listeners
wake (`WakeWatcher`), and whoever rebalances (`RebalanceStep`, one of eight). So a schedule says who is quicker.
`kafkalearn.zookeeper.schedules` plays the turns that nobody has to choose.
"""

from kafkalearn.zookeeper.connector.model import (
    BrokerStarted,
    BrokerStopped,
    CommitOffsets,
    Crash,
    CreateMessageStreams,
    HandleEvent,
    Ping,
    Produce,
    Read,
    RebalanceStep,
    Reconnect,
    SessionExpired,
    Settings,
    Shutdown,
    TimePassed,
    TopicCreated,
    TopicDeleted,
    TopicGrown,
    WaitForRecord,
    WakeWatcher,
    start,
)
from kafkalearn.zookeeper.connector.simulator import PROGRESS, PROMISES, broken, check, simulate, step

__all__ = [
    "PROGRESS",
    "PROMISES",
    "BrokerStarted",
    "BrokerStopped",
    "CommitOffsets",
    "Crash",
    "CreateMessageStreams",
    "HandleEvent",
    "Ping",
    "Produce",
    "Read",
    "RebalanceStep",
    "Reconnect",
    "SessionExpired",
    "Settings",
    "Shutdown",
    "TimePassed",
    "TopicCreated",
    "TopicDeleted",
    "TopicGrown",
    "WaitForRecord",
    "WakeWatcher",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
