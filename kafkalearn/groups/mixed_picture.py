"""A group that changes its protocol, in words and drawn: what it is, who speaks what, and who has which partition.

`draw_mixed` draws a moment of `kafkalearn.groups.mixed`, request by request; `draw_pods` one of
`kafkalearn.groups.mixed.pods`, in which whatever follows from one deed has been asked and answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kafkalearn.base.errors import KafkaLearnError, capitalised
from kafkalearn.base.facts import in_words
from kafkalearn.base.topic_partition import TopicPartition
from kafkalearn.base.trace import Frame, Trace
from kafkalearn.drawing import svg
from kafkalearn.drawing.kit import (
    WIDE,
    Block,
    beside,
    cells,
    fact,
    free,
    label,
    legend,
    line_of,
    numbers,
    panel,
    row,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.groups.classic import model as classic
from kafkalearn.groups.consumer import events as consumer
from kafkalearn.groups.described import DEAD, DESCRIBE_GROUPS, described
from kafkalearn.groups.mixed import pods
from kafkalearn.groups.mixed.model import Event, Group, ProtocolChanged
from kafkalearn.groups.mixed.pods import Asked, Pod, Rollout

NAMES, SAID, CELL, ROW_HEIGHT = 90, 510, 40, 58  # pixels: of names, of what is said of members, of a partition
FACTS = (300, 290, 346)  # pixels of the group's type, its number, its state
MOST_MEMBERS, MOST_PARTITIONS = 6, 8
HAS, GIVES_UP = svg.FILLS[2], svg.FILLS[3]
FILLS = {HAS: "given to the member", GIVES_UP: "has to give up, and has not confirmed"}
TYPES = {None: "no group", "Classic": "classic", "Consumer": "consumer"}
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
        return "The group before" if frame.state.member_ids else "Nobody has joined"
    if isinstance(event, consumer.TimePassed):
        return f"{event.ms / 1000:g} s pass"
    words = in_words(event) or type(event).__name__
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


def draw_mixed(
    trace: Trace[Group, Event], frame: Frame[Group, Event], before: Frame[Group, Event] | None = None
) -> Picture:
    """One moment of a group: what it is, and a row for each member that the run has.

    Raises
    ------
    KafkaLearnError
        If there is no room: for six members, and eight partitions of one topic.
    """
    names = list(dict.fromkeys(member_id for moment in trace for member_id in moment.state.member_ids))
    places = {place for moment in trace for place in moment.state.owners}
    count = 1 + max((place.partition for place in places), default=0)
    topics = {place.topic for place in places}
    if len(names) > MOST_MEMBERS or count > MOST_PARTITIONS or len(topics) > 1:
        raise KafkaLearnError(
            f"the picture has room for {MOST_MEMBERS} members and {MOST_PARTITIONS} partitions of one topic, got "
            f"{len(names)} members, {count} partitions and {len(topics)} topics"
        )
    group, was = frame.state, (before or frame).state
    page = stack(
        label(_event_words(frame), svg.TITLE, bold=True, width=WIDE),
        space(height=8),
        _head(group, was),
        space(height=8),
        beside(space(NAMES + SAID), numbers(count, CELL)),
        *(beside(*_row(group, was, name, count), height=ROW_HEIGHT) for name in names),
        space(height=4),
        legend(FILLS, FILLS, width=WIDE),
    )
    return sheet(page, describe_mixed(frame, before))


def _counter(group: Group) -> str:
    return "epoch" if group.is_consumer else "generation"


def _head(group: Group, was: Group) -> Block:
    shown = (
        ("type", TYPES[group.group_type], TYPES[was.group_type]),
        (_counter(group), group.epoch, was.epoch),
        ("state", group.state, was.state),
    )
    facts = [
        fact(f"{name}: {now}", is_new=now != then, width=width)
        for width, (name, now, then) in zip(FACTS, shown, strict=True)
    ]
    return line_of(*facts, gap=16)


def _row(group: Group, was: Group, name: str, count: int) -> list[Block]:
    """A member: its name, its protocol, epoch and state, and its partitions."""
    called = label(svg.cut_name(name), svg.BODY, bold=True, width=NAMES)
    if name not in group.member_ids:
        has_been = name in was.member_ids
        words = "is gone" if has_been else "is not in the group"
        return [called, label(words, **svg.stress(has_been, svg.MUTED))]
    member = group.consumer.find(name) if group.is_consumer else None
    earlier = was.consumer.find(name) if was.is_consumer else None
    words = f"{_protocol(group, name)} protocol"
    if member is not None:
        words += f", epoch {member.epoch}, {member.state.lower().replace('_', ' ')}"
    is_new = name not in was.member_ids or (
        member is not None and earlier is not None and (earlier.epoch, earlier.state) != (member.epoch, member.state)
    )
    gives = [] if member is None else [each.partition for each in member.pending_partitions]
    has = [number for number in _numbers(group, name) if number not in gives]
    return [called, label(words, width=SAID, **svg.stress(is_new)), cells(count, CELL, {HAS: has, GIVES_UP: gives})]


# A moment of pods: what was done to one of them, what was asked and answered then, and who reads what.

POD_WIDTH, POD_HEIGHT, PARTITION = 236, 52, 38  # pixels: of a pod, and of a partition beside it
ASKED_AT, TIMES = 490, 48  # of what was asked, and of its times
MOST_PODS, MOST_READ, LINE_HEIGHT, MOST_ASKED = 6, 6, 19, 12
PODS_FILLS = {HAS: "read by the pod", GIVES_UP: "given to it, and not read"}


def describe_pods(
    settings: pods.Settings, frame: Frame[Rollout, pods.Event], before: Frame[Rollout, pods.Event] | None = None
) -> str:
    """What was done, what the group is, who reads something else now, who waits, and what nobody reads.

    >>> settings = pods.Settings()
    >>> run = pods.simulate(settings, [pods.Starts("c1"), pods.Starts("c2"), pods.Switches("c2")])
    >>> describe_pods(settings, run[3], run[2])
    'c2 is restarted with the consumer protocol. The group was classic and is a consumer group now, epoch 3, Stable.'
    """
    rollout, was = frame.state, (before or frame).state
    said = [_done_words(frame), _group_words(rollout.group, was.group)]
    if before is not None:
        said += [
            f"{pod.name} reads {_read_words(pod.owned)} now"
            for pod, earlier in zip(rollout.pods, was.pods, strict=True)
            if pod.owned and pod.owned != earlier.owned
        ]
    said += [f"{pod.name} waits for the others" for pod in rollout.pods if pod.does == pods.WAITS]
    said += [f"{pod.name} has failed with {pod.error}" for pod in rollout.pods if pod.does == pods.FAILED]
    unread = [each for each in pods.partitions_of(settings) if each not in rollout.readers]
    if unread and rollout.group.member_ids:
        said.append(f"Nobody reads {_read_words(unread)}")
    return "".join(f"{each}. " for each in said).strip()


def _read_words(partitions: Sequence[TopicPartition]) -> str:
    return " ".join(str(each.partition) for each in sorted(partitions))


def _done_words(frame: Frame[Rollout, pods.Event]) -> str:
    event = frame.event
    match event:
        case None:
            return "The group and its pods"
        case pods.Switches(name=name):
            return f"{name} is restarted with the {frame.state.pod(name).protocol} protocol"
        case pods.TimePassed(ms=ms):
            return f"{ms / 1000:g} s pass"
        case pods.CoordinatorMoved():
            return capitalised(in_words(event))
    return in_words(event)


def _group_words(group: Group, was: Group) -> str:
    now, before = TYPES[group.group_type], TYPES[was.group_type]
    if group.group_type is None:
        return "There is no group"
    counted = f"{_counter(group)} {group.epoch}, {group.state}"
    if was.group_type is None or now == before:
        return f"It is a {now} group, {counted}"
    return f"The group was {before} and is a {now} group now, {counted}"


def draw_pods(
    settings: pods.Settings, frame: Frame[Rollout, pods.Event], before: Frame[Rollout, pods.Event] | None = None
) -> Picture:
    """The coordinator, what a dashboard of 2019 shows, each pod with what it reads, and what was asked and answered.

    Raises
    ------
    KafkaLearnError
        If there is no room: for six pods, and six partitions of one topic.
    """
    topics = settings.group.consumer.topics
    count = sum(partitions for _, partitions in topics)
    if len(settings.pods) > MOST_PODS or count > MOST_READ or len(topics) > 1:
        raise KafkaLearnError(
            f"the picture has room for {MOST_PODS} pods and {MOST_READ} partitions of one topic, got "
            f"{len(settings.pods)} pods, {count} partitions and {len(topics)} topics"
        )
    rollout, was = frame.state, (before or frame).state
    left = stack(
        beside(space(POD_WIDTH + 10), numbers(count, PARTITION)),
        *(_pod(rollout, was, pod, count) for pod in rollout.pods),
    )
    right = _asked(rollout)
    page = stack(
        row(
            label(_done_words(frame), svg.TITLE, bold=True),
            label(f"{rollout.group.now_ms / 1000:g} s", svg.BODY, svg.MUTED),
            width=WIDE,
        ),
        space(height=6),
        panel(_coordinator(rollout.group, was.group), width=WIDE, height=66),
        space(height=8),
        free(
            WIDE,
            max(left.height, LINE_HEIGHT * (MOST_ASKED + 1)),
            left.draw,
            lambda x, y: right.draw(x + ASKED_AT, y + 2),
        ),
        legend(PODS_FILLS, PODS_FILLS, width=WIDE),
    )
    return sheet(page, describe_pods(settings, frame, before))


def _coordinator(group: Group, was: Group) -> Block:
    """Type, number and state of the group; and what one sees of it that asks as in 2019."""
    shown = (
        (f"type: {TYPES[group.group_type]}", group.group_type != was.group_type),
        (f"{_counter(group)}: {group.epoch}", group.epoch != was.epoch),
        (f"state: {group.state}", group.state != was.state),
    )
    now, before = map(_old_state, (group, was))
    words = f"a dashboard of 2019 asks with {DESCRIBE_GROUPS}, and shows: {now}"
    said = stack(
        beside(*(label(each, svg.BODY, width=190, **svg.stress(is_new)) for each, is_new in shown)),
        label(words, **svg.stress(now != before)),
    )
    return beside(label("coordinator", svg.BODY, bold=True, width=136), said, height=66)


def _old_state(group: Group) -> str:
    if group.group_type is None:
        return DEAD
    return described(TYPES[group.group_type], DESCRIBE_GROUPS, 5, state=group.state).state


def _pod(rollout: Rollout, was: Rollout, pod: Pod, count: int) -> Block:
    """A pod with what its client knows, and its partitions."""
    lines, earlier = _knows(rollout, pod), _knows(was, was.pod(pod.name))
    said = [
        label(words, **svg.stress(words != before))
        for words, before in zip(lines, earlier, strict=True)
        if words or before
    ]
    words = beside(
        space(10), label(svg.cut_name(pod.name, 4), svg.BODY, bold=True, width=46), stack(*said, gap=-2), height=44
    )
    look = {"rx": 5, "stroke": svg.FAINT, "stroke_width": svg.HAIR}
    ground = svg.READ if pod.is_running else svg.EMPTY
    what = free(POD_WIDTH + 10, 44, lambda x, y: [svg.rect(x, y, POD_WIDTH, 44, ground, **look)], words.draw)
    unread = [each.partition for each in rollout.given_to(pod.name) if each not in pod.owned]
    shown = cells(count, PARTITION, {HAS: [each.partition for each in pod.owned], GIVES_UP: unread})
    return beside(what, shown, height=POD_HEIGHT)


def _knows(rollout: Rollout, pod: Pod) -> tuple[str, str]:
    """What a pod is, in two short lines."""
    if pod.does == pods.STOPPED:
        return "does not run", ""
    if pod.does == pods.FAILED:
        return "has failed:", pod.error
    if pod.does == pods.KILLED:
        counted = [each for each in rollout.group.member_ids if each.partition("/")[0] == pod.name]
        return "is killed", "is still a member" if counted else "is no member"
    number = "generation" if pod.protocol == pods.CLASSIC else "epoch"
    return f"{pod.protocol} protocol", "joins, and waits" if pod.does == pods.WAITS else f"{number} {pod.epoch}"


def _asked(rollout: Rollout) -> Block:
    """What was asked and answered, a line each, with the time where it is another one."""
    lines = [(at_ms, words) for each in rollout.effects for at_ms, words in _asked_words(each, rollout)]
    if len(lines) > MOST_ASKED:
        at_ms, _ = lines[MOST_ASKED - 1]
        lines = [*lines[: MOST_ASKED - 1], (at_ms, f"… and {len(lines) - MOST_ASKED + 1} more")]
    shown, last = [], None
    for at_ms, words in lines:
        is_later = at_ms is not None and at_ms != last
        last = at_ms if is_later else last
        time = label(f"{at_ms / 1000:g} s", colour=svg.MUTED, width=TIMES) if is_later else space(TIMES)
        shown.append(beside(time, label(words, **svg.stress(at_ms is None)), height=LINE_HEIGHT))
    return stack(
        label("asked: answered", colour=svg.MUTED, bold=True),
        *(shown or [label("nothing new", colour=svg.MUTED)]),
    )


def _asked_words(effect: object, rollout: Rollout) -> Iterator[tuple[int | None, str]]:
    match effect:
        case ProtocolChanged(after=after):
            yield None, f"the group is a {after.lower()} group now"
        case consumer.MemberFenced(member_id=member_id, reason=reason):
            yield effect.at_ms, f"{member_id} is removed: {reason}"
        case classic.MemberRemoved(member_id=member_id, why=why) if why != "left":
            yield effect.at_ms, f"{member_id} is removed: {why}"
        case Asked(pod=pod, request=request):
            knew = "" if effect.knew is None else f" {effect.knew}"
            answer = effect.error or "waits"
            if effect.error == "NONE":
                gets = None if effect.partitions is None else f"gets {_read_words(effect.partitions) or 'nothing'}"
                number = None if effect.epoch is None else f"epoch {effect.epoch}"
                if request == "JoinGroup":
                    number = f"generation {effect.epoch}"
                answer = ", ".join(filter(None, (number, gets))) or "NONE"
            yield effect.at_ms, f"{pod} {request}{knew}{', at last' * effect.has_waited}: {answer}"
