"""Statistics over many rows as matplotlib figures, in the one look of `kafkalearn.views.drawing.style`.

A ``draw_*`` function, in the module `figures` of a folder beside this file, draws into the axes it is given and
names what it draws. `figure` makes the axes, lets it draw, adds the legend above, and returns a figure that a
notebook shows once, as a picture; `small_multiples` does so for several side by side. Neither pyplot nor
matplotlib's global settings are touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO

import matplotlib
from cycler import cycler
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.style import INK, LINES, PANEL

DPI = 100
SHARPNESS = 2  # pixels for each pixel shown: sharp on projectors and good screens

RC = {
    "figure.facecolor": PANEL,
    "axes.facecolor": PANEL,
    "savefig.facecolor": PANEL,
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "font.family": "DejaVu Sans",  # comes with matplotlib: the same figure on every machine
    "font.size": 15,
    "axes.titlesize": 17,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 15,
    "xtick.labelsize": 14,
    "ytick.labelsize": 14,
    "legend.fontsize": 14,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dedbd1",
    "grid.linewidth": 0.8,
    "lines.linewidth": 2.5,
    "lines.markersize": 8,
    "hatch.linewidth": 1.2,
    "axes.prop_cycle": cycler(color=LINES)
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
        Width and height in inches of 100 pixels.

    Examples
    --------
    >>> from kafkalearn.views.partitioning.figures import draw_counts
    >>> figure(draw_counts, [9, 11, 10], alt="records of 3 partitions, all near 10")
    records of 3 partitions, all near 10
    """
    with matplotlib.rc_context(RC):
        drawing = Drawing(figsize=size)
        drawing.alt = alt
        draw(drawing.add_subplot(), *data, **options)
        _add_legend(drawing)
        _take_words_as_they_are(drawing)
    return drawing


def legend_name(name: str) -> str:
    """A name for a legend: matplotlib leaves those out that begin with an underscore, so a blank stands before it.

    >>> legend_name("billing"), legend_name("_internal")
    ('billing', ' _internal')
    """
    return f" {name}" if name.startswith("_") else name


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
    >>> from kafkalearn.views.partitioning.figures import draw_counts
    >>> small_multiples(draw_counts, {"murmur2": [9, 11], "crc32": [4, 16]}, alt="two hashes")
    two hashes
    """
    if not panels:
        raise KafkaLearnError("panels is empty: give at least one title with its data")
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    with matplotlib.rc_context(RC):
        drawing = Drawing(figsize=(panel_size[0] * columns, panel_size[1] * rows))
        drawing.alt = alt
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
