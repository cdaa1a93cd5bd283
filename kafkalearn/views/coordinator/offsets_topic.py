"""The partitions of ``__consumer_offsets`` as a strip: who leads each, and which one is meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from kafkalearn.arguments import sequence, whole_number
from kafkalearn.coordinator.leaders import OFFSETS_TOPIC
from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, EMPTY, FILLS, INK, MARK, PANEL, SMALL, Fill, fill
from kafkalearn.views.drawing.svg import filled, outlined, pointer, rect, text, words_at

LEFT = 25
COLUMNS, CELL_WIDTH, CELL_HEIGHT, ROW_GAP = 25, 38, 46, 16
MOST_SHOWN = 100  # of a larger topic the hundred that holds the marked partition is shown
LEGEND_COLUMNS, LEGEND_HEIGHT, MOST_NAMED = 4, 29, 12
LEADERLESS, PLATE = Fill(EMPTY, "x"), Fill(PANEL, "")


def draw_offsets_topic(leaders: Sequence[int | None], marked: int | None = None) -> Picture:
    """The offsets topic partition by partition, each with its leader, one of them marked.

    Parameters
    ----------
    leaders : sequence of int or None
        ``leaders[p]`` leads partition ``p``; None: no live leader.
    marked : int, optional
        A partition.

    Examples
    --------
    >>> draw_offsets_topic([1, 2, 1], marked=2).label
    '__consumer_offsets: 3 partitions; broker 1 leads 2, broker 2 leads 1; partition 2 is marked'
    """
    leaders = sequence("leaders", leaders, of="broker ids, one for each partition")
    if not leaders:
        raise KafkaLearnError("leaders is empty: name the leading broker of each partition")
    if marked is not None and whole_number("marked", marked, at_least=0) >= len(leaders):
        raise KafkaLearnError(f"marked must be a partition from 0 to {len(leaders) - 1}, got {marked}")
    label = f"{OFFSETS_TOPIC}: {len(leaders)} partitions; " + ", ".join(
        f"{count} without leader" if broker_id is None else f"broker {broker_id} leads {count}"
        for broker_id, count in _led(leaders)
    )
    label += "" if marked is None else f"; partition {marked} is marked"
    chosen = None if marked is None else leaders[marked]
    return picture(strip_height(leaders), strip(0, leaders, marked, chosen), label=label)


def strip_height(leaders: Sequence[int | None], most_shown: int = MOST_SHOWN) -> float:
    """Pixels that `strip` needs, the same whichever partition is marked."""
    rows = -(-min(len(leaders), most_shown) // COLUMNS)
    legend_rows = -(-min(len(_led(leaders)), MOST_NAMED) // LEGEND_COLUMNS)
    return 48 + rows * (CELL_HEIGHT + ROW_GAP) + legend_rows * LEGEND_HEIGHT + 10


def strip(
    top: float,
    leaders: Sequence[int | None],
    marked: int | None,
    chosen_broker: int | None,
    most_shown: int = MOST_SHOWN,
) -> str:
    """The strip's shapes from `top` down: heading, cells, legend with `chosen_broker` underlined."""
    shown = _shown(len(leaders), marked, most_shown)
    heading = f"{OFFSETS_TOPIC}, {len(leaders)} partitions and their leaders"
    if len(shown) < len(leaders):
        heading += f"; {shown[0]} to {shown[-1]} shown"
    fills = _fills(leaders)
    places = {partition: _place(top + 42, partition - shown[0]) for partition in shown}
    below = top + 42 + -(-len(shown) // COLUMNS) * (CELL_HEIGHT + ROW_GAP)
    return "\n".join(
        [
            text(LEFT, top + 20, heading, BODY, bold=True),
            *_cells(places, leaders, fills),
            "" if marked is None else _mark(*places[marked]),
            *_legend(below, leaders, fills, chosen_broker),
        ]
    )


def _fills(leaders: Sequence[int | None]) -> dict[int | None, Fill]:
    fills = {broker_id: broker_fill(index) for index, (broker_id, _) in enumerate(_led(leaders))}
    return fills | {None: LEADERLESS}


def broker_fill(index: int) -> Fill:
    """How broker number `index` looks: when the colours come round again, each has another hatch than before."""
    first = fill(index)
    return Fill(first.colour, fill(index + index // len(FILLS)).hatch)


def _shown(partition_count: int, marked: int | None, most_shown: int) -> range:
    if partition_count <= most_shown:
        return range(partition_count)
    first = (marked or 0) // most_shown * most_shown
    return range(first, min(first + most_shown, partition_count))


def _place(top: float, at: int) -> tuple[float, float]:
    row, column = divmod(at, COLUMNS)
    return LEFT + column * CELL_WIDTH, top + row * (CELL_HEIGHT + ROW_GAP)


def _cells(
    places: dict[int, tuple[float, float]], leaders: Sequence[int | None], fills: dict[int | None, Fill]
) -> list[str]:
    """Each partition's number on top, below it the fill of its leader, with the leader's id on a small plate."""
    half, middle = CELL_HEIGHT / 2, CELL_WIDTH / 2
    lower = {partition: (x, y + half, CELL_WIDTH, half) for partition, (x, y) in places.items()}
    names = {partition: "–" if leaders[partition] is None else str(leaders[partition]) for partition in places}
    plates = [_plate(x + middle, y + half, names[partition]) for partition, (x, y) in places.items()]
    numbers = [(x + middle, y + 17, str(partition)) for partition, (x, y) in places.items()]
    ids = [(x + middle, y + half + 17, names[partition]) for partition, (x, y) in places.items()]
    return [
        *(
            filled(each, *(box for partition, box in lower.items() if leaders[partition] == broker_id))
            for broker_id, each in fills.items()
            if any(leaders[partition] == broker_id for partition in places)
        ),
        outlined(*((x, y, CELL_WIDTH, CELL_HEIGHT) for x, y in places.values())),
        filled(PLATE, *plates),
        words_at(numbers, SMALL, font_weight="bold"),
        words_at(ids, SMALL),
    ]


def _plate(middle: float, top: float, words: str) -> tuple[float, float, float, float]:
    """Where no hatch may run through the words."""
    width = 9 * len(words) + 6
    return middle - width / 2, top + 3, width, 18


def _mark(x: float, y: float) -> str:
    return "\n".join(
        [
            rect(x - 1, y - 1, CELL_WIDTH + 2, CELL_HEIGHT + 2, stroke=MARK, stroke_width=5, rx=3),
            pointer(x + CELL_WIDTH / 2, y - 2),
        ]
    )


def _legend(top: float, leaders: Sequence[int | None], fills: dict[int | None, Fill], chosen: int | None) -> list[str]:
    led = _led(leaders)
    parts = []
    for index, (broker_id, count) in enumerate(led[:MOST_NAMED]):
        row, column = divmod(index, LEGEND_COLUMNS)
        x, y = LEFT + column * 240, top + row * LEGEND_HEIGHT
        words = f"no leader: {count}" if broker_id is None else f"broker {broker_id} leads {count}"
        if index == MOST_NAMED - 1 and len(led) > MOST_NAMED:
            words = f"and {len(led) - MOST_NAMED + 1} more brokers"
        is_chosen = chosen is not None and broker_id == chosen
        parts += [
            filled(fills[broker_id], (x, y, 36, 22)),
            rect(x, y, 36, 22, stroke=MARK if is_chosen else INK, stroke_width=5 if is_chosen else 1),
            text(x + 46, y + 17, words, SMALL + 1, colour=MARK if is_chosen else INK, bold=is_chosen),
        ]
    return parts


def _led(leaders: Sequence[int | None]) -> list[tuple[int | None, int]]:
    """Brokers in order of their ids with how many partitions each leads; the leaderless last."""
    return sorted(Counter(leaders).items(), key=lambda item: (item[0] is None, item[0] or 0))
