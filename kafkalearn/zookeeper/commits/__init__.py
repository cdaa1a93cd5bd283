"""Where an old consumer's offsets are: in ZooKeeper, in the offsets topic, in both; and which one a restart believes.

``offsets.storage`` says where a consumer looks and commits; ``dual.commit.enabled`` adds ZooKeeper to the topic.
Commits to ZooKeeper are writes of nodes. Commits to the topic go over a channel to the coordinator, which is
`kafkalearn.offsets.replicated`, and are answered when its replicas have them.

`OldGroup` is the state. Events are what consumers do, and what happens to the brokers of the offsets topic.

>>> settings = Settings(auto_offset_reset="smallest")
>>> by_zookeeper = [Produce(count=8), Start("c1"), Read("c1", count=8), CommitOffsets("c1"), Shutdown("c1")]
>>> moved = simulate(settings, [*by_zookeeper, Start("c2", "kafka", dual_commit_enabled=False)])
>>> moved[-1].state.effects[-1]
Began(consumer='c2', partition=0, offset=0, in_zookeeper=None, in_topic=-1, is_reset=True)
"""

from kafkalearn.zookeeper.commits.model import (
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
    start,
)
from kafkalearn.zookeeper.commits.simulator import INVARIANTS, PROMISES, broken, check, simulate, step

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "AutoCommit",
    "BackoffPassed",
    "CommitOffsets",
    "Crash",
    "Produce",
    "Read",
    "Rewind",
    "Settings",
    "Shutdown",
    "Start",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]
