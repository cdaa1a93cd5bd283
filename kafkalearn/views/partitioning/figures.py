"""Figures of how many rows fell where: counts by partition, load by broker, keys that moved, skewed keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.style import FILLS, INK, LINES, MARK, PANEL


def draw_counts(
    ax: Axes,
    counts: Sequence[int],
    *,
    what: str = "records",
    of: str = "partition",
    marked: Sequence[int] = (),
    has_zero: bool = True,
) -> None:
    """Bars of how many fell into each partition, against what a fair hash would give.

    The line is the mean; the band is three standard deviations of a fair draw, ``3 sqrt(N p (1 - p))`` with
    ``p = 1 / partitions``: of 50 fair partitions, one leaves it in about seven trials. With `has_zero` False the
    axis is cut to the band, to show differences of a part in a thousand: then dots stand for the bars.

    Parameters
    ----------
    counts : sequence of int
        ``counts[p]`` is the number in partition ``p``.
    what, of : str
        What was counted, and by what.
    marked : sequence of int
        Partitions to be picked out.
    has_zero : bool
        Whether the axis begins at 0.

    Raises
    ------
    KafkaLearnError
        If `counts` is empty, not numbers, negative or all 0, or a marked partition is not among them.
    """
    counts = _refuse_no_numbers("counts", counts)
    count, share = counts.sum(), 1 / len(counts)
    expected, sigma = count * share, (count * share * (1 - share)) ** 0.5
    places = np.arange(len(counts))
    low, high = expected - 3 * sigma, expected + 3 * sigma
    ax.axhspan(low, high, color="#d8d5cb", label="fair: mean ± 3 standard deviations", zorder=0)
    ax.axhline(expected, color=INK, linestyle="--", marker="", label="mean", zorder=3)
    is_marked = np.isin(places, list(marked))
    if is_marked.sum() < len(set(marked)):
        raise KafkaLearnError(f"marked {list(marked)!r}: partitions are 0 to {len(counts) - 1}")
    if has_zero:
        _bars(ax, places, counts, is_marked)
        ax.set_ylim(bottom=0, auto=True)  # panels drawn later on the same scale may need more room
    else:
        ax.plot(places[~is_marked], counts[~is_marked], "o", color=LINES[0], label=what)
        ax.plot(places[is_marked], counts[is_marked], "D", color=MARK, markersize=11)
        ax.ticklabel_format(axis="y", useOffset=False)
    for place in places[is_marked]:
        spot, above = (place, counts[place]), (0, 8)
        ax.annotate(str(place), spot, above, textcoords="offset points", ha="center", color=MARK, weight="bold")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel=of, ylabel=what, xlim=(-0.7, len(counts) - 0.3))
    locator: Any = ax.xaxis.get_major_locator()  # one that can keep to whole numbers
    locator.set_params(integer=True)
    ax.grid(axis="x", visible=False)


def _bars(ax: Axes, places: np.ndarray, heights: np.ndarray, is_marked: np.ndarray) -> None:
    ax.bar(places[~is_marked], heights[~is_marked], width=0.8, color="#7fb0dc", edgecolor=INK, linewidth=0.8, zorder=2)
    ax.bar(places[is_marked], heights[is_marked], width=0.8, color="#f2b94b", edgecolor=MARK, hatch="//", zorder=2)


def draw_broker_load(ax: Axes, load: Mapping[object, float], *, what: str = "groups coordinated") -> None:
    """One bar for each broker, its share written on it, against the even share.

    Parameters
    ----------
    load : mapping of broker id to number
        How much each broker carries; a broker that carries nothing has 0.
    """
    names, heights = list(load), _refuse_no_numbers("load", list(load.values()))
    for place, (name, height) in enumerate(zip(names, heights, strict=True)):
        look = FILLS[place % len(FILLS)]
        bar = ax.bar([str(name)], [height], width=0.7, color=look.colour, hatch=look.hatch * 2, edgecolor=INK, zorder=2)
        words = f"{height:,.0f}\n{height / heights.sum():.1%}"
        # On a plate above the line of the even share, which would strike the words of an average broker through.
        plate = {"facecolor": PANEL, "edgecolor": "none", "pad": 1}
        ax.bar_label(bar, [words], padding=4, zorder=4, bbox=plate)
    even = heights.mean()
    ax.axhline(even, color=INK, linestyle="--", marker="", label=f"even share: {even:,.0f}", zorder=3)
    ax.set(xlabel="broker", ylabel=what, ylim=(0, heights.max() * 1.3))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="x", visible=False)


def draw_share_moved(ax: Axes, shares: Mapping[int, float]) -> None:
    """The share of keys that change partition when a topic goes from n to n + 1, beside ``n / (n + 1)``.

    Parameters
    ----------
    shares : mapping of int to float
        Measured share, 0 to 1, for each n.
    """
    counts, measured = np.array(list(shares)), _refuse_no_numbers("shares", list(shares.values()))
    line = np.arange(counts.min(), counts.max() + 1)
    ax.plot(line, line / (line + 1), marker="", color=INK, linestyle="--", label="n / (n + 1)")
    ax.plot(counts, measured, "o", color=LINES[0], markersize=10, label="measured")
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.set(xlabel="partitions before, n", ylabel="keys that move", ylim=(0, 1.05))
    locator: Any = ax.xaxis.get_major_locator()  # one that can keep to whole numbers
    locator.set_params(integer=True)


def draw_skew(ax: Axes, counts: Mapping[str, Sequence[int]] | Sequence[int], *, what: str = "keys") -> None:
    """The share of all records that the most frequent keys make up (a Lorenz curve, largest first, log axis).

    The further a curve lies above the diagonal of equal keys, the fewer keys make up the traffic.

    Parameters
    ----------
    counts : sequence of int, or mapping of str to one
        Records of each key, in any order; several by name.
    """
    if not isinstance(counts, Mapping):
        counts = {what: counts}
    for name, each in counts.items():
        ordered = np.sort(_refuse_no_numbers("counts", each))[::-1]
        share = ordered.cumsum() / ordered.sum()
        ranks, label = np.arange(1, len(ordered) + 1), f"{name}, {len(ordered):,} {what}"
        ax.plot(ranks, share, label=label, markevery=_tenths(len(ordered)))
    ax.set_xscale("log")
    ax.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel=f"the most frequent {what}", ylabel="share of all records", ylim=(0, 1.05))


def _tenths(count: int) -> list[int]:
    """Positions for markers, evenly spread on a log axis."""
    return sorted({int(count ** (part / 10)) - 1 for part in range(11)})


def _refuse_no_numbers(name: str, values: Sequence[float]) -> np.ndarray:
    numbers = np.asarray(values)
    if numbers.ndim != 1 or numbers.size == 0 or not np.issubdtype(numbers.dtype, np.number):
        raise KafkaLearnError(f"{name} must be a row of numbers, at least one, got {values!r}")
    if (numbers < 0).any() or not np.isfinite(numbers).all() or numbers.sum() == 0:
        raise KafkaLearnError(f"{name} must be 0 or more and not all 0, got {values!r}")
    return numbers
