"""Statistics over many rows as matplotlib figures, in the one look of `kafkalearn.drawing.svg`.

A ``draw_*`` function, here, in `group_figures` or in `log_figures`, draws into the axes it is given and names what it
draws. `figure` makes the axes, lets it draw, adds the legend above, and returns a figure that a notebook shows once, as
a picture; `small_multiples` does so for several side by side. Neither pyplot nor matplotlib's global settings are
touched; it gets to know our letters. Here are the figures of how many rows fell where.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import fontManager
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.drawing import svg

LETTERS = "Atkinson Hyperlegible Next"  # the face of the book and of the lab, cut by tools/fonts.py
for _weight in ("regular", "bold"):
    fontManager.addfont(Path(__file__).with_name(f"font-{_weight}.ttf"))

DPI = 100
SMALLEST = 12.5  # points of a letter
LARGEST = (13.2, 6.0)
"""Width and height in inches: on a slide of 1920 x 1080 pixels, above a verdict, no letter has fewer than 24 pixels."""
SHARPNESS = 2  # pixels for each pixel shown: sharp on projectors and good screens

RC = {
    "figure.facecolor": svg.PANEL,
    "axes.facecolor": svg.PANEL,
    "savefig.facecolor": svg.PANEL,
    "text.color": svg.INK,
    "axes.edgecolor": svg.MUTED,
    "axes.labelcolor": svg.INK,
    "xtick.color": svg.INK,
    "ytick.color": svg.INK,
    "font.family": [LETTERS, "DejaVu Sans"],  # which comes with matplotlib, for what else a name may have
    "mathtext.fontset": "custom",
    "mathtext.rm": LETTERS,
    "mathtext.default": "regular",
    "font.size": 16.5,
    "axes.titlesize": 18.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 16.5,
    "xtick.labelsize": 15.5,
    "ytick.labelsize": 15.5,
    "legend.fontsize": 15.5,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dedbd1",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2,
    "lines.markersize": 6,
    "axes.prop_cycle": cycler(color=svg.LINES)
    + cycler(linestyle=["-", "--", "-.", ":"])
    + cycler(marker=["o", "s", "^", "D"]),
    "figure.constrained_layout.use": True,
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.10,
}
"""matplotlib's settings for our figures, used in a context and never globally."""


class Drawing(Figure):
    """A figure that shows itself as a PNG, and as `alt` where only words can be shown."""

    alt = ""

    def __repr__(self) -> str:
        """The words that stand for the picture."""
        return self.alt

    def _repr_mimebundle_(self, **_: object) -> tuple[dict, dict]:
        png = BytesIO()
        with matplotlib.rc_context(RC):
            self.savefig(png, format="png", dpi=DPI * SHARPNESS)
        width, height = (int(inches * DPI) for inches in self.get_size_inches())
        metadata = {"image/png": {"width": width, "height": height, "alt": self.alt}}
        return {"image/png": png.getvalue(), "text/plain": self.alt}, metadata


def figure(
    draw: Callable[..., None], *data: object, alt: str, size: tuple[float, float] = (10, 4), **options: object
) -> Drawing:
    """One pair of axes, drawn into by `draw`, as a figure to be shown.

    Parameters
    ----------
    draw : callable
        ``draw(ax, *data, **options)``.
    alt : str
        What the figure shows, in words: for screen readers and wherever there are no pictures.
    size : tuple of float
        Width and height in inches of 100 pixels, at most `LARGEST`.

    Raises
    ------
    KafkaLearnError
        If the figure would be larger.

    Examples
    --------
    >>> figure(draw_counts, [9, 11, 10], alt="records of 3 partitions, all near 10")
    records of 3 partitions, all near 10
    """
    with matplotlib.rc_context(RC):
        drawing = _sheet(size, alt)
        draw(drawing.add_subplot(), *data, **options)
        _add_legend(drawing)
        _take_words_as_they_are(drawing)
    return drawing


def _sheet(size: tuple[float, float], alt: str) -> Drawing:
    # Three panels of 4.4 inches are 13.200000000000001 wide.
    if any(round(wanted, 6) > most for wanted, most in zip(size, LARGEST, strict=True)):
        (wide, high), (widest, highest) = size, LARGEST
        raise KafkaLearnError(
            f"a figure has at most {widest:g} x {highest:g} inches, got {wide:g} x {high:g}: on a slide its letters "
            "could not be read from the last row; draw fewer things, or two figures"
        )
    drawing = Drawing(figsize=size)
    drawing.alt = alt
    return drawing


def legend_name(name: str) -> str:
    """A name for a legend: matplotlib leaves those out that begin with an underscore, so a blank stands before it.

    >>> legend_name("billing"), legend_name("_internal")
    ('billing', ' _internal')
    """
    return f" {name}" if name.startswith("_") else name


def bar_style(look: svg.Fill) -> dict[str, Any]:
    """How a bar is drawn in one of the palette's fills."""
    return {"color": look.colour, "edgecolor": svg.PANEL, "linewidth": 0.8}


def only_whole_numbers(axis: Axis) -> None:
    """No mark of an axis stands between two whole numbers."""
    locator: Any = axis.get_major_locator()  # one that can keep to whole numbers
    locator.set_params(integer=True)


def _add_legend(drawing: Drawing) -> None:
    """One legend above all axes, each name once."""
    by_name = {}
    for ax in drawing.axes:
        handles, names = ax.get_legend_handles_labels()
        by_name |= dict(zip(names, handles, strict=True))
    if by_name:
        drawing.legend(by_name.values(), by_name.keys(), loc="outside upper left", ncols=4)


def _take_words_as_they_are(drawing: Drawing) -> None:
    """Names keep their dollars: matplotlib sets what stands between two of them as mathematics, or fails to.

    The marks of an axis are matplotlib's own words, and are mathematics where they have powers of ten.
    """
    scales = [axis for ax in drawing.axes for axis in (ax.xaxis, ax.yaxis)]
    own = [axis for axis in scales if not isinstance(axis.get_major_formatter(), FixedFormatter)]
    marks = {id(words) for axis in own for words in axis.get_ticklabels(which="both")}
    for words in drawing.findobj(Text):
        if id(words) not in marks:
            words.set_parse_math(False)


def small_multiples(
    draw: Callable[..., None],
    panels: Mapping[str, Sequence],
    *,
    alt: str,
    columns: int = 2,
    panel_size: tuple[float, float] = (5, 3),
    **options: object,
) -> Drawing:
    """The same drawing of several things side by side, on the same scales.

    Parameters
    ----------
    draw : callable
        ``draw(ax, data, **options)``.
    panels : mapping of str to data
        Title of each panel, and what `draw` gets.
    alt, panel_size
        As `figure`, the size of one panel.

    Examples
    --------
    >>> small_multiples(draw_counts, {"murmur2": [9, 11], "crc32": [4, 16]}, alt="two hashes")
    two hashes
    """
    if not panels:
        raise KafkaLearnError("panels is empty: give at least one title with its data")
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(RC):
        drawing = _sheet((panel_size[0] * columns, panel_size[1] * rows), alt)
        axes = drawing.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        for ax, (title, data) in zip(axes, panels.items(), strict=False):
            draw(ax, data, **options)
            ax.set_title(title)
            ax.label_outer()
        for ax in axes[len(panels) :]:
            ax.set_visible(False)
        _add_legend(drawing)
        _take_words_as_they_are(drawing)
    return drawing


# Figures of how many rows fell where: counts by partition, load by broker, keys that moved, skewed keys.


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
    heights = _refuse_no_numbers("counts", counts)
    count, share = heights.sum(), 1 / len(heights)
    expected, sigma = count * share, (count * share * (1 - share)) ** 0.5
    places = np.arange(len(heights))
    low, high = expected - 3 * sigma, expected + 3 * sigma
    ax.axhspan(low, high, color="#d8d5cb", label="fair: mean ± 3 standard deviations", zorder=0)
    ax.axhline(expected, color=svg.INK, linestyle="--", marker="", label="mean", zorder=3)
    is_marked = np.isin(places, list(marked))
    if is_marked.sum() < len(set(marked)):
        raise KafkaLearnError(f"marked {list(marked)!r}: partitions are 0 to {len(counts) - 1}")
    if has_zero:
        _bars(ax, places, heights, is_marked)
        ax.set_ylim(bottom=0, auto=True)  # panels drawn later on the same scale may need more room
    else:
        ax.plot(places[~is_marked], heights[~is_marked], "o", color=svg.LINES[0], label=what)
        ax.plot(places[is_marked], heights[is_marked], "D", color=svg.MARK, markersize=11)
        ax.ticklabel_format(axis="y", useOffset=False)
    for place in places[is_marked]:
        spot, above = (place, heights[place]), (0, 8)
        ax.annotate(str(place), spot, above, textcoords="offset points", ha="center", color=svg.MARK, weight="bold")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel=of, ylabel=what, xlim=(-0.7, len(counts) - 0.3))
    only_whole_numbers(ax.xaxis)
    ax.grid(axis="x", visible=False)


def _bars(ax: Axes, places: np.ndarray, heights: np.ndarray, is_marked: np.ndarray) -> None:
    ax.bar(places[~is_marked], heights[~is_marked], width=0.8, zorder=2, **bar_style(svg.chart_fill(0)))
    ax.bar(places[is_marked], heights[is_marked], width=0.8, zorder=2, **bar_style(svg.chart_fill(1)))


def draw_broker_load(ax: Axes, load: Mapping[object, float], *, what: str = "groups coordinated") -> None:
    """One bar for each broker, its share written on it, against the even share.

    Parameters
    ----------
    load : mapping of broker id to number
        How much each broker carries; a broker that carries nothing has 0.
    """
    names, heights = list(load), _refuse_no_numbers("load", list(load.values()))
    for place, (name, height) in enumerate(zip(names, heights, strict=True)):
        bar = ax.bar([str(name)], [height], width=0.7, zorder=2, **bar_style(svg.chart_fill(place)))
        words = f"{height:,.0f}\n{height / heights.sum():.1%}"
        # On a plate above the line of the even share, which would strike the words of an average broker through.
        plate = {"facecolor": svg.PANEL, "edgecolor": "none", "pad": 1}
        ax.bar_label(bar, [words], padding=4, zorder=4, bbox=plate)
    even = heights.mean()
    ax.axhline(even, color=svg.INK, linestyle="--", marker="", label=f"even share: {even:,.0f}", zorder=3)
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
    ax.plot(line, line / (line + 1), marker="", color=svg.INK, linestyle="--", label="n / (n + 1)")
    ax.plot(counts, measured, "o", color=svg.LINES[0], markersize=10, label="measured")
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.set(xlabel="partitions before, n", ylabel="keys that move", ylim=(0, 1.05))
    only_whole_numbers(ax.xaxis)


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
    ax.yaxis.set_major_formatter("{x:.0%}")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set(xlabel=f"the most frequent {what}", ylabel="share of all records", ylim=(0, 1.05))


def draw_done(
    ax: Axes,
    times: Mapping[str, tuple[Sequence[float | None], Sequence[float]]],
    *,
    what: str = "hours",
    of: str = "clusters",
    checked: str = "planned in Python, too",
) -> None:
    """How many of all are done by then: a stair for each name, its end short of the top where some never are.

    Parameters
    ----------
    times : mapping of str to (sequence of float or None, sequence of float)
        For each name when each is done, above 0; None: never. And some of these times, which get a ring: they were
        worked out another way.
    what, of, checked : str
        The unit of the times, what is done, and how the ringed ones were worked out.

    Raises
    ------
    KafkaLearnError
        If there is no name, or one of which nothing is ever done.
    """
    if not times or not all(any(each) for each, _ in times.values()):
        raise KafkaLearnError(f"times must have names, each with something that is done, got {dict(times)!r}")
    for place, (name, (each, ringed)) in enumerate(times.items()):
        done = np.sort([time for time in each if time is not None])
        counts = np.arange(1, len(done) + 1)
        ax.step(done, counts, where="post", label=legend_name(name), marker="", color=svg.LINES[place])
        at = np.searchsorted(done, ringed, side="right")
        label = checked if place == len(times) - 1 else None
        ring = {"markersize": 11, "markerfacecolor": "none", "markeredgewidth": 2, "color": svg.LINES[place]}
        ax.plot(ringed, at, "o", linestyle="", label=label, **ring)
        if never := len(each) - len(done):
            words = {"ha": "right", "transform": ax.transAxes, "color": svg.LINES[place]}
            ax.text(0.98, 0.05 + 0.11 * (len(times) - 1 - place), f"{never} never", **words)
    ax.axhline(max(len(each) for each, _ in times.values()), color=svg.MUTED, linestyle=":", linewidth=1.5)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set(xlabel=what, ylabel=f"{of} that are done", ylim=(0, None))


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
