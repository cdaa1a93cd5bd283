"""A log as a picture: a cell for each offset, segments as grounds behind them, clean and dirty below.

In the frame of a pass what the cleaner removed is a ghost, and the word under each cell says why it went or stayed;
afterwards its offset is a dot, for offsets never change. Below a tombstone one reads how long it still stays. The
settings come first, so that they can be bound once: ``play(trace, partial(draw_log, settings))``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from kafkalearn.base.durations import duration
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import Axis, RecordCell, lane
from kafkalearn.drawing.kit import (
    LEFT,
    WIDE,
    Block,
    at_ends,
    bar,
    beside,
    chip,
    flow,
    free,
    label,
    legend,
    meter,
    sheet,
    space,
    stack,
)
from kafkalearn.drawing.player import Picture
from kafkalearn.formats.records import Text
from kafkalearn.log import Cleaned, Settings
from kafkalearn.log.model import RUNNING
from kafkalearn.log.reader import Crossing, CrossingEvent, Table, ghosts
from kafkalearn.log.retention import BELOW_LOG_START, TOO_MANY_BYTES, TOO_OLD
from kafkalearn.log.words import (
    EMPTY_BATCH,
    END,
    GAP,
    REMOVED,
    TOMBSTONE,
    LogFrame,
    Place,
    ShownSegment,
    cleanable_of,
    clock_text,
    deleted_segments,
    describe_log,
    effect_of,
    legend_of,
    log_of,
    log_text,
    next_text,
    now_of,
    places,
    retention_text,
    short_reason,
    shown_segments,
    text_of,
)

PER_ROW, MOST_ROWS = 12, 2  # offsets in a row
UNIT = WIDE / PER_ROW
MOST_LETTERS = int((UNIT - 6) / svg.LETTER)  # in a cell
GROUND, CELL_DOWN, CELL_HEIGHT, UNDER = 22, 51, 46, 35  # pixels below a row's top: ground and cells; words under these
BAND_HEIGHT = 22  # of what is clean and what is dirty
LEGEND_HEIGHT, METER = 44, (280, 20)
BY = {BELOW_LOG_START: "too low", TOO_MANY_BYTES: "by size", TOO_OLD: "by time"}
CLEAN, DIRTY, UNTOUCHED, RECORD = svg.Fill(svg.READ, ""), svg.fill(5), svg.NOTHING, svg.Fill(svg.PANEL, "")
MEANS = {svg.TOMBSTONE: "tombstone; below it, how long it must stay"}


def draw_log(settings: Settings, frame: LogFrame, before: LogFrame | None = None) -> Picture:
    """One moment of a log, drawn.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of a run of `kafkalearn.log`, and the one before it: without it the records that a pass removed
        are unknown. Of a long log the newest 24 offsets are shown.

    Examples
    --------
    >>> from kafkalearn.log import Append, NewBatch, simulate
    >>> settings = Settings("compact")
    >>> trace = simulate(settings, [Append((NewBatch((("K1", "1", 0),)),))])
    >>> draw_log(settings, trace[1], trace[0]).label
    'K1 = 1 is written at offset 0.'
    """
    return sheet(_log(settings, frame, before), describe_log(settings, frame, before), top=10, below=8)


def _log(
    settings: Settings,
    frame: LogFrame,
    before: LogFrame | None,
    reader_offset: int | None = None,
    most_rows: int = MOST_ROWS,
) -> Block:
    """A log; `reader_offset` is where a reader goes on."""
    rows = _rows(places(frame, before), most_rows)
    shown = tuple(place for row in rows for place in row)
    meanings = [label(words, colour=svg.MUTED) for words in legend_of(shown)]
    if any(place.kind == TOMBSTONE for place in shown):
        meanings.append(legend(MEANS, MEANS))
    meant = flow(*meanings)
    return stack(
        at_ends(
            label(_title(settings), svg.TITLE - 2, bold=True),
            label(f"now {duration(now_of(frame))}", svg.TITLE - 2, at_end=True),
        ),
        space(height=2),
        *(_row(settings, frame, before, row, reader_offset) for row in rows),
        free(WIDE, max(LEGEND_HEIGHT if settings.is_compacted else 0, meant.height), meant.draw),
        *([_meter(settings, frame)] if settings.is_compacted else []),
        *([label(retention_text(settings, frame), bold=True)] if settings.is_deleted else []),
    )


def _title(settings: Settings) -> str:
    policy = f"cleanup.policy={settings.cleanup_policy or 'none'}"
    if not settings.is_compacted:
        return f"A log: {policy}"
    return f"{policy}, delete.retention.ms={duration(settings.delete_retention_ms)}"


def _rows(all_places: tuple[Place, ...], most_rows: int) -> list[tuple[Place, ...]]:
    """The newest offsets, in rows; where one is not enough, without the gaps before the first record."""
    shown = all_places[-PER_ROW * most_rows :]
    while shown[0].kind == GAP and len(shown) > PER_ROW:
        shown = shown[1:]
    return [shown[start : start + PER_ROW] for start in range(0, len(shown), PER_ROW)]


def _row(
    settings: Settings, frame: LogFrame, before: LogFrame | None, row: tuple[Place, ...], reader_offset: int | None
) -> Block:
    """Some offsets in their segments: records, why they went or stayed, what is clean and what is dirty."""
    axis, now_ms = Axis(LEFT, row[0].offset, len(row), UNIT), now_of(frame)
    segments = (*deleted_segments(frame, before), *shown_segments(log_of(frame)))
    here = [each for each in segments if each.first <= row[-1].offset and each.last >= row[0].offset]
    records = _cells(row)
    was = records if before is None else _cells(places(before, None))
    gone = {each.offset: _words(each) for each in row if each.kind == REMOVED}
    high = CELL_DOWN + CELL_HEIGHT + 6 + (UNDER if settings.is_compacted else 0)
    reads = [axis.middle(each) for each in axis.offsets if each == reader_offset]
    bands = [lambda _, y: _band(settings, frame, axis, y, high + 5)] if settings.is_compacted else []
    return free(
        WIDE,
        high + (BAND_HEIGHT + 34 if settings.is_compacted else 14),
        lambda _, y: (line for each in here for line in _segment(settings, each, axis, now_ms, y, high)),
        lambda _, y: [axis.numbers(y + CELL_DOWN - 6)],
        lambda _, y: lane(axis, records, was, y + CELL_DOWN, CELL_HEIGHT, ghosts=gone),
        lambda _, y: (_beside_records(each, axis, y + CELL_DOWN + CELL_HEIGHT / 2) for each in row),
        lambda _, y: (line for each in row for line in _under(each, now_ms, axis, y + CELL_DOWN + CELL_HEIGHT)),
        *bands,
        lambda _, y: (svg.pointer(x, y + GROUND + 9, size=8) for x in reads),
    )


def _segment(settings: Settings, shown: ShownSegment, axis: Axis, now_ms: int, y: float, high: float) -> Iterator[str]:
    """The ground of a segment, or of the part that is in this row, and its name."""
    left, right, is_gone = axis.x(shown.first), axis.x(shown.last + 1), bool(shown.deleted_because)
    yield svg.card((left + 2, y + GROUND, right - left - 4, high - GROUND), is_gone, not is_gone)
    names = (each for each in _segment_names(settings, shown, now_ms) if svg.text_width(each) <= right - left)
    look = {"colour": svg.MARK if is_gone else svg.INK, "bold": is_gone or shown.is_active}
    yield svg.text(left + 4, y + 16, next(names, ""), svg.SMALL, **look)


def _segment_names(settings: Settings, shown: ShownSegment, now_ms: int) -> list[str]:
    """What stands above a segment, the longest first; where retention goes by time, how old it is."""
    if shown.deleted_because:
        by = BY[shown.deleted_because]
        return [f"deleted: {shown.deleted_because}", f"deleted: {by}", by]
    size = f"{shown.segment.size_bytes} B"
    narrow = ["active"] if shown.is_active else [size]
    names = [f"{'active ' if shown.is_active else ''}segment {shown.first}, {size}", *narrow]
    if settings.is_deleted and settings.retention_ms >= 0 and shown.segment.batches:
        age = duration(max(0, now_ms - shown.segment.largest_timestamp_ms))
        names = [f"{names[0]}, {age} old", f"{narrow[-1]}, {age} old", *names]
    return names


def _cells(shown: Iterable[Place]) -> dict[int, RecordCell]:
    """What stands at its offset, a tombstone in its colour."""
    return {
        each.offset: RecordCell(_words(each), svg.TOMBSTONE if each.kind == TOMBSTONE else RECORD)
        for each in shown
        if each.kind not in (GAP, END, REMOVED)
    }


def _words(place: Place) -> str:
    """Key and value in two lines; of what has none, what it is."""
    if place.kind == EMPTY_BATCH:
        return "empty"
    if place.marker:
        return svg.cut_end(place.marker, MOST_LETTERS)
    if place.record is None:
        return "?"
    key, value = (svg.cut_end(text_of(each), MOST_LETTERS) for each in (place.record.key, place.record.value))
    return f"{key}\n{value}"


def _beside_records(place: Place, axis: Axis, y: float) -> str:
    """An offset without a record: a dot, or the end of the log."""
    x = axis.middle(place.offset)
    if place.kind == GAP:
        return svg.element("circle", cx=x, cy=y, r=4, fill=svg.FAINT)
    return svg.text(x, y + 6, "LEO", svg.SMALL, "middle", svg.MUTED) if place.kind == END else ""


def _under(place: Place, now_ms: int, axis: Axis, y: float) -> Iterator[str]:
    """The reason of this pass, and the clock of a tombstone."""
    middle, is_gone = axis.middle(place.offset), place.kind == REMOVED
    if place.decision is not None:
        reason = svg.cut_end(short_reason(place.decision.reason), MOST_LETTERS)
        yield svg.text(middle, y + 17, reason, svg.SMALL, "middle", svg.MUTED if is_gone else svg.INK, bold=not is_gone)
    if place.kind == TOMBSTONE:
        clock = clock_text(place, now_ms)
        shown = clock if len(clock) <= MOST_LETTERS else " ".join(clock.split()[:2])  # the larger unit alone
        yield svg.text(middle, y + 35, shown, svg.SMALL, "middle", svg.MARK, bold=clock == "due")


def _band(settings: Settings, frame: LogFrame, axis: Axis, top: float, down: float) -> Iterator[str]:
    """Clean, dirty, and what cannot be cleaned yet, below the offsets; a line where the dirty part begins."""
    found, log, y = cleanable_of(settings, frame), log_of(frame), top + down
    first_dirty, end = found.first_dirty_offset, max(found.first_uncleanable_offset, found.first_dirty_offset)
    start = log.segments[0].base_offset
    borders = [axis.x(max(start, each)) for each in (start, first_dirty, end, log.log_end_offset)]
    names = {CLEAN: "clean", DIRTY: "dirty", UNTOUCHED: "not cleaned yet"}
    for (fill, name), (left, right) in zip(names.items(), pairwise(borders), strict=True):
        words = next((each for each in (name, name.split()[0]) if svg.text_width(each) <= right - left), "")
        yield from bar([(fill, right - left)], height=BAND_HEIGHT).draw(left, y)
        yield svg.text((left + right) / 2, y + 16, words, svg.SMALL, "middle") if words else ""
    if first_dirty in axis.offsets:
        x, words = axis.x(first_dirty), f"first dirty offset {first_dirty}"
        is_right = x + svg.text_width(words) > svg.WIDTH - LEFT
        yield svg.line(x, top + GROUND - 4, x, y + BAND_HEIGHT + 6, svg.MARK)
        place = (x - 6, "end") if is_right else (x + 6, "start")
        yield svg.text(place[0], y + BAND_HEIGHT + 18, words, svg.SMALL, place[1], svg.MARK)


def _meter(settings: Settings, frame: LogFrame) -> Block:
    """The dirty ratio as a bar, against what the cleaner waits for."""
    found, least, (width, height) = cleanable_of(settings, frame), settings.min_cleanable_dirty_ratio, METER
    state = "before the pass" if effect_of(frame, Cleaned) else f"next clean: {next_text(settings, frame)}"
    if log_of(frame).cleaner != RUNNING:
        state = f"the cleaner is {log_of(frame).cleaner}"
    dirty = meter(found.ratio, DIRTY, least=least, width=width, height=height, colour=svg.MARK)
    place, anchor = least * width, "middle" if 0.1 < least < 0.9 else "start"
    against = free(
        width,
        height,
        dirty.draw,
        lambda x, y: [svg.text(x + place, y + height + 21, f"more than {least:g}", svg.SMALL, anchor)],
    )
    ratio = label(f"dirty ratio {found.ratio:.2f}", svg.BODY, bold=True, width=216)
    return stack(beside(ratio, against, space(16), label(state), height=36), space(height=22))


# A reader that crosses a log, as a picture: the log with the reader's position, its table, and what the topic says.
#
# A key in the reader's table that the topic has deleted is marked; it is a ghost as soon as nothing ahead of the reader
# will remove it.

NAMES, ENTRY_HEIGHT, LINE_HEIGHT, MORE = 206, 30, 42, 60  # pixels; the last for how many entries more there are


def draw_crossing(
    settings: Settings, frame: Frame[Crossing, CrossingEvent], before: Frame[Crossing, CrossingEvent] | None = None
) -> Picture:
    """One moment of a log and its reader, drawn.

    Parameters
    ----------
    settings : Settings
        What the run was made with.
    frame, before : Frame
        A frame of a run of `kafkalearn.log.reader`, and the one before it.

    Examples
    --------
    >>> from kafkalearn.log import Append, NewBatch
    >>> from kafkalearn.log.reader import Read, simulate
    >>> settings = Settings("compact")
    >>> trace = simulate(settings, [Append((NewBatch((("anna", "1", 0),)),)), Read()])
    >>> draw_crossing(settings, trace[2], trace[1]).label
    'The reader reads anna = 1; its position is 1.'
    """
    state = frame.state
    deleted = frozenset(key for key, _ in state.reader.table) - {key for key, _ in state.truth}
    page = stack(
        _log(settings, frame, before, state.reader.position, most_rows=1),
        label(f"▼ the reader's position is {state.reader.position}", svg.BODY, svg.MARK),
        space(height=6),
        _table("the topic says", state.truth, frozenset(), frozenset()),
        _table("the reader's table", state.reader.table, deleted, frozenset(ghosts(state))),
    )
    return sheet(page, describe_crossing(settings, frame, before), top=10, below=8)


def _table(name: str, table: Table, deleted: frozenset[Text], are_ghosts: frozenset[Text]) -> Block:
    """A table's entries one beside the other; of a long table the first, and how many more there are."""
    shown, room = [], WIDE - NAMES
    for at, (key, value) in enumerate(table):
        suffix = " · ghost" if key in are_ghosts else " · deleted" if key in deleted else ""
        entry = _entry(
            f"{text_of(key)} = {text_of(value)}{suffix}", is_deleted=bool(suffix), is_ghost=key in are_ghosts
        )
        if entry.width > room - (0 if at == len(table) - 1 else MORE):
            shown.append(label(f"+{len(table) - at}", svg.BODY, svg.MUTED))
            break
        shown.append(entry)
        room -= entry.width + 10
    entries = beside(*shown, gap=10) if shown else label("nothing", colour=svg.MUTED)
    return beside(label(name, svg.BODY, bold=True, width=NAMES), entries, height=LINE_HEIGHT)


def _entry(words: str, *, is_deleted: bool, is_ghost: bool) -> Block:
    """A key with its value."""
    said = label(words, svg.BODY, bold=is_deleted)
    width = said.width + 18
    ground = chip([], svg.LOST if is_deleted else CLEAN, width=width, height=ENTRY_HEIGHT, is_new=is_ghost)
    return free(width, ENTRY_HEIGHT, ground.draw, said.at(9, 2))


def describe_crossing(
    settings: Settings, frame: Frame[Crossing, CrossingEvent], before: Frame[Crossing, CrossingEvent] | None = None
) -> str:
    """A sentence about a frame, and another for each key that has just become a ghost."""
    were = frozenset(ghosts(before.state)) if before else frozenset()
    new = [text_of(key) for key in ghosts(frame.state) if key not in were]
    added = f" {', '.join(new)} {'is a ghost' if len(new) == 1 else 'are ghosts'} from now on." if new else ""
    return describe_log(settings, frame, before) + added


def crossing_text(
    settings: Settings, frame: Frame[Crossing, CrossingEvent], before: Frame[Crossing, CrossingEvent] | None = None
) -> str:
    """A frame of a log with a reader as a few lines of text."""
    state = frame.state
    log = log_text(settings, frame, before).split("\n", 1)[1]
    table = f"the reader's table: {_table_text(state.reader.table, ghosts(state))}"
    head = describe_crossing(settings, frame, before)
    position = f"reader's position {state.reader.position}"
    return f"{head}\n{log}; {position}\nthe topic says: {_table_text(state.truth, ())}\n{table}"


def _table_text(table: Table, are_ghosts: tuple[Text, ...]) -> str:
    marks = dict.fromkeys(are_ghosts, " (ghost)")
    return ", ".join(f"{text_of(key)} = {text_of(value)}{marks.get(key, '')}" for key, value in table) or "nothing"
