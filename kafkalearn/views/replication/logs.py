"""The logs in the picture of a replicated partition: records as cells, the HW above, the LEO below."""

from __future__ import annotations

from kafkalearn.replication.state import Log, Partition, Record
from kafkalearn.views.drawing.style import INK, MARK, MUTED, PANEL, READ, SMALL, Fill, fill
from kafkalearn.views.drawing.svg import Box, element, filled, line, outlined, rect, text, words_at

LEFT, CELLS_LEFT, CELL, CELL_COUNT = 16, 198, 40, 14
CELL_DOWN, CELL_HEIGHT = 23, 31
CHARACTER = 9.4  # pixels of one in a label
MOST_LETTERS = 3  # of a record's value in its cell
MOST_FILLS = 6
NO_EPOCH = Fill(READ, "")


def first_offset(state: Partition, before: Partition | None) -> int:
    """The first offset that is shown: from 0, or as many as fit before the end of the longest log."""
    states = [state] if before is None else [state, before]
    return max(0, max(each.log_end_offset for one in states for each in one.replicas) - CELL_COUNT)


def offset_x(offset: int, first: int) -> float:
    """Where an offset begins; offsets that are not shown lie at the edges."""
    return CELLS_LEFT + min(max(offset - first, 0), CELL_COUNT) * CELL


def _fill(record: Record) -> Fill:
    return NO_EPOCH if record.leader_epoch < 0 else fill(record.leader_epoch % MOST_FILLS)


def legend(state: Partition) -> str:
    """Which fill is which leader epoch."""
    epochs = sorted({record.leader_epoch for each in state.replicas for record in each.log.records if record})
    parts = []
    for at, epoch in enumerate(epochs[-MOST_FILLS:]):
        x = CELLS_LEFT + at * 110
        parts.append(filled(NO_EPOCH if epoch < 0 else fill(epoch % MOST_FILLS), (x, 46, 22, 18)))
        parts.append(outlined((x, 46, 22, 18), stroke=INK))
        parts.append(text(x + 29, 60, "no epoch" if epoch < 0 else f"epoch {epoch}", SMALL, colour=MUTED))
    return "\n".join(parts)


def offsets(first: int) -> str:
    """The offsets above the cells, and how many are not shown."""
    places = [(CELLS_LEFT + (at + 0.5) * CELL, 84, str(first + at)) for at in range(CELL_COUNT)]
    cut = f"{first} older not shown" if first else "offset"
    return "\n".join([text(LEFT + 14, 84, cut, SMALL, colour=MUTED), words_at(places, SMALL, fill=MUTED)])


def cells(log: Log, was: Log, first: int, top: float) -> list[str]:
    """The records as cells, new ones with a thick border, cut ones crossed out; the bar below them up to the HW."""
    y = top + CELL_DOWN
    shown = range(max(first, log.log_start_offset), min(log.log_end_offset, first + CELL_COUNT))
    records = {offset: log.records[offset - log.first_offset] for offset in shown}
    boxes = {offset: _box(offset, first, y) for offset in records}
    new = [boxes[offset] for offset in records if _at(was, offset) != records[offset]]
    gone = [_box(offset, first, y) for offset in range(max(first, log.log_end_offset), was.log_end_offset)]
    values = [(boxes[offset][0] + CELL / 2, y + 22, record.value[:MOST_LETTERS]) for offset, record in records.items()]
    plates = [(x - 4.8 * len(word) - 1, y + 7, 9.6 * len(word) + 2, 19) for x, _, word in values]
    hatched = [plate for plate, record in zip(plates, records.values(), strict=True) if _fill(record).hatch]
    high_watermark = offset_x(log.high_watermark, first)
    return [
        *(filled(_fill(record), boxes[offset]) for offset, record in records.items()),
        *(rect(*plate, PANEL, rx=3) for plate in hatched),
        outlined(*boxes.values(), stroke=INK, width=1.2),
        words_at(values, SMALL),
        *(_crossed(box) for box in gone),
        outlined(*new, stroke=MARK, width=4),
        rect(CELLS_LEFT, y + CELL_HEIGHT + 3, high_watermark - CELLS_LEFT, 7, INK)
        if high_watermark > CELLS_LEFT
        else "",
    ]


def _box(offset: int, first: int, y: float) -> Box:
    return (offset_x(offset, first) + 1, y, CELL - 2, CELL_HEIGHT)


def _at(log: Log, offset: int) -> Record | None:
    index = offset - log.first_offset
    return log.records[index] if 0 <= index < len(log.records) else None


def _crossed(box: Box) -> str:
    """A record that has just been cut."""
    x, y, width, height = box
    edge = rect(x, y, width, height, stroke=MARK, stroke_width=2, stroke_dasharray="5 4")
    return "\n".join([edge, line(x, y, x + width, y + height, MARK), line(x, y + height, x + width, y, MARK)])


def log_marks(log: Log, was: Log, first: int, top: float) -> list[str]:
    """The two marks of a log, each with its number."""
    return [_high_watermark(log, was, first, top), _log_end(log, was, first, top)]


def _high_watermark(log: Log, was: Log, first: int, top: float) -> str:
    """The HW: a thick line through the log, its number above."""
    x, is_new = offset_x(log.high_watermark, first), log.high_watermark != was.high_watermark
    mark = line(x, top + 20, x, top + CELL_DOWN + CELL_HEIGHT + 10, MARK if is_new else INK, 5)
    return "\n".join([mark, _label("HW", log.high_watermark, first, top + 17, is_new)])


def _log_end(log: Log, was: Log, first: int, top: float) -> str:
    """The LEO: a thin broken line where the next record goes, its number below."""
    x, is_new = offset_x(log.log_end_offset, first), log.log_end_offset != was.log_end_offset
    y = top + CELL_DOWN
    style = {"stroke": MARK if is_new else INK, "stroke_width": 2, "stroke_dasharray": "4 3"}
    mark = element("line", x1=x, y1=y, x2=x, y2=y + CELL_HEIGHT + 9, **style)
    return "\n".join([mark, _label("LEO", log.log_end_offset, first, top + 77, is_new)])


def _label(name: str, offset: int, first: int, y: float, is_new: bool) -> str:
    """A mark's name and offset, in a thick border if it is new, with an arrow if it lies before what is shown."""
    x, words = offset_x(offset, first), f"{name} {offset}" if offset >= first else f"\u25c2 {name} {offset}"
    said = text(x, y, words, SMALL + 1, "middle", MARK if is_new else INK, bold=True)
    if not is_new:
        return said
    width = CHARACTER * len(words) + 18
    return "\n".join([rect(x - width / 2, y - 16, width, 21, PANEL, stroke=MARK, stroke_width=2.5, rx=4), said])
