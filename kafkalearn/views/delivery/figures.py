"""The matrix of results as a picture: a cell for each combination of settings and failure, clear without colour."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.delivery.record_results import DOUBLED, LOST, OUT_OF_ORDER, REJECTED, SAFE
from kafkalearn.delivery.search.failures import OFFLINE
from kafkalearn.delivery.search.matrix import Cell
from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text

LEFT, NAMES_WIDTH, ROW, HEAD = 16, 236, 54, 132
BOTTOM = 66
WORDS = {
    LOST: "LOST",
    DOUBLED: "twice",
    OUT_OF_ORDER: "order",
    SAFE: "safe",
    OFFLINE: "W",
    REJECTED: "R",
}
LOOKS = {LOST: fill(1), DOUBLED: fill(3), OUT_OF_ORDER: fill(3), SAFE: fill(0)}
STANDS = Fill(EMPTY, "")


def draw_results(cells: Sequence[Cell]) -> Picture:
    """The cells of `kafkalearn.delivery.search.matrix.matrix`, a row for each failure, a column for each setting.

    The word in a cell is the worst that can happen to the data: lost, in the log twice, or safe. Below it, what can
    happen to the application instead: R, the leader refuses; W, nobody may lead and everything waits.

    Examples
    --------
    >>> from kafkalearn.delivery.search.matrix import matrix
    >>> draw_results(matrix(["acks=1", "acks=all"], ["the leader dies"], [False], [1])).label
    'Results of 2 combinations. the leader dies: acks=1 LOST; acks=all twice'
    """
    if not cells:
        raise KafkaLearnError("there is no cell to draw; matrix() makes them")
    rows = list(dict.fromkeys((cell.failure, cell.is_unclean_election_enabled) for cell in cells))
    columns = list(dict.fromkeys((cell.producer, cell.min_insync_replicas) for cell in cells))
    width = (WIDTH - 2 * LEFT - NAMES_WIDTH) / len(columns)
    by_place = {(_row_of(cell), _column_of(cell)): cell for cell in cells}
    parts = [text(LEFT, 34, "What can happen to a record", TITLE, bold=True), *_heads(columns, width)]
    for at, row in enumerate(rows):
        y = HEAD + at * ROW
        parts += _names(rows, at, y)
        for index, column in enumerate(columns):
            cell = by_place.get((row, column))
            if cell is not None:
                parts.append(_cell(cell, LEFT + NAMES_WIDTH + index * width, y, width))
    return picture(HEAD + len(rows) * ROW + BOTTOM, *parts, *_legend(HEAD + len(rows) * ROW + 16), label=_said(cells))


def _row_of(cell: Cell) -> tuple[str, bool]:
    return cell.failure, cell.is_unclean_election_enabled


def _column_of(cell: Cell) -> tuple[str, int]:
    return cell.producer, cell.min_insync_replicas


def word_of(cell: Cell) -> str:
    """The worst that can happen to the data in a cell, in one word."""
    worst = next((each for each in (LOST, DOUBLED, OUT_OF_ORDER) if each in cell.results), None)
    if worst is not None:
        return WORDS[worst]
    return WORDS[SAFE] if SAFE in cell.results else "none in"


def _heads(columns: list[tuple[str, int]], width: float) -> list[str]:
    parts = []
    for at, (producer, min_isr) in enumerate(columns):
        x = LEFT + NAMES_WIDTH + at * width
        is_first = at == 0 or columns[at - 1][0] != producer
        count = len([each for each in columns if each[0] == producer])
        if is_first:
            words = producer.split(", ")
            for down, word in enumerate(words):
                parts.append(text(x + count * width / 2, 66 + 19 * down, word, SMALL + 1, "middle", bold=True))
            parts.append(line(x, 52, x, HEAD - 4, MUTED, 1))
        parts.append(text(x + width / 2, HEAD - 14, f"min {min_isr}", SMALL, "middle", MUTED))
    return parts


def _names(rows: list[tuple[str, bool]], at: int, y: float) -> list[str]:
    failure, is_unclean = rows[at]
    is_first = at == 0 or rows[at - 1][0] != failure
    unclean = "unclean election" if is_unclean else "clean elections only"
    parts = [text(LEFT, y + 48, unclean, SMALL, colour=MUTED)]
    if is_first:
        parts += [line(LEFT, y, WIDTH - LEFT, y, INK, 2)]
    lines = _wrapped(failure) if is_first else []
    if len(lines) == 1:
        parts.append(text(LEFT, y + 25, lines[0], SMALL, bold=True))
    for down, words in enumerate(lines if len(lines) > 1 else []):
        parts.append(text(LEFT, y + 16 + 16 * down, words, SMALL, bold=True))
    return parts


def _wrapped(words: str, most: int = 25) -> list[str]:
    if len(words) <= most:
        return [words]
    cut = words.rfind(" ", 0, most)
    return [words[:cut], words[cut + 1 :]]


def _cell(cell: Cell, x: float, y: float, width: float) -> str:
    box = (x + 3, y + 4, width - 6, ROW - 8)
    word = word_of(cell)
    look = next((LOOKS[each] for each in (LOST, DOUBLED, OUT_OF_ORDER, SAFE) if each in cell.results), STANDS)
    besides = " ".join(WORDS[each] for each in (REJECTED, OFFLINE) if each in cell.results)
    plate = rect(x + 8, y + 9, width - 16, 21, PANEL, rx=3) if look.hatch else ""
    plate_below = rect(x + 6, y + 31, width - 12, 17, PANEL, rx=3) if look.hatch and besides else ""
    is_lost = LOST in cell.results
    return "\n".join(
        each
        for each in [
            filled(look, box),
            plate,
            plate_below,
            outlined(box, stroke=MARK if is_lost else INK, width=3 if is_lost else 1),
            text(x + width / 2, y + 26, word, BODY - 1, "middle", MARK if is_lost else INK, bold=True),
            text(x + width / 2, y + 45, besides, SMALL, "middle", bold=True) if besides else "",
        ]
        if each
    )


def _legend(y: float) -> list[str]:
    entries = (
        (fill(1), "LOST: acknowledged and gone"),
        (fill(3), "twice: in the log twice"),
        (fill(0), "safe: once, and there"),
        (STANDS, "none in: none accepted"),
    )
    parts = []
    for x, (look, words) in zip((LEFT, 300, 524, 746), entries, strict=True):
        parts += [filled(look, (x, y, 22, 18)), outlined((x, y, 22, 18), stroke=INK)]
        parts.append(text(x + 28, y + 15, words, SMALL))
    said = "R: the leader refuses, NOT_ENOUGH_REPLICAS.   W: waits for a broker that has everything; nobody leads."
    return [*parts, text(LEFT, y + 42, said, SMALL, colour=MUTED)]


def _said(cells: Sequence[Cell]) -> str:
    by_failure: dict[str, list[str]] = {}
    for cell in cells:
        key = cell.failure + (", unclean" if cell.is_unclean_election_enabled else "")
        min_isr = f" min {cell.min_insync_replicas}" if len({each.min_insync_replicas for each in cells}) > 1 else ""
        by_failure.setdefault(key, []).append(f"{cell.producer}{min_isr} {word_of(cell)}")
    said = ". ".join(f"{failure}: {'; '.join(words)}" for failure, words in by_failure.items())
    return f"Results of {len(cells)} combinations. {said}"
