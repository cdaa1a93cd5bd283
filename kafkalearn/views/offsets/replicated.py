"""The offsets topic on its brokers drawn: the log of each, what the coordinator has in memory, who waits for what.

A frame of a run of `kafkalearn.offsets.replicated` becomes one drawing.
"""

from __future__ import annotations

from collections.abc import Iterator

from kafkalearn.offsets.groups import Group
from kafkalearn.offsets.replicated.effects import Answered
from kafkalearn.offsets.replicated.events import ReplicatedStoreEvent
from kafkalearn.offsets.replicated.state import Coordinator, ReplicatedStore
from kafkalearn.offsets.store.state import FAILED, LOADING, Entry
from kafkalearn.phrases import capitalised, counted
from kafkalearn.replication.state import DOWN, FROZEN
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, READ, SMALL, TITLE, WIDTH, Fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text, words_at
from kafkalearn.views.offsets.replicated_words import (
    answer_words,
    describe_commit_path,
    entry_lines,
    event_words,
    request_words,
)

LEFT, LOG_LEFT, ROOM, NARROWEST, LETTER = 20, 170, 735, 144, 9
TOP, ROW_HEIGHT, CELL_TOP, CELL_HEIGHT = 54, 88, 9, 62
REPLICATED, NOT_YET, UNKNOWN = Fill(READ, ""), Fill(PANEL, "/"), Fill(EMPTY, "")
ROLES = {LOADING: "loads the log", FAILED: "load has failed"}
MEMORY_LINES, MEMORY_STEP = 4, 23


def draw_commit_path(
    frame: Frame[ReplicatedStore, ReplicatedStoreEvent],
    before: Frame[ReplicatedStore, ReplicatedStoreEvent] | None = None,
) -> Picture:
    """One moment of the offsets topic's partition: a row for each broker, and below it the coordinator's memory.

    What a broker's high watermark has passed is filled, what it has not passed is hatched. The memory has two sides:
    what is replicated, from which tools are answered, and all that is written, by which the next commit is judged.

    Examples
    --------
    >>> from kafkalearn.offsets.replicated import Settings, simulate, stories
    >>> trace = simulate(Settings(), stories.commit_path()[:1])
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
        text(LEFT, 36, capitalised(event_words(frame.event)), TITLE, bold=True),
        *(_row(state, old, each, cells, TOP + ROW_HEIGHT * (each - 1)) for each in broker_ids),
        *_memory(state, bottom + 18),
        *_legend(bottom + 18),
        *_answers(state, answers_top),
        label=describe_commit_path(frame, before),
    )


class _Cells:
    """Which offsets are shown, and where: as many as fit with their words, the newest ones."""

    def __init__(self, state: ReplicatedStore) -> None:
        logs = [state.log(each) for each in range(1, len(state.coordinators) + 1)]
        words = [words for log in logs for entry in log for words in entry_lines(entry)]
        self.width = max([NARROWEST, *(LETTER * len(each) + 16 for each in words)])
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
    edge = {"stroke": INK if is_leader else MUTED, "stroke_width": 4 if is_leader else 1.5}
    numbers, was = state.numbers(broker_id), old.numbers(broker_id)
    boxes = {offset: cells.box(offset, top) for offset in range(cells.first, len(numbers))}
    passed = [box for offset, box in boxes.items() if offset < replica.high_watermark or is_off]
    others = [box for offset, box in boxes.items() if offset >= replica.high_watermark and not is_off]
    new = [box for offset, box in boxes.items() if offset >= len(was) or numbers[offset] != was[offset]]
    mark_x = cells.x(replica.high_watermark)
    return "\n".join(
        each
        for each in [
            rect(LEFT, top, WIDTH - 2 * LEFT, ROW_HEIGHT - 8, EMPTY if is_off else PANEL, rx=6, **edge),
            text(LEFT + 12, top + 28, f"broker {broker_id}", BODY, bold=True),
            text(LEFT + 12, top + 50, _role(state, broker_id), SMALL, bold=is_leader),
            text(LEFT + 12, top + 70, f"{cells.first} older" if cells.first and numbers else "", SMALL, colour=MUTED),
            filled(UNKNOWN if is_off else REPLICATED, *passed),
            filled(NOT_YET, *others),
            *(_plate(box) for box in others),
            outlined(*boxes.values(), stroke=INK, width=1.5),
            outlined(*new, stroke=MARK, width=4),
            *(_words(state.entries[numbers[offset]], offset, box) for offset, box in boxes.items()),
            "" if is_off else line(mark_x, top + 3, mark_x, top + ROW_HEIGHT - 11, INK, 5),
            "" if is_off else text(WIDTH - LEFT - 12, top + 46, f"HW {replica.high_watermark}", BODY, "end", bold=True),
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


def _plate(box: tuple[float, float, float, float]) -> str:
    """A ground for words, which a hatch would strike through."""
    x, y, width, height = box
    return rect(x + 6, y + 6, width - 12, height - 12, PANEL)


def _words(entry: Entry, offset: int, box: tuple[float, float, float, float]) -> str:
    x, y, width, _ = box
    lines = (f"offset {offset}", *entry_lines(entry))
    return words_at([(x + width / 2, y + 18 + 18 * at, each) for at, each in enumerate(lines)], SMALL)


def _memory(state: ReplicatedStore, top: float) -> Iterator[str]:
    broker_id = next((at for at, each in enumerate(state.coordinators, 1) if _speaks(state, at, each)), None)
    if broker_id is None:
        yield text(LEFT, top, "Nobody coordinates: nothing is in any memory.", BODY, colour=MUTED)
        return
    coordinator = state.coordinator(broker_id)
    if coordinator.status == LOADING:
        total = len(state.log(broker_id))
        heads = (f"broker {broker_id} has read {coordinator.read_count} of {total}", "")
    else:
        heads = (f"in broker {broker_id}'s memory, replicated", "and all that is written")
    sides = (coordinator.confirmed, coordinator.written)
    for at, (head, known) in enumerate(zip(heads, sides, strict=True)):
        if not head:
            continue
        x = LEFT + at * (WIDTH / 2)
        yield text(x, top, head, SMALL, colour=MUTED)
        is_ahead = at == 1 and coordinator.written.groups != coordinator.confirmed.groups
        for row, words in enumerate(_lines(known.groups)):
            indent = 28 if words.startswith(" ") else 8
            yield text(x + indent, top + 26 + MEMORY_STEP * row, words.strip(), BODY, colour=MARK if is_ahead else INK)


def _legend(top: float) -> Iterator[str]:
    for at, (look, words) in enumerate(((REPLICATED, "below the HW"), (NOT_YET, "not below it"))):
        box = (WIDTH - 160, top - 13 + 24 * at, 22, 16)
        yield filled(look, box)
        yield outlined(box, stroke=INK, width=1.5)
        yield text(WIDTH - 130, top + 24 * at, words, SMALL, colour=MUTED)


def _speaks(state: ReplicatedStore, broker_id: int, coordinator: Coordinator | None) -> bool:
    """Whether it is the coordinator that clients are sent to."""
    return coordinator is not None and broker_id == state.partition.controller.leader


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
    yield line(LEFT, top - 24, WIDTH - LEFT, top - 24, MUTED, 1)
    yield text(LEFT, top, "waits", SMALL, colour=MUTED)
    for at, words in enumerate(waiting[:2] or ["nobody"]):
        yield text(LEFT + 100, top + 22 * at, words, SMALL + 1, colour=INK if waiting else MUTED)
    if len(waiting) > 2:
        yield text(WIDTH - LEFT, top + 22, f"and {len(waiting) - 2} more", SMALL, "end", MUTED)
    answers = [
        f"{request_words(each.request)}: {answer_words(each.answer)}"
        for each in state.effects
        if isinstance(each, Answered)
    ]
    yield text(LEFT, top + 48, "answered", SMALL, colour=MUTED)
    yield text(
        LEFT + 100,
        top + 48,
        "; ".join(answers) or "nobody",
        SMALL + 1,
        colour=MARK if answers else MUTED,
        bold=bool(answers),
    )
