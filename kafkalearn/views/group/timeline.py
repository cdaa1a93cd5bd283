"""A whole scenario on one page: the group's states, what each consumer did, and the partitions nobody read."""

from __future__ import annotations

from kafkalearn.errors import KafkaLearnError
from kafkalearn.group.world.outcome import Outcome
from kafkalearn.phrases import counted
from kafkalearn.views.drawing.picture import Picture, picture
from kafkalearn.views.drawing.style import BODY, MUTED, TITLE
from kafkalearn.views.drawing.svg import text
from kafkalearn.views.group.lanes import (
    STATE_FILLS,
    Axis,
    doings,
    group_band,
    legend,
    member_band,
    time_axis,
    unread_steps,
)
from kafkalearn.views.group.words import time_text

MOST_LANES, FEW, LANES_HEIGHT = 14, 8, 282  # members that are shown, and the pixels that they share
TITLE_LENGTH, LINE_LENGTH = 68, 88  # characters that fit into the width


def draw_timeline(outcome: Outcome, from_ms: int = 0, to_ms: int | None = None) -> Picture:
    """A whole scenario on one page: the group's states, what each consumer did, the partitions that nobody read.

    Parameters
    ----------
    outcome : Outcome
        What `kafkalearn.group.simulate` gave.
    from_ms, to_ms : int
        The stretch to be shown; without them all of it.

    Raises
    ------
    KafkaLearnError
        If the stretch is empty or lies outside of the scenario.

    Examples
    --------
    >>> from kafkalearn.group import simulate
    >>> draw_timeline(simulate("at 0 s: c1 and c2 join")).label
    '1 rebalance in 120 s; c1 stood still for 6.012 s, c2 for 6.012 s; nobody read for 6.012 s'
    """
    until_ms = outcome.end_ms if to_ms is None else to_ms
    if not 0 <= from_ms < until_ms <= outcome.end_ms:
        raise KafkaLearnError(f"the stretch must lie from 0 to {outcome.end_ms} ms, got {from_ms} to {until_ms}")
    axis = Axis(from_ms, until_ms)
    names = outcome.scenario.members[:MOST_LANES]
    hidden_count = len(outcome.scenario.members) - len(names)
    top, gap = 100, 4 if len(names) > FEW else 8
    tall = min(26, LANES_HEIGHT // max(len(names), 1) - gap)
    first = top + 34 + 12
    unread_top = first + len(names) * (tall + gap) + 6
    bottom = unread_top + 48
    states = {row["state"] for row in outcome.timeline}
    return picture(
        bottom + 96,
        text(22, 40, _title(outcome), TITLE, bold=True),
        text(22, 70, _subtitle(outcome), BODY, colour=MUTED),
        time_axis(axis, bottom, top),
        group_band(outcome, axis, top, 34, until_ms),
        *(member_band(outcome, name, axis, first + at * (tall + gap), tall, until_ms) for at, name in enumerate(names)),
        unread_steps(outcome, axis, unread_top, 44),
        legend(bottom + 38, "the group", {name: fill for name, fill in STATE_FILLS.items() if name in states}),
        legend(bottom + 66, "members", doings(outcome)),
        text(970, 70, f"{hidden_count} more members", BODY, "end", MUTED) if hidden_count else "",
        label=_timeline_label(outcome),
    )


def _title(outcome: Outcome) -> str:
    kind = f"{outcome.protocol} protocol"
    shown = f" ({outcome.settings.of(None).assignors[0]})" if outcome.protocol == "classic" else ""
    rebalances = counted(outcome.rebalance_count, "rebalance")
    words = f"{rebalances}: Kafka {outcome.settings.release}, {kind}{shown}"
    return words if len(words) <= TITLE_LENGTH else f"{words[: TITLE_LENGTH - 2]} …"


def _subtitle(outcome: Outcome) -> str:
    given = [f"{name} {value}" for name, value in outcome.settings.values.items() if "strategy" not in name]
    changed = f"; {', '.join(given)}" if given else ""
    words = f"{outcome.records_not_read:,} records not read meanwhile{changed}"
    return words if len(words) <= LINE_LENGTH else words[: LINE_LENGTH - 2] + " …"


def _timeline_label(outcome: Outcome) -> str:
    stood = [f"{name} for {time_text(ms)}" for name, ms in outcome.member_standstill_ms.items()]
    members = ", ".join(stood).replace(" for", " stood still for", 1) or "nobody ever joins"
    return (
        f"{counted(outcome.rebalance_count, 'rebalance')} in {time_text(outcome.end_ms)}; {members}; "
        f"nobody read for {time_text(outcome.group_standstill_ms)}"
    )
