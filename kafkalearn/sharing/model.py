"""What a cluster with share groups is: settings, logs, what a leader has in memory, sessions, requests and answers.

Four sides share the state. The **leader** of a partition has a `SharePartition` for each share group that reads it:
which records are in flight, who holds them until when, how often each was delivered. The **share coordinator** has
what leaders have written of it (`kafkalearn.sharing.stored`). The **group coordinator** has members and what each is
to read (`kafkalearn.sharing.group`). A **share session** stands between one member and one leader.

Source: `SharePartition`, `InFlightBatch`, `InFlightState`, `SharePartitionManager` of Kafka 4.4.0, read (KIP-932);
what brokers of 4.2.1, 4.3.1 and 4.4.0 answer, recorded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Annotated, TypeAlias

from kafkalearn.base.checks import (
    NOT_GIVEN,
    Checked,
    Count,
    FilledIn,
    Millis,
    fill_in,
)
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, shown
from kafkalearn.base.java import FIRST_SLOTS
from kafkalearn.coordinator.share_model import Kept
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, at_least
from kafkalearn.sharing.events import (
    MOST_PARTITIONS,
    AcknowledgedPartition,
    Configs,
    Given,
    ShareFetch,
    configs_of,
    named_pairs,
)
from kafkalearn.sharing.group_settings import checked_configs

AVAILABLE, ACQUIRED, ACKNOWLEDGED, ARCHIVING, ARCHIVED = (
    "AVAILABLE", "ACQUIRED", "ACKNOWLEDGED", "ARCHIVING", "ARCHIVED",
)  # fmt: skip

TERMINAL = (ACKNOWLEDGED, ARCHIVED)
"""The states in which a record is done: the start offset passes it."""

BATCH_OVERHEAD = 61
"""The bytes of a record batch before its first record."""

ANSWERS_FOR = AnswersFor(
    "sharing",
    "4.2",
    reason="share groups of 4.0 and 4.1 were previews",
)

Key: TypeAlias = tuple[str, str]
"""A share-partition: a group, and a partition as "t-0"."""


def _configs_by_name(name: str, value: object) -> tuple[tuple[str, Configs], ...]:
    return tuple((key, configs_of(f"{name} of {key}", inner)) for key, inner in named_pairs(name, value))


def _counts(name: str, value: object) -> tuple[tuple[str, int], ...]:
    pairs = named_pairs(name, value)
    for topic, count in pairs:
        if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= MOST_PARTITIONS:
            raise KafkaLearnError(
                f"{name} must say how many partitions a topic has, 1 to {MOST_PARTITIONS}; "
                f"{shown(topic)} has {shown(count)}"
            )
    return pairs  # type: ignore[return-value]


GroupConfigs = Annotated[tuple[tuple[str, Configs], ...], _configs_by_name]


@dataclass(frozen=True)
class Settings(Checked):
    """What stays the same in a run. Times are in milliseconds; defaults are Kafka's, but for the topic.

    ``topics`` says how many partitions each topic has, ``group_configs`` and ``topic_configs`` what was set for groups
    and topics before the first event, by Kafka's names; both may be dicts. ``record_lock_duration_ms`` and what
    follows it are the broker's ``group.share.*``; a group's own settings come before them.

    >>> settings = Settings(group_configs={"g": {"share.auto.offset.reset": "earliest"}})
    >>> settings.share_version, settings.record_lock_duration_ms
    (2, 30000)
    >>> try:
    ...     Settings(release="4.1")
    ... except KafkaLearnError as error:
    ...     print(error)
    sharing answers for 4.2 to 4.4, not 4.1: share groups of 4.0 and 4.1 were previews; give one of these
    """

    release: str = DEFAULT_RELEASE
    topics: Annotated[tuple[tuple[str, int], ...], _counts] = (("t", 1),)
    topic_ids: Given = ()
    group_configs: GroupConfigs = ()
    topic_configs: GroupConfigs = ()
    broker_count: Count = 1
    share_version: FilledIn[int] = NOT_GIVEN
    record_lock_duration_ms: Count = 30_000
    delivery_count_limit: Count = 5
    max_record_locks: Count = 2_000
    session_timeout_ms: Count = 45_000
    heartbeat_interval_ms: Count = 5_000
    assignment_interval_ms: FilledIn[Millis] = NOT_GIVEN
    max_share_sessions: Count = 2_000
    max_group_size: Count = 200
    min_record_lock_duration_ms: Count = 15_000
    min_session_timeout_ms: Count = 45_000
    min_heartbeat_interval_ms: Count = 5_000
    dead_letter_prefix: str = "dlq."
    creates_dead_letter_topics: bool = False
    snapshot_update_records: Count = 500
    cold_snapshot_interval_ms: Count = 300_000

    def __post_init__(self) -> None:
        """Refuse a release or a feature that was not asked, and settings that a broker would refuse."""
        super().__post_init__()
        ANSWERS_FOR.check(self.release)
        newest = 2 if at_least("4.4", self.release) else 1
        fill_in(self, share_version=newest, assignment_interval_ms=1000 if at_least("4.3", self.release) else 0)
        if not 0 <= self.share_version <= newest:
            raise KafkaLearnError(f"share.version of {self.release} is 0 to {newest}, and this is {self.share_version}")
        for group, configs in self.group_configs:
            checked_configs(self, f"the settings of {group}", configs)

    @property
    def has_dead_letters(self) -> bool:
        """Whether records that nobody processes can be sent to a topic of dead letters (KIP-1191)."""
        return self.share_version >= 2

    @property
    def first_group_epoch(self) -> int:
        """The epoch of a group at its first join (4.2.1: 1; 4.3.1 and 4.4.0: 2)."""
        return 2 if at_least("4.3", self.release) else 1


# A log.


@dataclass(frozen=True)
class DeadLetter:
    """What a dead letter says of the record that nobody processed."""

    partition: str
    offset: int
    group: str
    delivery_count: int
    reason: str
    key: str | None = None
    value: str | None = None


@dataclass(frozen=True)
class Batch:
    """A record batch; `kind` is "data", or "COMMIT" or "ABORT": then it is a marker, with one control record."""

    base_offset: int
    last_offset: int
    offsets: tuple[int, ...]
    size: int
    timestamp_ms: int
    transaction: str = ""
    kind: str = "data"
    values: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    dead_letters: tuple[DeadLetter, ...] = ()

    @property
    def is_control(self) -> bool:
        """Whether it is a marker of the end of a transaction."""
        return self.kind != "data"

    @property
    def shown(self) -> tuple[int, int, int, str]:
        """First and last offset, how many records there are, and "control" of a marker."""
        return self.base_offset, self.last_offset, len(self.offsets), "control" if self.is_control else ""


@dataclass(frozen=True)
class Log:
    """A partition on its leader. The high watermark is its end: replication is another room.

    >>> Log("t-0").end_offset
    0
    """

    name: str
    batches: tuple[Batch, ...] = ()
    start_offset: int = 0
    leader: int = 1
    leader_epoch: int = 0

    @property
    def end_offset(self) -> int:
        """The offset of the next record."""
        return self.batches[-1].last_offset + 1 if self.batches else self.start_offset

    @property
    def last_stable_offset(self) -> int:
        """The first offset of the oldest transaction that is open, or the end."""
        first: dict[str, int] = {}
        for each in self.batches:
            if each.is_control:
                first.pop(each.transaction, None)
            elif each.transaction:
                first.setdefault(each.transaction, each.base_offset)
        stable = min(first.values(), default=self.end_offset)
        if stable >= self.start_offset:
            return stable
        # Its records are deleted: then it is taken to begin with the batch where the log begins.
        return next(
            (each.base_offset for each in self.batches if each.last_offset >= self.start_offset), self.end_offset
        )

    def upper_bound(self, is_committed: bool) -> int:
        """Up to where a share group may read."""
        return self.last_stable_offset if is_committed else self.end_offset

    def aborted(self, from_offset: int, to_offset: int) -> tuple[tuple[str, int], ...]:
        """The aborted transactions that overlap a read: producer and first offset of each, as a fetch has them."""
        first: dict[str, int] = {}
        found = []
        for each in self.batches:
            if not each.is_control:
                if each.transaction:
                    first.setdefault(each.transaction, each.base_offset)
                continue
            begun = first.pop(each.transaction, None)
            if each.kind == "ABORT" and begun is not None and each.last_offset >= from_offset and begun < to_offset:
                found.append((each.transaction, begun))
        return tuple(sorted(found, key=lambda pair: pair[1]))


def topic_of(partition: str) -> str:
    """The topic of a partition: ``topic_of("t-0")`` is ``"t"``."""
    return partition.rpartition("-")[0]


def index_of(partition: str) -> int:
    """The index of a partition: ``index_of("t-3")`` is 3."""
    return int(partition.rpartition("-")[2])


# What a leader has in memory of a share-partition.


@dataclass(frozen=True, slots=True)
class Held:
    """The state of one record, or of a batch as one: who holds it, how often it was delivered, until when it is locked.

    `before` is what it was, as long as the share coordinator has not written what it has become: meanwhile it can be
    neither acquired nor acknowledged.
    """

    state: str
    count: int
    member: str = ""
    lock_ms: int | None = None
    before: Held | None = None

    @property
    def is_done(self) -> bool:
        """Whether the start offset passes it."""
        return self.state in TERMINAL

    @property
    def is_under_way(self) -> bool:
        """Whether a write of its state is not answered yet."""
        return self.before is not None

    @property
    def can_be_acquired(self) -> bool:
        """Whether somebody may have it."""
        return self.state == AVAILABLE and self.before is None


@dataclass(frozen=True, slots=True)
class InFlight:
    """A batch in flight: what one acquisition made as one range. `whole` is its state, or None once it was split.

    A batch that was split has a state for each offset, and is never joined again.
    """

    first: int
    last: int
    whole: Held | None
    each: tuple[Held, ...] = ()

    def __len__(self) -> int:
        """How many offsets it has."""
        return self.last - self.first + 1

    @property
    def is_split(self) -> bool:
        """Whether it has a state for each offset."""
        return self.whole is None

    def at(self, offset: int) -> Held:
        """The state of one offset."""
        return self.each[offset - self.first] if self.whole is None else self.whole

    def items(self) -> Iterator[tuple[int, Held]]:
        """Each offset with its state."""
        for offset in range(self.first, self.last + 1):
            yield offset, self.at(offset)

    def split(self) -> InFlight:
        """The same with a state for each offset; each keeps what is left of the lock."""
        return self if self.whole is None else InFlight(self.first, self.last, None, (self.whole,) * len(self))

    def having(self, offset: int, held: Held) -> InFlight:
        """The same with another state of one offset; it is split by that."""
        each = list(self.split().each)
        each[offset - self.first] = held
        return InFlight(self.first, self.last, None, tuple(each))


@dataclass(frozen=True)
class SharePartition:
    """What the leader of a partition knows of one share group that reads it.

    `end_offset` is the last offset that was ever acquired; with nothing in flight it is the start. `looks_back` says
    that something may have been given back, so that the next fetch looks for it from the front. `gap` is the window
    of offsets that no stored batch names: its first offset, and the last stored one. `looked_up` is the fetch offset
    whose place in the log was looked up last.
    """

    key: Key
    leader_epoch: int
    state_epoch: int
    start_offset: int
    end_offset: int
    batches: tuple[InFlight, ...] = ()
    done_count: int = 0
    looks_back: bool = False
    gap: tuple[int, int] | None = None
    looked_up: int | None = None

    @property
    def has_gap(self) -> bool:
        """Whether offsets that no stored batch names are still to be read."""
        return self.gap is not None and self.gap[1] == self.end_offset

    @property
    def in_flight_count(self) -> int:
        """What counts against the limit of records in flight: all from the start to the end, done or not."""
        return self.end_offset - self.start_offset + 1 if self.batches else 0

    def floor(self, offset: int) -> InFlight | None:
        """The last batch that begins at an offset or before it."""
        found = None
        for each in self.batches:
            if each.first > offset:
                break
            found = each
        return found

    def between(self, first: int, last: int) -> tuple[InFlight, ...]:
        """The batches that begin from one offset to another."""
        return tuple(each for each in self.batches if first <= each.first <= last)

    def held(self, offset: int) -> Held | None:
        """The state of an offset; None: it is not in flight."""
        batch = self.floor(offset)
        return batch.at(offset) if batch is not None and batch.last >= offset else None

    def having(self, batch: InFlight) -> SharePartition:
        """The same with a batch put in its place: a new one, or instead of the one that begins where it does."""
        others = (each for each in self.batches if each.first != batch.first)
        return replace(self, batches=tuple(sorted((*others, batch), key=lambda each: each.first)))

    def counts_from(self, first: int, last: int) -> int:
        """How many of these offsets are not below the start."""
        return last - max(self.start_offset, first) + 1 if last >= self.start_offset else 0


# Sessions, requests that wait, groups.


@dataclass(frozen=True)
class Session:
    """A share session: which partitions a member reads from a broker, and the epoch of its next request.

    `to_be_told` are partitions that the next answer has in it whether it has records or not: those just added.
    `nameless` are those whose topic id nobody knew when they were added.
    """

    broker: int
    group: str
    member: str
    epoch: int
    partitions: tuple[str, ...]
    connection: str
    to_be_told: frozenset[str] = frozenset()
    nameless: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Opened:
    """Which session was opened last over a connection; `is_stale`: a session that it belonged to has been replaced."""

    broker: int
    connection: str
    group: str
    member: str
    is_stale: bool = False


@dataclass(frozen=True)
class Waiting:
    """A ShareFetch that is not answered yet: in which order it reads partitions, what it has found wrong so far.

    With a `refusal` it is answered with that error, when it has waited.
    """

    request: ShareFetch
    partitions: tuple[str, ...]
    until_ms: int
    errors: tuple[tuple[str, str, str], ...] = ()
    acknowledged: tuple[AcknowledgedPartition, ...] = ()
    number: int = 0
    has_waited: bool = False
    refusal: str = ""


@dataclass(frozen=True)
class Member:
    """A member of a share group as its coordinator knows it."""

    id: str
    epoch: int
    previous_epoch: int
    topics: tuple[str, ...]
    assigned: tuple[str, ...] = ()
    rack: str | None = None
    times_out_ms: int = 0


@dataclass(frozen=True)
class Group:
    """A share group at its coordinator; `target` says what each member is to have.

    `members` are in the order in which they came; `slot_count` is how large the map is in which a broker has them, of
    which the order depends in which they are assigned.
    """

    id: str
    epoch: int
    assignment_epoch: int = 0
    members: tuple[Member, ...] = ()
    target: tuple[tuple[str, tuple[str, ...]], ...] = ()
    topics_seen: tuple[tuple[str, int], ...] = ()
    initialized: tuple[str, ...] | None = None
    assigned_ms: int = 0
    kind: str = "share"
    slot_count: int = FIRST_SLOTS

    def member(self, member: str) -> Member | None:
        """A member by its id, or None."""
        return next((each for each in self.members if each.id == member), None)


@dataclass(frozen=True)
class Delivery:
    """A record that was given to a member: by it a reader of a run tells what was delivered twice, or out of order."""

    group: str
    partition: str
    offset: int
    member: str
    count: int


@dataclass(frozen=True)
class Cluster:
    """Everything: logs, what leaders and coordinators know, sessions, requests that wait; and all that was delivered.

    `accepted` and `given_up` are what became of records, `repeated` those that were delivered after they had been
    accepted: (group, partition, offset).
    """

    now_ms: int = 0
    logs: tuple[Log, ...] = ()
    configs: tuple[tuple[str, Configs], ...] = ()
    topic_configs: tuple[tuple[str, Configs], ...] = ()
    share_partitions: tuple[SharePartition, ...] = ()
    stored: tuple[Kept, ...] = ()
    cold_checked_ms: int = 0
    groups: tuple[Group, ...] = ()
    sessions: tuple[Session, ...] = ()
    opened: tuple[Opened, ...] = ()
    waiting: tuple[Waiting, ...] = ()
    closing: tuple[tuple[int, str], ...] = ()
    produced: int = 0
    deliveries: tuple[Delivery, ...] = ()
    accepted: frozenset[tuple[str, str, int]] = frozenset()
    given_up: frozenset[tuple[str, str, int]] = frozenset()
    repeated: frozenset[tuple[str, str, int]] = frozenset()
    effects: tuple[object, ...] = field(default=(), compare=False)

    def with_stored(self, stored: tuple[Kept, ...]) -> Cluster:
        """The same, with what the share coordinator has now."""
        return replace(self, stored=stored)

    def configs_of(self, group: str) -> dict[str, str]:
        """What was set for a group."""
        return dict(next((configs for name, configs in self.configs if name == group), ()))

    def topic_configs_of(self, topic: str) -> dict[str, str]:
        """What was set for a topic."""
        return dict(next((configs for name, configs in self.topic_configs if name == topic), ()))

    def log(self, partition: str) -> Log | None:
        """A partition by its name, or None."""
        return next((each for each in self.logs if each.name == partition), None)

    def indexes(self, topic: str) -> tuple[int, ...]:
        """The indexes of a topic's partitions; none: there is no such topic."""
        return tuple(sorted(index_of(each.name) for each in self.logs if topic_of(each.name) == topic))

    def share_partition(self, group: str, partition: str) -> SharePartition | None:
        """What the leader has in memory of a partition for a group; None: nothing."""
        return next((each for each in self.share_partitions if each.key == (group, partition)), None)

    def group(self, group: str) -> Group | None:
        """A group by its id, or None."""
        return next((each for each in self.groups if each.id == group), None)

    def session(self, broker: int, group: str, member: str) -> Session | None:
        """A session of a member at a broker, or None."""
        wanted = (broker, group, member)
        return next((each for each in self.sessions if (each.broker, each.group, each.member) == wanted), None)


def start(settings: Settings) -> Cluster:
    """Brokers that lead the partitions of the topics, and nothing that was written.

    >>> start(Settings(topics={"t": 2})).logs[1].name
    't-1'
    """
    logs = tuple(
        Log(f"{topic}-{index}", leader=1 + index % settings.broker_count)
        for topic, count in settings.topics
        for index in range(count)
    )
    return Cluster(logs=logs, configs=settings.group_configs, topic_configs=settings.topic_configs)


def unknown_partition(cluster: Cluster, event: object, partition: str) -> IllegalEvent:
    """The error of an event that names a partition which there is none of."""
    known = ", ".join(sorted(each.name for each in cluster.logs))
    return IllegalEvent(f"{shown(event, 200)}: there is no partition {partition}; there are {known}")


DLQ_TOPIC_NAME = "errors.deadletterqueue.topic.name"
DLQ_COPIES = "errors.deadletterqueue.copy.record.enable"
DLQ_TAKES = "errors.deadletterqueue.group.enable"

REASONS: Mapping[str, str] = MappingProxyType(
    {"rejected": "Offset rejected by client.", "limit": "Offset delivery count exceeded the threshold."}
)
"""What a dead letter gives as its reason."""
