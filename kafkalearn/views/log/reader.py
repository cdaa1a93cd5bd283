"""A reader that crosses a log, as a picture: the log with the reader's position, its table, and what the topic says.

A key in the reader's table that the topic has deleted is marked; it is a ghost as soon as nothing ahead of the
reader will remove it.
"""

from __future__ import annotations

from kafkalearn.log import Settings
from kafkalearn.log.reader.events import CrossingEvent
from kafkalearn.log.reader.state import Crossing, Table, ghosts
from kafkalearn.segments.sizes import Text
from kafkalearn.trace import Frame
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, INK, MARK, MUTED, PANEL, READ, SMALL, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import filled, outlined, rect, text
from kafkalearn.views.log.picture import log_elements
from kafkalearn.views.log.words import describe_log, log_text, text_of

LEFT, NAMES_WIDTH, CHIP_HEIGHT, LINE_HEIGHT = 24, 206, 30, 42
CHIP_LETTER = 10.6
GHOST, SURE = fill(3), Fill(READ, "")


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
    parts = [text(LEFT, bottom + 24, f"▼ the reader's position is {state.reader.position}", BODY, colour=MARK)]
    for at, (name, table, deleted, are_ghosts) in enumerate(lanes):
        top = bottom + 40 + at * LINE_HEIGHT
        parts += [text(LEFT, top + 21, name, BODY, bold=True), *_chips(table, deleted, are_ghosts, top)]
    return picture(
        bottom + 40 + len(lanes) * LINE_HEIGHT + 10,
        *elements,
        *parts,
        label=describe_crossing(settings, frame, before),
    )


def _chips(table: Table, deleted: frozenset[Text], are_ghosts: frozenset[Text], top: float) -> list[str]:
    """The table's entries one beside the other; of a long table the first, and how many more there are."""
    parts, x = [], LEFT + NAMES_WIDTH
    for at, (key, value) in enumerate(table):
        is_ghost = key in are_ghosts
        suffix = " · ghost" if is_ghost else " · deleted" if key in deleted else ""
        words = f"{text_of(key)} = {text_of(value)}"
        width = CHIP_LETTER * len(words + suffix) + 18
        if x + width > WIDTH - LEFT - (0 if at == len(table) - 1 else 60):
            return [*parts, text(x, top + 21, f"+{len(table) - at}", BODY, colour=MUTED)]
        box = (x, top, width, CHIP_HEIGHT)
        parts += [
            filled(GHOST if suffix else SURE, box),
            rect(x + 5, top + 4, width - 10, CHIP_HEIGHT - 8, PANEL, rx=3) if suffix else "",
            outlined(box, stroke=MARK if is_ghost else INK, width=4 if is_ghost else 1.5),
            text(x + 9, top + 21, words + suffix, BODY, bold=bool(suffix)),
        ]
        x += width + 10
    return parts or [text(LEFT + NAMES_WIDTH, top + 21, "nothing", SMALL, colour=MUTED)]


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
