"""The nouns of a log that is cut under its readers: settings, events of consumers, effects, and the state."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import BrokerId, Checked, check_fields, one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.releases.lines import at_least
from kafkalearn.replication.events import NONE, ReplicationEvent
from kafkalearn.replication.events import Effect as PartitionEffect
from kafkalearn.replication.settings import Settings as TopicSettings
from kafkalearn.replication.state import UNKNOWN, Partition
from kafkalearn.replication.state import start as start_partition

EARLIEST, LATEST, NO_RESET = RESETS = ("earliest", "latest", "none")
"""Where a consumer begins if its position is nowhere in the log (``auto.offset.reset``); ``none``: it throws."""

AFTER_CHANGES, ALWAYS, NEVER = VALIDATIONS = ("after leader changes", "always", "never")
"""When a consumer asks whether its position is still there; ``always``: also before its first fetch."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """A partition, and a group of consumers of which one reads it at a time.

    Parameters
    ----------
    topic : kafkalearn.replication.Settings
        The partition and its brokers; its release is the consumers' too.
    consumers : tuple of str
        Their names. All know the partition's first leader when the run begins.
    auto_offset_reset : str
        A name in `RESETS`. (The default of a real consumer is ``latest``.)
    validation : str or None
        A name in `VALIDATIONS`; None: as Java's consumer of the release, ``always`` since 2.3. librdkafka 2.1 and later
        validated ``after leader changes`` alone until confluentinc/librdkafka#5158 was fixed.
    has_committed_epochs : bool
        Whether a commit carries the epoch; not where an application commits bare offsets, ``new
        OffsetAndMetadata(offset)``. `Commit` can say otherwise.

    Raises
    ------
    KafkaLearnError
        If there is no such group.

    Examples
    --------
    >>> Settings().validation, Settings(TopicSettings(release="2.2")).validation
    ('always', 'never')

    References
    ----------
    KIP-320: Apache Kafka 2.1 (epochs in fetches and commits), 2.3 (validation, KAFKA-7747).
    """

    topic: TopicSettings = field(default_factory=lambda: TopicSettings(fetch_wait_max_ms=0))
    consumers: tuple[str, ...] = ("A", "B")
    auto_offset_reset: str = EARLIEST
    validation: str | None = None
    has_committed_epochs: bool = True

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what no consumer can be."""
        check_fields(self)
        one_of("auto_offset_reset", self.auto_offset_reset, RESETS)
        if self.validation is None:
            object.__setattr__(self, "validation", ALWAYS if at_least("2.3", self.topic.release) else NEVER)
        else:
            one_of("validation", self.validation, VALIDATIONS)
        if self.validation != NEVER and not self.has_epochs:
            raise KafkaLearnError(
                f"validation is {self.validation!r}, but consumers of Kafka {self.topic.release} know no leader "
                "epochs; they came with 2.1 (KIP-320)"
            )
        if not self.consumers or len({*self.consumers}) < len(self.consumers):
            raise KafkaLearnError(
                f"give at least one consumer, each with a name of its own; got {shown(self.consumers)}"
            )

    @property
    def has_epochs(self) -> bool:
        """Whether fetches and commits carry leader epochs."""
        return self.topic.rules.fences_fetches


class Assign(facts.Event, says="{consumer} is given the partition"):
    """A rebalance: the partition is this consumer's, which starts from what the group has committed."""

    consumer: str


class Poll(facts.Event):
    """The owner makes one request, whatever is due: validate its position, look up where to begin, or fetch."""


class Commit(facts.Event):
    """The owner commits its position; without the epoch as ``commitSync(new OffsetAndMetadata(offset))`` does."""

    has_epoch: bool | None = None  # None: as the settings say


class RefreshMetadata(facts.Event, says="{consumer} asks broker {broker_id} who leads"):
    """A consumer asks a broker who leads: the broker says what it knows, which may be old."""

    consumer: str
    broker_id: BrokerId


ConsumerEvent: TypeAlias = Assign | Poll | Commit | RefreshMetadata
Event: TypeAlias = ConsumerEvent | ReplicationEvent
"""What a consumer does, and what happens to the partition."""


class Assigned(facts.Effect):
    """The partition is this consumer's, and its position is set: to the committed one, or to be looked up."""

    consumer: str
    offset: int | None  # None: nothing was committed
    epoch: int | None


class MetadataLearnt(facts.Effect):
    """A broker has said who leads; `is_used` is false where the consumer has heard of a newer epoch."""

    consumer: str
    leader: int | None
    leader_epoch: int
    is_used: bool


class NoLeaderKnown(facts.Effect, says="{consumer} has nobody to ask"):
    """A poll has nobody to ask: the consumer waits for newer metadata, or the broker it knows does not answer."""

    consumer: str


class OffsetsForLeaderEpochAnswered(facts.Effect):
    """A leader has said where an epoch ends in its log; (-1, -1): it knows of none."""

    consumer: str
    asked_epoch: int
    epoch: int
    end_offset: int
    error: str = NONE


class Fetched(facts.Effect):
    """A leader has answered a fetch."""

    consumer: str
    offsets: tuple[int, ...]
    error: str = NONE


class TruncationFound(
    facts.Effect, says="{consumer} finds the log cut, and goes on at {to_offset} in place of {from_offset}"
):
    """A consumer has found the log cut behind it, and goes on from where its own past and the leader's part."""

    consumer: str
    from_offset: int
    to_offset: int


class OffsetReset(facts.Effect):
    """A consumer has begun anew, by ``auto.offset.reset``."""

    consumer: str
    from_offset: int | None  # None: it had none
    to_offset: int


class ExceptionThrown(facts.Effect, says="{consumer} gets a {name}"):
    """Poll has thrown: LogTruncationException, OffsetOutOfRangeException or NoOffsetForPartitionException."""

    consumer: str
    name: str
    offset: int | None
    divergence: tuple[int, int] | None = None  # (epoch, offset): up to here the logs agree


class Committed(facts.Effect):
    """The group has committed."""

    offset: int
    epoch: int | None


Effect: TypeAlias = (
    Assigned
    | MetadataLearnt
    | NoLeaderKnown
    | OffsetsForLeaderEpochAnswered
    | Fetched
    | TruncationFound
    | OffsetReset
    | ExceptionThrown
    | Committed
    | PartitionEffect
)


FETCHING, VALIDATING, RESETTING, FAILED = "fetching", "validating", "resetting", "failed"
"""What the next poll does with a position; FAILED: the application got an exception, and nothing goes on."""


class Position(NamedTuple):
    """The next offset, and the leader epoch of the record before it."""

    offset: int  # -1: not looked up yet
    epoch: int | None = None  # None: not known


class Reading(NamedTuple):
    """One record that the application was given."""

    consumer: str
    offset: int
    value: str
    was_committed: bool = False  # the group had committed an offset behind it already


@dataclass(frozen=True, slots=True)
class Consumer:
    """One consumer: whom it takes for the leader, and, while the partition is its own, where it stands."""

    name: str
    leader: int | None
    leader_epoch: int  # of that leader
    newest_epoch: int  # it has heard of, from metadata or a commit; metadata of an older one it does not use
    position: Position | None = None  # None: the partition is not its own
    doing: str = FETCHING

    @property
    def knows_leader(self) -> bool:
        """Whether it has a leader to ask; not after it has heard of a newer epoch than that leader's."""
        return self.leader is not None and self.leader_epoch >= self.newest_epoch

    @property
    def own_position(self) -> Position:
        """The position of the consumer that has the partition: no other is asked for it."""
        assert self.position is not None
        return self.position


@dataclass(frozen=True, slots=True)
class GroupRead:
    """A partition and the group that reads it."""

    partition: Partition
    consumers: tuple[Consumer, ...]
    committed: Position | None = None
    readings: tuple[Reading, ...] = ()
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # of the last event

    @property
    def owner(self) -> Consumer | None:
        """The consumer that has the partition; None: nobody yet."""
        return next((each for each in self.consumers if each.position is not None), None)

    def with_consumer(self, consumer: Consumer) -> GroupRead:
        """The state with this consumer in place of the one of its name."""
        consumers = tuple(consumer if each.name == consumer.name else each for each in self.consumers)
        return replace(self, consumers=consumers)


def start(settings: Settings) -> GroupRead:
    """A new partition of which nobody has read anything; every consumer knows its leader.

    >>> start(Settings()).consumers[0].leader
    1
    """
    partition = start_partition(settings.topic)
    epoch = partition.controller.leader_epoch if settings.has_epochs else UNKNOWN
    leader = partition.controller.leader
    return GroupRead(partition, tuple(Consumer(name, leader, epoch, epoch) for name in settings.consumers))
