"""The matrix of results as a picture: a cell for each combination of settings and failure, clear without colour."""

from __future__ import annotations

from collections.abc import Sequence

from kafkalearn.delivery.record_results import DOUBLED, LOST, OUT_OF_ORDER, REJECTED, SAFE
from kafkalearn.delivery.search.failures import GIVEN_UP, OFFLINE
from kafkalearn.delivery.search.matrix import Cell
from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import EMPTY, INK, MARK, MUTED, PANEL, SMALL, TITLE, WIDTH, Fill, fill
from kafkalearn.views.drawing.svg import filled, line, outlined, rect, text

LEFT, NAMES_WIDTH, ROW, HEAD = 16, 338, 41, 104
BOTTOM = 74
WORDS = {
    LOST: "LOST",
    DOUBLED: "twice",
    OUT_OF_ORDER: "order",
    GIVEN_UP: "failed",
    SAFE: "safe",
    OFFLINE: "W",
    REJECTED: "R",
}
LOOKS = {LOST: fill(1), DOUBLED: fill(3), OUT_OF_ORDER: fill(4), GIVEN_UP: fill(2), SAFE: fill(0)}
HARM = (LOST, DOUBLED, OUT_OF_ORDER, GIVEN_UP)
STANDS = Fill(EMPTY, "")


def draw_results(cells: Sequence[Cell]) -> Picture:
    """The cells of `kafkalearn.delivery.search.matrix.matrix`, a row for each failure, a column for each setting.

    The word in a cell is the worst that can happen to the data: lost, in the log twice, given up after an error, or
    safe. Below it, what can happen to the application instead: R, the leader refuses; W, nobody may lead and everything
    waits. Where unclean elections change no cell of a failure, they have no row of their own.

    Examples
    --------
    >>> from kafkalearn.delivery.search.matrix import matrix
    >>> draw_results(matrix(["acks=1", "acks=all"], ["the leader dies"], [False], [1])).label
    'Results of 2 combinations. the leader dies: acks=1 LOST; acks=all twice'
    """
    if not cells:
        raise KafkaLearnError("there is no cell to draw; matrix() makes them")
    rows = _rows(cells)
    columns = list(dict.fromkeys((cell.producer, cell.min_insync_replicas) for cell in cells))
    width = (WIDTH - 2 * LEFT - NAMES_WIDTH) / len(columns)
    by_place = {(_row_of(cell), _column_of(cell)): cell for cell in cells}
    parts = [text(LEFT, 28, "What can happen to a record", TITLE, bold=True), *_heads(columns, width)]
    for at, row in enumerate(rows):
        y = HEAD + at * ROW
        parts += _names(rows, at, y)
        for index, column in enumerate(columns):
            cell = by_place.get((row[:2], column))
            if cell is not None:
                parts.append(_cell(cell, LEFT + NAMES_WIDTH + index * width, y, width))
    return picture(HEAD + len(rows) * ROW + BOTTOM, *parts, *_legend(HEAD + len(rows) * ROW + 8), label=_said(cells))


def _rows(cells: Sequence[Cell]) -> list[tuple[str, bool, str]]:
    """Failure, whether elections may be unclean, and what is said of them; rows that say the same are one."""
    by_failure: dict[str, dict[bool, dict[tuple[str, int], tuple[str, str]]]] = {}
    for cell in cells:
        by_election = by_failure.setdefault(cell.failure, {})
        by_election.setdefault(cell.is_unclean_election_enabled, {})[_column_of(cell)] = (word_of(cell), _besides(cell))
    rows = []
    for failure, by_election in by_failure.items():
        if len(by_election) == 2 and by_election[False] == by_election[True]:
            rows.append((failure, False, "clean elections or not"))
        else:
            rows += [(failure, each, "unclean election" if each else "clean elections only") for each in by_election]
    return rows


def _row_of(cell: Cell) -> tuple[str, bool]:
    return cell.failure, cell.is_unclean_election_enabled


def _column_of(cell: Cell) -> tuple[str, int]:
    return cell.producer, cell.min_insync_replicas


def word_of(cell: Cell) -> str:
    """The worst that can happen to the data in a cell, in one word."""
    worst = next((each for each in HARM if each in cell.results), None)
    if worst is not None:
        return WORDS[worst]
    return WORDS[SAFE] if SAFE in cell.results else "none"


def _heads(columns: list[tuple[str, int]], width: float) -> list[str]:
    parts = []
    for at, (producer, min_isr) in enumerate(columns):
        x = LEFT + NAMES_WIDTH + at * width
        is_first = at == 0 or columns[at - 1][0] != producer
        count = len([each for each in columns if each[0] == producer])
        if is_first:
            words = producer.split(", ")
            for down, word in enumerate(words):
                parts.append(text(x + count * width / 2, 58 + 18 * down, word, SMALL + 1, "middle", bold=True))
            parts.append(line(x, 44, x, HEAD - 4, MUTED, 1))
        parts.append(text(x + width / 2, HEAD - 8, f"min {min_isr}", SMALL, "middle", MUTED))
    return parts


def _names(rows: list[tuple[str, bool, str]], at: int, y: float) -> list[str]:
    failure, _, elections = rows[at]
    parts = [text(LEFT, y + 36, elections, SMALL, colour=MUTED)]
    if at == 0 or rows[at - 1][0] != failure:
        parts += [line(LEFT, y, WIDTH - LEFT, y, INK, 2), text(LEFT, y + 18, failure, SMALL, bold=True)]
    return parts


def _cell(cell: Cell, x: float, y: float, width: float) -> str:
    box = (x + 2, y + 2, width - 4, ROW - 4)
    word, besides = word_of(cell), _besides(cell)
    look = next((LOOKS[each] for each in (*HARM, SAFE) if each in cell.results), STANDS)
    plate = rect(x + 5, y + 5, width - 10, 17, PANEL, rx=3) if look.hatch else ""
    plate_below = rect(x + 12, y + 23, width - 24, 14, PANEL, rx=3) if look.hatch and besides else ""
    is_lost = LOST in cell.results
    return "\n".join(
        each
        for each in [
            filled(look, box),
            plate,
            plate_below,
            outlined(box, stroke=MARK if is_lost else INK, width=3 if is_lost else 1),
            text(x + width / 2, y + 19, word, SMALL, "middle", MARK if is_lost else INK, bold=True),
            text(x + width / 2, y + 36, besides, SMALL, "middle", bold=True) if besides else "",
        ]
        if each
    )


def _besides(cell: Cell) -> str:
    """What can happen to the application instead, in letters."""
    return " ".join(WORDS[each] for each in (REJECTED, OFFLINE) if each in cell.results)


def _legend(y: float) -> list[str]:
    entries = (
        (LOOKS[LOST], "LOST: acknowledged, and gone"),
        (LOOKS[DOUBLED], "twice: in the log twice"),
        (LOOKS[GIVEN_UP], "failed: an error, and not in the log"),
        (LOOKS[SAFE], "safe: in the log, once"),
        (STANDS, "none: no record is taken"),
    )
    parts = []
    for at, (look, words) in enumerate(entries):
        x, top = LEFT + at % 3 * 330, y + at // 3 * 23
        parts += [filled(look, (x, top, 22, 17)), outlined((x, top, 22, 17), stroke=INK)]
        parts.append(text(x + 28, top + 14, words, SMALL))
    said = (
        (LEFT + 660, y + 37, "R: the leader refuses the record"),
        (LEFT, y + 60, "W: brokers are up, and none may lead: all wait for one that has everything"),
    )
    return [*parts, *(text(x, down, words, SMALL, colour=MUTED) for x, down, words in said)]


def _said(cells: Sequence[Cell]) -> str:
    by_failure: dict[str, list[str]] = {}
    for cell in cells:
        key = cell.failure + (", unclean" if cell.is_unclean_election_enabled else "")
        min_isr = f" min {cell.min_insync_replicas}" if len({each.min_insync_replicas for each in cells}) > 1 else ""
        by_failure.setdefault(key, []).append(f"{cell.producer}{min_isr} {word_of(cell)}")
    said = ". ".join(f"{failure}: {'; '.join(words)}" for failure, words in by_failure.items())
    return f"Results of {len(cells)} combinations. {said}"
