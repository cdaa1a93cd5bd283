"""A rebalance moment by moment: who reads what while it goes on, and what nobody reads.

There are two ways to carry out the same change. *Eager*: everybody gives everything up, and reads again once all
have been assigned. *Cooperative*: a first round takes away only what is to move, a second one assigns it; all else is
read throughout. The assignor decides which: of those in the clients only ``cooperative-sticky`` is cooperative.

Heartbeats, timeouts and the coordinator's part are left out here; `kafkalearn.group` has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.carrying_out.effects import (
    AssignedAnew,
    Effect,
    MemberJoined,
    MemberLeft,
    RoundEnded,
    StartedReading,
    StoppedReading,
    SubscriptionChanged,
)
from kafkalearn.assignor.carrying_out.events import AllGaveUp, Assigned, Event, GroupChanged
from kafkalearn.assignor.carrying_out.settings import Settings
from kafkalearn.assignor.carrying_out.state import Group, partitions_of, start
from kafkalearn.assignor.group_spec import GroupSpec
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.rebalancing import rejoin
from kafkalearn.assignor.registry import assign
from kafkalearn.errors import IllegalEvent, KafkaLearnError
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Trace, extend, run


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
    raise IllegalEvent(f"{event!r} is no event of a rebalance; it knows GroupChanged, AllGaveUp, Assigned")


def _change(settings: Settings, group: Group, members: tuple[Member, ...]) -> Group:
    _refuse_impossible_group(settings, members)
    topics_before = {member.member_id: frozenset(member.topics) for member in group.members}
    topics_now = {member.member_id: frozenset(member.topics) for member in members}
    left = [member_id for member_id in topics_before if member_id not in topics_now]
    joined = [member_id for member_id in topics_now if member_id not in topics_before]
    stayed = [member_id for member_id in topics_now if member_id in topics_before]
    rest = {member_id: owned for member_id, owned in group.reading.items() if member_id in topics_now}
    reading = Assignment({**rest, **dict.fromkeys(joined, ())})
    return replace(
        group,
        members=members,
        reading=reading,
        assigned=Assignment({each: owned for each, owned in group.assigned.items() if each in topics_now}),
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


def _refuse_impossible_group(settings: Settings, members: tuple[Member, ...]) -> None:
    try:
        GroupSpec(settings.counts, members)
    except KafkaLearnError as error:
        raise IllegalEvent(f"GroupChanged: {error}") from None


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


def simulate(settings: Settings, events: Iterable[Event], initial: Group | None = None) -> Trace[Group, Event]:
    """A run: from `initial`, or from the settled group.

    >>> settings = Settings("range", {"t": 4}, [Member("m0", ["t"])])
    >>> events = [GroupChanged([Member("m0", ["t"]), Member("m1", ["t"])]), AllGaveUp(), Assigned()]
    >>> [len(frame.state.unread) for frame in simulate(settings, events)]
    [0, 0, 4, 0]
    """
    return run(step, settings, start(settings) if initial is None else initial, events)


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
