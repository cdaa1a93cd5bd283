"""A group that changes its protocol, in words and drawn: what it is, who speaks what, and who has which partition.

`animate_mixed` draws a whole run of `kafkalearn.groups.mixed.simulate` for `play`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing.player import Animation, Picture, animation, picture
from kafkalearn.drawing.svg import (
    BODY,
    FILLS,
    INK,
    MARK,
    MUTED,
    PANEL,
    SMALL,
    TITLE,
    Box,
    cut_name,
    filled,
    legend,
    outlined,
    rect,
    text,
)
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.mixed.model import Event, Group

LEFT, TOP, ROW_HEIGHT, HEAD_HEIGHT, CELL, PARTITIONS_LEFT = 20, 58, 58, 46, 40, 620
HEAD_BOXES = ((LEFT, 290), (LEFT + 310, 280), (LEFT + 610, 350))  # left edge and width
MOST_MEMBERS, MOST_PARTITIONS = 6, 8
HAS, GIVES_UP = FILLS[2], FILLS[3]
LEGEND = ((20, HAS, "given to the member"), (230, GIVES_UP, "has to give up, and has not confirmed"))
TYPES = {None: "no group", "Classic": "classic", "Consumer": "consumer"}
ASKED: dict[type, str] = {
    classic.JoinGroup: "JoinGroup of {0.client}",
    classic.SyncGroup: "SyncGroup of {0.client}",
    classic.Heartbeat: "Heartbeat of {0.client}",
    classic.LeaveGroup: "LeaveGroup of {0.client}",
    consumer.ConsumerGroupHeartbeat: "ConsumerGroupHeartbeat of {0.member_id}",
    consumer.OffsetCommit: "OffsetCommit of {0.member_id}",
}
ANSWERS = (
    classic.JoinAnswered,
    classic.SyncAnswered,
    classic.HeartbeatAnswered,
    classic.LeaveAnswered,
    consumer.HeartbeatAnswered,
)


def describe_mixed(frame: Frame[Group, Event], before: Frame[Group, Event] | None = None) -> str:
    """What happened, what was answered, the group's type, and each member with its protocol and partitions.

    >>> from kafkalearn.groups.consumer import Settings as OfTopics, join
    >>> from kafkalearn.groups.mixed import Settings, simulate
    >>> run = simulate(Settings(consumer=OfTopics(topics={"orders": 2})), [join("n", ["orders"])])
    >>> describe_mixed(run[1])
    'ConsumerGroupHeartbeat of n, who joins: NONE. A consumer group, epoch 2, Stable. n (consumer): 0 1.'
    """
    group = frame.state
    a_group = f"A {TYPES[group.group_type]} group" if group.group_type else "No group"
    said = [f"{_event_words(frame)}.", f"{a_group}, {_counter(group)} {group.epoch}, {group.state}."]
    for member_id in group.member_ids:
        numbers = " ".join(map(str, _numbers(group, member_id))) or "no partition"
        said.append(f"{member_id} ({_protocol(group, member_id)}): {numbers}.")
    return " ".join(said)


def _event_words(frame: Frame[Group, Event]) -> str:
    event = frame.event
    if event is None:
        return "Nobody has joined"
    if isinstance(event, consumer.TimePassed):
        return f"{event.ms / 1000:g} s pass"
    words = ASKED.get(type(event), type(event).__name__).format(event)
    if isinstance(event, consumer.ConsumerGroupHeartbeat):
        words += {0: ", who joins", -1: ", who leaves"}.get(event.member_epoch, "")
    asked_by = getattr(event, "client", getattr(event, "member_id", None))
    answers = [
        each
        for each in frame.state.effects
        if isinstance(each, ANSWERS) and getattr(each, "client", getattr(each, "member_id", None)) == asked_by
    ]
    return f"{words}: {answers[-1].error}" if answers else words


def _protocol(group: Group, member_id: str) -> str:
    return "classic" if member_id in group.classic_ids else "consumer"


def _numbers(group: Group, member_id: str) -> list[int]:
    return sorted(place.partition for place, owners in group.owners.items() if member_id in owners)


def animate_mixed(
    trace: Trace[Group, Event], *, title: str = "", start: int = 0, stills: Sequence[int] | None = None
) -> Animation:
    """A run for `play`.

    Raises
    ------
    KafkaLearnError
        If there is no room: for six members, and eight partitions of one topic.
    """
    names = list(dict.fromkeys(member_id for frame in trace for member_id in frame.state.member_ids))
    places = {place for frame in trace for place in frame.state.owners}
    count = 1 + max((place.partition for place in places), default=0)
    topics = {place.topic for place in places}
    if len(names) > MOST_MEMBERS or count > MOST_PARTITIONS or len(topics) > 1:
        raise KafkaLearnError(
            f"the picture has room for {MOST_MEMBERS} members and {MOST_PARTITIONS} partitions of one topic, got "
            f"{len(names)} members, {count} partitions and {len(topics)} topics"
        )

    def draw(frame: Frame[Group, Event], before: Frame[Group, Event] | None) -> Picture:
        return _draw(names, count, frame, before)

    return animation(trace, draw, describe_mixed, title=title, start=start, stills=stills)


def _draw(names: Sequence[str], count: int, frame: Frame[Group, Event], before: Frame[Group, Event] | None) -> Picture:
    group, was = frame.state, (before or frame).state
    rows_top = TOP + HEAD_HEIGHT + 34
    bottom = rows_top + ROW_HEIGHT * len(names)
    return picture(
        bottom + 40,
        text(LEFT, 34, _event_words(frame), TITLE, bold=True),
        *_head(group, was),
        *(
            text(PARTITIONS_LEFT + CELL * (number + 0.5), rows_top - 8, str(number), SMALL, "middle", MUTED)
            for number in range(count)
        ),
        *(
            shape
            for place, name in enumerate(names)
            for shape in _row(group, was, name, count, rows_top + ROW_HEIGHT * place)
        ),
        legend(LEGEND, bottom + 22, up=14, gap=29, width=1),
        label=describe_mixed(frame, before),
    )


def _counter(group: Group) -> str:
    return "epoch" if group.is_consumer else "generation"


def _head(group: Group, was: Group) -> Iterator[str]:
    shown = (
        ("type", TYPES[group.group_type], TYPES[was.group_type]),
        (_counter(group), group.epoch, was.epoch),
        ("state", group.state, was.state),
    )
    for (x, width), (name, now, before) in zip(HEAD_BOXES, shown, strict=True):
        is_new = now != before
        yield rect(x, TOP, width, HEAD_HEIGHT - 8, PANEL, rx=5, stroke=MARK if is_new else MUTED, stroke_width=2)
        yield text(x + 12, TOP + 25, f"{name}: {now}", BODY, colour=MARK if is_new else INK, bold=is_new)


def _row(group: Group, was: Group, name: str, count: int, y: float) -> Iterator[str]:
    yield text(LEFT, y + 26, cut_name(name), BODY, bold=True)
    if name not in group.member_ids:
        has_been = name in was.member_ids
        words = "is gone" if has_been else "is not in the group"
        yield text(LEFT + 90, y + 26, words, SMALL, colour=MARK if has_been else MUTED, bold=has_been)
        return
    member = group.consumer.find(name) if group.is_consumer else None
    earlier = was.consumer.find(name) if was.is_consumer else None
    speaks = _protocol(group, name)
    words = f"{speaks} protocol"
    if member is not None:
        words += f", epoch {member.epoch}, {member.state.lower().replace('_', ' ')}"
    is_new = name not in was.member_ids or (
        member is not None and earlier is not None and (earlier.epoch, earlier.state) != (member.epoch, member.state)
    )
    yield text(LEFT + 90, y + 26, words, SMALL, colour=MARK if is_new else INK, bold=is_new)
    boxes: dict[int, Box] = {
        number: (PARTITIONS_LEFT + CELL * number + 2, y + 2, CELL - 4, CELL - 4) for number in range(count)
    }
    yield outlined(*boxes.values(), stroke=MUTED, width=1)
    gives = [] if member is None else [each.partition for each in member.pending_partitions]
    has = [boxes[number] for number in _numbers(group, name) if number not in gives]
    if has:
        yield filled(HAS, *has)
    if gives:
        yield filled(GIVES_UP, *(boxes[number] for number in gives))
