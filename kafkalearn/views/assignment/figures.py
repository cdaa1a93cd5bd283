"""What assignors cost, as charts: one change by each assignor, and thousands of changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.style import FILLS, INK, LINES

MEASURES = ("revoked, eager", "revoked, cooperative", "moved", "fewest", "spread")
"""The measures of `kafkalearn.assignor.compare`, in the order in which they are drawn."""

_WORDS = {"fewest": "must move at least"}


def draw_measures(ax: Axes, rows: Sequence[Mapping[str, object]], measures: Sequence[str] = MEASURES) -> None:
    """A group of bars for each assignor: what a change costs by each measure, all in partitions.

    Parameters
    ----------
    rows : sequence of mapping
        As `kafkalearn.assignor.compare` returns them.
    measures : sequence of str
        Which of `MEASURES` to draw.

    Raises
    ------
    KafkaLearnError
        If there is no row, or a row lacks a measure.
    """
    if not rows:
        raise KafkaLearnError("rows is empty: give what kafkalearn.assignor.compare returns")
    for row in rows:
        if missing := [name for name in ("assignor", *measures) if name not in row]:
            raise KafkaLearnError(f"a row lacks {missing[0]!r}; it has {list(row)}")
    height = 0.84 / len(measures)
    places = np.arange(len(rows))
    most = max(row[name] for row in rows for name in measures)
    for at, name in enumerate(measures):
        look, values = FILLS[(at + 1) % len(FILLS)], [row[name] for row in rows]
        y = places + (at - (len(measures) - 1) / 2) * height
        bars = ax.barh(
            y,
            values,
            height,
            color=look.colour,
            hatch=look.hatch * 2,
            edgecolor=INK,
            linewidth=0.8,
            label=_WORDS.get(name, name),
            zorder=2,
        )
        ax.bar_label(bars, [f"{value:,}" for value in values], padding=4, fontsize=13)
    ax.set(yticks=places, yticklabels=[row["assignor"] for row in rows], xlabel="partitions", xlim=(0, most * 1.1 or 1))
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


def draw_shares(ax: Axes, shares: Sequence[float], *, what: str = "partitions", bin_count: int = 20) -> None:
    """How often which share was reached: bars from 0 to 100 %, and the mean as a line.

    Parameters
    ----------
    shares : sequence of float
        From 0 to 1, one for each rebalance.
    what : str
        What they are shares of.
    bin_count : int
        How many bars.

    Raises
    ------
    KafkaLearnError
        If there are none, or some are not shares.
    """
    values = np.asarray(shares, dtype=float)
    if values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise KafkaLearnError(f"shares must be numbers from 0 to 1, at least one, got {shares!r}")
    heights, edges = np.histogram(values, bins=bin_count, range=(0, 1))
    middle = (edges[:-1] + edges[1:]) / 2
    look = FILLS[4]
    ax.bar(middle, heights / values.size, 1 / bin_count, color=look.colour, edgecolor=INK, linewidth=0.8, zorder=2)
    mean = values.mean()
    ax.axvline(mean, color=LINES[1], linestyle="--", marker="", zorder=3)
    right = mean < 0.6
    ax.annotate(
        f"mean {mean:.0%}",
        (mean, 0.93),
        (7 if right else -7, 0),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        ha="left" if right else "right",
        va="top",
        weight="bold",
        color=LINES[1],
    )
    ax.set(xlabel=f"share of {what}", ylabel="rebalances", xlim=(0, 1))
    ax.xaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.grid(axis="x", visible=False)
