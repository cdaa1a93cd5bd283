"""The matrix of results as a picture; a log after a pass, what waits, and replication over time as charts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Trace
from kafkalearn.delivery.matrix_search import Cell
from kafkalearn.delivery.search import GIVEN_UP, OFFLINE
from kafkalearn.delivery.simulator import DOUBLED, LOST, OUT_OF_ORDER, REJECTED, SAFE
from kafkalearn.drawing import kit, svg
from kafkalearn.drawing.figures import bar_style, only_whole_numbers
from kafkalearn.drawing.player import Picture
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.state import Partition

NAMES, ROW, HEADS = 338, 41, 60  # pixels: of failures, of a row, of the names of columns
WORDS = {
    LOST: "LOST",
    DOUBLED: "twice",
    OUT_OF_ORDER: "order",
    GIVEN_UP: "failed",
    SAFE: "safe",
    OFFLINE: "W",
    REJECTED: "R",
}
LOOKS = {LOST: svg.LOST, DOUBLED: svg.TWICE, OUT_OF_ORDER: svg.MOVED, GIVEN_UP: svg.OPEN, SAFE: svg.COMMITTED}
MEANS = {
    svg.LOST: "LOST: acknowledged, and gone",
    svg.TWICE: "twice: in the log twice",
    svg.OPEN: "failed: an error, and not in the log",
    svg.COMMITTED: "safe: in the log, once",
    svg.NOTHING: "none: no record is taken",
}
HARM = (LOST, DOUBLED, OUT_OF_ORDER, GIVEN_UP)
BESIDE_POINTS = 3  # between lines that have the same values: the thickest is 3 wide


def draw_results(cells: Sequence[Cell]) -> Picture:
    """The cells of `kafkalearn.delivery.matrix_search.matrix`, a row for each failure, a column for each setting.

    The word in a cell is the worst that can happen to the data: lost, in the log twice, given up after an error, or
    safe. Below it, what can happen to the application instead: R, the leader refuses; W, nobody may lead and everything
    waits. Where unclean elections change no cell of a failure, they have no row of their own.

    Examples
    --------
    >>> from kafkalearn.delivery.matrix_search import matrix
    >>> draw_results(matrix(["acks=1", "acks=all"], ["the leader dies"], [False], [1])).label
    'Results of 2 combinations. the leader dies: acks=1 LOST; acks=all twice'
    """
    if not cells:
        raise KafkaLearnError("there is no cell to draw; matrix() makes them")
    rows = _rows(cells)
    columns = list(dict.fromkeys((cell.producer, cell.min_insync_replicas) for cell in cells))
    unit = (kit.WIDE - NAMES) / len(columns)
    by_place = {(_row_of(cell), _column_of(cell)): cell for cell in cells}
    page = kit.stack(
        kit.label("What can happen to a record", svg.TITLE, bold=True),
        _heads(columns, unit),
        *(
            kit.free(
                kit.WIDE,
                ROW,
                _name(rows, at).draw,
                *(
                    _cell(by_place[row[:2], column], unit).at(NAMES + place * unit, 0)
                    for place, column in enumerate(columns)
                    if (row[:2], column) in by_place
                ),
            )
            for at, row in enumerate(rows)
        ),
        kit.space(height=6),
        kit.flow(
            *(kit.legend([fill], MEANS) for fill in MEANS),
            kit.label("R: the leader refuses the record", colour=svg.MUTED),
            kit.label("W: brokers are up, and none may lead: all wait for one that has everything", colour=svg.MUTED),
            gap=8,
        ),
    )
    return kit.sheet(page, _said(cells), top=6, below=8)


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


def _heads(columns: list[tuple[str, int]], unit: float) -> kit.Block:
    """The names of the columns: of each producer once, and below it its settings of min.insync.replicas."""
    producers = [producer for producer, _ in columns]

    def draw(x: float, y: float) -> Iterator[str]:
        for producer in dict.fromkeys(producers):
            begin, count = x + NAMES + producers.index(producer) * unit, producers.count(producer)
            names = [(begin + count * unit / 2, y + 16 + 18 * at, each) for at, each in enumerate(producer.split(", "))]
            yield svg.line(begin, y, begin, y + HEADS, svg.FAINT, svg.HAIR)
            yield svg.words_at(names, svg.SMALL + 1, font_weight="bold")
        least = [(x + NAMES + (at + 0.5) * unit, y + HEADS - 6, f"min {each}") for at, (_, each) in enumerate(columns)]
        yield svg.words_at(least, svg.SMALL, fill=svg.MUTED)

    return kit.free(kit.WIDE, HEADS, draw)


def _name(rows: list[tuple[str, bool, str]], at: int) -> kit.Block:
    """What happens, below a hair where it is another failure than in the row above, and how leaders are elected."""
    failure, _, elections = rows[at]
    how = kit.label(elections, colour=svg.MUTED, width=NAMES)
    if at and rows[at - 1][0] == failure:
        return kit.stack(kit.space(height=20), how)
    return kit.stack(kit.rule(), kit.label(failure, bold=True, width=NAMES), how, gap=-1)


def _cell(cell: Cell, unit: float) -> kit.Block:
    look = next((LOOKS[each] for each in (*HARM, SAFE) if each in cell.results), svg.NOTHING)
    besides = _besides(cell)
    said = kit.chip([word_of(cell), *([besides] if besides else [])], look, width=unit - 4, height=ROW - 4)
    return kit.free(unit, ROW, said.at(2, 2))


def _besides(cell: Cell) -> str:
    """What can happen to the application instead, in letters."""
    return " ".join(WORDS[each] for each in (REJECTED, OFFLINE) if each in cell.results)


def _said(cells: Sequence[Cell]) -> str:
    by_failure: dict[str, list[str]] = {}
    for cell in cells:
        key = cell.failure + (", unclean" if cell.is_unclean_election_enabled else "")
        min_isr = f" min {cell.min_insync_replicas}" if len({each.min_insync_replicas for each in cells}) > 1 else ""
        by_failure.setdefault(key, []).append(f"{cell.producer}{min_isr} {word_of(cell)}")
    said = ". ".join(f"{failure}: {'; '.join(words)}" for failure, words in by_failure.items())
    return f"Results of {len(cells)} combinations. {said}"


# Of a log and its cleaner: what a pass has left.


def draw_survivors(ax: Axes, shares: Sequence[float]) -> None:
    """Bars of how much of each part of a log a pass has left, the oldest part first.

    Parameters
    ----------
    shares : sequence of float
        The share of records that stayed, from 0 to 1, of parts of equal length.

    Raises
    ------
    KafkaLearnError
        If there are none, or one is not between 0 and 1.

    Examples
    --------
    >>> from kafkalearn.drawing.figures import figure
    >>> figure(draw_survivors, [0.1, 0.2, 0.9], alt="the newest third has kept nearly all of its records")
    the newest third has kept nearly all of its records
    """
    if not len(shares) or not all(0 <= share <= 1 for share in shares):
        raise KafkaLearnError(f"shares must be numbers from 0 to 1, at least one of them, got {list(shares)!r}")
    bars = ax.bar(range(1, len(shares) + 1), [100 * share for share in shares], **bar_style(svg.chart_fill(0)))
    ax.bar_label(bars, [f"{share:.0%}" for share in shares], padding=3, color=svg.INK)
    ax.set_ylim(0, max(10, 115 * max(shares)))
    ax.set_xticks(range(1, len(shares) + 1))
    ax.set_xlabel("part of the log, from the oldest to the newest")
    ax.set_ylabel("% that stay")


# How many wait at once, over time: one line for each kind.


def draw_waiting(ax: Axes, waiting: Mapping[str, Sequence[float]], *, step_ms: int = 1000) -> None:
    """Lines on a logarithmic scale: what waits may differ by a factor of a thousand.

    Parameters
    ----------
    ax : Axes
        Where to draw; `kafkalearn.views.figure` makes it.
    waiting : mapping of str to sequence of float
        Name of a line, and how many wait at each step.
    step_ms : int
        Time between two values.

    Examples
    --------
    >>> from kafkalearn.views import figure
    >>> figure(draw_waiting, {"in wheels": [1, 10, 10], "left until due": [1, 60, 900]}, alt="60 times as many")
    60 times as many
    """
    for name, counts in waiting.items():
        minutes = [index * step_ms / 60_000 for index in range(len(counts))]
        ax.plot(minutes, counts, label=name, marker="")
    ax.set_yscale("log")
    ax.set_xlabel("minutes")
    ax.set_ylabel("timers waiting")
    ax.yaxis.set_major_formatter("{x:,.0f}")


# Replication as curves: HW and LEO over the steps of a run, and how far followers lag over many partitions.

DASHES, FOLLOWERS = ("--", "-.", ":"), (svg.LINES[1], svg.LINES[0], svg.LINES[3])


def draw_hw_leo(ax: Axes, trace: Trace[Partition, ReplicationEvent], *, is_by_time: bool = False) -> None:
    """The leader's LEO and HW over a run as stairs, the followers' LEOs as thin ones; green: committed, amber: not.

    Each follower's stairs lie a little below their offset, so that they are seen where they have the leader's.

    Parameters
    ----------
    ax : Axes
        Where to draw; `kafkalearn.views.figure` makes them.
    trace : tuple of Frame
        A run of `kafkalearn.replication`, at least one frame. Where nobody leads the curves have a gap.
    is_by_time : bool
        Whether the x axis is the clock of the run, in seconds, rather than its steps.

    Raises
    ------
    KafkaLearnError
        If the trace is empty.
    """
    if not trace:
        raise KafkaLearnError("the trace is empty: simulate(...) always gives at least frame 0")
    places = np.array([frame.state.now_ms / 1000 if is_by_time else frame.index for frame in trace])
    leaders = [frame.state.leader for frame in trace]
    ends = np.array([np.nan if each is None else each.log_end_offset for each in leaders], dtype=float)
    marks = np.array([np.nan if each is None else each.high_watermark for each in leaders], dtype=float)
    ax.fill_between(places, marks, step="post", label="committed", zorder=1, color=svg.COMMITTED.colour, linewidth=0)
    written = {"color": svg.OPEN.colour, "linewidth": 0}
    ax.fill_between(places, marks, ends, step="post", label="written", zorder=1, **written)
    drawn_count = 0
    for at in range(len(trace[0].state.replicas)):
        own = [
            np.nan if frame.state.controller.leader == at + 1 else frame.state.replicas[at].log_end_offset
            for frame in trace
        ]
        if not np.isnan(own).all():
            look = {
                "color": FOLLOWERS[at % len(FOLLOWERS)],
                "linestyle": DASHES[at % len(DASHES)],
                "linewidth": 1.5,
            }
            drawn_count += 1
            beside = offset_copy(ax.transData, ax.get_figure(root=True), y=-BESIDE_POINTS * drawn_count, units="points")
            label = f"LEO of broker {at + 1}"
            ax.step(places, own, where="post", marker="", label=label, zorder=2, transform=beside, **look)
    ax.step(places, ends, where="post", marker="", color=svg.INK, linestyle="-", label="LEO of the leader", zorder=3)
    ax.step(
        places, marks, where="post", marker="", color=svg.LINES[2], linestyle="-", linewidth=3, label="HW", zorder=4
    )
    ax.set(xlabel="seconds" if is_by_time else "step", ylabel="offset")
    only_whole_numbers(ax.yaxis)


def draw_uncommitted(
    ax: Axes, seconds: Sequence[float], records: Sequence[int], under_replicated: Sequence[int]
) -> None:
    """Bars of how many records are not committed, over time; above each, how many partitions are under-replicated.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    seconds, records, under_replicated : sequence of numbers
        When, how many records wait then, and how many partitions have an ISR that is too small; all of one length.

    Raises
    ------
    KafkaLearnError
        If there is none, or the lengths differ.

    Examples
    --------
    >>> from kafkalearn.views import figure
    >>> figure(draw_uncommitted, [0, 15], [4_000, 54_000], [0, 3], alt="a follower stands still")
    a follower stands still
    """
    if not len(seconds) or not len(seconds) == len(records) == len(under_replicated):
        counts = f"{len(seconds)}, {len(records)} and {len(under_replicated)}"
        raise KafkaLearnError(f"give as many seconds as counts, at least one of each; got {counts}")
    places = np.arange(len(seconds))
    bars = ax.bar(places, records, width=0.8, zorder=2, label="records not committed", **bar_style(svg.chart_fill(1)))
    marks = ax.bar_label(bars, [f"{each:,}" for each in under_replicated], padding=3, fontsize=14.5)
    for words, count in zip(marks, under_replicated, strict=True):
        words.set(color=svg.MARK if count == max(under_replicated) else svg.INK)
    ax.set_xticks(places, [f"{each:g}" for each in seconds])
    ax.set(xlabel="seconds; above each bar: partitions that are under-replicated", ylabel="records")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="x", visible=False)


def draw_lag(ax: Axes, counts: Mapping[str, Sequence[int]]) -> None:
    """How often followers were how far behind: a pair of bars for each stretch of lag, on a log axis.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    counts : mapping of str to sequence of int
        By the name of a kind of follower: ``counts[name][k]`` fetches lag 0 records for ``k`` of 0, and from
        ``2 ** (k - 1)`` to ``2 ** k - 1`` beyond.

    Raises
    ------
    KafkaLearnError
        If there is nothing to count.
    """
    if not counts or not max(map(len, counts.values())):
        raise KafkaLearnError("counts is empty: give at least one kind of follower with its counts")
    width, length = 0.8 / len(counts), max(map(len, counts.values()))
    for at, (name, heights) in enumerate(counts.items()):
        places = np.arange(len(heights)) + (at - (len(counts) - 1) / 2) * width
        ax.bar(places, heights, width=width, label=name, zorder=2, **bar_style(svg.chart_fill(at)))
    names = ["0", "1", *(f"{2**k}+" for k in range(1, length - 1))]
    ax.set_yscale("log")
    ax.set_xticks(range(length), names[:length])
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel="records behind the leader; 2+ is 2 or 3, 4+ is 4 to 7, and so on", ylabel="fetches")
    ax.grid(axis="x", visible=False)
