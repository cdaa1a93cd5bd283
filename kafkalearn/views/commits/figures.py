"""What commits cost against what they save: one mark for each strategy."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes

from kafkalearn.errors import KafkaLearnError
from kafkalearn.views.drawing.style import INK, LINES, MARK


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
        ax.plot([commits], [doubled], "o", color=LINES[0], markersize=12, zorder=3)
        _name(ax, name, commits, doubled, is_above=is_beaten)
    for name, (commits, _, lost) in ordered:
        if lost:
            ax.plot([commits], [lost], "X", color=MARK, markersize=17, zorder=2)
            ax.annotate(
                f"{name}: {lost:,.0f} lost", (commits, lost), xytext=(14, -20), textcoords="offset points", color=INK
            )
    ax.plot([], [], "o", color=LINES[0], markersize=12, label="doubled in an average crash")
    if any(lost > 0 for _, _, lost in costs.values()):
        ax.plot([], [], "X", color=MARK, markersize=12, label="lost in an average crash")
    ax.set_xscale("log")
    ax.set_yscale("symlog", linthresh=1)
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set(xlabel="commits for 1,000 records", ylabel="records in a crash")
    rates = [commits for commits, _, _ in costs.values()]
    ax.set_xlim(min(rates) / 16, max(rates) * 6)
    ax.set_ylim(0, 4 * max(1, *(max(doubled, lost) for _, doubled, lost in costs.values())))


def _name(ax: Axes, name: str, x: float, y: float, is_above: bool) -> None:
    """A name beside its mark: left below it, where a better strategy would be, or right above if there is one."""
    place, side = ((9, 8), "left") if is_above else ((-9, -20), "right")
    ax.annotate(name, (x, y), xytext=place, textcoords="offset points", ha=side, color=INK)
