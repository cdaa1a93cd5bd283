"""A KIP-848 group as its coordinator sees it, in words and drawn: three epochs, and what members have or will have."""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.groups.consumer.state import Group, Member

LEFT, TOP, ROW_HEIGHT, EPOCH_HEIGHT, CELL, PARTITIONS_LEFT = 20, 58, 62, 46, 40, 470
MOST_MEMBERS, MOST_PARTITIONS = 6, 12
HAS, GIVES_UP = svg.FILLS[2], svg.FILLS[3]
LEGEND = ((20, HAS, "may read"), (170, GIVES_UP, "has to give up, and has not confirmed"))


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
    rows_top = TOP + EPOCH_HEIGHT + 34
    bottom = rows_top + ROW_HEIGHT * len(names)
    return picture(
        bottom + 44,
        svg.text(LEFT, 34, _event_words(frame), svg.TITLE, bold=True),
        *_epochs(group, was),
        *(
            svg.text(PARTITIONS_LEFT + CELL * (number + 0.5), rows_top - 8, str(number), svg.SMALL, "middle", svg.MUTED)
            for number in range(count)
        ),
        *(
            shape
            for place, name in enumerate(names)
            for shape in _row(group, was, name, count, rows_top + ROW_HEIGHT * place)
        ),
        svg.legend(LEGEND, bottom + 26, up=14, gap=29),
        svg.text(560, bottom + 26, "...: is to have it, and has to wait", svg.SMALL, colour=svg.MUTED),
        label=describe_epochs(frame, before),
    )


def _epochs(group: Group, was: Group) -> Iterator[str]:
    shown = (
        ("group epoch", group.group_epoch, was.group_epoch),
        ("assignment epoch", group.assignment_epoch, was.assignment_epoch),
        ("state", group.state, was.state),
    )
    for place, (name, now, before) in enumerate(shown):
        x, is_new = LEFT + 320 * place, now != before
        yield svg.card((x, TOP, 300, EPOCH_HEIGHT - 8), is_new)
        yield svg.text(x + 12, TOP + 25, f"{name}: {now}", svg.BODY, **svg.stress(is_new))


def _row(group: Group, was: Group, name: str, count: int, y: float) -> Iterator[str]:
    member, earlier = group.find(name), was.find(name)
    yield svg.text(LEFT, y + 26, svg.cut_name(name), svg.BODY, bold=True)
    if member is None:
        yield svg.text(LEFT + 110, y + 26, "has not joined", svg.SMALL, colour=svg.MUTED)
        return
    words = f"epoch {member.epoch}, {member.state.lower().replace('_', ' ')}"
    is_new = earlier is None or (earlier.epoch, earlier.state) != (member.epoch, member.state)
    yield svg.text(LEFT + 110, y + 26, words, svg.SMALL, **svg.stress(is_new))
    boxes: dict[int, svg.Box] = {
        number: (PARTITIONS_LEFT + CELL * number + 2, y + 4, CELL - 4, CELL - 4) for number in range(count)
    }
    yield svg.outlined(*boxes.values())
    has = [boxes[number] for number in _numbers(member)]
    gives = [boxes[each.partition] for each in member.pending_partitions]
    if has:
        yield svg.filled(HAS, *has)
    if gives:
        yield svg.filled(GIVES_UP, *gives)
    target = dict(group.targets).get(name, ())
    taken = {*_numbers(member), *(each.partition for each in member.pending_partitions)}
    for each in target:
        if each.partition not in taken:
            x, top, width, _ = boxes[each.partition]
            yield svg.text(x + width / 2, top + 24, "...", svg.BODY, "middle", svg.MUTED)
