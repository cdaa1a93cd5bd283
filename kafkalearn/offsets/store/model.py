"""The nouns of the coordinator's store: settings, the log, the cache, what may happen to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from kafkalearn.arguments import whole_number
from kafkalearn.offsets.groups import Group, Member
from kafkalearn.versions.releases import DEFAULT_RELEASE, at_least, parse_release

MINUTE_MS = 60_000
MOST_METADATA_UNITS = 4096  # offset.metadata.max.bytes, which counts UTF-16 units
OWNED, LOADING, NOT_OWNED, FAILED = "owned", "loading", "not owned", "failed"
STATUSES = (OWNED, LOADING, NOT_OWNED, FAILED)
"""What a broker may be to a partition of the offsets topic. ``failed``: the load broke off, since 4.0."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What stays the same while a broker coordinates the groups of one partition.

    Parameters
    ----------
    release : str
        Of the broker; without one, Kafka 4.3.
    retention_minutes : int or None
        ``offsets.retention.minutes``; None: the release's default, 1440 up to 1.1, 10080 since 2.0 (KIP-186).
    """

    release: str = DEFAULT_RELEASE
    retention_minutes: int | None = None

    def __post_init__(self) -> None:
        """Refuse what no broker can be configured to."""
        parse_release(self.release)
        if self.retention_minutes is not None:
            whole_number("retention_minutes", self.retention_minutes, at_least=1)

    @property
    def retention_ms(self) -> int:
        """``offsets.retention.minutes`` in milliseconds."""
        if self.retention_minutes is not None:
            return self.retention_minutes * MINUTE_MS
        return (10080 if at_least("2.0", self.release) else 1440) * MINUTE_MS


@dataclass(frozen=True, slots=True)
class Entry:
    """A record of the log; its index in the log is its offset."""

    key: bytes | None
    value: bytes | None
    producer_id: int | None = None  # written in a transaction of this producer
    marker: str | None = None  # COMMIT or ABORT: the end of its transaction, no record of the offsets topic
    is_foreign: bool = False  # produced by somebody: the cache learns of it at the next load only


@dataclass(frozen=True, slots=True)
class Answer:
    """What a request was answered."""

    error: str = "NONE"
    offset: int | None = None  # to a fetch; -1: nothing is committed


@dataclass(frozen=True, slots=True)
class Store:
    """One partition of the offsets topic and what its coordinator keeps of it in memory."""

    status: str = OWNED
    log: tuple[Entry, ...] = ()
    groups: tuple[Group, ...] = ()  # the cache, by group id
    in_flight: tuple[int, ...] = ()  # offsets of entries that the replicas have not confirmed
    read_count: int = 0  # entries taken into the cache so far, while loading
    answer: Answer | None = None  # to the last request; None: the last event was none

    def group(self, group_id: str) -> Group | None:
        """A group of the cache; None: it is not there."""
        return next((group for group in self.groups if group.group_id == group_id), None)


@dataclass(frozen=True, slots=True)
class Commit:
    """OffsetCommit for one partition.

    A consumer without a group, and an admin, commit with generation -1 and no member id. With `producer_id` the
    commit belongs to a transaction. `is_in_flight`: the replicas have not confirmed it yet.
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
    """A rebalance of a classic group has ended: the group is written down, Stable with members, Empty without."""

    group_id: str
    generation: int
    now_ms: int
    members: tuple[Member, ...] = ()
    protocol_type: str = "consumer"
    protocol: str | None = None  # the assignor
    leader: str | None = None  # a member id


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
