"""What may happen to the coordinator's store: requests, the broker's own tasks, a change of leader."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Annotated, TypeAlias

from kafkalearn.arguments import LARGEST_INT, text
from kafkalearn.errors import KafkaLearnError
from kafkalearn.fields import Checked, Count, Index, Millis, Whole, check_fields
from kafkalearn.offsets.groups import CLASSIC, Member
from kafkalearn.phrases import shown

Epoch: TypeAlias = Annotated[int, Whole(-1, LARGEST_INT)]  # of a group, a member or a leader; -1: none
ProducerId: TypeAlias = Annotated[int, Whole(0)]


@dataclass(frozen=True, slots=True)
class Commit(Checked):
    """OffsetCommit for one partition.

    A standalone consumer (`assign`), which is in no group, and an admin commit with generation -1 and no member id.
    With `producer_id` the commit belongs to a transaction. `is_in_flight`: the replicas have not confirmed it yet.
    """

    group_id: str
    topic: str
    partition: Index
    offset: int
    now_ms: Millis
    metadata: str = ""
    leader_epoch: Epoch | None = None
    topic_id: str | None = None
    member_id: str = ""
    generation: Epoch = -1  # the member epoch in a group of the new protocol
    retention_ms: Millis | None = None  # requests of version 2 to 4 may carry it
    producer_id: ProducerId | None = None
    is_in_flight: bool = False


@dataclass(frozen=True, slots=True)
class Replicated(Checked):
    """The replicas have confirmed all that was written."""


@dataclass(frozen=True, slots=True)
class TimeReached(Checked):
    """The clock shows a time: commits that have waited for the replicas as long as they may get an error."""

    now_ms: Millis


@dataclass(frozen=True, slots=True)
class EndTransaction(Checked):
    """The transaction coordinator writes the marker that ends a producer's transaction."""

    producer_id: ProducerId
    is_commit: bool


@dataclass(frozen=True, slots=True)
class Fetch(Checked):
    """OffsetFetch for one partition; `requires_stable` (2.5) refuses an answer that a transaction may still change."""

    group_id: str
    topic: str
    partition: Index
    requires_stable: bool = False


@dataclass(frozen=True, slots=True)
class StoreGroup(Checked):
    """A group is written down as it is now, Stable with these members or Empty.

    In a classic group that is the end of a rebalance. A group of a newer protocol, `kind` consumer (KIP-848) or
    streams, writes each change down when a heartbeat brings it; here all members have reached their epoch. What its
    members are assigned is not written: no offset depends on it, and the records would need ids of topics.
    """

    group_id: str
    generation: Epoch  # the group epoch, in a newer protocol
    now_ms: Millis
    members: tuple[Member, ...] = ()
    protocol_type: str = "consumer"  # of a classic group
    protocol: str | None = None  # the assignor
    leader: str | None = None  # a member id; in a classic group only
    kind: str = CLASSIC

    def __post_init__(self) -> None:
        """Refuse a group that has a member twice."""
        check_fields(self)
        times = Counter(text("member_id", member.member_id) for member in self.members)
        twice = next((each for each, count in times.items() if count > 1), None)
        if twice is not None:
            raise KafkaLearnError(f"members has {shown(twice)} twice; a group has each member once")


@dataclass(frozen=True, slots=True)
class StateChanged(Checked):
    """A classic group goes to PreparingRebalance or CompletingRebalance; nothing is written."""

    group_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Sweep(Checked):
    """The periodic task that removes expired offsets, and groups that are Empty and have none left."""

    now_ms: Millis


@dataclass(frozen=True, slots=True)
class DeleteGroup(Checked):
    """DeleteGroups for one group."""

    group_id: str


@dataclass(frozen=True, slots=True)
class DeleteOffset(Checked):
    """OffsetDelete (2.4) for one partition."""

    group_id: str
    topic: str
    partition: Index


@dataclass(frozen=True, slots=True)
class DeleteTopic(Checked):
    """A topic is deleted; every offset committed for it goes."""

    topic: str
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Produce(Checked):
    """Somebody writes a record of his own into the topic with a Produce request."""

    key: bytes | None
    value: bytes | None
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class Resign(Checked):
    """The broker is no longer the leader of the partition."""


@dataclass(frozen=True, slots=True)
class Elect(Checked):
    """The broker has become the leader of the partition; it must read the log before it can answer."""


@dataclass(frozen=True, slots=True)
class Load(Checked):
    """The next records of the log are read into the cache; None: all that are left."""

    record_count: Count | None = None


@dataclass(frozen=True, slots=True)
class LoadBuffer(Checked):
    """The next read of the load: whole batches as far as the buffer reaches, and one at least."""


@dataclass(frozen=True, slots=True)
class LeaderCrashed(Checked):
    """The broker dies, and a replica becomes leader: it has what was replicated, and must read it first."""


StoreEvent: TypeAlias = (
    Commit | Replicated | EndTransaction | Fetch | StoreGroup | StateChanged | Sweep
    | DeleteGroup | DeleteOffset | DeleteTopic | Produce | Resign | Elect | Load | LoadBuffer | LeaderCrashed
    | TimeReached
)  # fmt: skip
