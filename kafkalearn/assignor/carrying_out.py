"""A rebalance moment by moment: who reads what while it goes on, and what nobody reads.

Two ways to carry out the same change. *Eager*: everybody gives everything up, and reads again once all have been
assigned. *Cooperative*: a first round takes away only what is to move, a second one hands it over; all else is
read throughout. The assignor decides which: of those in the clients only ``cooperative-sticky`` is cooperative.

A run is a trace of `Moment`; its events are `GroupChanged`, `AllGaveUp` and `Assigned`. Heartbeats, timeouts and the
coordinator's part are another story, told by `kafkalearn.group`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeAlias

from kafkalearn.assignor.assignment import Assignment
from kafkalearn.assignor.members import Member
from kafkalearn.assignor.rebalancing import cooperative_rounds, rejoin, settled
from kafkalearn.assignor.registry import ASSIGNORS, assign
from kafkalearn.errors import IllegalEvent, unknown_name
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Trace, run

IN_CLIENTS = tuple(name for name, assignor in ASSIGNORS.items() if assignor.runs_in == "leader")
"""The assignors whose rebalances have these moments."""


@dataclass(frozen=True, slots=True)
class Moment:
    """Who reads what just now."""

    reading: Assignment
    first: Assignment  # who read what before it all began
    partitions: tuple[TopicPartition, ...]  # all that the group is to read
    left: tuple[str, ...] = ()  # members that are gone

    @property
    def unread(self) -> tuple[TopicPartition, ...]:
        """The partitions that nobody reads."""
        read = self.reading.owners()
        return tuple(partition for partition in self.partitions if partition not in read)


@dataclass(frozen=True, slots=True)
class GroupChanged:
    """Members have left, come, or subscribe anew; what those had who left is read by nobody now."""

    left: tuple[str, ...] = ()
    joined: tuple[str, ...] = ()
    resubscribed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AllGaveUp:
    """Everybody has stopped reading everything, as an eager group does first."""

    partitions: tuple[TopicPartition, ...]


@dataclass(frozen=True, slots=True)
class Assigned:
    """Everybody has got an assignment, has stopped reading what is not in it, and reads what is."""

    assignment: Assignment
    round_number: int = 1
    round_count: int = 1
    gave_up: tuple[TopicPartition, ...] = ()  # what was read until now and is in no assignment of this round
    is_eager: bool = False  # everybody had given everything up before


RebalanceEvent: TypeAlias = GroupChanged | AllGaveUp | Assigned


def step(moment: Moment, event: RebalanceEvent) -> Moment:
    """The moment after `event`."""
    reading = moment.reading
    match event:
        case GroupChanged(left, joined, _):
            rest = {member_id: owned for member_id, owned in reading.items() if member_id not in left}
            come = dict.fromkeys(joined, ())
            return replace(moment, reading=Assignment({**rest, **come}), left=(*moment.left, *left))
        case AllGaveUp():
            return replace(moment, reading=Assignment(dict.fromkeys(reading, ())))
        case Assigned(assignment):
            return replace(moment, reading=assignment)
    raise IllegalEvent(f"{event!r} is no event of a rebalance; it knows GroupChanged, AllGaveUp, Assigned")


def rebalance(
    assignor: str, partition_counts: Mapping[str, int], before: Sequence[Member], after: Sequence[Member]
) -> Trace[Moment, RebalanceEvent]:
    """The moments in which the members `before` become the members `after`.

    Parameters
    ----------
    assignor : str
        A name in `IN_CLIENTS`.
    partition_counts : mapping of str to int
        The partitions of each topic.
    before, after : sequence of Member
        The group, which has settled, and what becomes of it. What they own is worked out here.

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

    References
    ----------
    Apache Kafka 2.4 to 4.3, ``ConsumerPartitionAssignor.RebalanceProtocol``; KIP-429.
    """
    if assignor not in IN_CLIENTS:
        raise unknown_name("assignor of a client", assignor, IN_CLIENTS)
    first = settled(assignor, partition_counts, before)
    asking = rejoin(assignor, after, first, generation=1)
    topics = {topic: None for member in (*before, *after) for topic in member.topics if topic in partition_counts}
    everything = [TopicPartition(topic, number) for topic in topics for number in range(partition_counts[topic])]
    changed = _what_changed(before, after)
    events = [changed, *_events(assignor, partition_counts, asking)]
    return run(step, Moment(first, first, tuple(everything)), events)


def _what_changed(before: Iterable[Member], after: Iterable[Member]) -> GroupChanged:
    topics_before = {member.member_id: frozenset(member.topics) for member in before}
    topics_after = {member.member_id: frozenset(member.topics) for member in after}
    return GroupChanged(
        left=tuple(member_id for member_id in topics_before if member_id not in topics_after),
        joined=tuple(member_id for member_id in topics_after if member_id not in topics_before),
        resubscribed=tuple(
            member_id
            for member_id, topics in topics_after.items()
            if member_id in topics_before and topics_before[member_id] != topics
        ),
    )


def _events(assignor: str, counts: Mapping[str, int], asking: Sequence[Member]) -> list[RebalanceEvent]:
    if assignor != "cooperative-sticky":
        everything = tuple(partition for member in asking for partition in member.owned)
        return [AllGaveUp(everything), Assigned(assign(assignor, counts, asking), is_eager=True)]
    rounds = cooperative_rounds(counts, asking)
    return [
        Assigned(each.assignment, number, len(rounds), tuple(chain.from_iterable(each.revoked().values())))
        for number, each in enumerate(rounds, start=1)
    ]
