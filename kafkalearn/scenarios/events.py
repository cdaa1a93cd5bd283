"""Settings, subscriptions, what can happen to the consumers of a group, and the scenario that puts it in order.

All times are whole ms. A scenario has nothing of the protocol in it, unless it says who `Speaks` which: the same one
can be played with the classic protocol, with that of KIP-848, and with any settings.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypedDict, get_args, overload

from kafkalearn.assignors.registry import BROKER_ASSIGNORS
from kafkalearn.base.checks import (
    LARGEST_INT,
    NOT_GIVEN,
    FilledIn,
    fill_in,
    number,
    one_of,
    sequence,
    text,
    whole_number,
)
from kafkalearn.base.errors import KafkaLearnError, shown, unknown_name
from kafkalearn.groups import defaults
from kafkalearn.groups.classic.model import NAMES as CLASSIC_NAMES
from kafkalearn.groups.consumer.events import NAMES as CONSUMER_NAMES
from kafkalearn.groups.consumer.events import topic_name
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor

# Settings of consumers and broker by Kafka's own names; what is not given is the release's default.

CLIENT_SETTINGS = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "metadata.max.age.ms",
    "retry.backoff.ms",
    "partition.assignment.strategy",
    "group.instance.id",
    "group.remote.assignor",
)
BROKER_SETTINGS = (
    *(setting for setting, _ in CLASSIC_NAMES.values()),
    *CONSUMER_NAMES.values(),
    "group.consumer.migration.policy",
)
OWN_SETTINGS = {"latency.ms": 2, "processing.ms": 100}
"""Of the model, not of Kafka: one way from client to broker, and the work on the records of an ordinary poll."""

KNOWN = (*CLIENT_SETTINGS, *BROKER_SETTINGS, *OWN_SETTINGS)

SHORT_NAMES = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}
STRATEGIES = ("range", "roundrobin", "sticky", "cooperative-sticky")
ANSWERS_FOR = AnswersFor("scenarios", "1.1")  # old consumers to 1.1, classic groups since 2.4, KIP-848 since 4.0


@dataclass(frozen=True, slots=True)
class MemberSettings:
    """What one consumer runs with."""

    session_timeout_ms: int
    heartbeat_interval_ms: int
    max_poll_interval_ms: int
    max_poll_records: int
    instance_id: str | None
    assignors: tuple[str, ...]
    metadata_max_age_ms: int
    retry_backoff_ms: int

    @property
    def is_cooperative(self) -> bool:
        """Whether it keeps its partitions through a rebalance: only if every assignor it names can do that."""
        return set(self.assignors) == {"cooperative-sticky"}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a scenario: of the broker, of all consumers, and of single ones.

    Parameters
    ----------
    release : str
        Of broker and clients, 2.4 or later (old consumers: 1.1); without one, the newest line.
    values : mapping of str to value
        By Kafka's names; ``latency.ms`` and ``processing.ms`` are the model's own.
    member_values : mapping of str to mapping
        For single members, by name.

    Examples
    --------
    >>> settings = Settings(values={"heartbeat.interval.ms": 2000})
    >>> settings["heartbeat.interval.ms"], settings["session.timeout.ms"]
    (2000, 45000)
    >>> settings.of("c1").assignors
    ('range', 'cooperative-sticky')
    """

    release: str = DEFAULT_RELEASE
    values: Mapping[str, object] = field(default_factory=dict)
    member_values: Mapping[str, Mapping[str, object]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse unknown names, and values that no consumer starts with."""
        ANSWERS_FOR.check(self.release)
        object.__setattr__(self, "values", _all_checked(self.values))
        of_members = {member: _all_checked(its) for member, its in self.member_values.items()}
        for its in of_members.values():
            for name in its:
                if name not in CLIENT_SETTINGS:
                    raise KafkaLearnError(f"{name} cannot differ from member to member; give it for the whole scenario")
        object.__setattr__(self, "member_values", MappingProxyType(of_members))
        for member in (None, *of_members):
            self._check(member)

    @overload
    def __getitem__(self, name: Literal["latency.ms", "processing.ms"]) -> int: ...
    @overload
    def __getitem__(self, name: str) -> object: ...
    def __getitem__(self, name: str) -> object:
        """The value of a setting for the whole scenario."""
        return self.values[name] if name in self.values else _default(name, self.release)

    def of(self, member: str | None) -> MemberSettings:
        """What a member runs with; None: one that has no settings of its own."""
        its: Mapping[str, object] = {} if member is None else self.member_values.get(member, {})

        def value(name: str) -> Any:  # it is checked, or a default of Kafka's
            return its[name] if name in its else self[name]

        return MemberSettings(
            value("session.timeout.ms"),
            value("heartbeat.interval.ms"),
            value("max.poll.interval.ms"),
            value("max.poll.records"),
            value("group.instance.id"),
            assignors_of(value("partition.assignment.strategy")),
            value("metadata.max.age.ms"),
            value("retry.backoff.ms"),
        )

    def _check(self, member: str | None) -> None:
        its = self.of(member)
        if its.heartbeat_interval_ms >= its.session_timeout_ms:
            raise KafkaLearnError(
                f"heartbeat.interval.ms ({its.heartbeat_interval_ms}) must be below session.timeout.ms "
                f"({its.session_timeout_ms}), as Kafka's client demands; a third of it or less is usual"
            )


def by_kafka_name(named: Mapping[str, object]) -> dict[str, object]:
    """Keyword arguments by Kafka's names: underscores are dots there.

    >>> by_kafka_name({"session_timeout_ms": 6000})
    {'session.timeout.ms': 6000}
    """
    return {name.replace("_", "."): value for name, value in named.items()}


def assignors_of(value: object) -> tuple[str, ...]:
    """The assignors a ``partition.assignment.strategy`` names, by their names in `kafkalearn.assignors`.

    >>> assignors_of("cooperative-sticky"), assignors_of(["org.apache.kafka.clients.consumer.StickyAssignor"])
    (('cooperative-sticky',), ('sticky',))
    """
    if not isinstance(value, (str, list, tuple)):
        raise KafkaLearnError(
            f"an assignor is named by a text, several by a list, got {type(value).__name__} {shown(value)}"
        )
    given: Iterable[object] = [value] if isinstance(value, str) else value
    names = tuple(SHORT_NAMES.get(str(name).rpartition(".")[2], str(name)) for name in given)
    for name in names:
        if name not in STRATEGIES:
            if name in BROKER_ASSIGNORS:
                raise KafkaLearnError(f"{name} does not run in clients; those that do: {', '.join(STRATEGIES)}")
            raise unknown_name("assignor of the classic protocol", name, STRATEGIES)
    if not names:
        raise KafkaLearnError("partition.assignment.strategy names no assignor; give one of " + ", ".join(STRATEGIES))
    return names


def _default(name: str, release: str) -> object:
    one_of("setting", name, KNOWN)
    if name in OWN_SETTINGS:
        return OWN_SETTINGS[name]
    return defaults.default_of(name, release, "consumer" if name in CLIENT_SETTINGS else "broker")


_LEAST = {
    "latency.ms": 0,
    "processing.ms": 0,
    "session.timeout.ms": 1,
    "heartbeat.interval.ms": 1,
    "max.poll.interval.ms": 1,
    "max.poll.records": 1,
    "metadata.max.age.ms": 0,
    "retry.backoff.ms": 0,
}


def _all_checked(values: Mapping[str, object]) -> Mapping[str, object]:
    return MappingProxyType({name: _checked(name, value) for name, value in values.items()})


def _checked(name: str, value: object) -> object:
    """The value of a setting as it is kept: numbers checked, lists as tuples."""
    one_of("setting", name, KNOWN)
    if name in _LEAST:
        return whole_number(name, value, at_least=_LEAST[name], at_most=LARGEST_INT)
    if name == "partition.assignment.strategy":
        return assignors_of(value)
    if name == "group.instance.id":
        return None if value is None else str(value)
    return tuple(value) if isinstance(value, list) else value


LONGEST_PATTERN = 200  # characters
MOST_REPEATS = 4  # more of them can take for ever to compare with one long name
_REPEATS = re.compile(r"(?<!\\)(?:[*+?]|\{\d*,?\d*\})")
_REPEATED_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{)")


@dataclass(frozen=True, slots=True)
class Subscription:
    """What was given to ``subscribe``: names of topics, or a pattern.

    Parameters
    ----------
    topics : sequence of str
        Names; they need not be there yet.
    pattern : str or None
        A regular expression for the whole name of a topic, as Python writes it. It has at most four repeats
        (``*``, ``+``, ``?``), and no group is repeated: such patterns may take for ever.

    Examples
    --------
    >>> Subscription(("orders",)).among({"orders": 6, "orders-eu": 2})
    ('orders',)
    >>> Subscription(pattern="orders.*").among({"orders": 6, "orders-eu": 2, "clicks": 1})
    ('orders', 'orders-eu')

    References
    ----------
    Apache Kafka, ``KafkaConsumer.subscribe(Collection)`` and ``subscribe(Pattern)``; the pattern is compared by the
    client, in both protocols. (A ``SubscriptionPattern`` of KIP-848 is compared by the broker; that is not here.)
    """

    topics: tuple[str, ...] = ()
    pattern: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be subscribed to."""
        names = tuple(text("topic", each) for each in sequence("topics", self.topics, of="names of topics"))
        object.__setattr__(self, "topics", tuple(dict.fromkeys(names)))
        if self.pattern is not None:
            _check_pattern(self.pattern)
        if bool(self.topics) == (self.pattern is not None):
            raise KafkaLearnError(
                f"a consumer subscribes to topics or to a pattern, got topics {shown(self.topics)} and pattern "
                f"{shown(self.pattern)}; give one of the two"
            )

    def covers(self, topic: str) -> bool:
        """Whether a topic of this name belongs to it."""
        if self.pattern is None:
            return topic in self.topics
        return re.fullmatch(self.pattern, topic) is not None

    def among(self, known: Iterable[str]) -> tuple[str, ...]:
        """The names that a consumer sends as its subscription when these are the topics that it knows."""
        return self.topics if self.pattern is None else tuple(each for each in known if self.covers(each))

    def __str__(self) -> str:
        """As in the line of a scenario."""
        return ", ".join(self.topics) if self.pattern is None else f"the pattern {self.pattern}"


def _check_pattern(pattern: str) -> None:
    text("pattern", pattern)
    if not 0 < len(pattern) <= LONGEST_PATTERN:
        raise KafkaLearnError(f"a pattern has 1 to {LONGEST_PATTERN} characters, got {len(pattern)}")
    if len(_REPEATS.findall(pattern)) > MOST_REPEATS or _REPEATED_GROUP.search(pattern):
        raise KafkaLearnError(
            f"the pattern {shown(pattern)} may take for ever: at most {MOST_REPEATS} of * + ? are taken, and none of "
            "them after a group; as in: orders-.*"
        )
    try:
        re.compile(pattern)
    except re.error as reason:
        raise KafkaLearnError(f"the pattern {shown(pattern)} cannot be read: {reason}; as in: orders-.*") from None


# What can happen.


@dataclass(frozen=True, slots=True)
class Joins:
    """A process starts and subscribes to the topics."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True)
class Leaves:
    """The application closes its consumer, and the process ends."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True)
class Crashes:
    """The process dies and sends nothing."""

    at_ms: int
    member: str


@dataclass(frozen=True, slots=True)
class Restarts:
    """The application closes its consumer; a new process of the same name starts later."""

    at_ms: int
    member: str
    after_ms: int


@dataclass(frozen=True, slots=True)
class CrashesAndReturns:
    """The process dies; a new one of the same name starts later."""

    at_ms: int
    member: str
    after_ms: int


@dataclass(frozen=True, slots=True)
class Pauses:
    """Everything in the process stands still, as in a long garbage collection: poll thread and heartbeat thread."""

    at_ms: int
    member: str
    for_ms: int


@dataclass(frozen=True, slots=True)
class Processing:
    """The poll thread processes the records of one poll (500 records) for so long; the heartbeat thread goes on."""

    at_ms: int
    member: str
    for_ms: int


@dataclass(frozen=True, slots=True)
class Disconnected:
    """No request or answer passes between consumer and coordinator; they arrive afterwards. It reads on."""

    at_ms: int
    member: str
    for_ms: int


@dataclass(frozen=True, slots=True)
class Grows:
    """A topic is given more partitions."""

    at_ms: int
    topic: str
    partition_count: int


@dataclass(frozen=True, slots=True)
class Created:
    """An administrator creates a topic; nobody tells the consumers."""

    at_ms: int
    topic: str
    partition_count: int


@dataclass(frozen=True, slots=True)
class Deleted:
    """An administrator deletes a topic. In a scenario no other one of its name comes after it."""

    at_ms: int
    topic: str


@dataclass(frozen=True, slots=True)
class Subscribes:
    """The application calls ``subscribe`` again, with other topics or a pattern."""

    at_ms: int
    member: str
    to: Subscription


SPOKEN = ("classic", "consumer")


@dataclass(frozen=True, slots=True)
class Speaks:
    """The next process of a member speaks this protocol, and those after it."""

    at_ms: int
    member: str
    protocol: str


TopicEvent: TypeAlias = Grows | Created | Deleted
ScenarioEvent: TypeAlias = (
    Joins | Leaves | Crashes | Restarts | CrashesAndReturns | Pauses | Processing | Disconnected
    | Grows | Created | Deleted | Subscribes | Speaks
)  # fmt: skip

# What puts them in order.

QUIET_MS = 120_000  # how long a scenario goes on after the last thing that happens


def end_of(event: ScenarioEvent) -> int:
    """When an event is over."""
    return event.at_ms + getattr(event, "for_ms", 0) + getattr(event, "after_ms", 0)


@dataclass(frozen=True, slots=True)
class Scenario:
    """A story: the topics, how fast records come, and what happens to whom.

    Parameters
    ----------
    events : sequence of events
        In any order; those of one moment happen in the order given.
    topics : sequence of (str, int)
        Names and partition counts at the start.
    records_per_second : float
        Over all partitions together.
    read_per_second : float or None
        What one member can read; None: it catches up at once.
    static : sequence of str
        The members that have a ``group.instance.id``.
    member_settings : sequence of (str, str, value)
        Settings of single members, as (member, setting, value).
    subscriptions : sequence of (str, Subscription)
        What members subscribe to when they start; who is not named subscribes to all topics of the start.
    end_ms : int or None
        When the story ends; None: two minutes after the last thing that happens.

    Examples
    --------
    >>> Scenario([Joins(0, "c1"), Pauses(60_000, "c1", for_ms=10_000)]).end_ms
    190000
    """

    events: Sequence[ScenarioEvent]
    topics: Sequence[tuple[str, int]] = (("orders", 6),)
    records_per_second: float = 1000
    read_per_second: float | None = None
    static: Sequence[str] = ()
    member_settings: Sequence[tuple[str, str, object]] = ()
    subscriptions: Sequence[tuple[str, Subscription]] = ()
    end_ms: FilledIn[int] = NOT_GIVEN

    def __post_init__(self) -> None:
        """Put the events in order and refuse a scenario that cannot be played."""
        events = sequence("events", self.events, of="events")
        whole_number("the number of events", len(events), at_least=0, at_most=defaults.MOST_SCENARIO_EVENTS)
        for event in events:
            _check(event)
        for name in ("records_per_second", "read_per_second"):
            if getattr(self, name) is not None:
                number(name, getattr(self, name), at_least=0)
        ordered = tuple(sorted(events, key=lambda event: event.at_ms))
        object.__setattr__(self, "events", ordered)
        object.__setattr__(self, "topics", _topics(self.topics))
        object.__setattr__(self, "static", tuple(text("member", each) for each in sequence("static", self.static)))
        settings = sequence("member_settings", self.member_settings, of="(member, setting, value)")
        object.__setattr__(self, "member_settings", tuple(_member_setting(each) for each in settings))
        pairs = sequence("subscriptions", self.subscriptions, of="pairs of member and Subscription")
        object.__setattr__(self, "subscriptions", tuple(_subscription(each) for each in pairs))
        self._check_names()
        last_ms = max(map(end_of, ordered), default=0)
        fill_in(self, end_ms=last_ms + QUIET_MS)
        whole_number("end_ms", self.end_ms, at_least=1, at_most=2 * defaults.LONGEST_SCENARIO_MS)
        if ordered and self.end_ms < ordered[-1].at_ms:
            raise KafkaLearnError(f"the scenario ends at {self.end_ms} ms, before {ordered[-1]}; let it end later")

    def _check_names(self) -> None:
        members, topics = set(self.members), self.all_topics
        whole_number("the number of members", len(members), at_least=0, at_most=defaults.MOST_CONSUMERS)
        for event in self.events:
            member, topic = getattr(event, "member", None), getattr(event, "topic", None)
            if member not in (None, *members):
                raise KafkaLearnError(f"{event}: {member} never joins; those who do: {', '.join(self.members)}")
            if topic not in (None, *topics):
                raise unknown_name("topic", topic, topics)
            if isinstance(event, Subscribes):
                _check_topics(event.to, topics)
        for member, subscription in self.subscriptions:
            if member not in members:
                raise KafkaLearnError(f"{shown(member)} subscribes and never joins; give it a Joins")
            _check_topics(subscription, topics)

    @property
    def members(self) -> tuple[str, ...]:
        """The names of the consumers, in the order in which they first start."""
        return tuple(dict.fromkeys(event.member for event in self.events if isinstance(event, Joins)))

    @property
    def all_topics(self) -> tuple[str, ...]:
        """The names of all topics that there are at some time."""
        created = (event.topic for event in self.events if isinstance(event, Created))
        return tuple(dict.fromkeys([*(name for name, _ in self.topics), *created]))

    @property
    def is_mixed(self) -> bool:
        """Whether it says of some member which protocol it speaks."""
        return any(isinstance(event, Speaks) for event in self.events)

    def subscription(self, member: str) -> Subscription:
        """What a process of the member subscribes to when it starts."""
        return dict(self.subscriptions).get(member) or Subscription(tuple(name for name, _ in self.topics))


class Header(TypedDict, total=False):
    """What a scenario has besides its events."""

    topics: Sequence[tuple[str, int]]
    records_per_second: float
    read_per_second: float | None
    static: Sequence[str]
    member_settings: Sequence[tuple[str, str, object]]
    subscriptions: Sequence[tuple[str, Subscription]]
    end_ms: int | None


def _topics(topics: object) -> tuple[tuple[str, int], ...]:
    """Topics and their partition counts, each topic once, not too many partitions in all."""
    pairs: tuple[Any, ...] = sequence("topics", topics, of="pairs of topic and partition count")
    for each in pairs:
        if not isinstance(each, (tuple, list)) or len(each) != 2:
            raise KafkaLearnError(f"topics must hold pairs of topic and partition count, got {shown(each)}")
        whole_number(f"the partition count of {text('topic', each[0])}", each[1], 1, defaults.MOST_SCENARIO_PARTITIONS)
    if not pairs:
        raise KafkaLearnError("a scenario needs a topic to be read; give topics=[('orders', 6)]")
    if len(dict(pairs)) < len(pairs):
        raise KafkaLearnError(f"topics names one topic twice: {shown(pairs)}")
    total = sum(count for _, count in pairs)
    whole_number("the number of partitions of all topics", total, at_least=1, at_most=defaults.MOST_SCENARIO_PARTITIONS)
    return tuple((name, count) for name, count in pairs)


def _member_setting(given: object) -> tuple[str, str, object]:
    if not isinstance(given, (tuple, list)) or len(given) != 3:
        raise KafkaLearnError(f"member_settings must hold (member, setting, value), got {shown(given)}")
    return text("member", given[0]), text("setting", given[1]), given[2]


def _subscription(given: object) -> tuple[str, Subscription]:
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not isinstance(given[1], Subscription):
        raise KafkaLearnError(f"subscriptions must hold pairs of member and Subscription, got {shown(given)}")
    return text("member", given[0]), given[1]


def _check_topics(subscription: Subscription, topics: tuple[str, ...]) -> None:
    for topic in subscription.topics:
        if topic not in topics:
            raise unknown_name("topic", topic, topics)


def _check(event: ScenarioEvent) -> None:
    if not isinstance(event, ScenarioEvent):
        allowed = ", ".join(kind.__name__ for kind in get_args(ScenarioEvent))
        raise KafkaLearnError(f"unknown event {shown(event)}; expected one of {allowed}")
    what = type(event).__name__
    name = text("member", getattr(event, "member", "c1"))
    if not name or set(name) & set("/,; "):
        raise KafkaLearnError(f"{shown(event)}: the name of a member is one word without / , and ;")
    text("topic", getattr(event, "topic", ""))
    for key in ("at_ms", "for_ms", "after_ms"):
        if hasattr(event, key):
            whole_number(f"{key} of {what}", getattr(event, key), at_least=0, at_most=defaults.LONGEST_SCENARIO_MS)
    if isinstance(event, Subscribes) and not isinstance(event.to, Subscription):
        raise KafkaLearnError(f"to of Subscribes must be a Subscription, got {shown(event.to)}")
    if isinstance(event, Speaks):
        one_of("protocol", event.protocol, SPOKEN)
    if isinstance(event, Created):
        topic_name(event.topic)
    if isinstance(event, Grows | Created):
        whole_number(f"partition_count of {what}", event.partition_count, 1, defaults.MOST_SCENARIO_PARTITIONS)
