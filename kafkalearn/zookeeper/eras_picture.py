"""One scenario in several eras, one below the other on one time axis."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.base.checks import mapping
from kafkalearn.base.durations import seconds
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.drawing import svg
from kafkalearn.drawing.axes import TimeAxis
from kafkalearn.drawing.kit import Block, label, row, sheet, space, stack, timeline
from kafkalearn.drawing.player import Picture
from kafkalearn.groups.picture import RIGHT, doings, legend_of, member_lane, time_axis
from kafkalearn.scenarios.outcome import Outcome

LEAST_LANE, GAP, HEAD = 12, 5, 30
LANES_HEIGHT = 372  # that all lanes share
MOST_LANES = 6  # of an era
NAMES = {"zookeeper": "ZooKeeper", "classic": "classic protocol", "consumer": "KIP-848"}


def draw_eras(
    outcomes: Mapping[str, Outcome], from_ms: int = 0, to_ms: int | None = None, title: str = "One scenario, three eras"
) -> Picture:
    """What each consumer did in each era, one below the other on one time axis.

    Parameters
    ----------
    outcomes : mapping of str to Outcome
        What `kafkalearn.zookeeper.eras.play_eras` gave: all of one scenario.
    from_ms, to_ms : int
        The stretch to be shown; without them all of it.
    title : str
        What stands above.

    Raises
    ------
    KafkaLearnError
        If there is no outcome, or the stretch lies outside of the scenario.

    Examples
    --------
    >>> from kafkalearn.zookeeper.eras import play_eras
    >>> draw_eras(play_eras("at 0 s: c1 joins")).label
    'ZooKeeper: nobody read for 0.132 s; classic protocol: nobody read for 3.012 s; KIP-848: nobody read for 0.004 s'
    """
    given = dict(mapping("outcomes", outcomes, of="era to outcome"))
    if not given:
        raise KafkaLearnError("outcomes must hold at least one era; play_eras(scenario) gives three")
    end_ms = min(outcome.end_ms for outcome in given.values())
    until_ms = end_ms if to_ms is None else to_ms
    if not 0 <= from_ms < until_ms <= end_ms:
        raise KafkaLearnError(f"the stretch must lie from 0 to {end_ms} ms, got {from_ms} to {until_ms}")
    axis = time_axis(from_ms, until_ms)
    members = next(iter(given.values())).scenario.members
    names = members[:MOST_LANES]
    height = (LANES_HEIGHT / len(given) - HEAD) / max(len(names), 1) - GAP
    lane = min(24, max(height, LEAST_LANE))
    missing = len(members) - MOST_LANES
    hidden = [f"{missing} more members are not shown"] if missing > 0 else []
    fills = {words: fill for outcome in given.values() for words, fill in doings(outcome).items()}
    page = stack(
        label(svg.cut_end(title, 60), svg.TITLE, bold=True),
        *(label(each, svg.BODY, svg.MUTED) for each in hidden),
        space(height=4),
        timeline(axis, stack(*(_era(era, outcome, names, axis, lane) for era, outcome in given.items()))),
        space(height=10),
        legend_of("members", fills),
    )
    return sheet(page, _label(given))


def _era(era: str, outcome: Outcome, names: tuple[str, ...], axis: TimeAxis, lane: float) -> Block:
    words = f"{NAMES.get(era, era)}, Kafka {outcome.settings.release}"
    cost = (
        f"{counted(outcome.rebalance_count, 'rebalance')}, nobody read for {seconds(outcome.group_standstill_ms)}, "
        f"{outcome.records_not_read:,} records late"
    )
    return stack(
        space(height=4),
        row(label(svg.cut_end(words, 40), svg.BODY, bold=True), label(cost, at_end=True), width=RIGHT - 16),
        space(height=3),
        stack(*(member_lane(outcome, name, axis, lane, axis.to_ms) for name in names), gap=GAP),
        space(height=GAP),
    )


def _label(outcomes: Mapping[str, Outcome]) -> str:
    return "; ".join(
        f"{NAMES.get(era, era)}: nobody read for {seconds(outcome.group_standstill_ms)}"
        for era, outcome in outcomes.items()
    )
