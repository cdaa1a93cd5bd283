"""What groups cost, as charts: changes of an assignment by each assignor, commits by strategy, lag."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing import svg
from kafkalearn.drawing.figures import SMALLEST, bar_style, legend_name, only_whole_numbers

MEASURES = ("revoked, eager", "revoked, cooperative", "moved", "fewest", "spread")
"""The measures of `kafkalearn.assignors.compare`, in the order in which they are drawn."""

CROWDED = 24  # so many bars have room for the smallest letters only


def draw_measures(
    ax: Axes,
    rows: Sequence[Mapping[str, Any]] | Mapping[str, Mapping[str, Any]],
    measures: Sequence[str] = MEASURES,
    *,
    what: str = "partitions",
) -> None:
    """A group of bars for each assignor: what a change costs by each measure, all in partitions.

    Parameters
    ----------
    rows : sequence of mapping, or mapping of mappings
        As `kafkalearn.assignors.compare` returns them; or of anything else by its name, as a `table` is given them.
    measures : sequence of str
        Which of `MEASURES` to draw, or others that the rows have.
    what : str
        What is measured: the axis says it.

    Raises
    ------
    KafkaLearnError
        If there is no row, or a row lacks a measure.
    """
    if not rows:
        raise KafkaLearnError("rows is empty: give what kafkalearn.assignors.compare returns")
    if isinstance(rows, Mapping):
        rows = [{"assignor": name, **row} for name, row in rows.items()]
    for row in rows:
        if missing := [name for name in ("assignor", *measures) if name not in row]:
            raise KafkaLearnError(f"a row lacks {missing[0]!r}; it has {list(row)}")
    is_crowded = len(measures) >= len(MEASURES) or len(rows) * len(measures) > CROWDED
    share, letters = (0.92, SMALLEST) if is_crowded else (0.84, 14.5)
    height = share / len(measures)
    places = np.arange(len(rows))
    most = max(row[name] for row in rows for name in measures)
    for at, name in enumerate(measures):
        values = [row[name] for row in rows]
        y = places + (at - (len(measures) - 1) / 2) * height
        label = {"fewest": "must move at least"}.get(name, name) if len(measures) > 1 else None  # `what` names one
        bars = ax.barh(y, values, height, label=label, zorder=2, **bar_style(svg.chart_fill(at + 1)))
        said = ["" if is_crowded and value == 0 else _words(value) for value in values]  # no bar says it as well
        ax.bar_label(bars, said, padding=4, fontsize=letters)
    ax.set(yticks=places, yticklabels=[row["assignor"] for row in rows], xlabel=what, xlim=(0, most * 1.1 or 1))
    if all(isinstance(row[name], int) for row in rows for name in measures):
        only_whole_numbers(ax.xaxis)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)


def _words(value: float) -> str:
    """A number as a bar's label: four digits are enough of what was divided."""
    if not isinstance(value, float):
        return f"{value:,}"
    return f"{round(value, 1) if abs(value) >= 100 else float(f'{value:.4g}'):,}"


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
    ax.bar(middle, heights / values.size, 1 / bin_count, zorder=2, **bar_style(svg.chart_fill(0)))
    mean = values.mean()
    ax.axvline(mean, color=svg.LINES[1], linestyle="--", marker="", zorder=3)
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
        color=svg.LINES[1],
    )
    ax.set(xlabel=f"share of {what}", ylabel="rebalances", xlim=(0, 1))
    ax.xaxis.set_major_formatter("{x:.0%}")
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.grid(axis="x", visible=False)


# What commits cost against what they save: one mark for each strategy.


def draw_commit_costs(ax: Axes, costs: Mapping[str, tuple[float, float, float]]) -> None:
    """Commits for each thousand records against records doubled in a crash, by strategy; those that lose are marked.

    Parameters
    ----------
    costs : mapping of str to (float, float, float)
        For each strategy: commits per 1,000 records, records doubled and records lost in an average crash.

    Raises
    ------
    KafkaLearnError
        If there is no strategy, or one that commits nothing: the axis of commits is logarithmic.
    """
    if not costs or any(commits <= 0 for commits, _, _ in costs.values()):
        raise KafkaLearnError(f"costs must name strategies that commit something, got {dict(costs)!r}")
    ordered = sorted(costs.items(), key=lambda each: each[1][0])
    kept = [(name, *numbers) for name, numbers in ordered if not numbers[2]]
    for name, commits, doubled, _ in kept:
        is_beaten = any(fewer < commits and less < doubled for _, fewer, less, _ in kept)
        ax.plot([commits], [doubled], "o", color=svg.LINES[0], markersize=12, zorder=3)
        _name(ax, name, commits, doubled, is_above=is_beaten or doubled < 0.5)
    for name, (commits, _, lost) in ordered:
        if lost:
            ax.plot([commits], [lost], "X", color=svg.MARK, markersize=17, zorder=2)
            ax.annotate(
                f"{name}: {lost:,.0f} lost",
                (commits, lost),
                xytext=(14, -20),
                textcoords="offset points",
                color=svg.INK,
            )
    ax.plot([], [], "o", color=svg.LINES[0], markersize=12, label="doubled in an average crash")
    if any(lost > 0 for _, _, lost in costs.values()):
        ax.plot([], [], "X", color=svg.MARK, markersize=12, label="lost in an average crash")
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=1)
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set(xlabel="commits for 1,000 records", ylabel="records in a crash")
    rates = [commits for commits, _, _ in costs.values()]
    ax.set_xlim(min(rates) / 16, max(rates) * 6)
    ax.set_ylim(0, 4 * max(1, *(max(doubled, lost) for _, doubled, lost in costs.values())))


def _name(ax: Axes, name: str, x: float, y: float, is_above: bool) -> None:
    """A name beside its mark: left below it, where a better strategy would be; right above where one or the axis is."""
    place, side = ((9, 8), "left") if is_above else ((-9, -20), "right")
    ax.annotate(name, (x, y), xytext=place, textcoords="offset points", ha=side, color=svg.INK)


# How many commits say nothing new, by the pace of their partitions.


def draw_commit_shares(
    ax: Axes, paces: Sequence[int], counted: Mapping[str, Sequence[float]], said: Mapping[str, Sequence[float]]
) -> None:
    """The share of commits that say nothing new by records a day: what was counted as lines, what was said as rings.

    Parameters
    ----------
    paces : sequence of int
        Records that come to a partition in a day, rising.
    counted : mapping of str to sequence of float
        For each time of the day the share at each pace, from 0 to 1.
    said : mapping of str to sequence of float
        The same by the simulator; a ring lies on its line where both agree.

    Raises
    ------
    KafkaLearnError
        If nothing was counted, what was said has other names, or a row has not one share for each pace.
    """
    if not counted or set(said) - set(counted):
        raise KafkaLearnError(f"said must have names of counted, got {list(said)}; counted has {list(counted)}")
    for name, shares in (*counted.items(), *said.items()):
        if len(shares) != len(paces):
            raise KafkaLearnError(f"{name} has {len(shares)} shares, but there are {len(paces)} paces")
    for at, (name, shares) in enumerate(counted.items()):
        ax.plot(paces, shares, _DASHES[at], color=svg.LINES[at], marker="", label=f"{name}, counted", zorder=2)
        if name in said:
            ring = {"markerfacecolor": "none", "markeredgecolor": svg.LINES[at], "markeredgewidth": 2, "markersize": 13}
            ax.plot(paces, said[name], "o", label=f"{name}, simulator", zorder=3, **ring)
    ax.set_xscale("log")
    ax.set(
        xlabel="records that come to a partition in a day", ylabel="commits that say nothing new", ylim=(-0.05, 1.05)
    )
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.yaxis.set_major_formatter("{x:.0%}")


# The lag of groups as charts: by partition now, and over time.

_DASHES = ("-", "--", "-.", ":")
_MARKERS = ("o", "s", "^", "D")


def draw_lag_by_partition(ax: Axes, lag: Mapping[str, Sequence[float]]) -> None:
    """Bars of the lag in each partition, side by side for each group.

    Parameters
    ----------
    lag : mapping of str to sequence of float
        For each group the lag of partition 0, 1, 2, ...; all of the same length.

    Raises
    ------
    KafkaLearnError
        If there is no group, or the lengths differ.
    """
    lengths = {len(values) for values in lag.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise KafkaLearnError(f"lag must have one number for each partition in every group, got lengths {lengths or 0}")
    places, width = np.arange(lengths.pop()), 0.84 / len(lag)
    for at, (group_id, values) in enumerate(lag.items()):
        x, label = places + (at - (len(lag) - 1) / 2) * width, legend_name(group_id)
        ax.bar(x, values, width, label=label, zorder=2, **bar_style(svg.chart_fill(at + 1)))
    ax.set(xlabel="partition", ylabel="lag in records", xticks=places)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="x", visible=False)


def draw_lag_over_time(ax: Axes, hours: Sequence[float], lag: Mapping[str, Sequence[float]]) -> None:
    """A line for each group: its lag over the hours.

    Parameters
    ----------
    hours : sequence of float
        When.
    lag : mapping of str to sequence of float
        For each group the lag then.

    Raises
    ------
    KafkaLearnError
        If there is no group, or the lengths differ.
    """
    if not lag or any(len(values) != len(hours) for values in lag.values()):
        raise KafkaLearnError("lag must have one number for each of the hours, in every group, and at least one group")
    for at, (group_id, values) in enumerate(lag.items()):
        style = {"color": svg.LINES[at % 4], "linestyle": _DASHES[at % 4], "marker": _MARKERS[at % 4]}
        ax.plot(hours, values, label=legend_name(group_id), markevery=max(1, len(hours) // 10), **style)
    ax.set(xlabel="hours since the first record", ylabel="lag in records")
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,.0f}")
