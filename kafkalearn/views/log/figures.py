"""Statistics of a compacted log as a matplotlib figure."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.style import INK, LINES


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
    >>> from kafkalearn.views.figures import figure
    >>> figure(draw_survivors, [0.1, 0.2, 0.9], alt="the newest third has kept nearly all of its records")
    the newest third has kept nearly all of its records
    """
    if not len(shares) or not all(0 <= share <= 1 for share in shares):
        raise KafkaLearnError(f"shares must be numbers from 0 to 1, at least one of them, got {list(shares)!r}")
    bars = ax.bar(range(1, len(shares) + 1), [100 * share for share in shares], color=LINES[0], edgecolor=INK)
    ax.bar_label(bars, [f"{share:.0%}" for share in shares], padding=3, color=INK)
    ax.set_ylim(0, max(10, 115 * max(shares)))
    ax.set_xticks(range(1, len(shares) + 1))
    ax.set_xlabel("part of the log, from the oldest to the newest")
    ax.set_ylabel("% that stay")
