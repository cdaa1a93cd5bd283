"""Replication as curves: HW and LEO over the steps of a run, and how far followers lag over many partitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from kafkalearn.errors import KafkaLearnError
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.state import Partition
from kafkalearn.trace import Trace
from kafkalearn.views.drawing.style import FILLS, INK, LINES, MARK

DASHES = ("--", "-.", ":")


def draw_hw_leo(ax: Axes, trace: Trace[Partition, ReplicationEvent], *, is_by_time: bool = False) -> None:
    """The leader's LEO and HW over a run as stairs, the followers' LEOs as thin ones; hatched: not committed.

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
    hatch = {"facecolor": "none", "edgecolor": "#8a877d", "hatch": "//", "linewidth": 0}
    ax.fill_between(places, marks, ends, step="post", label="not committed", zorder=1, **hatch)
    for at in range(len(trace[0].state.replicas)):
        own = [
            np.nan if frame.state.controller.leader == at + 1 else frame.state.replicas[at].log_end_offset
            for frame in trace
        ]
        if not np.isnan(own).all():
            look = {"color": LINES[(at + 1) % len(LINES)], "linestyle": DASHES[at % len(DASHES)], "linewidth": 2}
            ax.step(places, own, where="post", marker="", label=f"LEO of broker {at + 1}", zorder=2, **look)
    ax.step(places, ends, where="post", marker="", color=INK, linestyle="-", label="LEO of the leader", zorder=3)
    ax.step(places, marks, where="post", marker="", color=MARK, linestyle="-", linewidth=5, label="HW", zorder=4)
    ax.set(xlabel="seconds" if is_by_time else "step", ylabel="offset")
    locator: Any = ax.yaxis.get_major_locator()  # one that can keep to whole numbers
    locator.set_params(integer=True)


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
        look = {"color": FILLS[at].colour, "hatch": FILLS[at].hatch * 2, "edgecolor": INK}
        places = np.arange(len(heights)) + (at - (len(counts) - 1) / 2) * width
        ax.bar(places, heights, width=width, label=name, zorder=2, **look)
    names = ["0", "1", *(f"{2**k}+" for k in range(1, length - 1))]
    ax.set_yscale("log")
    ax.set_xticks(range(length), names[:length])
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel="records behind the leader; 2+ is 2 or 3, 4+ is 4 to 7, and so on", ylabel="fetches")
    ax.grid(axis="x", visible=False)
