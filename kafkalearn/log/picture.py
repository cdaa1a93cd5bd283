"""A log as a picture: a cell for each offset, segments as frames around them, clean and dirty below.

In the frame of a pass a dashed cell is a record that the cleaner removed, and the word under each says why it went
or stayed; afterwards its offset is a dot, for offsets never change. Below a tombstone one reads how long it still
stays. The settings come first, so that they can be bound once: ``play(trace, partial(draw_log, settings))``.
"""

from __future__ import annotations

from kafkalearn.base.durations import duration
from kafkalearn.base.trace import Frame
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.formats.records import Text
from kafkalearn.log import Cleaned, Settings
from kafkalearn.log.model import RUNNING, Cleanable
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

LEFT, CELL, PER_ROW, MOST_ROWS = 24, 79, 12, 2
TOP, ROW_HEIGHT = 80, 203
LEGEND_LINES, LEGEND_UP = 2, 30  # the legend begins where a row has nothing more
CELL_DOWN, CELL_HEIGHT = 6, 74  # below the frame's top
FRAME_HEIGHT, BAND_DOWN, BAND_HEIGHT = 122, 127, 22  # the frame holds cells and the words below them
BY = {BELOW_LOG_START: "too low", TOO_MANY_BYTES: "by size", TOO_OLD: "by time"}
CHARACTER = {svg.SMALL: 9.3, svg.BODY: 11.5}  # pixels of one letter
CLEAN, DIRTY, UNTOUCHED = svg.Fill(svg.READ, ""), svg.fill(5), svg.NOTHING
GRAVE = svg.TOMBSTONE
METER_LEFT, METER_WIDTH = 240, 280


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
    elements, bottom = log_elements(settings, frame, before)
    return picture(bottom, *elements, label=describe_log(settings, frame, before))


def log_elements(
    settings: Settings,
    frame: LogFrame,
    before: LogFrame | None,
    reader_offset: int | None = None,
    most_rows: int = MOST_ROWS,
) -> tuple[list[str], float]:
    """The drawing of a log as elements, and how far down it goes; `reader_offset` marks where a reader is."""
    rows = _rows(places(frame, before), most_rows)
    segments = (*deleted_segments(frame, before), *shown_segments(log_of(frame)))
    found, now_ms = cleanable_of(settings, frame), now_of(frame)
    parts = [
        svg.text(LEFT, 40, _title(settings), svg.TITLE - 2, bold=True),
        svg.text(svg.WIDTH - LEFT, 40, f"now {duration(now_ms)}", svg.TITLE - 2, "end"),
    ]
    for at, row in enumerate(rows):
        parts += _row(settings, segments, row, now_ms, TOP + at * ROW_HEIGHT)
        parts += _band(frame, row, found, TOP + at * ROW_HEIGHT) if settings.is_compacted else []
        parts += _reader(row, reader_offset, TOP + at * ROW_HEIGHT)
    below = TOP + len(rows) * ROW_HEIGHT
    legend = _legend(rows, below - LEGEND_UP)
    below += 22 * max(LEGEND_LINES, len(legend)) - LEGEND_UP
    if settings.is_compacted:
        parts += _meter(settings, frame, found, below)
        below += 62
    if settings.is_deleted:
        parts.append(svg.text(LEFT, below + 15, retention_text(settings, frame), svg.SMALL, bold=True))
        below += 28
    return [*parts, *legend], below


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
    settings: Settings, segments: tuple[ShownSegment, ...], row: tuple[Place, ...], now_ms: int, top: float
) -> list[str]:
    first, last = row[0].offset, row[-1].offset
    here = (shown for shown in segments if shown.last >= first and shown.first <= last)
    return [
        *(_segment(settings, shown, first, last, now_ms, top) for shown in here),
        *(_cell(place, now_ms, LEFT + (place.offset - first) * CELL, top) for place in row),
    ]


def _segment(settings: Settings, shown: ShownSegment, row_first: int, row_last: int, now_ms: int, top: float) -> str:
    """The ground of a segment, or of the part that is in this row; the active one is an outline."""
    start, end = max(shown.first, row_first), min(shown.last, row_last)
    x, width = LEFT + (start - row_first) * CELL, (end + 1 - start) * CELL
    is_gone = bool(shown.deleted_because)
    name = next((each for each in _segment_names(settings, shown, now_ms) if _fits(each, width)), "")
    look = {"colour": svg.MARK if is_gone else svg.INK, "bold": is_gone or shown.is_active}
    return "\n".join(
        [
            svg.card((x + 2, top, width - 4, FRAME_HEIGHT), is_gone, not (is_gone or shown.is_active)),
            svg.text(x + 4, top - 16, name, svg.SMALL, **look) if name else "",
        ]
    )


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


def _fits(words: str, width: float, size: int = svg.SMALL) -> bool:
    return svg.text_width(words, CHARACTER[size]) <= width


def _fitted(words: str, width: float, size: int) -> str:
    return svg.cut_end(words, int(width / CHARACTER[size]))


def _cell(place: Place, now_ms: int, x: float, top: float) -> str:
    middle, y = x + CELL / 2, top + CELL_DOWN
    box = (x + 6, y, CELL - 12, CELL_HEIGHT)
    if place.kind == END:
        mark = svg.text(middle, y + 54, "LEO", svg.SMALL, "middle", svg.MUTED)
        return "\n".join([svg.text(middle, y + 18, str(place.offset), svg.SMALL, "middle", svg.MUTED), mark])
    if place.kind == GAP:
        dot = svg.element("circle", cx=middle, cy=y + 48, r=4, fill=svg.FAINT)
        return "\n".join([svg.text(middle, y + 18, str(place.offset), svg.SMALL, "middle", svg.MUTED), dot])
    return "\n".join(
        [
            _ground(place, box),
            svg.text(
                middle, y + 18, str(place.offset), svg.SMALL, "middle", svg.MUTED if place.kind == REMOVED else svg.INK
            ),
            *_content(place, middle, y),
            _under(place, now_ms, middle, y + CELL_HEIGHT),
        ]
    )


def _ground(place: Place, box: tuple[float, float, float, float]) -> str:
    if place.kind == REMOVED:
        return svg.rect(*box, stroke=svg.MUTED, stroke_width=svg.HAIR, stroke_dasharray="3 3")
    look = GRAVE if place.kind == TOMBSTONE else svg.NOTHING if place.kind == EMPTY_BATCH else svg.Fill(svg.PANEL, "")
    return "\n".join([svg.filled(look, box), svg.outlined(box, stroke=svg.INK if place.decision else svg.FAINT)])


def _content(place: Place, middle: float, y: float) -> list[str]:
    if place.kind == EMPTY_BATCH:
        return [svg.text(middle, y + 48, "empty", svg.SMALL, "middle", svg.MUTED)]
    if place.marker:
        return [svg.text(middle, y + 48, _fitted(place.marker, CELL - 12, svg.SMALL), svg.SMALL, "middle", svg.MUTED)]
    if place.record is None:
        return [svg.text(middle, y + 48, "?", svg.BODY, "middle", svg.MUTED)]
    colour = svg.MUTED if place.kind == REMOVED else svg.INK
    key, value = text_of(place.record.key), text_of(place.record.value)
    key_size = svg.BODY if _fits(key, CELL - 20, svg.BODY) else svg.SMALL  # bold letters are wider
    value_size = svg.BODY if _fits(value, CELL - 12, svg.BODY) else svg.SMALL
    strike = svg.line(middle - 28, y + 64, middle + 28, y + 27, svg.MUTED) if place.kind == REMOVED else ""
    return [
        svg.text(
            middle, y + 40, _fitted(key, CELL - 10, key_size), key_size, "middle", colour, bold=place.kind != REMOVED
        ),
        svg.text(middle, y + 62, _fitted(value, CELL - 12, value_size), value_size, "middle", colour),
        strike,
    ]


def _under(place: Place, now_ms: int, middle: float, y: float) -> str:
    """The reason of this pass, and the clock of a tombstone."""
    words = []
    if place.decision is not None:
        gone = place.kind == REMOVED
        reason = _fitted(short_reason(place.decision.reason), CELL, svg.SMALL)
        words.append(
            svg.text(middle, y + 17, reason, svg.SMALL, "middle", svg.MUTED if gone else svg.INK, bold=not gone)
        )
    if place.kind == TOMBSTONE:
        clock = clock_text(place, now_ms)
        shown = clock if _fits(clock, CELL + 4) else " ".join(clock.split()[:2])  # the larger unit alone
        words.append(svg.text(middle, y + 35, shown, svg.SMALL, "middle", svg.MARK, bold=clock == "due"))
    return "\n".join(words)


def _band(frame: LogFrame, row: tuple[Place, ...], found: Cleanable, top: float) -> list[str]:
    """Clean, dirty, and what cannot be cleaned yet, as a band below the offsets; a mark where the dirty part begins."""
    first, last, end = row[0].offset, row[-1].offset, log_of(frame).log_end_offset
    y = top + BAND_DOWN
    marks = (
        (log_of(frame).segments[0].base_offset, found.first_dirty_offset, CLEAN, "clean"),
        (found.first_dirty_offset, found.first_uncleanable_offset, DIRTY, "dirty"),
        (max(found.first_uncleanable_offset, found.first_dirty_offset), end, UNTOUCHED, "not cleaned yet"),
    )
    parts = []
    for begin, stop, look, name in marks:
        begin, stop = max(begin, first), min(stop, last + 1)
        if begin < stop:
            box = (LEFT + (begin - first) * CELL, y, (stop - begin) * CELL, BAND_HEIGHT)
            parts += [svg.filled(look, box), svg.outlined(box)]
            words = next((each for each in (name, name.split()[0]) if _fits(each, box[2])), "")
            parts.append(svg.text(box[0] + box[2] / 2, y + 16, words, svg.SMALL, "middle") if words else "")
    if first <= found.first_dirty_offset <= last:
        x = LEFT + (found.first_dirty_offset - first) * CELL
        words = f"first dirty offset {found.first_dirty_offset}"
        is_right = x + svg.text_width(words, CHARACTER[svg.SMALL]) > svg.WIDTH - LEFT
        parts += [
            svg.line(x, top - 4, x, y + BAND_HEIGHT + 6, svg.MARK),
            svg.text(
                x + (-6 if is_right else 6),
                y + BAND_HEIGHT + 18,
                words,
                svg.SMALL,
                "end" if is_right else "start",
                svg.MARK,
            ),
        ]
    return parts


def _reader(row: tuple[Place, ...], offset: int | None, top: float) -> list[str]:
    """A pointer at the reader's position."""
    if offset is None or not row[0].offset <= offset <= row[-1].offset:
        return []
    x = LEFT + (offset - row[0].offset) * CELL + CELL / 2
    y = top + 2
    return [svg.polygon([(x, y + 6), (x - 13, y - 16), (x + 13, y - 16)], svg.MARK)]


def _legend(rows: list[tuple[Place, ...]], top: float) -> list[str]:
    shown = tuple(place for row in rows for place in row)
    meanings = legend_of(shown)
    if any(place.kind == TOMBSTONE for place in shown):
        meanings.append("violet: tombstone; below it, how long it must stay")
    lines, current = [], ""
    for words in meanings:
        longer = f"{current};  {words}" if current else words
        if current and not _fits(longer, svg.WIDTH - 2 * LEFT):
            lines, current = [*lines, current], words
        else:
            current = longer
    lines += [current] if current else []
    return [svg.text(LEFT, top + 14 + 22 * at, words, svg.SMALL, colour=svg.MUTED) for at, words in enumerate(lines)]


def _meter(settings: Settings, frame: LogFrame, found: Cleanable, top: float) -> list[str]:
    """The dirty ratio as a bar, against what the cleaner waits for."""
    least = settings.min_cleanable_dirty_ratio
    mark = METER_LEFT + least * METER_WIDTH
    state = "before the pass" if effect_of(frame, Cleaned) else f"next clean: {next_text(settings, frame)}"
    if log_of(frame).cleaner != RUNNING:
        state = f"the cleaner is {log_of(frame).cleaner}"
    return [
        svg.text(LEFT, top + 31, f"dirty ratio {found.ratio:.2f}", svg.BODY, bold=True),
        svg.rect(METER_LEFT, top + 16, METER_WIDTH, 20, svg.PANEL),
        svg.filled(DIRTY, (METER_LEFT, top + 16, found.ratio * METER_WIDTH, 20)),
        svg.outlined((METER_LEFT, top + 16, METER_WIDTH, 20)),
        svg.line(mark, top + 10, mark, top + 42, svg.MARK),
        svg.text(mark, top + 57, f"more than {least:g}", svg.SMALL, "middle" if 0.1 < least < 0.9 else "start"),
        svg.text(METER_LEFT + METER_WIDTH + 16, top + 31, state, svg.SMALL),
    ]


# A reader that crosses a log, as a picture: the log with the reader's position, its table, and what the topic says.
#
# A key in the reader's table that the topic has deleted is marked; it is a ghost as soon as nothing ahead of the reader
# will remove it.

READER_LEFT, NAMES_WIDTH, CHIP_HEIGHT, LINE_HEIGHT = 24, 206, 30, 42
CHIP_LETTER = 10.6
GHOST, SURE = svg.LOST, svg.Fill(svg.READ, "")


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
    elements, bottom = log_elements(settings, frame, before, state.reader.position, most_rows=1)
    deleted = frozenset(key for key, _ in state.reader.table) - {key for key, _ in state.truth}
    lanes = [
        ("the topic says", state.truth, frozenset(), frozenset()),
        ("the reader's table", state.reader.table, deleted, frozenset(ghosts(state))),
    ]
    parts = [
        svg.text(
            READER_LEFT, bottom + 24, f"▼ the reader's position is {state.reader.position}", svg.BODY, colour=svg.MARK
        )
    ]
    for at, (name, table, deleted, are_ghosts) in enumerate(lanes):
        top = bottom + 40 + at * LINE_HEIGHT
        parts += [svg.text(READER_LEFT, top + 21, name, svg.BODY, bold=True), *_chips(table, deleted, are_ghosts, top)]
    return picture(
        bottom + 40 + len(lanes) * LINE_HEIGHT + 10,
        *elements,
        *parts,
        label=describe_crossing(settings, frame, before),
    )


def _chips(table: Table, deleted: frozenset[Text], are_ghosts: frozenset[Text], top: float) -> list[str]:
    """The table's entries one beside the other; of a long table the first, and how many more there are."""
    parts, x = [], READER_LEFT + NAMES_WIDTH
    for at, (key, value) in enumerate(table):
        is_ghost = key in are_ghosts
        suffix = " · ghost" if is_ghost else " · deleted" if key in deleted else ""
        words = f"{text_of(key)} = {text_of(value)}"
        width = svg.text_width(words + suffix, CHIP_LETTER) + 18
        if x + width > svg.WIDTH - READER_LEFT - (0 if at == len(table) - 1 else 60):
            return [*parts, svg.text(x, top + 21, f"+{len(table) - at}", svg.BODY, colour=svg.MUTED)]
        box = (x, top, width, CHIP_HEIGHT)
        parts += [
            svg.filled(GHOST if suffix else SURE, box),
            svg.outlined(box, **svg.edge(is_ghost)),
            svg.text(x + 9, top + 21, words + suffix, svg.BODY, bold=bool(suffix)),
        ]
        x += width + 10
    return parts or [svg.text(READER_LEFT + NAMES_WIDTH, top + 21, "nothing", svg.SMALL, colour=svg.MUTED)]


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
