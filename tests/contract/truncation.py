"""A group that reads a partition whose log is cut: the simulator for the contract."""

from kafkalearn.consuming.truncation import Assign, Commit, Poll, RefreshMetadata, Settings
from kafkalearn.replication import BrokerCrashed, BrokerRestarted, Fetch, Produce, SessionExpired
from kafkalearn.replication import Settings as TopicSettings
from tests.contract.simulator import Run, Simulator

PAIR = TopicSettings(2, is_unclean_election_enabled=True, has_eligible_leader_replicas=False, fetch_wait_max_ms=0)
READ = (Produce(2), Fetch(2), Fetch(2), Assign("A"), Poll(), Poll(), BrokerCrashed(2), SessionExpired(2))
CUT = (Produce(acks=1), Poll(), Commit(), BrokerCrashed(1), SessionExpired(1), BrokerRestarted(2))
FOUND = (RefreshMetadata("A", 2), Poll(), RefreshMetadata("B", 2), Assign("B"), Poll(), Poll(), Poll())

SIMULATOR = Simulator(
    home="kafkalearn.consuming.truncation",
    runs=(
        Run(Settings(PAIR), (*READ, *CUT, *FOUND)),
        Run(Settings(PAIR, auto_offset_reset="none"), (*READ, RefreshMetadata("A", 1), Assign("B"), Poll(), Poll())),
        Run(Settings(PAIR, validation="never", has_committed_epochs=False), (*READ, *CUT, *FOUND)),
    ),
    senseless=(Poll(), Commit(), Assign("C"), RefreshMetadata("A", 9)),
    effects_in=("kafkalearn.replication.events",),
)
