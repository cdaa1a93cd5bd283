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
from kafkalearn.drawing.player import Picture, picture
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


LEFT, LOG_LEFT, ROOM, NARROWEST, LETTER = 20, 170, 735, 144, 9
TOP, ROW_HEIGHT, CELL_TOP, CELL_HEIGHT = 54, 88, 9, 62
REPLICATED, NOT_YET, UNKNOWN = svg.COMMITTED, svg.OPEN, svg.NOTHING
ROLES = {model.LOADING: "loads the log", model.FAILED: "load has failed"}
MEMORY_LINES, MEMORY_STEP = 4, 23


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
    broker_ids = range(1, len(state.coordinators) + 1)
    cells = _Cells(state)
    bottom = TOP + ROW_HEIGHT * len(broker_ids)
    answers_top = bottom + 58 + MEMORY_STEP * MEMORY_LINES
    return picture(
        answers_top + 62,
        svg.text(LEFT, 36, capitalised(event_words(frame.event)), svg.TITLE, bold=True),
        *(_row(state, old, each, cells, TOP + ROW_HEIGHT * (each - 1)) for each in broker_ids),
        *_memory(state, bottom + 18),
        svg.legend([(svg.WIDTH - 160, REPLICATED, "below the HW")], bottom + 18),
        svg.legend([(svg.WIDTH - 160, NOT_YET, "not below it")], bottom + 42),
        *_answers(state, answers_top),
        label=describe_commit_path(frame, before),
    )


class _Cells:
    """Which offsets are shown, and where: as many as fit with their words, the newest ones."""

    def __init__(self, state: ReplicatedStore) -> None:
        logs = [state.log(each) for each in range(1, len(state.coordinators) + 1)]
        words = [words for log in logs for entry in log for words in entry_lines(entry)]
        self.width = max([NARROWEST, *(svg.text_width(each, LETTER) + 16 for each in words)])
        self.first = max(0, max(map(len, logs)) - max(1, int(ROOM // self.width)))

    def x(self, offset: int) -> float:
        """The left edge of an offset's cell."""
        return LOG_LEFT + (max(offset, self.first) - self.first) * self.width

    def box(self, offset: int, top: float) -> tuple[float, float, float, float]:
        """An offset's cell in a row."""
        return self.x(offset) + 3, top + CELL_TOP, self.width - 6, CELL_HEIGHT


def _row(state: ReplicatedStore, old: ReplicatedStore, broker_id: int, cells: _Cells, top: float) -> str:
    replica = state.partition.replica(broker_id)
    is_off = replica.broker.status in (DOWN, FROZEN)
    is_leader = replica.leading is not None
    colour = svg.LEADER if is_leader else svg.INK
    numbers, was = state.numbers(broker_id), old.numbers(broker_id)
    boxes = {offset: cells.box(offset, top) for offset in range(cells.first, len(numbers))}
    passed = [box for offset, box in boxes.items() if offset < replica.high_watermark or is_off]
    others = [box for offset, box in boxes.items() if offset >= replica.high_watermark and not is_off]
    new = [box for offset, box in boxes.items() if offset >= len(was) or numbers[offset] != was[offset]]
    mark_x = cells.x(replica.high_watermark)
    return "\n".join(
        each
        for each in [
            svg.card((LEFT, top, svg.WIDTH - 2 * LEFT, ROW_HEIGHT - 8), is_on=not is_off),
            svg.text(LEFT + 12, top + 28, f"broker {broker_id}", colour=colour, bold=True),
            svg.text(LEFT + 12, top + 50, _role(state, broker_id), svg.SMALL, bold=is_leader),
            svg.text(
                LEFT + 12,
                top + 70,
                f"{cells.first} older" if cells.first and numbers else "",
                svg.SMALL,
                colour=svg.MUTED,
            ),
            svg.filled(UNKNOWN if is_off else REPLICATED, *passed),
            svg.filled(NOT_YET, *others),
            svg.outlined(*boxes.values()),
            svg.outlined(*new, stroke=svg.MARK, stroke_width=svg.STRONG),
            *(_words(state.entries[numbers[offset]], offset, box) for offset, box in boxes.items()),
            "" if is_off else svg.line(mark_x, top + 3, mark_x, top + ROW_HEIGHT - 11, svg.INK),
            ""
            if is_off
            else svg.text(svg.WIDTH - LEFT - 12, top + 46, f"HW {replica.high_watermark}", svg.BODY, "end", bold=True),
        ]
        if each
    )


def _role(state: ReplicatedStore, broker_id: int) -> str:
    replica = state.partition.replica(broker_id)
    if replica.broker.status in (DOWN, FROZEN):
        return replica.broker.status
    coordinator = state.coordinator(broker_id)
    if coordinator is None:
        return "follower"
    return ROLES.get(coordinator.status, "coordinator")


def _words(entry: Entry, offset: int, box: tuple[float, float, float, float]) -> str:
    x, y, width, _ = box
    lines = (f"offset {offset}", *entry_lines(entry))
    return svg.words_at([(x + width / 2, y + 18 + 18 * at, each) for at, each in enumerate(lines)], svg.SMALL)


def _memory(state: ReplicatedStore, top: float) -> Iterator[str]:
    broker_id = state.partition.controller.leader  # whom clients are sent to
    coordinator = None if broker_id is None else state.coordinator(broker_id)
    if broker_id is None or coordinator is None:
        yield svg.text(LEFT, top, "Nobody coordinates: nothing is in any memory.", svg.BODY, colour=svg.MUTED)
        return
    if coordinator.status == model.LOADING:
        total = len(state.log(broker_id))
        heads = (f"broker {broker_id} has read {coordinator.read_count} of {total}", "")
    else:
        heads = (f"in broker {broker_id}'s memory, replicated", "and all that is written")
    sides = (coordinator.confirmed, coordinator.written)
    for at, (head, known) in enumerate(zip(heads, sides, strict=True)):
        if not head:
            continue
        x = LEFT + at * (svg.WIDTH / 2)
        yield svg.text(x, top, head, svg.SMALL, colour=svg.MUTED)
        is_ahead = at == 1 and coordinator.written.groups != coordinator.confirmed.groups
        for row, words in enumerate(_lines(known.groups)):
            indent = 28 if words.startswith(" ") else 8
            yield svg.text(
                x + indent,
                top + 26 + MEMORY_STEP * row,
                words.strip(),
                svg.BODY,
                colour=svg.MARK if is_ahead else svg.INK,
            )


def _lines(groups: tuple[Group, ...]) -> list[str]:
    lines = []
    for group in groups:
        lines.append(f"{group.group_id}: {group.state}, {counted(len(group.members), 'member')}")
        lines += [f" {each.topic}-{each.partition}: offset {each.offset}" for each in group.offsets]
    if len(lines) > MEMORY_LINES:
        lines = [*lines[: MEMORY_LINES - 1], f"and {counted(len(lines) - MEMORY_LINES + 1, 'line')} more"]
    return lines or ["no group"]


def _answers(state: ReplicatedStore, top: float) -> Iterator[str]:
    waiting = [
        f"{request_words(each.request)} (until the HW is {each.end_offset})"
        for coordinator in state.coordinators
        if coordinator is not None
        for each in coordinator.waiting
    ]
    yield svg.line(LEFT, top - 24, svg.WIDTH - LEFT, top - 24, svg.FAINT, svg.HAIR)
    yield svg.text(LEFT, top, "waits", svg.SMALL, colour=svg.MUTED)
    for at, words in enumerate(waiting[:2] or ["nobody"]):
        yield svg.text(LEFT + 100, top + 22 * at, words, svg.SMALL + 1, colour=svg.INK if waiting else svg.MUTED)
    if len(waiting) > 2:
        yield svg.text(svg.WIDTH - LEFT, top + 22, f"and {len(waiting) - 2} more", svg.SMALL, "end", svg.MUTED)
    answers = [
        f"{request_words(each.request)}: {answer_words(each.answer)}"
        for each in state.effects
        if isinstance(each, Answered)
    ]
    yield svg.text(LEFT, top + 48, "answered", svg.SMALL, colour=svg.MUTED)
    words, ink = "; ".join(answers) or "nobody", svg.MARK if answers else svg.MUTED
    yield svg.text(LEFT + 100, top + 48, words, svg.SMALL + 1, colour=ink, bold=bool(answers))
