"""A partition of the offsets topic on its brokers: a commit's path, an election, foreign records, time-outs."""

from kafkalearn.offsets import replicated as stories
from kafkalearn.offsets.replicated import FollowerFetch, SentTo, Settings
from kafkalearn.offsets.store import Commit, Load
from kafkalearn.replication import (
    BrokerFrozen,
    BrokerReconnected,
    BrokerStopped,
    BrokerThawed,
    Consume,
    PowerLost,
    SessionExpired,
    TimePassed,
)
from kafkalearn.replication import Produce as ProduceRecords
from tests.contract.simulator import Run, Simulator

COMMIT = Commit("billing", "orders", 0, 9, 5000)
ZOMBIE = (
    COMMIT,
    BrokerFrozen(1),
    SessionExpired(1),
    Load(),
    BrokerThawed(1),
    SentTo(1, COMMIT),
    TimePassed(5000),
    BrokerReconnected(1),
    stories.READ,
    FollowerFetch(1),
    PowerLost(2),
    stories.READ,
)

SIMULATOR = Simulator(
    home="kafkalearn.offsets.replicated",
    runs=(
        Run(Settings(), (*stories.group_with_an_offset(), *stories.commit_path())),
        Run(Settings(), stories.takeover()),
        Run(Settings(), stories.foreign_record(None)),
        Run(Settings(release="4.0"), stories.end_of_a_group()),
        Run(Settings(replica_count=1), (COMMIT, stories.READ, BrokerStopped(1), stories.READ)),
        Run(Settings(), stories.deletions()),
        Run(Settings(), ZOMBIE),
    ),
    senseless=(
        Load(),
        FollowerFetch(1),
        SentTo(4, stories.READ),
        Commit("billing", "orders", 0, 9, 5000, producer_id=5),
        Commit("billing", "orders", 0, 9, 5000, is_in_flight=True),
        ProduceRecords(),
        Consume(),
    ),
    effects_in=("kafkalearn.replication.events",),
)
