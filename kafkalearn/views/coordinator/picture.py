"""The look-up of a coordinator as a picture: units, hash, sign, remainder, partition, broker.

A frame of `kafkalearn.coordinator.look_up` becomes one drawing; what the frame's event did has the thick border.
"""

from __future__ import annotations

from kafkalearn.coordinator.events import AskLeader, Event, ReadUnit, TakeAbsolute, TakeRemainder
from kafkalearn.coordinator.state import Lookup
from kafkalearn.trace import Frame
from kafkalearn.views.coordinator.offsets_topic import LEFT, strip, strip_height
from kafkalearn.views.coordinator.words import describe_lookup, heading, is_long, lookup_arithmetic, unit_name
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, FAINT, INK, MARK, MONO, MUTED, PANEL, READ, SMALL, TITLE, Fill
from kafkalearn.views.drawing.svg import Box, arrow, filled, outlined, pointer, rect, text, words_at

UNITS_WIDTH, UNIT_HEIGHT = 950, 70
UNITS_TOP, ARITHMETIC_BASE, BOXES_TOP, STRIP_TOP = 84, 196, 216, 320
BOX_WIDTH, BOX_HEIGHT, BOX_GAP = 206, 78, 42
MOST_PARTITIONS = 50  # so that the picture fits a small window


def draw_lookup(frame: Frame[Lookup, Event], before: Frame[Lookup, Event] | None = None) -> Picture:
    """One moment of a look-up, drawn.

    Parameters
    ----------
    frame, before : Frame
        A frame of the trace; the one before it is not needed, the event says what changed.

    Examples
    --------
    >>> from kafkalearn.coordinator import look_up
    >>> draw_lookup(look_up("ok", leaders=[1, 2], partition_count=2)[-1]).label
    'Broker 1 leads partition 0: it coordinates the group.'
    """
    state, event, settings = frame.state, frame.event, frame.state.settings
    chosen = state.broker_id if state.is_answered else None
    return picture(
        STRIP_TOP + strip_height(settings.leaders, MOST_PARTITIONS),
        title(heading(settings.group_id), is_long(settings.group_id)),
        *_units(state, event),
        text(LEFT, ARITHMETIC_BASE, lookup_arithmetic(state), TITLE - 2, mono=True),
        *_boxes(state, event),
        strip(STRIP_TOP, settings.leaders, state.partition, chosen, MOST_PARTITIONS),
        label=describe_lookup(frame),
    )


def title(words: str, is_small: bool) -> str:
    """The heading of a picture; a small one has letters of one width, so that a long id of any letters fits."""
    return text(LEFT, 36, words, BODY + 2 if is_small else TITLE, bold=True, mono=is_small)


def _units(state: Lookup, event: Event | None) -> list[str]:
    """The UTF-16 code units as cells: read ones filled, the one just read under a pointer."""
    units = state.settings.units
    if not units:
        return [text(LEFT, UNITS_TOP + 40, "the empty id has no units: its hash is 0", BODY, colour=MUTED)]
    width = 43 if max(units) < 10_000 else 52  # five digits need more room
    shown = _window(len(units), state.read_count, UNITS_WIDTH // width)
    boxes = {index: (LEFT + (index - shown[0]) * width, UNITS_TOP, width, UNIT_HEIGHT) for index in shown}
    read = [index for index in shown if index < state.read_count]
    unread = [index for index in shown if index >= state.read_count]
    return [
        outlined(*(boxes[index] for index in unread), stroke=FAINT, width=1.5),
        filled(Fill(READ, ""), *(boxes[index] for index in read)),
        outlined(*(boxes[index] for index in read), stroke=INK, width=1.5),
        *_names(units, {index: boxes[index] for index in read}, INK),
        *_names(units, {index: boxes[index] for index in unread}, MUTED),
        _now(boxes[state.read_count - 1]) if isinstance(event, ReadUnit) else "",
        _part_shown(shown, len(units)),
    ]


def _window(count: int, read_count: int, room: int) -> range:
    """The units that fit: as many as can be, with the one just read among them."""
    first = max(0, min(read_count - room // 2, count - room))
    return range(first, min(first + room, count))


def _names(units: tuple[int, ...], boxes: dict[int, Box], colour: str) -> list[str]:
    """Each unit as a character, its number below."""
    middles = {index: x + width / 2 for index, (x, _, width, _) in boxes.items()}
    names = {index: unit_name(units[index]) for index in boxes}
    shapes = [(middles[index], UNITS_TOP + 32, name) for index, name in names.items() if len(name) < 3]
    codes = [(middles[index], UNITS_TOP + 32, name) for index, name in names.items() if len(name) >= 3]
    numbers = [(middles[index], UNITS_TOP + 59, str(units[index])) for index in boxes]
    return [
        words_at(shapes, TITLE, font_family=MONO, font_weight="bold", fill=colour),
        words_at(codes, SMALL, font_family=MONO, font_weight="bold", fill=colour),
        words_at(numbers, SMALL, fill=colour),
    ]


def _now(box: Box) -> str:
    x, y, width, height = box
    edge = rect(x + 1, y, width - 2, height, stroke=MARK, stroke_width=5, rx=3)
    return "\n".join([edge, pointer(x + width / 2, y - 3)])


def _part_shown(shown: range, count: int) -> str:
    if len(shown) == count:
        return ""
    words = f"units {shown[0] + 1} to {shown[-1] + 1} of {count}"
    return text(LEFT + UNITS_WIDTH, UNITS_TOP - 14, words, SMALL, "end", MUTED)


def _boxes(state: Lookup, event: Event | None) -> list[str]:
    """Four values, each from the one before it; what is not known yet is a question mark."""
    all_read = state.read_count == len(state.settings.units)
    answer = ("none" if state.broker_id is None else str(state.broker_id)) if state.is_answered else None
    contents = [
        ("hash h" if all_read else "hash so far", str(state.group_hash), ReadUnit),
        ("absolute |h|", _shown(state.absolute), TakeAbsolute),
        (f"partition |h| % {state.settings.partition_count}", _shown(state.partition), TakeRemainder),
        ("broker", answer, AskLeader),
    ]
    parts = []
    for index, (name, value, made_by) in enumerate(contents):
        x = LEFT + index * (BOX_WIDTH + BOX_GAP)
        if index:
            parts.append(arrow(x - BOX_GAP + 5, BOXES_TOP + BOX_HEIGHT / 2, x - 5, BOXES_TOP + BOX_HEIGHT / 2))
        parts.append(_box(x, name, value, is_now=isinstance(event, made_by)))
    return parts


def _box(x: float, name: str, value: str | None, is_now: bool) -> str:
    stroke, width = (MARK, 5) if is_now else (FAINT, 2) if value is None else (INK, 2)
    middle = x + BOX_WIDTH / 2
    return "\n".join(
        [
            rect(
                x,
                BOXES_TOP,
                BOX_WIDTH,
                BOX_HEIGHT,
                PANEL if value is None else READ,
                stroke=stroke,
                stroke_width=width,
                rx=6,
            ),
            text(middle, BOXES_TOP + 26, name, SMALL + 1, "middle", MUTED if value is None else INK),
            text(middle, BOXES_TOP + 60, value or "?", TITLE, "middle", MUTED if value is None else INK, bold=True),
        ]
    )


def _shown(value: int | None) -> str | None:
    return None if value is None else str(value)
