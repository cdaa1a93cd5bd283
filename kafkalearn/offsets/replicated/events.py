"""What may happen to a partition of the offsets topic: the store's events, and those of its brokers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.fields import BrokerId, Checked
from kafkalearn.offsets.store.events import Commit, DeleteGroup, DeleteOffset, Fetch, Load, Produce, StoreGroup, Sweep
from kafkalearn.replication import events as replication

FollowerFetch = replication.Fetch
"""A follower asks its leader for what comes next, under a name that differs from a group's `Fetch`."""

REQUESTS = (Commit, Fetch, StoreGroup, DeleteGroup, DeleteOffset)
"""What a client or a member asks of the coordinator; each gets an answer."""

OF_BROKERS = (
    replication.Fetch,
    replication.TimePassed,
    replication.IsrChecked,
    replication.AlterPartitionAnswered,
    replication.HighWatermarkCheckpointed,
    replication.BrokerCrashed,
    replication.PowerLost,
    replication.BrokerStopped,
    replication.BrokerRestarted,
    replication.BrokerFrozen,
    replication.BrokerThawed,
    replication.BrokerReconnected,
    replication.SessionExpired,
    replication.LeaderElected,
    replication.BrokerFenced,
)
"""The events of `kafkalearn.replication` that may happen to the brokers; records come by the coordinator alone."""

Request: TypeAlias = Commit | Fetch | StoreGroup | DeleteGroup | DeleteOffset


@dataclass(frozen=True, slots=True)
class SentTo(Checked):
    """A request that goes to a broker of the client's choice, as when its metadata is old."""

    broker_id: BrokerId
    request: Request


ReplicatedStoreEvent: TypeAlias = Request | SentTo | Sweep | Load | Produce | replication.ReplicationEvent
