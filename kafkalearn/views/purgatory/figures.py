"""How many wait at once, over time: one line for each kind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes


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
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
