"""Commits to ZooKeeper, to the topic and to both: migrations, a coordinator that dies, tries that are used up."""

from kafkalearn.offsets.replicated import FollowerFetch
from kafkalearn.offsets.store.model import Load
from kafkalearn.replication.events import BrokerCrashed, SessionExpired, TimePassed
from kafkalearn.zookeeper.commits import (
    AutoCommit,
    BackoffPassed,
    CommitOffsets,
    Crash,
    Produce,
    Read,
    Rewind,
    Settings,
    Shutdown,
    Start,
)
from tests.contract.simulator import Run, Simulator

READ = (Produce(count=4), Start("c1"), Read("c1", count=4))
DUAL = (Start("c2", "kafka"), Produce(count=2), Read("c2", count=2), CommitOffsets("c2"))
TAKEOVER = (
    *(Start("c1", "kafka"), Produce(), Read("c1"), AutoCommit("c1"), BrokerCrashed(1)),
    *(BackoffPassed("c1"), SessionExpired(1), BackoffPassed("c1"), BackoffPassed("c1"), Load(), BackoffPassed("c1")),
    *(FollowerFetch(3), FollowerFetch(3), Shutdown("c1")),
)
SMALLEST = {"auto_offset_reset": "smallest"}

SIMULATOR = Simulator(
    home="kafkalearn.zookeeper.commits",
    runs=(
        Run(Settings(**SMALLEST), (*READ, CommitOffsets("c1"), Crash("c1"), *DUAL, Shutdown("c2"), Rewind(0, 1))),
        Run(Settings(**SMALLEST, replica_count=3), TAKEOVER),
        Run(
            Settings(**SMALLEST, replica_count=2),
            (*READ[:1], *DUAL[:1], Read("c2"), AutoCommit("c2"), TimePassed(6000)),
        ),
        Run(Settings(partition_count=2), (Start("c1", partitions=[1]), Start("c2", "kafka", False, [0]), Crash("c2"))),
    ),
    senseless=(Read("c1"), CommitOffsets("c1"), Shutdown("c1"), Start("c1", partitions=[4]), Produce(7), Rewind(3, 0)),
    effects_in=(
        "kafkalearn.offsets.replicated",
        "kafkalearn.replication.events",
    ),
)
