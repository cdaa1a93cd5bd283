"""Assignments and rebalances in words: a sentence, and the whole of it as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from kafkalearn.assignor import Assignment, change, load
from kafkalearn.assignor.carrying_out.effects import (
    AssignedAnew,
    MemberJoined,
    MemberLeft,
    StoppedReading,
    SubscriptionChanged,
)
from kafkalearn.assignor.carrying_out.events import AllGaveUp, Assigned, Event, GroupChanged
from kafkalearn.assignor.carrying_out.state import Group
from kafkalearn.phrases import counted
from kafkalearn.topic_partition import TopicPartition
from kafkalearn.trace import Frame

MOST_NAMED = 8  # more members than that are counted, not named


def short_names(partitions: Iterable[TopicPartition]) -> bool:
    """Whether the number alone names a partition, because all are of one topic."""
    return len({partition.topic for partition in partitions}) <= 1


def label_of(partition: TopicPartition, is_short: bool) -> str:
    """A partition's name in a cell."""
    return str(partition.partition) if is_short else str(partition)


def load_words(assignment: Assignment) -> str:
    """How many partitions on how many members.

    >>> load_words(Assignment({"C0": [], "C1": []}))
    '0 partitions on 2 members'
    """
    measured = load(assignment)
    return f"{counted(measured.partition_count, 'partition')} on {counted(measured.member_count, 'member')}"


def describe_assignment(assignment: Assignment, before: Assignment | None = None) -> str:
    """A sentence about an assignment; with the one before it, what changed.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> three = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C0", "C1", "C2")])
    >>> two = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C1", "C2")])
    >>> describe_assignment(two, three)
    '4 partitions on 2 members: C1 2, C2 2. 1 kept its owner, 3 moved.'
    """
    measured, counts = load(assignment), assignment.counts()
    if len(counts) <= MOST_NAMED:
        loads = ", ".join(f"{member_id} {count}" for member_id, count in counts.items())
    else:
        loads = f"{measured.fewest} to {measured.most} each"
    idle = f"; {measured.idle_count} idle" if measured.idle_count else ""
    words = f"{load_words(assignment)}: {loads}{idle}."
    if before is None:
        return words
    made = change(before, assignment)
    parts = [
        f"{made.kept_count:,} kept {'its' if made.kept_count == 1 else 'their'} owner",
        f"{made.moved_count:,} moved",
        *([f"{made.new_count:,} had none"] if made.new_count else []),
        *([f"{made.lost_count:,} {'has' if made.lost_count == 1 else 'have'} none now"] if made.lost_count else []),
    ]
    return f"{words} {', '.join(parts)}."


def assignment_text(assignment: Assignment, before: Assignment | None = None) -> str:
    """An assignment in plain text, a line for each member; with the one before it, ``*`` marks what moved or is new.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, assign
    >>> three = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C0", "C1", "C2")])
    >>> two = assign("range", {"t": 4}, [Member(name, ["t"]) for name in ("C1", "C2")])
    >>> print(assignment_text(two, three))
    C1 (2): t-0* t-1*
    C2 (2): t-2* t-3
    gone: C0
    """
    owner_before = None if before is None else before.owners()
    gone = [member_id for member_id in before or () if member_id not in assignment]
    return "\n".join([*_lines(assignment, owner_before), *([f"gone: {', '.join(gone)}"] if gone else [])])


def _lines(owned_by: Mapping[str, Sequence[TopicPartition]], owners: Mapping[TopicPartition, str] | None) -> list[str]:
    def shown(partition: TopicPartition, member_id: str) -> str:
        return f"{partition}{'*' if owners is not None and owners.get(partition) != member_id else ''}"

    return [
        f"{member_id} ({len(owned)}): {' '.join(shown(each, member_id) for each in owned) or 'nothing'}"
        for member_id, owned in owned_by.items()
    ]


def describe_rebalance(frame: Frame[Group, Event], before: Frame[Group, Event] | None = None) -> str:
    """A sentence or two about a moment of a rebalance (`kafkalearn.assignor.rebalance`).

    Examples
    --------
    >>> from kafkalearn.assignor import Member, rebalance
    >>> three, two = [Member(f"m{n}", ["t"]) for n in range(3)], [Member(f"m{n}", ["t"]) for n in range(2)]
    >>> for frame in rebalance("sticky", {"t": 6}, three, two):
    ...     print(describe_rebalance(frame))
    The group has settled: 6 partitions on 3 members.
    m2 leaves: nobody reads the 2 partitions it had.
    Everybody gives everything up: 4 partitions, nobody reads anything.
    All are assigned anew. 2 partitions have another owner than at the start, 4 have the one they had.
    """
    group = frame.state
    match frame.event:
        case GroupChanged():
            return _changed_words(group)
        case AllGaveUp():
            gave_up = counted(_stopped_count(group), "partition")
            return f"Everybody gives everything up: {gave_up}, nobody reads anything."
        case Assigned():
            return _assigned_words(group)
    return f"The group has settled: {load_words(group.reading)}."


def _members_with(group: Group, effect: type) -> list[str]:
    return [each.member_id for each in group.effects if isinstance(each, effect)]


def _stopped_count(group: Group) -> int:
    return sum(len(each.partitions) for each in group.effects if isinstance(each, StoppedReading))


def _changed_words(group: Group) -> str:
    said = []
    if left := _members_with(group, MemberLeft):
        verb, it = ("leaves", "it") if len(left) == 1 else ("leave", "they")
        nobody = f"nobody reads the {counted(_stopped_count(group), 'partition')} {it} had"
        said.append(f"{', '.join(left)} {verb}: {nobody}")
    if joined := _members_with(group, MemberJoined):
        verb = "joins and has" if len(joined) == 1 else "join and have"
        said.append(f"{', '.join(joined)} {verb} nothing yet")
    if changed := _members_with(group, SubscriptionChanged):
        verb = "subscribes" if len(changed) == 1 else "subscribe"
        said.append(f"{', '.join(changed)} {verb} to other topics")
    return f"{'; '.join(said) or 'Nothing has changed, but somebody asks for a rebalance'}."


def _assigned_words(group: Group) -> str:
    if who := _members_with(group, StoppedReading):
        by = f" by {', '.join(sorted(who))}" if len(who) <= MOST_NAMED else ""
        kept_count = len(group.partitions) - len(group.unread)
        return (
            f"Round {group.round_number}: {counted(_stopped_count(group), 'partition')} given up"
            f"{by} and assigned to nobody yet; {kept_count:,} are read all the time."
        )
    round_name = "One round" if group.round_number == 1 else f"Round {group.round_number}"
    head = "All are assigned anew" if AssignedAnew() in group.effects else f"{round_name}: what is free is handed out"
    made = change(group.first, group.reading)
    moved = f"{counted(made.moved_count, 'partition')} {_have(made.moved_count)} another owner"
    return f"{head}. {moved} than at the start, {made.kept_count:,} {_have(made.kept_count)} the one they had."


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def rebalance_text(frame: Frame[Group, Event], before: Frame[Group, Event] | None = None) -> str:
    """A moment of a rebalance in plain text; ``*`` marks what its reader did not have at the start.

    Examples
    --------
    >>> from kafkalearn.assignor import Member, rebalance
    >>> one, two = [Member("m0", ["t"])], [Member("m0", ["t"]), Member("m1", ["t"])]
    >>> print(rebalance_text(rebalance("cooperative-sticky", {"t": 3}, one, two)[-1]))
    Round 2: what is free is handed out. 1 partition has another owner than at the start, 2 have the one they had.
    m0 (2): t-0 t-1
    m1 (1): t-2*
    nobody reads: nothing
    """
    group = frame.state
    unread = " ".join(map(str, group.unread)) or "nothing"
    lines = _lines(group.reading, group.first.owners())
    return "\n".join([describe_rebalance(frame, before), *lines, f"nobody reads: {unread}"])
