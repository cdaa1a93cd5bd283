"""The nouns of a consumer group's coordinator: topics, settings and rules by release, events, and what they lead to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypeAlias, TypeVar

from kafkalearn.assignors.members import topic_halves
from kafkalearn.assignors.registry import BROKER_ASSIGNORS
from kafkalearn.base import facts
from kafkalearn.base.checks import (
    LARGEST_INT,
    NOT_GIVEN,
    Count,
    FilledIn,
    Whole,
    check_fields,
    fill_in,
    iterable,
    one_of,
    sequence,
    text,
    whole_number,
)
from kafkalearn.base.errors import KafkaLearnError, shown
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.groups.defaults import (
    MOST_PARTITIONS,
    DeleteAnswered,
    GroupDeleted,
    OffsetsExpired,
    PartitionMoved,
    Timeout,
    TimePassed,
    default_of,
)
from kafkalearn.groups.patterns import REFRESH_AT_MOST_EVERY_MS, REFRESH_INTERVAL_MS, is_valid
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, at_least, release_line

PREVIEW = "KIP-848 was a preview in 3.7 to 3.9"
ANSWERS_FOR = AnswersFor("groups.consumer", "4.0", reason=PREVIEW)

# A coordinator knows the topics of the cluster by their ids, and we by their names. A topic that is deleted and created
# again has its old name and a new id, so the partitions of the old one are others. What a group still holds of the old
# one is called ``orders@1`` then: of the first topic of that name. (No topic of Kafka's can have an ``@`` in its name.)

TOPIC_NAME = re.compile(r"[a-zA-Z0-9._-]{1,249}")


class Topic(NamedTuple):
    """A topic at one moment."""

    name: str
    partition_count: int
    topic_id: str | None = None  # as Kafka prints it; None: the settings give no ids
    number: int = 1  # it is the first topic of its name, or the second, ...

    @property
    def name_when_replaced(self) -> str:
        """What is left of it is called so as soon as there is another topic of its name.

        >>> Topic("orders", 6).name_when_replaced
        'orders@1'
        """
        return f"{self.name}@{self.number}"


def topic_name(name: object) -> str:
    """`name` itself if a topic can be called so.

    >>> topic_name("orders@1")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: topic 'orders@1' must have 1 to 249 letters, digits, '.', '_' or '-', as \
every topic of Kafka

    References
    ----------
    Apache Kafka, ``org.apache.kafka.common.internals.Topic``.
    """
    known = text("topic", name)
    if not TOPIC_NAME.fullmatch(known):
        raise KafkaLearnError(
            f"topic {shown(name)} must have 1 to 249 letters, digits, '.', '_' or '-', as every topic of Kafka"
        )
    return known


Item = TypeVar("Item")


class Rules(NamedTuple):
    """What differs between the releases that have the protocol switched on."""

    first_epoch: int  # of group and assignment, in a group nobody has joined yet
    writes_topic_metadata: bool  # a record of the subscribed topics' partitions (a hash inside another since 4.1)
    may_take_back: bool  # a member gets a partition back that it has not given up yet
    may_always_rejoin: bool  # epoch 0 is accepted from a known member whatever its epoch
    drops_unsubscribed: bool  # a member that unsubscribes gives up the topic at once, whatever its target
    counts_revocations: bool  # the epoch goes up by one when a revocation is confirmed and another follows
    forgets_previous_epoch: bool  # a member that drops a topic at once may no longer use the epoch before
    accepts_older_commits: bool  # KIP-1251: commits with an older epoch, partition by partition
    counts_assignors: bool  # the group epoch goes up when another assignor is now asked for by most
    ends_when_empty: bool  # with the last member the assignment epoch is that of the group at once, with a record
    replaces_when_full: bool  # a static member takes its place again though the group is full
    keeps_one_instance_id: bool  # a member that comes with another instance id gives the one before up
    counts_patterns_back: bool  # the group epoch goes up when a member takes its pattern back
    replaces_before_targets: bool  # who takes a static place has its target before a new one is made


def rules_of(release: str = DEFAULT_RELEASE) -> Rules:
    """The rules of a release.

    >>> rules_of("4.0").first_epoch, rules_of("4.3").first_epoch
    (0, 1)
    >>> [(name, new) for name, old, new in zip(Rules._fields, rules_of("4.3"), rules_of("4.4")) if new != old][:2]
    [('counts_assignors', True), ('ends_when_empty', True)]

    References
    ----------
    Apache Kafka 4.0.0 to 4.4.0, every patch, ``GroupMetadataManager`` and ``CurrentAssignmentBuilder``, compared.
    """
    first_to_take_back = "4.1.2" if release_line(release) == "4.1" else "4.0.2"  # in two lines at a time
    return Rules(
        first_epoch=1 if at_least("4.3", release) else 0,
        writes_topic_metadata=not at_least("4.1", release),
        may_take_back=at_least(first_to_take_back, release),
        may_always_rejoin=at_least("4.2", release),
        drops_unsubscribed=at_least("4.2", release),
        counts_revocations=not at_least("4.2", release),
        forgets_previous_epoch=at_least("4.3", release),
        accepts_older_commits=at_least("4.3", release),
        counts_assignors=at_least("4.4", release),
        ends_when_empty=at_least("4.4", release),
        replaces_when_full=at_least("4.4", release),
        keeps_one_instance_id=at_least("4.4", release),
        counts_patterns_back=at_least("4.1", release),
        replaces_before_targets=at_least("4.4", release),
    )


NAMES = {
    "session_timeout_ms": "group.consumer.session.timeout.ms",
    "heartbeat_interval_ms": "group.consumer.heartbeat.interval.ms",
    "assignment_interval_ms": "group.consumer.assignment.interval.ms",
    "assignors": "group.consumer.assignors",
    "max_size": "group.consumer.max.size",
    "regex_refresh_interval_ms": "group.consumer.regex.refresh.interval.ms",
}
"""Each field of `Settings` that is a setting of the broker, with Kafka's name for it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The broker's side of a consumer group. Clients send only their subscription and their rebalance timeout.

    Parameters
    ----------
    release : str
        Of the broker, 4.0 or later; without one, the newest line. It decides `rules` and the defaults below.
    session_timeout_ms : int or None
        ``group.consumer.session.timeout.ms``: a member that is silent for so long is removed.
    heartbeat_interval_ms : int or None
        ``group.consumer.heartbeat.interval.ms``: the clients learn it from each answer.
    assignment_interval_ms : int or None
        ``group.consumer.assignment.interval.ms`` (4.3): the least time between two target assignments. Releases
        without it work as with 0.
    assignors : tuple of str or None
        ``group.consumer.assignors``; the first is taken when no member names another.
    max_size : int or None
        ``group.consumer.max.size``: most members of a group.
    regex_refresh_interval_ms : int or None
        ``group.consumer.regex.refresh.interval.ms`` (4.1): how old what a pattern has matched may be. In 4.0 it is
        ten minutes, which nobody can set.
    topics : mapping of str to int, or tuple of (str, int)
        The topics of the cluster at the start, with their partition counts; without them ``orders`` with 6. The
        event `TopicChanged` changes them.
    topic_ids : mapping of str to str, or tuple of (str, str)
        The topics' ids as Kafka prints them, by name; see `kafkalearn.assignors.assign`. Empty: ids that Kafka sorts
        in the order of the topics' names. Then no event needs to give any.

    Raises
    ------
    KafkaLearnError
        If no broker can be configured so.

    Examples
    --------
    >>> Settings().session_timeout_ms, Settings().assignment_interval_ms
    (45000, 1000)
    >>> Settings(release="4.0").assignment_interval_ms
    0
    """

    release: str = DEFAULT_RELEASE
    session_timeout_ms: FilledIn[int] = NOT_GIVEN
    heartbeat_interval_ms: FilledIn[int] = NOT_GIVEN
    assignment_interval_ms: FilledIn[int] = NOT_GIVEN
    assignors: FilledIn[tuple[str, ...]] = NOT_GIVEN
    max_size: FilledIn[int] = NOT_GIVEN
    regex_refresh_interval_ms: FilledIn[int] = NOT_GIVEN
    topics: tuple[tuple[str, int], ...] = (("orders", 6),)
    topic_ids: tuple[tuple[str, str], ...] = ()
    rules: Rules = field(init=False, repr=False, compare=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            release: str = DEFAULT_RELEASE,
            session_timeout_ms: int | None = None,
            heartbeat_interval_ms: int | None = None,
            assignment_interval_ms: int | None = None,
            assignors: Sequence[str] | None = None,
            max_size: int | None = None,
            regex_refresh_interval_ms: int | None = None,
            topics: Mapping[str, int] | Iterable[tuple[str, int]] = (("orders", 6),),
            topic_ids: Mapping[str, str] | Iterable[tuple[str, str]] = (),
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Fill in what the release decides, and refuse what no broker can be configured to."""
        ANSWERS_FOR.check(self.release)
        object.__setattr__(self, "rules", rules_of(self.release))
        object.__setattr__(self, "topics", _checked_topics(self.topics))
        object.__setattr__(self, "topic_ids", _checked_ids(self.topic_ids, self.topics))
        fill_in(self, **{name: default_of(setting, self.release, "broker") for name, setting in NAMES.items()})
        for name in ("session_timeout_ms", "heartbeat_interval_ms", "max_size"):
            whole_number(name, getattr(self, name), at_least=1, at_most=LARGEST_INT)
        whole_number("assignment_interval_ms", self.assignment_interval_ms, at_least=0, at_most=LARGEST_INT)
        if self.assignment_interval_ms and not at_least("4.3", self.release):
            raise KafkaLearnError(
                f"assignment_interval_ms is {self.assignment_interval_ms}, but Kafka {self.release} has no such "
                "setting; it came with 4.3 (KIP-1263)"
            )
        interval_ms = self.regex_refresh_interval_ms
        whole_number("regex_refresh_interval_ms", interval_ms, at_least=REFRESH_AT_MOST_EVERY_MS, at_most=LARGEST_INT)
        if interval_ms != REFRESH_INTERVAL_MS and not at_least("4.1", self.release):
            raise KafkaLearnError(
                f"regex_refresh_interval_ms is {interval_ms}, but Kafka {self.release} has no such "
                f"setting and always takes {REFRESH_INTERVAL_MS}; it came with 4.1"
            )
        assignors = sequence("assignors", self.assignors, of="names")
        for assignor in assignors:
            one_of("assignor of the broker", assignor, BROKER_ASSIGNORS)
        if not assignors:
            raise KafkaLearnError(f"assignors is empty; a broker has at least one of {', '.join(BROKER_ASSIGNORS)}")
        object.__setattr__(self, "assignors", assignors)


def _checked_topics(topics: Mapping[str, int] | Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """Topics with their partition counts, by name."""
    counts = _by_name("topics", topics, "its number of partitions")
    for name, count in counts.items():
        whole_number(f"the number of partitions of {topic_name(name)!r}", count, at_least=1, at_most=MOST_PARTITIONS)
    total = sum(counts.values())
    whole_number("the number of partitions of all topics", total, at_least=0, at_most=MOST_PARTITIONS)
    return tuple(sorted(counts.items()))


def _checked_ids(
    topic_ids: Mapping[str, str] | Iterable[tuple[str, str]], topics: tuple[tuple[str, int], ...]
) -> tuple[tuple[str, str], ...]:
    """The ids of all topics, or of none."""
    ids = _by_name("topic_ids", topic_ids, "its id")
    missing = [name for name, _ in topics if name not in ids] if ids else []
    if missing:
        raise KafkaLearnError(f"topic_ids has no id of {missing[0]!r}; it has {sorted(ids)}")
    topic_halves({topic_name(name): text(f"the id of {name!r}", each) for name, each in ids.items()})
    return tuple(ids.items())


def _by_name(what: str, given: Mapping[str, Item] | Iterable[tuple[str, Item]], of: str) -> dict[str, Item]:
    try:
        return dict(given)
    except (TypeError, ValueError):
        raise KafkaLearnError(f"{what} must map each topic to {of}, got {shown(given)}") from None


Epoch: TypeAlias = Annotated[int, Whole(-LARGEST_INT, LARGEST_INT)]

OLDEST_COMMIT, NEWEST_COMMIT = 2, 10  # versions of OffsetCommit that brokers of 4.x answer


class ConsumerGroupHeartbeat(facts.Event, says="ConsumerGroupHeartbeat of {member_id}"):
    """The one request of the protocol: joining, staying, confirming and leaving are all heartbeats.

    A field that has not changed since the last one is left out (None), as real clients do.

    Parameters
    ----------
    member_id : str
        Chosen by the client.
    member_epoch : int
        The last one it was answered; 0 joins, -1 leaves, -2 leaves and keeps the place of a static member.
    topics : sequence of str, or None
        Its subscription; a name that is given twice counts once.
    owned : sequence of TopicPartition, or None
        What it owns now, empty when it joins. Of a topic that was created again, ``orders@1`` is the one before; see
        `kafkalearn.groups.consumer.events`.
    instance_id : str or None
        ``group.instance.id`` of a static member.
    rebalance_timeout_ms : int or None
        How long it may take to give up partitions: ``max.poll.interval.ms`` of the Java client.
    assignor : str or None
        ``group.remote.assignor``: the assignor it asks the broker for, ``"uniform"`` or ``"range"``.
    pattern : str or None
        What topics it subscribes to beside those: a regular expression for RE2J; an empty one takes it back.

    Raises
    ------
    KafkaLearnError
        If a field cannot hold what it is given. What a coordinator would refuse is no such case: it is an answer.
    """

    member_id: str
    member_epoch: Epoch
    topics: tuple[str, ...] | None = None
    owned: tuple[TopicPartition, ...] | None = None
    instance_id: str | None = None
    rebalance_timeout_ms: Timeout | None = None
    assignor: str | None = None
    pattern: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be sent, and a pattern that is not modelled."""
        if self.pattern:
            is_valid(self.pattern)
        if self.owned is not None:
            object.__setattr__(self, "owned", _partitions("owned", self.owned))
        if self.topics is not None:
            names = [text("topic", each) for each in sequence("topics", self.topics, of="names of topics")]
            object.__setattr__(self, "topics", tuple(dict.fromkeys(names)))
        check_fields(self)


class OffsetCommit(facts.Event, says="OffsetCommit of {member_id}"):
    """A member commits offsets of these partitions, with the member epoch it knows; or a client without a group, -1.

    `version` is that of the request: from 9 on clients know the errors of this protocol, and 10 (since 4.2) names
    topics by their ids.
    """

    member_id: str
    member_epoch: Epoch
    partitions: tuple[TopicPartition, ...]
    version: Annotated[int, Whole(OLDEST_COMMIT, NEWEST_COMMIT)] = 9
    instance_id: str | None = None  # a classic group looks at it, one of this protocol does not

    def __post_init__(self) -> None:
        """Refuse what cannot be sent."""
        object.__setattr__(self, "partitions", _partitions("partitions", self.partitions))
        check_fields(self)


class OffsetFetch(facts.Event):
    """A member asks for the committed offsets, with the member epoch it knows; a tool has neither: None and -1."""

    member_id: str | None = None
    member_epoch: Epoch = -1


class TopicChanged(facts.Event):
    """A topic is created or gets more partitions; or, with None, is deleted.

    A topic that is created after one of its name was deleted is another one. Where the settings give the topics' ids,
    it needs an id of its own.
    """

    topic: str
    partition_count: Count | None
    topic_id: str | None = None

    def __post_init__(self) -> None:
        """Refuse a topic without name or partitions."""
        topic_name(self.topic)
        if self.partition_count is not None:
            what = f"the number of partitions of {self.topic!r}"
            whole_number(what, self.partition_count, at_least=1, at_most=MOST_PARTITIONS)
        check_fields(self)


ConsumerGroupEvent: TypeAlias = (
    ConsumerGroupHeartbeat | OffsetCommit | OffsetFetch | TopicChanged | TimePassed
    | GroupDeleted | OffsetsExpired | PartitionMoved
)  # fmt: skip


def join(
    member_id: str,
    topics: Sequence[str],
    instance_id: str | None = None,
    rebalance_timeout_ms: int = 300_000,
    assignor: str | None = None,
    pattern: str | None = None,
) -> ConsumerGroupHeartbeat:
    """The first heartbeat of a member, with all that has to be in it.

    >>> join("A", ["orders"]).member_epoch
    0
    >>> join("A", "orders")
    Traceback (most recent call last):
    ...
    kafkalearn.base.errors.KafkaLearnError: topics must be a list or tuple of names of topics, got str 'orders'
    """
    names = sequence("topics", topics, of="names of topics")
    return ConsumerGroupHeartbeat(member_id, 0, names, (), instance_id, rebalance_timeout_ms, assignor, pattern)


def leave(member_id: str, instance_id: str | None = None, comes_back: bool = False) -> ConsumerGroupHeartbeat:
    """The last heartbeat of a member; a static one that `comes_back` keeps its place for the session timeout.

    >>> leave("A").member_epoch, leave("A", "pod-1", comes_back=True).member_epoch
    (-1, -2)
    """
    return ConsumerGroupHeartbeat(member_id, -2 if comes_back else -1, instance_id=instance_id)


# What an event led to: answers, members removed, records written to ``__consumer_offsets``.

NONE = "NONE"

MEMBER_METADATA = "consumer-group-member-metadata"
TOPIC_METADATA = "consumer-group-partition-metadata"
GROUP_METADATA = "consumer-group-metadata"
TARGET_MEMBER = "consumer-group-target-assignment-member"
TARGET_METADATA = "consumer-group-target-assignment-metadata"
CURRENT_ASSIGNMENT = "consumer-group-current-member-assignment"
REGULAR_EXPRESSION = "consumer-group-regular-expression"
OFFSET_COMMIT = "offset-commit"
CLASSIC_GROUP = "group-metadata"


class HeartbeatAnswered(facts.Effect):
    """The answer to a ConsumerGroupHeartbeat; with an error, there is nothing but the error."""

    member_id: str
    error: str = NONE
    member_epoch: int | None = None
    heartbeat_interval_ms: int | None = None
    assignment: tuple[TopicPartition, ...] | None = None  # None: as before


class CommitAnswered(facts.Effect):
    """The answer to an OffsetCommit: an error for each partition."""

    member_id: str
    errors: tuple[tuple[TopicPartition, str], ...]


class FetchAnswered(facts.Effect):
    """The answer to an OffsetFetch: the partitions that have a committed offset, or an error."""

    error: str
    committed: tuple[TopicPartition, ...] = ()


class MemberFenced(facts.Effect):
    """A timer of a member ran out; it is removed, and its next request is answered UNKNOWN_MEMBER_ID."""

    member_id: str
    reason: str  # "session timeout" or "rebalance timeout"
    at_ms: int


class RecordWritten(facts.Effect):
    """The coordinator wrote a record of this kind to ``__consumer_offsets``."""

    kind: str


Effect: TypeAlias = HeartbeatAnswered | CommitAnswered | FetchAnswered | DeleteAnswered | MemberFenced | RecordWritten


def tombstone(kind: str) -> RecordWritten:
    """The record that removes one of this kind.

    >>> tombstone(MEMBER_METADATA).kind
    'tombstone:consumer-group-member-metadata'
    """
    return RecordWritten(f"tombstone:{kind}")


def _partitions(name: str, given: Iterable[tuple[str, int]]) -> tuple[TopicPartition, ...]:
    """Partitions, also from plain pairs; one that is named twice counts once."""
    partitions: list[TopicPartition] = []
    for each in iterable(name, given, of="pairs of topic and partition"):
        if not isinstance(each, (tuple, list)) or len(each) != 2:
            raise KafkaLearnError(f"{name} must hold pairs of topic and partition, got {shown(each)}")
        number = whole_number(f"the partition of {shown(each[0])}", each[1], at_least=0, at_most=LARGEST_INT)
        partitions.append(TopicPartition(text("topic", each[0]), number))
    return tuple(dict.fromkeys(partitions))
