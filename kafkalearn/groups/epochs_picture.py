"""A KIP-848 group as its coordinator sees it, in words and drawn: three epochs, and what members have or will have."""

from __future__ import annotations

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    beside,
    cells,
    fact,
    label,
    legend,
    line_of,
    numbers,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.groups.consumer.state import Group, Member

NAMES, SAID, CELL, ROW_HEIGHT = 110, 344, 40, 62  # pixels: of names, of what is said of members, of a partition
MOST_MEMBERS, MOST_PARTITIONS = 6, 12
HAS, GIVES_UP = svg.FILLS[2], svg.FILLS[3]
FILLS = {HAS: "may read", GIVES_UP: "has to give up, and has not confirmed"}


def describe_epochs(frame: Frame[Group, object], before: Frame[Group, object] | None = None) -> str:
    """The group's epochs, and each member's epoch, state and partitions.

    >>> from kafkalearn.groups.consumer import Settings, join, simulate
    >>> describe_epochs(simulate(Settings(topics={"orders": 2}), [join("A", ["orders"])])[1])
    'A sends a heartbeat. Group epoch 2, assignment epoch 2, Stable. A: epoch 2, STABLE, 0 1.'
    """
    group = frame.state
    said = [_event_words(frame)]
    said.append(f"Group epoch {group.group_epoch}, assignment epoch {group.assignment_epoch}, {group.state}.")
    for member in group.members:
        numbers = " ".join(map(str, _numbers(member))) or "no partition"
        said.append(f"{member.member_id}: epoch {member.epoch}, {member.state}, {numbers}.")
    return " ".join(said)


def _event_words(frame: Frame[Group, object]) -> str:
    if frame.event is None:
        return "Nobody has joined."
    name = type(frame.event).__name__
    member = getattr(frame.event, "member_id", None)
    if name == "ConsumerGroupHeartbeat":
        return f"{member} sends a heartbeat."
    if name == "TimePassed":
        return f"{getattr(frame.event, 'ms', 0) / 1000:g} s pass."
    return f"{name}{f' of {member}' if member else ''}."


def _numbers(member: Member) -> list[int]:
    return [each.partition for each in member.assigned_partitions]


def draw_epochs(
    trace: Trace[Group, object], frame: Frame[Group, object], before: Frame[Group, object] | None = None
) -> Picture:
    """One moment of a group: its epochs, and a row for each member that the run has.

    >>> from kafkalearn.groups.consumer import Settings, join, simulate
    >>> trace = simulate(Settings(topics={"orders": 2}), [join("A", ["orders"])])
    >>> draw_epochs(trace, trace[1]).label
    'A sends a heartbeat. Group epoch 2, assignment epoch 2, Stable. A: epoch 2, STABLE, 0 1.'

    Raises
    ------
    KafkaLearnError
        If there is no room: for six members, and twelve partitions of one topic.
    """
    names = sorted({member.member_id for moment in trace for member in moment.state.members})
    topics = {each.topic for moment in trace for _, held in moment.state.targets for each in held}
    count = 1 + max(
        (each.partition for moment in trace for _, held in moment.state.targets for each in held), default=0
    )
    if len(names) > MOST_MEMBERS or count > MOST_PARTITIONS or len(topics) > 1:
        raise KafkaLearnError(
            f"the picture has room for {MOST_MEMBERS} members and {MOST_PARTITIONS} partitions of one topic, got "
            f"{len(names)} members, {count} partitions and {len(topics)} topics"
        )
    group, was = frame.state, (before or frame).state
    facts = (
        ("group epoch", group.group_epoch, was.group_epoch),
        ("assignment epoch", group.assignment_epoch, was.assignment_epoch),
        ("state", group.state, was.state),
    )
    page = stack(
        label(_event_words(frame), svg.TITLE, bold=True, width=WIDE),
        space(height=8),
        line_of(*(fact(f"{name}: {now}", is_new=now != then, width=312) for name, now, then in facts), gap=16),
        space(height=8),
        beside(space(NAMES + SAID), numbers(count, CELL)),
        *(beside(*_row(group, was, name, count), height=ROW_HEIGHT) for name in names),
        space(height=4),
        line_of(
            legend(FILLS, FILLS, width=600), label("...: is to have it, and has to wait", colour=svg.MUTED), gap=40
        ),
    )
    return sheet(page, describe_epochs(frame, before))


def _row(group: Group, was: Group, name: str, count: int) -> list[Block]:
    """A member: its name, its epoch and state, and the partitions it has, gives up, and waits for."""
    member, earlier = group.find(name), was.find(name)
    called = label(svg.cut_name(name), svg.BODY, bold=True, width=NAMES)
    if member is None:
        return [called, label("has not joined", colour=svg.MUTED)]
    words = f"epoch {member.epoch}, {member.state.lower().replace('_', ' ')}"
    is_new = earlier is None or (earlier.epoch, earlier.state) != (member.epoch, member.state)
    gives = [each.partition for each in member.pending_partitions]
    taken = {*_numbers(member), *gives}
    waits_for = {each.partition: "..." for each in dict(group.targets).get(name, ()) if each.partition not in taken}
    return [
        called,
        label(words, width=SAID, **svg.stress(is_new)),
        cells(count, CELL, {HAS: _numbers(member), GIVES_UP: gives}, waits_for),
    ]
