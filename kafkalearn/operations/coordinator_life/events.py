"""What may happen: to brokers, to the orders that they get, to a load; and what clients ask."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.arguments import one_of
from kafkalearn.fields import BrokerId, Checked, Count, Index, Offset, check_fields
from kafkalearn.offsets.groups import CLASSIC
from kafkalearn.operations.leadership.events import (
    BrokerBack,
    BrokerLost,
    ElectLeaders,
    LeaderImbalanceChecked,
    TimePassed,
)

FIND, JOIN, SYNC, HEARTBEAT, CONSUMER_HEARTBEAT, COMMIT, FETCH = APIS = (
    "FindCoordinator", "JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit", "OffsetFetch",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CoordinatorStarted(Checked):
    """A broker that is back has started its group coordinator; before, it answers COORDINATOR_NOT_AVAILABLE."""

    broker_id: BrokerId


@dataclass(frozen=True, slots=True)
class OrderCarriedOut(Checked):
    """A broker carries out the order of an epoch: it need not be the oldest that waits."""

    broker_id: BrokerId
    epoch: Index


@dataclass(frozen=True, slots=True)
class LoadRead(Checked):
    """The load of a broker reads the next records; None: all that are left, and so to its end."""

    broker_id: BrokerId
    record_count: Count | None = None


@dataclass(frozen=True, slots=True)
class Request(Checked):
    """A client asks a broker about a group; `api` is a name in `APIS`.

    An OffsetCommit is for partition 0 of `orders`; with `producer_id` it belongs to a transaction.
    """

    broker_id: BrokerId
    api: str
    group_id: str = "billing"
    member_id: str = ""
    offset: Offset = 0
    producer_id: Index | None = None

    def __post_init__(self) -> None:
        """Refuse what is no request."""
        check_fields(self)
        one_of("api", self.api, APIS)


@dataclass(frozen=True, slots=True)
class GroupStored(Checked):
    """A rebalance has ended on the coordinator: the group is written down with these members."""

    group_id: str
    member_ids: tuple[str, ...] = ()
    generation: Index = 1
    kind: str = CLASSIC


@dataclass(frozen=True, slots=True)
class TransactionEnded(Checked):
    """The marker that ends a producer's transaction is written into the partition."""

    producer_id: Index
    is_commit: bool


Event: TypeAlias = (
    BrokerLost | BrokerBack | ElectLeaders | LeaderImbalanceChecked | TimePassed | CoordinatorStarted
    | OrderCarriedOut | LoadRead | Request | GroupStored | TransactionEnded
)  # fmt: skip
