"""A partition of the offsets topic on its brokers, in words and drawn.

The picture has the log of each broker, what the coordinator has in memory, and who waits for what.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kafkalearn.base.errors import KafkaLearnError, capitalised, counted
from kafkalearn.base.facts import in_words
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, RecordCell, lane, mark
from kafkalearn.drawing.kit import LEFT, WIDE, Block, beside, free, label, legend, panel, row, rule, sheet, space, stack
from kafkalearn.drawing.player import Picture
from kafkalearn.offsets.records import OFFSET_TYPES, decode
from kafkalearn.offsets.replay import Group
from kafkalearn.offsets.replicated import (
    Answered,
    Appended,
    Deferred,
    Elected,
    Loaded,
    NotReached,
    ReplicatedEffect,
    ReplicatedStore,
    ReplicatedStoreEvent,
    Resigned,
    SentTo,
)
from kafkalearn.offsets.store import model
from kafkalearn.offsets.store.model import Answer, Entry, StoreEvent
from kafkalearn.offsets.store_picture import entry_text
from kafkalearn.replication import events as replication
from kafkalearn.replication.events import FetchAnswered
from kafkalearn.replication.state import DOWN, FROZEN

DAY_MS = 86_400_000


def describe_commit_path(
    frame: Frame[ReplicatedStore, ReplicatedStoreEvent],
    before: Frame[ReplicatedStore, ReplicatedStoreEvent] | None = None,
) -> str:
    """What happened, what was written or copied, who was answered.

    >>> from kafkalearn.offsets.replicated import Settings, commit_path, simulate
    >>> trace = simulate(Settings(), commit_path()[:2])
    >>> describe_commit_path(trace[2], trace[1])
    'A tool asks for the offset of billing for orders-0. The answer: no offset (-1).'
    """
    state = frame.state
    if frame.event is None:
        leader = state.partition.controller.leader
        return f"Broker {leader} coordinates the groups of this partition. Nothing has happened yet."
    words = [f"{capitalised(event_words(frame.event))}."]
    words += [each for each in map(_effect_words, state.effects) if each]
    if before is not None:
        words += _moved(state, before.state)
    return " ".join(words)


def event_words(event: object) -> str:
    """What happens, in a few words."""
    match event:
        case None:
            return "nothing has happened yet"
        case SentTo(broker_id, request):
            return f"{event_words(request)}, at broker {broker_id}"
        case replication.Fetch(broker_id):
            return f"follower {broker_id} fetches"
        case replication.BrokerCrashed(broker_id):
            return f"broker {broker_id} is killed"
        case replication.PowerLost(broker_id):
            return f"broker {broker_id} loses its power"
        case replication.BrokerStopped(broker_id):
            return f"broker {broker_id} stops, and gives its leadership away first"
        case replication.BrokerThawed(broker_id):
            return f"broker {broker_id} goes on, and has not heard the news"
        case replication.BrokerReconnected(broker_id):
            return f"broker {broker_id} hears from the controller again"
        case replication.SessionExpired(broker_id):
            return f"the controller gives broker {broker_id} up"
        case model.Sweep(now_ms):
            return f"the sweep of day {now_ms // DAY_MS} looks for expired offsets"
        case model.Load(count):
            return "the new coordinator reads " + ("what is left" if count is None else counted(count, "record"))
        case model.Produce():
            return "a stranger writes a record of his own into the topic"
        case model.Fetch(requires_stable=stable):
            return f"a {'consumer' if stable else 'tool'} asks for {_what(event)}"
        case model.Commit():
            return f"group {event.group_id} commits {event.offset} for {event.topic}-{event.partition}"
        case model.StoreGroup():
            members = counted(len(event.members), "member")
            return f"a rebalance of {event.group_id} ends with {members if event.members else 'no member'}"
        case model.DeleteGroup(group_id):
            return f"an admin deletes the group {group_id}"
        case model.DeleteOffset():
            return f"an admin deletes {_what(event)}"
    return in_words(event) or type(event).__name__


def _what(event: model.Fetch | model.DeleteOffset) -> str:
    return f"the offset of {event.group_id} for {event.topic}-{event.partition}"


def request_words(request: StoreEvent) -> str:
    """A request by a short name."""
    match request:
        case model.Commit():
            return f"{request.group_id}'s commit of {request.offset}"
        case model.Fetch(requires_stable=stable):
            return "the consumer's fetch" if stable else "the tool's fetch"
        case model.StoreGroup():
            return f"{request.group_id}'s rebalance"
        case model.DeleteGroup() | model.DeleteOffset():
            return "the admin's request"
    return "the stranger's record"


def answer_words(answer: Answer) -> str:
    """What an answer says.

    >>> answer_words(Answer()), answer_words(Answer(offset=7)), answer_words(Answer(offset=-1))
    ('done', 'offset 7', 'no offset (-1)')
    """
    if answer.error != "NONE":
        return answer.error
    if answer.offset is None:
        return "done"
    return "no offset (-1)" if answer.offset < 0 else f"offset {answer.offset}"


def entry_lines(entry: Entry) -> tuple[str, str]:
    """A record of the log in two short lines: of which group, and what it says.

    >>> from kafkalearn.offsets.replicated import Settings, group_with_an_offset, simulate
    >>> [entry_lines(entry) for entry in simulate(Settings(), group_with_an_offset())[-1].state.entries]
    [('billing', '1 member'), ('billing', 'orders-0: 7')]
    """
    try:
        record = decode(entry.key or b"", entry.value)  # without a key it is read as little as with an empty one
    except KafkaLearnError:
        return "foreign", "cannot be read"
    values: Mapping[str, Any] = record.fields
    if record.type.number in OFFSET_TYPES:
        place = f"{record.key['topic']}-{record.key['partition']}"
        return record.group, f"{place}: {'gone' if record.is_tombstone else values['offset']}"
    if record.is_tombstone:
        return record.group, "group: gone"
    members = values.get("members")
    return record.group, "group" if members is None else counted(len(members), "member")


def _effect_words(effect: ReplicatedEffect) -> str:
    match effect:
        case Deferred(_, request, end_offset):
            return f"The answer to {request_words(request)} waits until the HW is {end_offset}."
        case Answered(_, request, answer):
            if isinstance(request, model.Fetch) and not request.requires_stable:
                return f"The answer: {answer_words(answer)}."
            return f"Answer to {request_words(request)}: {answer_words(answer)}."
        case NotReached(_, request):
            return f"No answer to {request_words(request)}: the connection breaks."
        case Loaded(broker_id, status=model.FAILED):
            return f"Broker {broker_id} cannot read a record: the load has failed, and it gives the partition up."
        case Loaded(broker_id, count, status):
            done = (
                "it has all of it in memory, and coordinates now" if status == model.OWNED else "there is more to read"
            )
            return f"Broker {broker_id} has read {counted(count, 'record')}: {done}."
        case FetchAnswered(broker_id, records=records) if records:
            return f"Broker {broker_id} gets {counted(len(records), 'record')}."
        case Appended() | Elected() | Resigned():
            return f"{capitalised(in_words(effect))}."
    return ""


def _moved(state: ReplicatedStore, old: ReplicatedStore) -> list[str]:
    """The high watermark of the leader, if it has moved."""
    leader = state.partition.controller.leader
    if leader is None or leader != old.partition.controller.leader or state.coordinator(leader) is None:
        return []
    high_watermark = state.partition.replica(leader).high_watermark
    has_moved = high_watermark != old.partition.replica(leader).high_watermark
    return [f"The HW is {high_watermark} now."] if has_moved else []


def commit_path_text(
    frame: Frame[ReplicatedStore, ReplicatedStoreEvent],
    before: Frame[ReplicatedStore, ReplicatedStoreEvent] | None = None,
) -> str:
    """The logs of all brokers, and what happened, in plain text."""
    lines = [describe_commit_path(frame, before)]
    for broker_id in range(1, len(frame.state.coordinators) + 1):
        high_watermark = frame.state.partition.replica(broker_id).high_watermark
        lines.append(f"broker {broker_id}, {frame.state.status(broker_id)}, HW {high_watermark}")
        lines += [f"  {entry_text(offset, entry)}" for offset, entry in enumerate(frame.state.log(broker_id))]
    return "\n".join(lines)


NAMES, ROOM, NARROWEST, LETTER = 170, 735, 144, 9  # pixels: of names, of all cells, of a cell, of a letter in it
ROW, CELL_DOWN, CELL_HEIGHT = 78, 23, 46  # a broker's row; its cells stand below the name of the high watermark
FILLS = {svg.COMMITTED: "below the HW", svg.OPEN: "not below it"}
ROLES = {model.LOADING: "loads the log", model.FAILED: "load has failed"}
MEMORY_LINES = 4


def draw_commit_path(
    frame: Frame[ReplicatedStore, ReplicatedStoreEvent],
    before: Frame[ReplicatedStore, ReplicatedStoreEvent] | None = None,
) -> Picture:
    """One moment of the offsets topic's partition: a row for each broker, and below it the coordinator's memory.

    What a broker's high watermark has passed is green, what it has not passed is amber. The memory has two sides:
    what is replicated, from which tools are answered, and all that is written, by which the next commit is judged.

    Examples
    --------
    >>> from kafkalearn.offsets.replicated import Settings, commit_path, simulate
    >>> trace = simulate(Settings(), commit_path()[:1])
    >>> draw_commit_path(trace[0]).label
    'Broker 1 coordinates the groups of this partition. Nothing has happened yet.'
    """
    state, old = frame.state, frame.state if before is None else before.state
    axis = _axis(state, old)
    cut = f"{axis.first} older" if axis.first else "offset"
    page = stack(
        label(capitalised(event_words(frame.event)), svg.TITLE, bold=True, width=WIDE),
        free(WIDE, 24, label(cut, colour=svg.MUTED).at(14, 3), lambda _, y: [axis.numbers(y + 18)]),
        *(_broker(state, old, each, axis) for each in range(1, len(state.coordinators) + 1)),
        space(height=4),
        _memory(state),
        rule(),
        space(height=8),
        *_answers(state),
    )
    return sheet(page, describe_commit_path(frame, before))


def _axis(state: ReplicatedStore, old: ReplicatedStore) -> Axis:
    """The offsets that are shown: as many as fit with their words, the newest ones."""
    logs = [each.log(broker_id) for each in (state, old) for broker_id in range(1, len(state.coordinators) + 1)]
    words = [words for log in logs for entry in log for words in entry_lines(entry)]
    unit = max([NARROWEST, *(svg.text_width(each, LETTER) + 16 for each in words)])
    count = max(1, int(ROOM // unit))
    return Axis(LEFT + NAMES, max(0, max(map(len, logs)) - count), count, unit)


def _broker(state: ReplicatedStore, old: ReplicatedStore, broker_id: int, axis: Axis) -> Block:
    """A broker's row: what it is, its log, and its high watermark; the leader's name is blue."""
    replica, was = state.partition.replica(broker_id), old.partition.replica(broker_id)
    is_off, is_leader = replica.broker.status in (DOWN, FROZEN), replica.leading is not None
    name = stack(
        label(f"broker {broker_id}", svg.BODY, svg.LEADER if is_leader else svg.INK, bold=True),
        label(_role(state, broker_id), bold=is_leader),
    )

    at, is_new = None if is_off else replica.high_watermark, replica.high_watermark != was.high_watermark
    inside = free(
        WIDE - 28,
        ROW,
        beside(name, height=ROW).draw,
        lambda _, y: lane(axis, _cells(state, broker_id), _cells(old, broker_id), y + CELL_DOWN, CELL_HEIGHT),
        lambda _, y: [mark(axis, at, "HW", (y + 20, y + ROW - 4), y + 16, is_new=is_new)],
    )
    return stack(panel(inside, width=WIDE, height=ROW, is_on=not is_off), space(height=8))


def _cells(state: ReplicatedStore, broker_id: int) -> dict[int, RecordCell]:
    """A broker's log; of one that does not run nobody knows what is committed."""
    replica = state.partition.replica(broker_id)
    is_off = replica.broker.status in (DOWN, FROZEN)

    def fill(offset: int) -> svg.Fill:
        return svg.NOTHING if is_off else svg.COMMITTED if offset < replica.high_watermark else svg.OPEN

    return {at: RecordCell("\n".join(entry_lines(entry)), fill(at)) for at, entry in enumerate(state.log(broker_id))}


def _role(state: ReplicatedStore, broker_id: int) -> str:
    replica = state.partition.replica(broker_id)
    if replica.broker.status in (DOWN, FROZEN):
        return replica.broker.status
    coordinator = state.coordinator(broker_id)
    if coordinator is None:
        return "follower"
    return ROLES.get(coordinator.status, "coordinator")


def _memory(state: ReplicatedStore) -> Block:
    """What the coordinator has in memory; and what the fills mean."""
    broker_id = state.partition.controller.leader  # whom clients are sent to
    coordinator = None if broker_id is None else state.coordinator(broker_id)
    if broker_id is None or coordinator is None:
        sides = [label("Nobody coordinates: nothing is in any memory.", svg.BODY, svg.MUTED)]
    elif coordinator.status == model.LOADING:
        head = f"broker {broker_id} has read {coordinator.read_count} of {len(state.log(broker_id))}"
        sides = [_side(head, coordinator.confirmed.groups)]
    else:
        confirmed, written = coordinator.confirmed.groups, coordinator.written.groups
        sides = [
            _side(f"in broker {broker_id}'s memory, replicated", confirmed),
            _side("and all that is written", written, svg.INK if written == confirmed else svg.MARK),
        ]
    fills = stack(*(legend([fill], FILLS) for fill in FILLS))
    height = label("").height + MEMORY_LINES * label("", svg.BODY).height + 8
    places = [side.at(at * WIDE / 2, 0) for at, side in enumerate(sides)]
    return free(WIDE, height, *places, fills.at(WIDE - fills.width, 0))


def _side(head: str, groups: tuple[Group, ...], colour: str = svg.INK) -> Block:
    """Groups and their offsets; of many the first, and how many lines more there are."""
    lines = []
    for group in groups:
        lines.append((8, f"{group.group_id}: {group.state}, {counted(len(group.members), 'member')}"))
        lines += [(28, f"{each.topic}-{each.partition}: offset {each.offset}") for each in group.offsets]
    if len(lines) > MEMORY_LINES:
        more = counted(len(lines) - MEMORY_LINES + 1, "line")
        lines = [*lines[: MEMORY_LINES - 1], (8, f"and {more} more")]
    said = (row(space(indent), label(words, svg.BODY, colour), gap=0) for indent, words in lines or [(8, "no group")])
    return stack(label(head, colour=svg.MUTED), *said)


def _answers(state: ReplicatedStore) -> Iterator[Block]:
    """Who waits, and who was answered in this step."""
    waiting = [
        f"{request_words(each.request)} (until the HW is {each.end_offset})"
        for coordinator in state.coordinators
        if coordinator is not None
        for each in coordinator.waiting
    ]
    answers = [
        f"{request_words(each.request)}: {answer_words(each.answer)}"
        for each in state.effects
        if isinstance(each, Answered)
    ]
    more = [f"and {len(waiting) - 2} more"] if len(waiting) > 2 else []
    waits = label(
        "; ".join([*waiting[:2], *more]) or "nobody",
        svg.SMALL + 1,
        svg.INK if waiting else svg.MUTED,
        width=WIDE - 100,
    )
    told = label(
        "; ".join(answers) or "nobody", svg.SMALL + 1, width=WIDE - 100, **svg.stress(bool(answers), svg.MUTED)
    )
    for name, words in (("waits", waits), ("answered", told)):
        yield beside(label(name, colour=svg.MUTED, width=100), words, height=26)
