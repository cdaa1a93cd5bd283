"""What may happen to the coordinator's store: requests, the broker's own tasks, a change of leader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.offsets.groups import CLASSIC, Member


@dataclass(frozen=True, slots=True)
class Commit:
    """OffsetCommit for one partition.

    A standalone consumer (`assign`), which is in no group, and an admin commit with generation -1 and no member id.
    With `producer_id` the commit belongs to a transaction. `is_in_flight`: the replicas have not confirmed it yet.
    """

    group_id: str
    topic: str
    partition: int
    offset: int
    now_ms: int
    metadata: str = ""
    leader_epoch: int | None = None
    topic_id: str | None = None
    member_id: str = ""
    generation: int = -1  # the member epoch in a group of the new protocol
    retention_ms: int | None = None  # requests of version 2 to 4 may carry it
    producer_id: int | None = None
    is_in_flight: bool = False


@dataclass(frozen=True, slots=True)
class Replicated:
    """The replicas have confirmed all that was written."""


@dataclass(frozen=True, slots=True)
class EndTransaction:
    """The transaction coordinator writes the marker that ends a producer's transaction."""

    producer_id: int
    is_commit: bool


@dataclass(frozen=True, slots=True)
class Fetch:
    """OffsetFetch for one partition; `requires_stable` (2.5) refuses an answer that a transaction may still change."""

    group_id: str
    topic: str
    partition: int
    requires_stable: bool = False


@dataclass(frozen=True, slots=True)
class StoreGroup:
    """A group is written down as it is now, Stable with these members or Empty.

    In a classic group that is the end of a rebalance. A group of a newer protocol, `kind` consumer (KIP-848) or
    streams, writes each change down when a heartbeat brings it; here all members have reached their epoch. What its
    members are assigned is not written: no offset depends on it, and the records would need ids of topics.
    """

    group_id: str
    generation: int  # the group epoch, in a newer protocol
    now_ms: int
    members: tuple[Member, ...] = ()
    protocol_type: str = "consumer"  # of a classic group
    protocol: str | None = None  # the assignor
    leader: str | None = None  # a member id; in a classic group only
    kind: str = CLASSIC


@dataclass(frozen=True, slots=True)
class StateChanged:
    """A classic group goes to PreparingRebalance or CompletingRebalance; nothing is written."""

    group_id: str
    state: str


@dataclass(frozen=True, slots=True)
class Sweep:
    """The periodic task that removes expired offsets, and groups that are Empty and have none left."""

    now_ms: int


@dataclass(frozen=True, slots=True)
class DeleteGroup:
    """DeleteGroups for one group."""

    group_id: str


@dataclass(frozen=True, slots=True)
class DeleteOffset:
    """OffsetDelete (2.4) for one partition."""

    group_id: str
    topic: str
    partition: int


@dataclass(frozen=True, slots=True)
class DeleteTopic:
    """A topic is deleted; every offset committed for it goes."""

    topic: str
    topic_id: str | None = None


@dataclass(frozen=True, slots=True)
class Produce:
    """Somebody writes a record of his own into the topic with a Produce request."""

    key: bytes | None
    value: bytes | None
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class Resign:
    """The broker is no longer the leader of the partition."""


@dataclass(frozen=True, slots=True)
class Elect:
    """The broker has become the leader of the partition; it must read the log before it can answer."""


@dataclass(frozen=True, slots=True)
class Load:
    """The next records of the log are read into the cache; None: all that are left."""

    record_count: int | None = None


StoreEvent: TypeAlias = (
    Commit | Replicated | EndTransaction | Fetch | StoreGroup | StateChanged | Sweep
    | DeleteGroup | DeleteOffset | DeleteTopic | Produce | Resign | Elect | Load
)  # fmt: skip
