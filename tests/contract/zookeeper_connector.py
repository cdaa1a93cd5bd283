"""A group of old consumers and its ZooKeeper, held to the contract."""

from kafkalearn.zookeeper.connector import (
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
)
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter
from tests.contract.simulator import Run, Simulator

JOINED = (
    BrokerStarted(),
    TopicCreated("orders", 2),
    CreateMessageStreams("c1", Streams({"orders": 1})),
    *[RebalanceStep("c1")] * 8,
    Produce("orders", 1, 5),
    Read("c1", at_most=2),
    CommitOffsets("c1"),
    Read("c1"),
)
SECOND = (
    CreateMessageStreams("c2", Streams({"orders": 1}), timestamp_ms=1_400_000_000_000),
    *[RebalanceStep("c2")] * 7,
    HandleEvent("c1"),
    WakeWatcher("c1"),
    *[RebalanceStep("c1")] * 8,
    *[RebalanceStep("c2")] * 9,
    WaitForRecord("c2"),
    TimePassed(3000),
    Ping("c1"),
    SessionExpired("c1"),
    Reconnect("c1"),
    HandleEvent("c1"),
    HandleEvent("c2"),
    CreateMessageStreams("c2", Streams({"orders": 1})),
    Crash("c2"),
    Shutdown("c1"),
)
BY_FILTER = (
    BrokerStarted(1),
    TopicCreated("orders", 1),
    CreateMessageStreams("c1", Filtered(TopicFilter("white_list", "ord.*"))),
    *[RebalanceStep("c1")] * 8,
    TopicCreated("ordinary", 2),
    HandleEvent("c1"),
    *[RebalanceStep("c1")] * 8,
    TopicGrown("ordinary", 3),
    TopicDeleted("orders"),
    BrokerStopped(1),
    Shutdown("c1"),
)

SIMULATOR = Simulator(
    home="kafkalearn.zookeeper.connector",
    runs=(
        Run(Settings(consumer_timeout_ms=100), (*JOINED, *SECOND)),
        Run(Settings(partition_assignment_strategy="roundrobin", auto_offset_reset="smallest"), (*JOINED, *SECOND)),
        Run(Settings("search", auto_commit_enable=False), BY_FILTER),
    ),
    senseless=(
        RebalanceStep("c1"),
        Shutdown("c1"),
        BrokerStopped(),
        TopicGrown("orders", 3),
        TopicDeleted("orders"),
        Produce("orders", 0),
        SessionExpired("c1"),
    ),
)
