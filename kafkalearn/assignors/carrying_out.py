"""A rebalance carried out moment by moment: who reads what while it goes on, and what nobody reads; a simulator.

There are two ways to carry out the same change. *Eager*: everybody gives everything up, and reads again once all
have been assigned. *Cooperative*: a first round takes away only what is to move, a second one assigns it; all else is
read throughout. The assignor decides which: of those in the clients only ``cooperative-sticky`` is cooperative.

`Settings` are the assignor, the topics and the group before it all began; the events are `GroupChanged`, `AllGaveUp`
and `Assigned`; `rebalance` is a whole run. Heartbeats, timeouts and the coordinator's part are left out here;
`kafkalearn.scenarios` has them.

>>> settings = Settings("range", {"t": 4}, [Member("m0", ["t"])])
>>> events = [GroupChanged([Member("m0", ["t"]), Member("m1", ["t"])]), AllGaveUp(), Assigned()]
>>> [len(frame.state.unread) for frame in simulate(settings, events)]
[0, 0, 4, 0]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from kafkalearn.assignors.members import Assignment, GroupSpec, Member
from kafkalearn.assignors.registry import assign, find_assignor, rejoin, settled
from kafkalearn.base import facts
from kafkalearn.base.checks import check_fields, iterable, whole_number
from kafkalearn.base.errors import IllegalEvent, KafkaLearnError, no_event, shown
from kafkalearn.base.promises import Since
from kafkalearn.base.simulator import simulator
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Trace, extend

__all__ = [
    "INVARIANTS",
    "PROMISES",
    "AllGaveUp",
    "Assigned",
    "GroupChanged",
    "Settings",
    "broken",
    "check",
    "simulate",
    "start",
    "step",
]


MOST_PARTITIONS = 200_000  # of all topics: every moment of a rebalance has an owner, or none, for each


@dataclass(frozen=True, slots=True)
class Settings:
    """A group of clients that assign for themselves, and has settled.

    Parameters
    ----------
    assignor : str
        A name in `kafkalearn.assignors.registry.CLIENT_ASSIGNORS`; it decides how a rebalance is carried out.
    partition_counts : mapping of str to int, or tuple of (str, int)
        The partitions of each topic, at most `MOST_PARTITIONS` in all.
    members : sequence of Member
        Of the group at the start. What they own is worked out.

    Raises
    ------
    KafkaLearnError
        If no client has such an assignor, or no coordinator could form such a group.

    Examples
    --------
    >>> Settings("sticky", {"t": 6}, [Member("m0", ["t"])]).is_eager
    True
    """

    assignor: str
    partition_counts: tuple[tuple[str, int], ...]
    members: tuple[Member, ...]

    if TYPE_CHECKING:

        def __init__(
            self,
            assignor: str,
            partition_counts: Mapping[str, int] | Iterable[tuple[str, int]],
            members: Iterable[Member],
        ) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Refuse what no group can be, and make tuples of mappings and sequences."""
        find_assignor(self.assignor, side="client")
        try:
            counts = self.counts
        except (TypeError, ValueError):
            raise KafkaLearnError(
                f"partition_counts must map each topic to its number of partitions, got {shown(self.partition_counts)}"
            ) from None
        spec = GroupSpec(counts, self.members)
        total = sum(counts.values())
        whole_number("the number of partitions of a rebalance", total, at_least=0, at_most=MOST_PARTITIONS)
        object.__setattr__(self, "partition_counts", tuple(spec.partition_counts.items()))
        object.__setattr__(self, "members", spec.members)

    @property
    def counts(self) -> Mapping[str, int]:
        """The partitions of each topic, as a mapping."""
        return dict(self.partition_counts)

    @property
    def is_eager(self) -> bool:
        """Whether everybody gives everything up before a new assignment; False: the group is cooperative."""
        return self.assignor != "cooperative-sticky"


@dataclass(frozen=True, slots=True)
class Group:
    """A group, before, during and after a rebalance."""

    members: tuple[Member, ...]
    reading: Assignment  # who reads what just now
    assigned: Assignment  # what each member was assigned last, which it will report
    first: Assignment  # who read what before it all began
    partitions: tuple[TopicPartition, ...]  # of all topics that somebody subscribes to or did
    generation: int = 1
    round_number: int = 0  # rounds since the group changed
    has_stopped: bool = False  # everybody has given everything up
    left: tuple[str, ...] = ()  # members that are gone
    effects: tuple[Effect, ...] = field(default=(), compare=False)

    @property
    def unread(self) -> tuple[TopicPartition, ...]:
        """The partitions that nobody reads."""
        read = self.reading.owners()
        return tuple(partition for partition in self.partitions if partition not in read)


def start(settings: Settings) -> Group:
    """The group when it has settled: everybody reads what it was assigned."""
    first = settled(settings.assignor, settings.counts, settings.members)
    return Group(settings.members, first, first, first, partitions_of(settings, settings.members))


def partitions_of(settings: Settings, members: Iterable[Member]) -> tuple[TopicPartition, ...]:
    """The partitions of all topics that these members subscribe to."""
    counts = settings.counts
    topics = dict.fromkeys(topic for member in members for topic in member.topics if topic in counts)
    return tuple(TopicPartition(topic, number) for topic in topics for number in range(counts[topic]))


# Events.


class GroupChanged(facts.Event):
    """The group has these members now: some have left or joined, or have changed their subscription.

    Who is in a cooperative group stops reading at once what it no longer subscribes to, and does not report it.
    """

    members: tuple[Member, ...]

    if TYPE_CHECKING:

        def __init__(self, members: Iterable[Member]) -> None:
            """What it is made from; the fields hold what is made of that."""

    def __post_init__(self) -> None:
        """Make a tuple of any sequence of members, and refuse what is none."""
        object.__setattr__(self, "members", tuple(iterable("members", self.members, of="members")))
        check_fields(self)


class AllGaveUp(facts.Event):
    """Everybody stops reading everything, as an eager group does first."""


class Assigned(facts.Event):
    """The assignor has run, and everybody reads what it was assigned: one round of a cooperative group."""


Event: TypeAlias = GroupChanged | AllGaveUp | Assigned


# Effects: who came and went, who stops and who starts reading what.


class MemberLeft(facts.Effect):
    """A member is gone."""

    member_id: str


class MemberJoined(facts.Effect):
    """A member is new; it has nothing yet."""

    member_id: str


class SubscriptionChanged(facts.Effect):
    """A member subscribes to other topics than before."""

    member_id: str


class StoppedReading(facts.Effect):
    """A member no longer reads these partitions: it gave them up, or has left."""

    member_id: str
    partitions: tuple[TopicPartition, ...]


class StartedReading(facts.Effect):
    """A member reads these partitions from now on."""

    member_id: str
    partitions: tuple[TopicPartition, ...]


class AssignedAnew(facts.Effect):
    """An eager group has a new assignment, after everybody had given everything up."""


class RoundEnded(facts.Effect):
    """A cooperative group has carried out one of its rounds; if somebody had to stop reading something, one follows."""

    number: int  # from 1


Effect: TypeAlias = (
    MemberLeft | MemberJoined | SubscriptionChanged | StoppedReading | StartedReading | AssignedAnew | RoundEnded
)


# The step.


def step(settings: Settings, group: Group, event: Event) -> Group:
    """The group after `event`.

    Raises
    ------
    IllegalEvent
        If no coordinator could form the group, if a cooperative group is to give everything up, or if an eager one is
        assigned before it has.

    References
    ----------
    Apache Kafka 2.4 to 4.3, ``ConsumerPartitionAssignor.RebalanceProtocol``; KIP-429.
    """
    match event:
        case GroupChanged(members):
            return _change(settings, group, members)
        case AllGaveUp():
            return _give_up(settings, group)
        case Assigned():
            return _assign(settings, group)
    raise no_event(event, (GroupChanged, AllGaveUp, Assigned))


def _change(settings: Settings, group: Group, members: tuple[Member, ...]) -> Group:
    try:
        GroupSpec(settings.counts, members)
    except KafkaLearnError as error:
        raise IllegalEvent(f"GroupChanged: {error}") from None
    topics_before = {member.member_id: frozenset(member.topics) for member in group.members}
    topics_now = {member.member_id: frozenset(member.topics) for member in members}
    left = [member_id for member_id in topics_before if member_id not in topics_now]
    joined = [member_id for member_id in topics_now if member_id not in topics_before]
    stayed = [member_id for member_id in topics_now if member_id in topics_before]

    def held(assignment: Assignment) -> dict[str, tuple[TopicPartition, ...]]:
        return {
            each: tuple(place for place in owned if settings.is_eager or place.topic in topics_now[each])
            for each, owned in assignment.items()
            if each in topics_now
        }

    reading = Assignment({**held(group.reading), **dict.fromkeys(joined, ())})
    return replace(
        group,
        members=members,
        reading=reading,
        assigned=Assignment(held(group.assigned)),
        partitions=tuple(dict.fromkeys([*group.partitions, *partitions_of(settings, members)])),
        round_number=0,
        left=(*group.left, *left),
        effects=(
            *map(MemberLeft, left),
            *map(MemberJoined, joined),
            *(SubscriptionChanged(each) for each in stayed if topics_before[each] != topics_now[each]),
            *_changed_readers(group.reading, reading),
        ),
    )


def _give_up(settings: Settings, group: Group) -> Group:
    if not settings.is_eager:
        raise IllegalEvent("AllGaveUp(): a cooperative group keeps what it reads; the next event is Assigned()")
    if group.has_stopped:
        raise IllegalEvent("AllGaveUp(): everybody has given everything up already; the next event is Assigned()")
    nothing = Assignment(dict.fromkeys(group.reading, ()))
    return replace(group, reading=nothing, has_stopped=True, effects=_changed_readers(group.reading, nothing))


def _assign(settings: Settings, group: Group) -> Group:
    if settings.is_eager and not group.has_stopped:
        raise IllegalEvent("Assigned(): the members of an eager group give everything up first, with AllGaveUp()")
    reporting = rejoin(settings.assignor, group.members, group.assigned, group.generation)
    assignment = assign(settings.assignor, settings.counts, reporting, side="client")
    round_number = group.round_number + 1
    done = AssignedAnew() if settings.is_eager else RoundEnded(round_number)
    return replace(
        group,
        reading=assignment,
        assigned=assignment,
        generation=group.generation + 1,
        round_number=round_number,
        has_stopped=False,
        effects=(done, *_changed_readers(group.reading, assignment)),
    )


def _changed_readers(before: Assignment, after: Assignment) -> tuple[Effect, ...]:
    """Who stops, and who starts reading what."""
    stopped, started = _missing_in(after, before), _missing_in(before, after)
    return (
        *(StoppedReading(*each) for each in stopped.items()),
        *(StartedReading(*each) for each in started.items()),
    )


def _missing_in(other: Assignment, assignment: Assignment) -> dict[str, tuple[TopicPartition, ...]]:
    """What each member has in an assignment and not in the other, without those that have all of it there."""
    missing = {
        member_id: tuple(sorted(set(owned) - set(other.get(member_id, ())))) for member_id, owned in assignment.items()
    }
    return {member_id: partitions for member_id, partitions in missing.items() if partitions}


def rebalance(
    assignor: str, partition_counts: Mapping[str, int], before: Sequence[Member], after: Sequence[Member]
) -> Trace[Group, Event]:
    """All moments in which the members `before` become the members `after`.

    Parameters
    ----------
    assignor, partition_counts, before
        The settled group, as in `Settings`.
    after : sequence of Member
        The members after the change. What they own is worked out here.

    Returns
    -------
    tuple of Frame
        The settled group first; ``trace[-1].state.reading`` is where it settles again.

    Raises
    ------
    KafkaLearnError
        If the assignor does not run in a client.

    Examples
    --------
    >>> three, two = [Member(f"m{n}", ["t"]) for n in range(3)], [Member(f"m{n}", ["t"]) for n in range(2)]
    >>> for assignor in ("sticky", "cooperative-sticky"):
    ...     trace = rebalance(assignor, {"t": 6}, three, two)
    ...     print(assignor, [len(frame.state.unread) for frame in trace])
    sticky [0, 2, 6, 0]
    cooperative-sticky [0, 2, 0]
    """
    settings = Settings(assignor, partition_counts, before)
    trace = simulate(settings, [GroupChanged(after), *([AllGaveUp()] if settings.is_eager else []), Assigned()])
    while any(isinstance(effect, StoppedReading) for effect in trace[-1].state.effects):
        trace = extend(step, settings, trace, [Assigned()])
    return trace


# What holds in every rebalance, and what a user hopes for: an eager one keeps little of that.


def _has_one_reader_each(settings: Settings, group: Group) -> bool:
    read = [partition for owned in group.reading.values() for partition in owned]
    return len(set(read)) == len(read)


def _is_unread_in_between(settings: Settings, before: Group, group: Group) -> bool:
    reader = before.reading.owners()
    return all(reader.get(each) in (None, member_id) for each, member_id in group.reading.owners().items())


def _reads_on(settings: Settings, before: Group, group: Group) -> bool:
    return not any(
        set(started.partitions) & set(before.assigned.get(started.member_id, ()))
        for started in group.effects
        if isinstance(started, StartedReading)
    )


INVARIANTS = {
    "no partition has two readers": _has_one_reader_each,
    "a partition that changes its reader is read by nobody in between": Since(_is_unread_in_between),
    "everybody reads what it was assigned, or nothing": lambda settings, group: all(
        owned in ((), group.assigned.get(member_id)) for member_id, owned in group.reading.items()
    ),
    "only members of the group read": lambda settings, group: (
        set(group.reading) == {member.member_id for member in group.members}
    ),
}

PROMISES = {
    "every partition is read": lambda settings, group: not group.unread,
    "the group never stops as a whole": lambda settings, group: not group.has_stopped,
    "nobody stops reading what it keeps": Since(_reads_on),
}

simulate, check, broken = simulator(start, step, INVARIANTS, PROMISES)
