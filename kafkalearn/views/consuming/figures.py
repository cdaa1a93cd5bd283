"""The lag of groups as charts: by partition now, and over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.style import FILLS, INK, LINES
from kafkalearn.views.figures import legend_name

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
        look = FILLS[(at + 1) % len(FILLS)]
        x = places + (at - (len(lag) - 1) / 2) * width
        ax.bar(
            x,
            values,
            width,
            color=look.colour,
            hatch=look.hatch * 2,
            edgecolor=INK,
            linewidth=0.8,
            label=legend_name(group_id),
            zorder=2,
        )
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
        style = {"color": LINES[at % 4], "linestyle": _DASHES[at % 4], "marker": _MARKERS[at % 4]}
        ax.plot(hours, values, label=legend_name(group_id), markevery=max(1, len(hours) // 10), **style)
    ax.set(xlabel="hours since the first record", ylabel="lag in records")
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter("{x:,.0f}")
