"""The low-level consumer: leaders found and lost, offsets out of range, a restart from what was saved."""

from kafkalearn.zookeeper.fetching import Append, BrokerCrashed, LeaderMoved, RecordsDeleted
from kafkalearn.zookeeper.simple_consumer import (
    Fetch,
    FindLeader,
    FindOffset,
    Restart,
    Save,
    Seek,
    Settings,
)
from tests.contract.simulator import Run, Simulator

BEGIN = (Append("orders", 0, 30), FindLeader(2), FindOffset("smallest"), Fetch(), Save(), Fetch())
MOVED = (LeaderMoved("orders", 0, 2), Fetch(), BrokerCrashed(1), FindLeader(1), FindLeader(2), Fetch())

SIMULATOR = Simulator(
    home="kafkalearn.zookeeper.simple_consumer",
    runs=(
        Run(Settings(), (*BEGIN, *MOVED, Restart(), FindLeader(2), Fetch())),
        Run(Settings(), (*BEGIN, RecordsDeleted("orders", 0, 25), Fetch(), FindOffset("largest"), Fetch())),
        Run(Settings(fetch_message_max_bytes=50, release="0.9.0"), (*BEGIN, Seek(99), Fetch())),
    ),
    senseless=(Fetch(), Save(), FindOffset("largest"), FindLeader(7), LeaderMoved("mail", 0, 1)),
    effects_in=("kafkalearn.zookeeper.fetching.cluster",),
)
