"""Old advice, put to the test: a session of 6 s, heartbeats every 2 s, a poll interval above the slowest work.

The advice is from the years when a session was 10 s by default; since 3.0 it is 45 s. Each function plays ready
scenarios and gives rows; nothing is claimed that a row does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kafkalearn.group.scenario.parse import scenario
from kafkalearn.group.scenario.probes import PROBES, probe
from kafkalearn.group.scenario.simulator import settings_of, simulate
from kafkalearn.versions import default
from kafkalearn.versions.releases import DEFAULT_RELEASE

ADVICE: Mapping[str, int] = MappingProxyType({"session.timeout.ms": 6000, "heartbeat.interval.ms": 2000})
"""What was recommended: a dead member is found early, and a member may miss two heartbeats of three."""

TRIED: Mapping[str, Mapping[str, int]] = MappingProxyType({"advice": ADVICE, "default": {}})

START = "topic orders has 6 partitions\nrecords arrive at 1000 a second\nat 0 s: c1, c2 and c3 join\n"
PAUSES_S = (2, 4, 6, 9, 12, 30, 50)
SLOW_MIN, LIMIT_MIN = 7, 8  # the work that may take seven minutes, and the limit set to eight

Row = dict[str, object]


def pauses(release: str = DEFAULT_RELEASE, seconds: Iterable[int] = PAUSES_S) -> list[Row]:
    """How many rebalances a pause of a consumer brings, with the advice and with the release's defaults.

    Returns
    -------
    list of dict
        For each length: *rebalances* that the pause brought, and the *records* that were not read meanwhile (less
        those of the start), for both settings.

    Examples
    --------
    >>> from kafkalearn.tables import text_table
    >>> print(text_table(pauses("4.3", [4, 12])))
    pause_s  rebalances, advice  records, advice  rebalances, default  records, default
    4        0                   1333             0                    1333
    12       2                   2837             0                    4000
    """
    rows = []
    for length in seconds:
        story = f"{START}at 60 s: c2 pauses for {length} s"
        row: Row = {"pause_s": length}
        for name, values in TRIED.items():
            outcome = simulate(story, release=release, settings=values)
            row[f"rebalances, {name}"] = outcome.rebalance_count - 1
            row[f"records, {name}"] = outcome.records_not_read - _at_start(release, values)
        rows.append(row)
    return rows


def _at_start(release: str, values: Mapping[str, int]) -> int:
    """Records that come before the group is formed."""
    return simulate(START, release=release, settings=values).records_not_read


def detection(release: str = DEFAULT_RELEASE) -> list[Row]:
    """How long partitions stay unread after a crash, a hang and an orderly end, in ms.

    >>> [(row["after"], row["advice_ms"] < row["default_ms"]) for row in detection("4.3")]
    [('a crash', True), ('a hang in one poll', True), ('an orderly end', True)]
    """
    story = scenario(START)
    return [
        {
            "after": what,
            "advice_ms": probe(story, settings_of(story, release, settings=ADVICE), "classic", what),
            "default_ms": probe(story, settings_of(story, release), "classic", what),
        }
        for what in PROBES
    ]


def slow_work(release: str = DEFAULT_RELEASE) -> list[Row]:
    """What a poll whose records take seven minutes brings, with the default limit and with one of eight minutes.

    >>> [(row["limit_ms"], row["rebalances"]) for row in slow_work()]
    [(300000, 2), (480000, 0)]
    """
    story = f"{START}at 60 s: c2 works {SLOW_MIN} min on one poll"
    rows: list[Row] = []
    for limit_ms in (default("max.poll.interval.ms", release), LIMIT_MIN * 60_000):
        outcome = simulate(story, release=release, max_poll_interval_ms=limit_ms)
        rows.append(
            {
                "limit_ms": limit_ms,
                "rebalances": outcome.rebalance_count - 1,
                "records_not_read": outcome.records_not_read,
                "most_lag": outcome.most_lag,
            }
        )
    return rows
