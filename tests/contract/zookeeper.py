"""ZooKeeper and the old consumers: the tree, a group, fetching, commits, and the low-level consumer."""

from kafkalearn.offsets.replicated import FollowerFetch
from kafkalearn.offsets.store import Load
from kafkalearn.replication import BrokerCrashed, SessionExpired, TimePassed
from kafkalearn.zookeeper import commits, connector, fetching, tree
from kafkalearn.zookeeper import simple_consumer as simple
from kafkalearn.zookeeper.commits import AutoCommit, BackoffPassed, Rewind, Start
from kafkalearn.zookeeper.fetching import (
    Append,
    Assigned,
    BrokerStarted,
    FindLeaders,
    LeaderMoved,
    LogTruncated,
    Next,
    RecordsDeleted,
    StartConnections,
    StopConnections,
)
from kafkalearn.zookeeper.simple_consumer import FindLeader, FindOffset, Restart, Save, Seek
from kafkalearn.zookeeper.subscriptions import Filtered, Streams, TopicFilter
from tests.contract.simulator import Run, Simulator

SIMULATORS = {}

# A small ZooKeeper.
TWO_SESSIONS = (
    tree.SessionOpened("c1"),
    tree.SessionOpened("c2", 20_000),
    tree.Create("c1", "/ids"),
    tree.GetChildren("c2", "/ids", leaves_watch=True),
    tree.Exists("c2", "/ids/c1", leaves_watch=True),
    tree.Create("c1", "/ids/c1", "hello", is_ephemeral=True),
    tree.Create("c1", "/ids/c1"),
    tree.Create("c1", "/ids/c1/below"),
    tree.Create("c1", "/nowhere/c1"),
    tree.GetData("c2", "/ids/c1", leaves_watch=True),
    tree.SetData("c1", "/ids/c1", "hello"),
    tree.SetData("c1", "/ids/c1", "more", version=7),
    tree.Delete("c2", "/ids"),
    tree.TimePassed(3000),
    tree.Ping("c1"),
    tree.GetChildren("c2", "/ids", leaves_watch=True),
    tree.TimePassed(8000),
    tree.GetData("c1", "/ids"),
    tree.SessionClosed("c2"),
)
SIMULATORS["zookeeper_tree"] = Simulator(
    home="kafkalearn.zookeeper.tree",
    runs=(
        Run(tree.Settings(), TWO_SESSIONS),
        Run(
            tree.Settings(tick_time_ms=500),
            (tree.SessionOpened("a"), tree.Create("a", "/x", None, True), tree.SessionExpired("a")),
        ),
    ),
    senseless=(tree.SessionClosed("c1"), tree.SessionExpired("c1")),
)

# A group of old consumers and its ZooKeeper.
JOINED = (
    connector.BrokerStarted(0),
    connector.TopicCreated("orders", 2),
    connector.CreateMessageStreams("c1", Streams({"orders": 1})),
    *[connector.RebalanceStep("c1")] * 8,
    connector.Produce("orders", 1, 5),
    connector.Read("c1", at_most=2),
    connector.CommitOffsets("c1"),
    connector.Read("c1"),
)
SECOND = (
    connector.CreateMessageStreams("c2", Streams({"orders": 1}), timestamp_ms=1_400_000_000_000),
    *[connector.RebalanceStep("c2")] * 7,
    connector.HandleEvent("c1"),
    connector.WakeWatcher("c1"),
    *[connector.RebalanceStep("c1")] * 8,
    *[connector.RebalanceStep("c2")] * 9,
    connector.WaitForRecord("c2"),
    connector.TimePassed(3000),
    connector.Ping("c1"),
    connector.SessionExpired("c1"),
    connector.Reconnect("c1"),
    connector.HandleEvent("c1"),
    connector.HandleEvent("c2"),
    connector.CreateMessageStreams("c2", Streams({"orders": 1})),
    connector.Crash("c2"),
    connector.Shutdown("c1"),
)
BY_FILTER = (
    connector.BrokerStarted(1),
    connector.TopicCreated("orders", 1),
    connector.CreateMessageStreams("c1", Filtered(TopicFilter("white_list", "ord.*"))),
    *[connector.RebalanceStep("c1")] * 8,
    connector.TopicCreated("ordinary", 2),
    connector.HandleEvent("c1"),
    *[connector.RebalanceStep("c1")] * 8,
    connector.TopicGrown("ordinary", 3),
    connector.TopicDeleted("orders"),
    connector.BrokerStopped(1),
    connector.Shutdown("c1"),
)
SIMULATORS["zookeeper_connector"] = Simulator(
    home="kafkalearn.zookeeper.connector",
    runs=(
        Run(connector.Settings(consumer_timeout_ms=100), (*JOINED, *SECOND)),
        Run(
            connector.Settings(partition_assignment_strategy="roundrobin", auto_offset_reset="smallest"),
            (*JOINED, *SECOND),
        ),
        Run(connector.Settings("search", auto_commit_enable=False), BY_FILTER),
    ),
    senseless=(
        connector.RebalanceStep("c1"),
        connector.Shutdown("c1"),
        connector.BrokerStopped(0),
        connector.TopicGrown("orders", 3),
        connector.TopicDeleted("orders"),
        connector.Produce("orders", 0),
        connector.SessionExpired("c1"),
    ),
)

# The old consumer's fetch pipeline: a full queue, a blocked leader finder, resets, large records, a rebalance.
OWNS = StartConnections([Assigned("orders", 0, 0, 0), Assigned("orders", 1, 1, -1)])
BLOCKED = (Append("orders", 0, 9), OWNS, FindLeaders(), *[fetching.Fetch(1)] * 3)
LEADER_MOVED = (
    *BLOCKED,
    fetching.BrokerCrashed(2),
    fetching.Fetch(2),
    LeaderMoved("orders", 1, 1),
    FindLeaders(),
    Next(0),
    Next(1),
)
RESET = (
    *BLOCKED,
    RecordsDeleted("orders", 0, 8),
    Next(0),
    fetching.Fetch(1),
    Next(0),
    fetching.Fetch(1),
    *[Next(0)] * 4,
)
SIMULATORS["fetching"] = Simulator(
    home="kafkalearn.zookeeper.fetching",
    runs=(
        Run(fetching.Settings(stream_count=2, fetch_message_max_bytes=100), (*LEADER_MOVED, BrokerStarted(2))),
        Run(fetching.Settings(stream_count=2, fetch_message_max_bytes=100, auto_offset_reset="smallest"), RESET),
        Run(
            fetching.Settings(stream_count=2, fetch_message_max_bytes=50, release="0.9.0"),
            (*BLOCKED[:4], Next(0), Next(0)),
        ),
        Run(
            fetching.Settings(stream_count=2, consumer_timeout_ms=10),
            (
                *BLOCKED[:4],
                Next(0),
                Next(1),
                LogTruncated("orders", 0, 3),
                fetching.Fetch(1),
                fetching.CommitOffsets(),
                StopConnections(),
            ),
        ),
        Run(fetching.Settings(stream_count=2), (*BLOCKED[:4], Next(0), fetching.Shutdown(), *[Next(0)] * 9)),
    ),
    senseless=(
        FindLeaders(),
        fetching.Fetch(1),
        Next(9),
        BrokerStarted(1),
        LeaderMoved("orders", 7, 1),
        Append("mail", 0),
    ),
)

# Commits to ZooKeeper, to the topic and to both: migrations, a coordinator that dies, tries that are used up.
READ_WITH_ZOOKEEPER = (commits.Produce(count=4), Start("c1"), commits.Read("c1", count=4))
DUAL = (Start("c2", "kafka"), commits.Produce(count=2), commits.Read("c2", count=2), commits.CommitOffsets("c2"))
TAKEOVER = (
    *(Start("c1", "kafka"), commits.Produce(), commits.Read("c1"), AutoCommit("c1"), BrokerCrashed(1)),
    *(BackoffPassed("c1"), SessionExpired(1), BackoffPassed("c1"), BackoffPassed("c1"), Load(), BackoffPassed("c1")),
    *(FollowerFetch(3), FollowerFetch(3), commits.Shutdown("c1")),
)
SMALLEST = {"auto_offset_reset": "smallest"}
SIMULATORS["offset_stores"] = Simulator(
    home="kafkalearn.zookeeper.commits",
    runs=(
        Run(
            commits.Settings(**SMALLEST),
            (
                *READ_WITH_ZOOKEEPER,
                commits.CommitOffsets("c1"),
                commits.Crash("c1"),
                *DUAL,
                commits.Shutdown("c2"),
                Rewind(0, 1),
            ),
        ),
        Run(commits.Settings(**SMALLEST, replica_count=3), TAKEOVER),
        Run(
            commits.Settings(**SMALLEST, replica_count=2),
            (*READ_WITH_ZOOKEEPER[:1], *DUAL[:1], commits.Read("c2"), AutoCommit("c2"), TimePassed(6000)),
        ),
        Run(
            commits.Settings(partition_count=2),
            (Start("c1", partitions=[1]), Start("c2", "kafka", False, [0]), commits.Crash("c2")),
        ),
    ),
    senseless=(
        commits.Read("c1"),
        commits.CommitOffsets("c1"),
        commits.Shutdown("c1"),
        Start("c1", partitions=[4]),
        commits.Produce(7),
        Rewind(3, 0),
    ),
    effects_in=("kafkalearn.offsets.replicated", "kafkalearn.replication.events"),
)

# The low-level consumer: leaders found and lost, offsets out of range, a restart from what was saved.
BEGIN = (Append("orders", 0, 30), FindLeader(2), FindOffset("smallest"), simple.Fetch(), Save(), simple.Fetch())
FOLLOWED = (
    LeaderMoved("orders", 0, 2),
    simple.Fetch(),
    fetching.BrokerCrashed(1),
    FindLeader(1),
    FindLeader(2),
    simple.Fetch(),
)
SIMULATORS["simple_consumer"] = Simulator(
    home="kafkalearn.zookeeper.simple_consumer",
    runs=(
        Run(simple.Settings(), (*BEGIN, *FOLLOWED, Restart(), FindLeader(2), simple.Fetch())),
        Run(
            simple.Settings(),
            (*BEGIN, RecordsDeleted("orders", 0, 25), simple.Fetch(), FindOffset("largest"), simple.Fetch()),
        ),
        Run(simple.Settings(fetch_message_max_bytes=50, release="0.9.0"), (*BEGIN, Seek(99), simple.Fetch())),
    ),
    senseless=(simple.Fetch(), Save(), FindOffset("largest"), FindLeader(7), LeaderMoved("mail", 0, 1)),
    effects_in=("kafkalearn.zookeeper.fetching.cluster",),
)
