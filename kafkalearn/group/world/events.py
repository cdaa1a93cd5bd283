"""What can happen to the consumers of a group, and the scenario that puts it in order. All times are whole ms.

A scenario has nothing of the protocol in it: the same one can be played with the classic protocol, with that of
KIP-848, and with any settings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypedDict, get_args

from kafkalearn.arguments import fill_in, number, sequence, text, whole_number
from kafkalearn.errors import KafkaLearnError, unknown_name
from kafkalearn.fields import NOT_GIVEN, FilledIn
from kafkalearn.group.consumer.topics import topic_name
from kafkalearn.group.limits import (
    LONGEST_SCENARIO_MS,
    MOST_CONSUMERS,
    MOST_SCENARIO_EVENTS,
    MOST_SCENARIO_PARTITIONS,
)
from kafkalearn.group.world.subscriptions import Subscription
from kafkalearn.phrases import shown


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


ScenarioEvent: TypeAlias = (
    Joins
    | Leaves
    | Crashes
    | Restarts
    | CrashesAndReturns
    | Pauses
    | Processing
    | Disconnected
    | Grows
    | Created
    | Deleted
    | Subscribes
)
TopicEvent: TypeAlias = Grows | Created | Deleted

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
        whole_number("the number of events", len(events), at_least=0, at_most=MOST_SCENARIO_EVENTS)
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
        whole_number("end_ms", self.end_ms, at_least=1, at_most=2 * LONGEST_SCENARIO_MS)
        if ordered and self.end_ms < ordered[-1].at_ms:
            raise KafkaLearnError(f"the scenario ends at {self.end_ms} ms, before {ordered[-1]}; let it end later")

    def _check_names(self) -> None:
        members, topics = set(self.members), self.all_topics
        whole_number("the number of members", len(members), at_least=0, at_most=MOST_CONSUMERS)
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
        whole_number(f"the partition count of {text('topic', each[0])}", each[1], 1, MOST_SCENARIO_PARTITIONS)
    if not pairs:
        raise KafkaLearnError("a scenario needs a topic to be read; give topics=[('orders', 6)]")
    if len(dict(pairs)) < len(pairs):
        raise KafkaLearnError(f"topics names one topic twice: {shown(pairs)}")
    total = sum(count for _, count in pairs)
    whole_number("the number of partitions of all topics", total, at_least=1, at_most=MOST_SCENARIO_PARTITIONS)
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
        raise KafkaLearnError(f"{shown(event)} is no event of a scenario; there are {allowed}")
    what = type(event).__name__
    name = text("member", getattr(event, "member", "c1"))
    if not name or set(name) & set("/,; "):
        raise KafkaLearnError(f"{shown(event)}: the name of a member is one word without / , and ;")
    text("topic", getattr(event, "topic", ""))
    for key in ("at_ms", "for_ms", "after_ms"):
        if hasattr(event, key):
            whole_number(f"{key} of {what}", getattr(event, key), at_least=0, at_most=LONGEST_SCENARIO_MS)
    if isinstance(event, Subscribes) and not isinstance(event.to, Subscription):
        raise KafkaLearnError(f"to of Subscribes must be a Subscription, got {shown(event.to)}")
    if isinstance(event, Created):
        topic_name(event.topic)
    if isinstance(event, Grows | Created):
        whole_number(f"partition_count of {what}", event.partition_count, 1, MOST_SCENARIO_PARTITIONS)
