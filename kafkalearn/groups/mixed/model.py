"""The nouns of a group that may change its protocol: the policy of the broker, and the group as one of two kinds."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import NOT_GIVEN, Checked, FilledIn, check_fields, fill_in, one_of
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.consumer.state import CLASSIC, CONSUMER, Member
from kafkalearn.groups.consumer.state import Group as ConsumerGroup
from kafkalearn.groups.consumer.state import start as no_group
from kafkalearn.groups.defaults import EMPTY, default_of
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, at_least

ANSWERS_FOR = AnswersFor("groups.mixed", "4.0", reason=consumer.PREVIEW)

POLICIES = {
    "disabled": "a group stays what it is as long as it has members",
    "upgrade": "a classic group becomes a consumer group with the first new member",
    "downgrade": "a consumer group becomes a classic one when its last new member leaves",
    "bidirectional": "both",
}
"""What ``group.consumer.migration.policy`` may be, with its meaning."""


class Rules(NamedTuple):
    """What differs between the releases."""

    waits_for_target: bool  # a classic member is sent to join again when there is a newer target, not only an epoch
    keeps_classic_out: bool  # where the policy is "disabled", no classic member joins a consumer group (KAFKA-20640)
    knows_stale_target: bool  # a group that goes back with an old target begins a rebalance, whatever made it old


def rules_of(release: str = DEFAULT_RELEASE) -> Rules:
    """The rules of a release.

    >>> rules_of("4.0").waits_for_target, rules_of("4.3").waits_for_target
    (False, True)
    """
    is_later = at_least("4.3", release)
    return Rules(waits_for_target=is_later, keeps_classic_out=at_least("4.3.1", release), knows_stale_target=is_later)


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The broker's side of both protocols.

    Parameters
    ----------
    release : str
        Of the broker, 4.0 or later.
    policy : str or None
        ``group.consumer.migration.policy``; None: the default of the release.
    classic : kafkalearn.groups.classic.Settings or None
        What counts while it is a classic group, and for classic members; None: the defaults.
    consumer : kafkalearn.groups.consumer.Settings or None
        What counts while it is a consumer group, and the topics of the cluster.

    Examples
    --------
    >>> Settings().policy
    'bidirectional'
    """

    release: str = DEFAULT_RELEASE
    policy: FilledIn[str] = NOT_GIVEN
    classic: FilledIn[classic.Settings] = NOT_GIVEN
    consumer: FilledIn[consumer.Settings] = NOT_GIVEN
    rules: Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in the defaults, refuse what does not go together."""
        check_fields(self)
        ANSWERS_FOR.check(self.release)
        fill_in(
            self,
            policy=str(default_of("group.consumer.migration.policy", self.release, "broker")).lower(),
            classic=classic.Settings(self.release),
            consumer=consumer.Settings(self.release),
        )
        one_of("group.consumer.migration.policy", self.policy, POLICIES)
        for each in (self.classic, self.consumer):
            if each.release != self.release:
                raise KafkaLearnError(
                    f"release is {self.release}, but {type(each).__module__} has {each.release}: one broker is one"
                )
        object.__setattr__(self, "rules", rules_of(self.release))

    @property
    def may_upgrade(self) -> bool:
        """Whether a classic group may become a consumer group."""
        return self.policy in ("upgrade", "bidirectional")

    @property
    def may_downgrade(self) -> bool:
        """Whether a consumer group may become a classic one."""
        return self.policy in ("downgrade", "bidirectional")


class Subscription(NamedTuple):
    """What a classic member sends of itself as the metadata of each of its assignors."""

    topics: tuple[str, ...]
    owned: tuple[TopicPartition, ...] = ()  # only the cooperative assignor owns anything while it joins
    generation: int = -1  # in which it owned that
    has_user_data: bool = False  # as an assignor of one's own adds it


class Assigned(NamedTuple):
    """What a classic leader assigns to a member; partitions alone are taken, too."""

    partitions: tuple[TopicPartition, ...]
    has_user_data: bool = False  # as an assignor of one's own adds it


def subscription_of(metadata: Hashable) -> Subscription:
    """What a classic member has sent; metadata of more fields begins with these two.

    Raises
    ------
    KafkaLearnError
        If it is none.
    """
    if not isinstance(metadata, tuple) or len(metadata) < 2:
        raise KafkaLearnError(
            f"the metadata of a member is {shown(metadata)}; in a group that may change its protocol it must be a "
            "Subscription: topics, and what it owns"
        )
    return Subscription(metadata[0], metadata[1])


def assigned_of(assignment: Hashable) -> Assigned:
    """What a classic leader has assigned to a member; nothing to one that it left out."""
    if isinstance(assignment, Assigned):
        return assignment
    return Assigned(tuple(TopicPartition(*each) for each in assignment) if isinstance(assignment, tuple) else ())


Event: TypeAlias = (
    classic.JoinGroup | classic.SyncGroup | classic.Heartbeat | classic.LeaveGroup
    | consumer.ConsumerGroupHeartbeat | consumer.OffsetCommit | consumer.OffsetFetch
    | consumer.TopicChanged | consumer.TimePassed | consumer.GroupDeleted | consumer.PartitionMoved
)  # fmt: skip


class ProtocolChanged(facts.Effect):
    """A group with members has become one of the other kind."""

    before: str  # "Classic" or "Consumer"
    after: str


Effect: TypeAlias = classic.Effect | consumer.Effect | ProtocolChanged


@dataclass(frozen=True, slots=True)
class Group:
    """A group at one moment: `classic` while it is a classic one; topics and offsets are in `consumer` always."""

    classic: classic.Group
    consumer: ConsumerGroup
    written: classic.Group | None = None  # the classic group as its last record has it: what a new coordinator reads
    left: ConsumerGroup | None = None  # an empty consumer group that is forgotten, but not in its records
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def group_type(self) -> str | None:
        """``"Classic"`` or ``"Consumer"``; None: there is no such group."""
        return self.consumer.group_type

    @property
    def is_consumer(self) -> bool:
        """Whether it is a group of the newer protocol, with or without classic members."""
        return self.consumer.group_type == CONSUMER

    @property
    def state(self) -> str:
        """The state by Kafka's name."""
        return self.consumer.state if self.is_consumer else self.classic.state

    @property
    def epoch(self) -> int:
        """The group epoch, or the generation of a classic group."""
        return self.consumer.group_epoch if self.is_consumer else self.classic.generation

    @property
    def now_ms(self) -> int:
        """The time since the beginning."""
        return self.consumer.now_ms

    @property
    def committed(self) -> tuple[TopicPartition, ...]:
        """The partitions that have a committed offset."""
        return self.consumer.committed

    @property
    def member_ids(self) -> tuple[str, ...]:
        """All members, of both protocols."""
        return self.consumer.member_ids if self.is_consumer else tuple(each.member_id for each in self.classic.members)

    @property
    def classic_ids(self) -> tuple[str, ...]:
        """Those that speak the classic protocol."""
        if not self.is_consumer:
            return self.member_ids
        return tuple(each.member_id for each in self.consumer.members if each.classic is not None)

    @property
    def owners(self) -> dict[TopicPartition, tuple[str, ...]]:
        """For each partition that is given to anybody, who holds it; more than one would read it twice."""
        found: dict[TopicPartition, tuple[str, ...]] = {}
        held = (
            [(each.member_id, each.assigned_partitions + each.pending_partitions) for each in self.consumer.members]
            if self.is_consumer
            else [(each.member_id, assigned_of(each.assignment).partitions) for each in self.classic.members]
        )
        for member_id, partitions in held:
            for partition in partitions:
                found[partition] = (*found.get(partition, ()), member_id)
        return found


def start(settings: Settings) -> Group:
    """A group that nobody has asked for yet.

    >>> start(Settings()).group_type is None
    True
    """
    return Group(classic.start(settings.classic), no_group(settings.consumer))


def with_classic(group: Group, after: classic.Group) -> Group:
    """The group after something has happened to it as a classic one; what was written of it is kept."""
    group_type = CLASSIC if after.is_known else group.consumer.group_type
    written = group.written
    if any(isinstance(each, classic.GroupWritten) for each in after.effects):
        written = as_written(after)
    return replace(group, classic=after, written=written, consumer=replace(group.consumer, group_type=group_type))


def as_written(group: classic.Group) -> classic.Group:
    """A classic group as its record has it: before its first generation, or without members, it is empty."""
    if group.generation == 0 or group.state == EMPTY:
        return classic.Group(generation=group.generation, protocol_type=group.protocol_type, is_known=True)
    return replace(group, effects=())


def is_new(member: Member) -> bool:
    """Whether a member of a consumer group speaks the newer protocol."""
    return member.classic is None
