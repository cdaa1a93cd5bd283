"""The nouns of the coordinator's store: settings, events, the log and what is in memory of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Annotated, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import (
    LARGEST_INT,
    NOT_GIVEN,
    Checked,
    Count,
    FilledIn,
    Index,
    Millis,
    Whole,
    check_fields,
    fill_in,
    text,
)
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.offsets.records import MOST_METADATA
from kafkalearn.offsets.replay import CLASSIC, Group, Member
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, at_least

ANSWERS_FOR = AnswersFor("offsets.store", "0.11.0")

MINUTE_MS = 60_000


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """What stays the same while a broker coordinates the groups of one partition.

    Parameters
    ----------
    release : str
        Of the broker, 0.11.0 or later; without one, the newest line.
    retention_minutes : int or None
        ``offsets.retention.minutes``; None: the release's default, 1440 up to 1.1, 10080 since 2.0 (KIP-186).
    metadata_max_bytes : int
        ``offset.metadata.max.bytes``: the longest text that a commit may bring, counted in UTF-16 units.
    commit_timeout_ms : int
        ``offsets.commit.timeout.ms``: how long a commit may wait for the replicas; then its sender gets an error.
    required_acks : int
        ``offsets.commit.required.acks`` up to 3.9: -1 waits for all in-sync replicas, 1 and 0 for none. Since 4.0 a
        commit waits always, whatever stands there (KIP-1041).
    load_buffer_bytes : int
        ``offsets.load.buffer.size``: how much of the log one read brings while it is loaded, see `LoadBuffer`.

    Examples
    --------
    >>> Settings("1.1").retention_minutes, Settings("2.0").retention_minutes
    (1440, 10080)
    """

    release: str = DEFAULT_RELEASE
    retention_minutes: FilledIn[Count] = NOT_GIVEN
    metadata_max_bytes: Index = MOST_METADATA
    commit_timeout_ms: Count = 5000
    required_acks: int = -1
    load_buffer_bytes: Count = 5_242_880

    def __post_init__(self) -> None:
        """Refuse what no broker can be configured to."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        if self.required_acks not in (-1, 0, 1):
            raise KafkaLearnError(
                f"required_acks must be -1, 0 or 1, got {self.required_acks}; with others a broker answers every "
                "commit with INVALID_REQUIRED_ACKS"
            )
        fill_in(self, retention_minutes=10080 if at_least("2.0", self.release) else 1440)

    @property
    def waits_for_replicas(self) -> bool:
        """Whether a commit is answered, and kept in memory, only when the replicas have it."""
        return self.required_acks == -1 or at_least("4.0", self.release)

    @property
    def retention_ms(self) -> int:
        """``offsets.retention.minutes`` in milliseconds."""
        return self.retention_minutes * MINUTE_MS


Epoch: TypeAlias = Annotated[int, Whole(-1, LARGEST_INT)]  # of a group, a member or a leader; -1: none
ProducerId: TypeAlias = Annotated[int, Whole(0)]


class Commit(facts.Event, says="{group_id} commits {offset} for {topic}-{partition}"):
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


class Replicated(facts.Event, says="the replicas have all that was written"):
    """The replicas have confirmed all that was written."""


class TimeReached(facts.Event, says="time passes"):
    """The clock shows a time: commits that have waited for the replicas as long as they may get an error."""

    now_ms: Millis


class EndTransaction(facts.Event):
    """The transaction coordinator writes the marker that ends a producer's transaction."""

    producer_id: ProducerId
    is_commit: bool


class Fetch(facts.Event, says="{group_id} asks for its offset of {topic}-{partition}"):
    """OffsetFetch for one partition; `requires_stable` (2.5) refuses an answer that a transaction may still change."""

    group_id: str
    topic: str
    partition: Index
    requires_stable: bool = False


class StoreGroup(facts.Event):
    """A group is written down as it is now, Stable with these members or Empty.

    A member of a classic group whose topics are not known (``subscribed`` None) has a subscription that cannot be
    read, as other clients' may be: it counts as one to every topic.

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


class StateChanged(facts.Event):
    """A classic group goes to PreparingRebalance or CompletingRebalance; nothing is written."""

    group_id: str
    state: str


class Sweep(facts.Event, says="the sweep looks for expired offsets"):
    """The periodic task that removes expired offsets, and groups that are Empty and have none left."""

    now_ms: Millis


class DeleteGroup(facts.Event, says="an admin deletes {group_id}"):
    """DeleteGroups for one group."""

    group_id: str


class DeleteOffset(facts.Event):
    """OffsetDelete (2.4) for one partition."""

    group_id: str
    topic: str
    partition: Index


class DeleteTopic(facts.Event):
    """A topic is deleted; every offset committed for it goes."""

    topic: str
    topic_id: str | None = None


class Produce(facts.Event):
    """Somebody writes a record of his own into the topic with a Produce request."""

    key: bytes | None
    value: bytes | None
    client_id: str = ""


class Resign(facts.Event, says="the broker loses the partition"):
    """The broker is no longer the leader of the partition."""


class Elect(facts.Event, says="the broker becomes leader of the partition"):
    """The broker has become the leader of the partition; it must read the log before it can answer."""


class Load(facts.Event, says="it reads the log"):
    """The next records of the log are read into the cache; None: all that are left."""

    record_count: Count | None = None


class LoadBuffer(facts.Event, says="it reads the log as far as its buffer reaches"):
    """The next read of the load: whole batches as far as the buffer reaches, and one at least."""


class LeaderCrashed(facts.Event, says="the leader dies; a replica takes over"):
    """The broker dies, and a replica becomes leader: it has what was replicated, and must read it first."""


StoreEvent: TypeAlias = (
    Commit | Replicated | EndTransaction | Fetch | StoreGroup | StateChanged | Sweep
    | DeleteGroup | DeleteOffset | DeleteTopic | Produce | Resign | Elect | Load | LoadBuffer | LeaderCrashed
    | TimeReached
)  # fmt: skip


class Answer(facts.Effect):
    """The answer to a request."""

    error: str = "NONE"
    offset: int | None = None  # to a fetch; -1: nothing is committed


OWNED, LOADING, NOT_OWNED, FAILED = "owned", "loading", "not owned", "failed"
STATUSES = (OWNED, LOADING, NOT_OWNED, FAILED)
"""What a broker may be to a partition of the offsets topic. ``failed``: the load broke off, since 4.0."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A record of the log; its index in the log is its offset."""

    key: bytes | None
    value: bytes | None
    producer_id: int | None = None  # written in a transaction of this producer
    marker: str | None = None  # COMMIT or ABORT: the end of its transaction, no record of the offsets topic
    is_foreign: bool = False  # produced by somebody: the cache has it after the next load only
    is_given_up: bool = False  # a commit that its coordinator no longer waits for, up to 3.9: after the next load only


@dataclass(frozen=True, slots=True)
class Store:
    """One partition of the offsets topic and what its coordinator keeps of it in memory."""

    status: str = OWNED
    log: tuple[Entry, ...] = ()
    groups: tuple[Group, ...] = ()  # the cache, by group id
    in_flight: tuple[int, ...] = ()  # offsets of entries that the replicas have not confirmed
    read_count: int = 0  # entries taken into the cache so far, while loading
    timed_out: tuple[int, ...] = ()  # of those in flight the commits whose sender has got an error
    unreplicated: tuple[int, ...] = ()  # offsets of entries that nobody waits for and the replicas do not have
    effects: tuple[Answer, ...] = field(default=(), compare=False)  # of the last event: an answer, if it was a request

    def group(self, group_id: str) -> Group | None:
        """A group of the cache; None: it is not there."""
        return next((group for group in self.groups if group.group_id == group_id), None)

    def answering(self, error: str = "NONE", offset: int | None = None) -> Store:
        """The same store, its effect the answer to a request."""
        return replace(self, effects=(Answer(error, offset),))


def start(settings: Settings) -> Store:
    """The store of a broker that leads the partition: nothing is written yet."""
    return Store()
