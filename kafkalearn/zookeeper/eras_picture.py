"""One scenario in several eras, one below the other on one time axis."""

from __future__ import annotations

from collections.abc import Mapping

from kafkalearn.base.checks import mapping
from kafkalearn.base.durations import seconds
from kafkalearn.base.errors import KafkaLearnError, counted
from kafkalearn.drawing import svg
from kafkalearn.drawing.player import Picture, picture
from kafkalearn.groups.picture import Axis, doings, legend, member_band, time_axis
from kafkalearn.scenarios.outcome import Outcome

TOP, LINE, LEAST_LANE, GAP, HEAD = 84, 26, 12, 5, 30
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
    axis = Axis(from_ms, until_ms)
    members = next(iter(given.values())).scenario.members
    names = members[:MOST_LANES]
    lanes = max(len(names), 1)
    height = (LANES_HEIGHT / len(given) - HEAD) / lanes - GAP
    lane = min(24, max(height, LEAST_LANE))
    block = HEAD + lanes * (lane + GAP) + 8
    missing = len(members) - MOST_LANES
    hidden = f"{missing} more members are not shown" if missing > 0 else ""
    top = TOP if hidden else TOP - LINE
    bottom = top + len(given) * block
    fills = {words: fill for outcome in given.values() for words, fill in doings(outcome).items()}
    return picture(
        bottom + 76,
        svg.text(22, 38, svg.cut_end(title, 60), svg.TITLE, bold=True),
        svg.text(22, 66, hidden, svg.BODY, colour=svg.MUTED),
        time_axis(axis, bottom, top),
        *(
            _era(era, outcome, names, axis, top + at * block, lane, until_ms)
            for at, (era, outcome) in enumerate(given.items())
        ),
        legend(bottom + 52, "members", fills),
        label=_label(given),
    )


def _era(era: str, outcome: Outcome, names: tuple[str, ...], axis: Axis, top: float, lane: float, until_ms: int) -> str:
    words = f"{NAMES.get(era, era)}, Kafka {outcome.settings.release}"
    cost = (
        f"{counted(outcome.rebalance_count, 'rebalance')}, nobody read for {seconds(outcome.group_standstill_ms)}, "
        f"{outcome.records_not_read:,} records late"
    )
    return "\n".join(
        [
            svg.text(22, top + 21, svg.cut_end(words, 40), svg.BODY, bold=True),
            svg.text(970, top + 21, cost, svg.SMALL, "end"),
            *(
                member_band(outcome, name, axis, top + HEAD + at * (lane + GAP), lane, until_ms)
                for at, name in enumerate(names)
            ),
        ]
    )


def _label(outcomes: Mapping[str, Outcome]) -> str:
    return "; ".join(
        f"{NAMES.get(era, era)}: nobody read for {seconds(outcome.group_standstill_ms)}"
        for era, outcome in outcomes.items()
    )
