"""The nouns of a classic group: settings and rules by release, requests, answers, members, and its transitions."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, NamedTuple, TypeAlias

from kafkalearn.base import facts
from kafkalearn.base.checks import LARGEST_INT, NOT_GIVEN, FilledIn, Whole, fill_in, one_of, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError
from kafkalearn.groups.defaults import (
    COMPLETING,
    DEAD,
    EMPTY,
    PREPARING,
    STABLE,
    DeleteAnswered,
    GroupDeleted,
    OffsetsExpired,
    PartitionMoved,
    Timeout,
    TimePassed,
    default_of,
    known_version,
)
from kafkalearn.releases.lines import DEFAULT_RELEASE, AnswersFor, at_least

ANSWERS_FOR = AnswersFor("groups.classic", "2.4")


@dataclass(frozen=True, slots=True)
class Rules:
    """What releases do differently. The Java coordinator took over in 4.0; before, it was Scala's."""

    is_java: bool
    heartbeat_counts_in_completing: bool
    sync_expires: bool


@cache
def rules_of(release: str) -> Rules:
    """The rules of a release.

    >>> rules_of("2.8.0").sync_expires, rules_of("2.8.1").sync_expires
    (False, True)
    """
    return Rules(
        is_java=at_least("4.0", release),
        heartbeat_counts_in_completing=at_least("2.6.1", release),
        sync_expires=at_least("2.8.1", release),
    )


NAMES = {
    "group_initial_rebalance_delay_ms": ("group.initial.rebalance.delay.ms", 0),
    "group_min_session_timeout_ms": ("group.min.session.timeout.ms", 0),
    "group_max_session_timeout_ms": ("group.max.session.timeout.ms", 1),
    "group_max_size": ("group.max.size", 1),
}
"""Each field of `Settings` with Kafka's name for it, and the least it can be."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The broker's side. Without a value, each is the release's default.

    Parameters
    ----------
    release : str
        Of the broker, 2.4 or later; without one, the newest line.
    group_initial_rebalance_delay_ms : int
        How long a group that was empty waits for more members.
    group_min_session_timeout_ms, group_max_session_timeout_ms : int
        A member may ask for these and all between.
    group_max_size : int
        Most members.

    Examples
    --------
    >>> Settings().group_initial_rebalance_delay_ms, Settings("2.4").group_max_session_timeout_ms
    (3000, 1800000)
    """

    release: str = DEFAULT_RELEASE
    group_initial_rebalance_delay_ms: FilledIn[int] = NOT_GIVEN
    group_min_session_timeout_ms: FilledIn[int] = NOT_GIVEN
    group_max_session_timeout_ms: FilledIn[int] = NOT_GIVEN
    group_max_size: FilledIn[int] = NOT_GIVEN
    rules: Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Fill in the defaults, refuse what no broker starts with."""
        ANSWERS_FOR.check(self.release)
        object.__setattr__(self, "rules", rules_of(self.release))
        fill_in(self, **{name: default_of(setting, self.release, "broker") for name, (setting, _) in NAMES.items()})
        for name, (setting, least) in NAMES.items():
            whole_number(setting, getattr(self, name), at_least=least, at_most=LARGEST_INT)
        if self.group_min_session_timeout_ms > self.group_max_session_timeout_ms:
            raise KafkaLearnError(
                f"group.min.session.timeout.ms ({self.group_min_session_timeout_ms}) is above "
                f"group.max.session.timeout.ms ({self.group_max_session_timeout_ms}): no session would be allowed"
            )


def broker_settings(release: str = DEFAULT_RELEASE, values: Mapping[str, int] | None = None) -> Settings:
    """The settings of a broker from Kafka's own names.

    >>> broker_settings("3.9", {"group.initial.rebalance.delay.ms": 0}).group_initial_rebalance_delay_ms
    0
    """
    fields = {setting: name for name, (setting, _) in NAMES.items()}
    for setting in values or {}:
        one_of("setting of the coordinator", setting, fields)
    return Settings(release, **{fields[setting]: value for setting, value in (values or {}).items()})


# What can happen. Every request names its `client`, a label that the answers carry back: two clients may use one id.

Generation: TypeAlias = Annotated[int, Whole(-1, LARGEST_INT)]
SessionTimeout: TypeAlias = Annotated[int, Whole(-LARGEST_INT, LARGEST_INT)]  # a coordinator refuses what is too short
JoinVersion: TypeAlias = Annotated[int, Whole(0, 9)]
CommitVersion: TypeAlias = Annotated[int, Whole(0, 10)]

UNKNOWN = ""  # the member id of who has none yet


class JoinGroup(facts.Event, says="JoinGroup of {client}"):
    """A client asks to be a member of the next generation.

    By the `version` of the request: 0 has no rebalance timeout, the session timeout stands for it; from 4 on (KIP-394)
    who has no member id is given one first; 5 brings instance ids (KIP-345); from 9 on the answer may say that the
    leader need not assign (KIP-814). A release knows JoinGroup 0 to 6 (2.4), 7 (2.5) or 9 (3.2).
    """

    client: str
    member_id: str = UNKNOWN
    session_timeout_ms: SessionTimeout = 10_000
    rebalance_timeout_ms: Timeout = 300_000  # max.poll.interval.ms of the Java client
    protocols: tuple[tuple[str, Hashable], ...] = (("range", ()),)  # (assignor, metadata), the preferred first
    instance_id: str | None = None
    protocol_type: str = "consumer"
    version: JoinVersion | None = None  # of the request; None: what clients of the broker's release send
    drawn_id: str | None = None  # the member id that the broker draws if it draws one; None: it gets a number


class SyncGroup(facts.Event, says="SyncGroup of {client}"):
    """A member asks for its assignment; the leader brings everybody's."""

    client: str
    member_id: str
    generation: Generation
    assignments: tuple[tuple[str, Hashable], ...] = ()  # (member id, assignment), from the leader only
    instance_id: str | None = None
    protocol_type: str | None = None
    protocol: str | None = None
    store_error: str = "NONE"  # what the log answers when the group is written down


class Heartbeat(facts.Event, says="Heartbeat of {client}"):
    """A member says that it is alive."""

    client: str
    member_id: str
    generation: Generation
    instance_id: str | None = None


class LeaveGroup(facts.Event, says="LeaveGroup of {client}"):
    """A member leaves, or an administrator removes a static one: then `member_id` is empty.

    One request can be for several: `others` are (member id, instance id) of the rest (KIP-345, 2.4).
    """

    client: str
    member_id: str
    instance_id: str | None = None
    others: tuple[tuple[str, str | None], ...] = ()


class OffsetCommit(facts.Event):
    """A member commits offsets; or a client that is in no group, with the generation -1 and no member id."""

    client: str
    member_id: str = UNKNOWN
    generation: Generation = -1
    instance_id: str | None = None
    version: CommitVersion | None = None  # None: what clients of the release send; from 9 on they know a missing group


FIRST_VERSION_WITH_REBALANCE_TIMEOUT = 1
FIRST_VERSION_WITH_INSTANCE_ID = 5


def join_version(settings: Settings, request: JoinGroup) -> int:
    """The version of a JoinGroup: as it says, else the newest that the release knows.

    Raises
    ------
    IllegalEvent
        If the release does not know it, or it has no room for the instance id.
    """
    version = known_version(request, request.version, "JoinGroup", settings.release)
    if request.instance_id is not None and version < FIRST_VERSION_WITH_INSTANCE_ID:
        raise IllegalEvent(
            f"{request}: JoinGroup {version} has no group.instance.id; give version {FIRST_VERSION_WITH_INSTANCE_ID} "
            "or later"
        )
    return version


def rebalance_timeout_ms(settings: Settings, request: JoinGroup) -> int:
    """How long a rebalance waits for a member: the oldest request does not say, a session stands for it."""
    says_it = join_version(settings, request) >= FIRST_VERSION_WITH_REBALANCE_TIMEOUT
    return request.rebalance_timeout_ms if says_it else request.session_timeout_ms


ClassicRequest: TypeAlias = JoinGroup | SyncGroup | Heartbeat | LeaveGroup | OffsetCommit
ClassicEvent: TypeAlias = ClassicRequest | TimePassed | PartitionMoved | OffsetsExpired | GroupDeleted


# What an event leads to, in order.

NONE = "NONE"  # Kafka's name for: no error
LEFT = "left"  # why a member was removed that has left by itself


class JoinAnswered(facts.Effect):
    """The answer to JoinGroup; only the leader gets the members."""

    client: str
    error: str
    member_id: str
    generation: int = -1
    protocol: str | None = None
    leader: str | None = None
    members: tuple[tuple[str, str | None, Hashable], ...] = ()  # (member id, instance id, metadata)
    is_assignment_skipped: bool = False


class SyncAnswered(facts.Effect):
    """The answer to SyncGroup."""

    client: str
    error: str
    assignment: Hashable = None


class HeartbeatAnswered(facts.Effect):
    """The answer to Heartbeat."""

    client: str
    error: str


class LeaveAnswered(facts.Effect):
    """The answer to LeaveGroup; where it was for several, with an error for each of the others."""

    client: str
    error: str
    of_others: tuple[str, ...] = ()


class CommitAnswered(facts.Effect):
    """The answer to OffsetCommit: one error for all of its partitions."""

    client: str
    error: str


class StateChanged(facts.Effect):
    """The group went from one state to another."""

    at_ms: int
    before: str
    after: str
    cause: str
    who: str = ""  # the member that was the cause, if one was


class MemberRemoved(facts.Effect):
    """A member is no longer in the group."""

    at_ms: int
    member_id: str
    client: str
    why: str


class GroupWritten(facts.Effect):
    """The group was written as one record to ``__consumer_offsets``."""

    is_tombstone: bool = False


Answer: TypeAlias = JoinAnswered | SyncAnswered | HeartbeatAnswered | LeaveAnswered | CommitAnswered
Effect: TypeAlias = Answer | DeleteAnswered | StateChanged | MemberRemoved | GroupWritten


class Member(NamedTuple):
    """One member, as the coordinator knows it."""

    member_id: str
    client: str  # the label of the client that got the member id
    instance_id: str | None
    session_timeout_ms: int
    rebalance_timeout_ms: int
    protocols: tuple[tuple[str, Hashable], ...]
    is_new: bool = False  # it waits for its first answer
    join_waiter: str | None = None  # the client whose JoinGroup is parked
    sync_waiter: str | None = None  # the client whose SyncGroup is parked
    assignment: Hashable = None
    expires_ms: int | None = None  # its session ends then; None: the timer ran out while it was waiting

    @property
    def is_static(self) -> bool:
        """Whether it has a ``group.instance.id``."""
        return self.instance_id is not None

    @property
    def protocol_names(self) -> tuple[str, ...]:
        """The assignors it can use, the preferred first."""
        return next(zip(*self.protocols, strict=True), ())  # each JoinGroup asks every member


@dataclass(frozen=True, slots=True)
class Group:
    """A classic group on its coordinator, at one moment."""

    state: str = EMPTY
    generation: int = 0
    leader: str | None = None
    protocol: str | None = None
    protocol_type: str | None = None
    members: tuple[Member, ...] = ()  # in the order in which they came
    pending: tuple[tuple[str, int, str], ...] = ()  # (member id, expires_ms, client): given out, not used yet
    unsynced: tuple[str, ...] = ()  # member ids that have not sent SyncGroup in this generation
    now_ms: int = 0
    join_deadline_ms: int | None = None  # when the join phase ends at the latest
    delay_ms: int | None = None  # of the running window of the initial delay; None: no initial delay
    remaining_delay_ms: int = 0  # what further windows may take
    has_newcomer: bool = False  # a member was added in the window
    sync_deadline_ms: int | None = None
    id_count: int = 0  # member ids given out so far
    is_known: bool = False  # the coordinator has heard of it
    has_moved: bool = False  # Dead, because another broker has it now
    effects: tuple[Effect, ...] = field(default=(), compare=False)  # what the last event led to

    def member(self, member_id: str) -> Member | None:
        """The member of that id, if it is one."""
        for each in self.members:
            if each.member_id == member_id:
                return each
        return None

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that the last event led to, in order."""
        return tuple(effect for effect in self.effects if isinstance(effect, Answer))

    @property
    def assignment(self) -> dict[str, Hashable]:
        """What each member has been given in this generation."""
        return {each.member_id: each.assignment for each in self.members}


def start(settings: Settings) -> Group:
    """A group that nobody has asked for yet."""
    return Group()


# Every way from one state to another: the table that `step` obeys and pictures draw.

MEMBER_ADDED = "a member is added"
MEMBER_LEFT = "a member leaves"
MEMBER_EXPIRED = "a member's session expires"
METADATA_CHANGED = "a member rejoins with other metadata"
LEADER_REJOINED = "the leader rejoins"
STATIC_REPLACED = "a static member comes back"
VOTE_CHANGED = "a static member's return changes the protocol"
SYNC_EXPIRED = "a member sends no SyncGroup in time"
NOT_STORED = "the assignment cannot be stored"
JOINED = "the join phase ends"
NOBODY_JOINED = "the join phase ends without members"
STORED = "the leader's assignment is stored"
EXPIRED = "the last offset expires"
DELETED = "the group is deleted"
MOVED = "the partition moves to another broker"


class Transition(NamedTuple):
    """One way from a state to another."""

    before: str
    after: str
    cause: str


TRANSITIONS: tuple[Transition, ...] = (
    Transition(EMPTY, PREPARING, MEMBER_ADDED),
    *(
        Transition(before, PREPARING, cause)
        for before in (STABLE, COMPLETING)
        for cause in (MEMBER_ADDED, MEMBER_LEFT, MEMBER_EXPIRED, METADATA_CHANGED, SYNC_EXPIRED)
    ),
    Transition(STABLE, PREPARING, LEADER_REJOINED),
    Transition(STABLE, PREPARING, VOTE_CHANGED),
    Transition(COMPLETING, PREPARING, STATIC_REPLACED),
    Transition(COMPLETING, PREPARING, NOT_STORED),
    Transition(PREPARING, COMPLETING, JOINED),
    Transition(PREPARING, EMPTY, NOBODY_JOINED),
    Transition(COMPLETING, STABLE, STORED),
    Transition(EMPTY, DEAD, EXPIRED),
    Transition(EMPTY, DEAD, DELETED),
    *(Transition(before, DEAD, MOVED) for before in (EMPTY, PREPARING, COMPLETING, STABLE)),
)
"""All of them; `kafkalearn.groups.classic.step` makes no other."""

_KNOWN = frozenset(TRANSITIONS)


def transition(before: str, after: str, cause: str) -> Transition:
    """The transition of that name; AssertionError if the table has none.

    >>> transition("Empty", "PreparingRebalance", MEMBER_ADDED).cause
    'a member is added'
    """
    made = Transition(before, after, cause)
    assert made in _KNOWN, f"no transition {made}"
    return made
