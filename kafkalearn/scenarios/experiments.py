"""Old advice, put to the test: a session of 6 s, heartbeats every 2 s; and what takes a group out of Stable.

The advice is from the years when a session was 10 s by default; since 3.0 it is 45 s. Each function plays ready
scenarios and gives rows; nothing is claimed that a row does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from kafkalearn.groups import classic
from kafkalearn.groups.classic.model import JoinGroup, StateChanged, SyncGroup, TimePassed
from kafkalearn.groups.defaults import PREPARING, STABLE
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.scenarios.finder import PROBES, probe
from kafkalearn.scenarios.playing import settings_of, simulate
from kafkalearn.scenarios.text import scenario

ADVICE: Mapping[str, int] = MappingProxyType({"session.timeout.ms": 6000, "heartbeat.interval.ms": 2000})
"""What was recommended: a dead member is found early, and a member may miss two heartbeats of three."""

TRIED: Mapping[str, Mapping[str, int]] = MappingProxyType({"advice": ADVICE, "default": {}})

START = "topic orders has 6 partitions\nrecords arrive at 1000 a second\nat 0 s: c1, c2 and c3 join\n"
PAUSES_S = (2, 4, 6, 9, 12, 30, 50)

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
    >>> from kafkalearn.base.tables import text_table
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
            at_start = simulate(START, release=release, settings=values)
            row[f"records, {name}"] = outcome.records_not_read - at_start.records_not_read
        rows.append(row)
    return rows


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


# Everything that takes a group out of Stable, each played. The articles name three: members, topics, partitions. The
# coordinator knows seven causes, and several things that happen have the same one.

HAPPENS_MS = 60_000
TRIGGERS_START = (
    "topic orders has 6 partitions\ntopic orders-us has 2 partitions\nat 0 s: c1, c2 and c3 join\nthe end is at 10 min"
)
PATTERN = "c1 to c3 subscribe to the pattern orders.*"
TOPICS_CHANGE = MappingProxyType(
    {
        "partitions are added": "at 60 s: orders grows to 9 partitions",
        "a topic is created under a pattern": f"{PATTERN}\nat 60 s: topic orders-eu is created with 3 partitions",
        "a topic is deleted under a pattern": f"{PATTERN}\nat 60 s: orders-us is deleted",
        "a topic of the list is deleted": "at 60 s: orders-us is deleted",
        "a member changes its subscription": "at 60 s: c2 subscribes to orders",
    }
)
"""Rebalances that no member's coming or going causes: lines for a scenario."""

MEMBERS_CHANGE = MappingProxyType(
    {
        "a consumer starts": "at 60 s: c4 joins",
        "a consumer is closed": "at 60 s: c2 leaves",
        "a poll takes too long": "at 60 s: c2 works 330 s on one poll",
        "a process dies": "at 60 s: c2 crashes",
        "a process pauses too long": "at 60 s: c2 pauses for 50 s",
    }
)
"""Rebalances that come from members."""


def triggers(protocol: str = "classic") -> list[Row]:
    """A row for each thing that happens: the cause that the coordinator sees, and after how many seconds it sees it.

    The last two, of the classic protocol only, are rare: a consumer that is cut off after its JoinGroup, and a static
    member that comes back with another order of assignors.

    Examples
    --------
    >>> [(row["what happens"], row["after, s"]) for row in triggers("consumer")[:2]]
    [('a consumer starts', 0.0), ('a consumer is closed', 0.0)]
    >>> len({row["the cause in the coordinator"] for row in triggers()})
    7
    """
    rows = [_played(what, line, protocol) for what, line in {**MEMBERS_CHANGE, **TOPICS_CHANGE}.items()]
    return [*rows, _no_sync(), _other_vote()] if protocol == "classic" else rows


def _played(what: str, line: str, protocol: str) -> Row:
    rebalances = simulate(f"{TRIGGERS_START}\n{line}", protocol=protocol).rebalances
    first = next(row for row in rebalances if row["from_ms"] >= HAPPENS_MS)
    return _row(what, first["cause"], first["from_ms"] - HAPPENS_MS)


def _no_sync() -> Row:
    """With a poll interval shorter than the session, else the session ends first: the row says so."""
    story = f"{TRIGGERS_START}\nat 60 s: c4 joins\nat 61 s: c4 is cut off for 60 s"
    rebalance = simulate(story, max_poll_interval_ms=10_000).rebalances[2]
    what = "a consumer joins and is cut off (max.poll.interval.ms 10 s)"
    return _row(what, rebalance["cause"], rebalance["from_ms"] - HAPPENS_MS - 1000)


def _other_vote() -> Row:
    """A group of one static member, request by request."""
    first, second = (("range", ()), ("sticky", ())), (("sticky", ()), ("range", ()))
    requests = [
        JoinGroup("c1", instance_id="i1", protocols=first),
        TimePassed(3000),
        SyncGroup("c1", "i1-1", 1, instance_id="i1"),
        JoinGroup("c1/2", instance_id="i1", protocols=second),
    ]
    trace = classic.simulate(classic.Settings(), requests)
    (change,) = (each for each in trace[-1].state.effects if isinstance(each, StateChanged) and each.after == PREPARING)
    assert change.before == STABLE
    return _row("a static member returns with other assignors", change.cause, 0)


def _row(what: str, cause: str, after_ms: int) -> Row:
    return {
        "what happens": what,
        "the cause in the coordinator": cause.partition(" (")[0],
        "after, s": round(after_ms / 1000, 1),
    }


def protocol_change_stories(count: int = 5, distance_s: int = 30, away_s: int = 5) -> dict[str, str]:
    """Three ways to bring classic consumers to the newer protocol, each the text of a scenario.

    Parameters
    ----------
    count : int
        Pods, at least 2; the topic has two partitions for each.
    distance_s : int
        From one restart to the next.
    away_s : int
        How long a process takes to start again.

    Returns
    -------
    dict of str to str
        "rolling change": one pod after the other; "rolled back at half": half of them, and those back again;
        "stop of all": every pod leaves, then all start with the newer protocol.
    """
    pods = [f"c{number}" for number in range(1, count + 1)]
    start = f"topic orders has {2 * count} partitions\nat 0 s: c1 to c{count} join\n"

    def restarts(some: list[str], protocol: str, first_s: int) -> str:
        lines = (
            f"at {first_s + place * distance_s} s: {pod} restarts after {away_s} s as {protocol}\n"
            for place, pod in enumerate(some)
        )
        return "".join(lines)

    half = pods[: (count + 1) // 2]
    back_s = 60 + (len(half) + 1) * distance_s
    return {
        "rolling change": start + restarts(pods, "consumer", 60),
        "rolled back at half": start + restarts(half, "consumer", 60) + restarts(half, "classic", back_s),
        "stop of all": f"{start}at 60 s: c1 to c{count} restart after {away_s} s as consumer\n",
    }


def protocol_changes(release: str = DEFAULT_RELEASE, count: int = 5, **settings: object) -> list[Row]:
    """What a rolling change of the protocol costs, one that is rolled back at half, and a stop of all beside them.

    Returns
    -------
    list of dict
        For each way: *rebalances* after the start, *standstill_ms* for each member (by name), *records* that were not
        read in time and *twice*, those that two members read at once; all less what the start alone costs.

    Examples
    --------
    >>> for row in protocol_changes("4.4"):  # a partition has one owner through all of it: nothing is read twice
    ...     print(row["way"], row["rebalances"], row["records"], row["twice"], max(row["standstill_ms"].values()))
    rolling change 10 5436 0 2468
    rolled back at half 11 8045 0 4896
    stop of all 2 7724 0 4

    References
    ----------
    Apache Kafka 4.0 to 4.4, ``group.consumer.migration.policy`` (KIP-848).
    """
    rows: list[Row] = []
    for way, story in protocol_change_stories(count).items():
        before = simulate("\n".join(story.splitlines()[:2]), release=release, settings=settings)
        outcome = simulate(story, release=release, settings=settings)
        at_start = before.member_standstill_ms
        rows.append(
            {
                "way": way,
                "rebalances": outcome.rebalance_count - before.rebalance_count,
                "standstill_ms": {name: ms - at_start[name] for name, ms in outcome.member_standstill_ms.items()},
                "records": outcome.records_not_read - before.records_not_read,
                "twice": outcome.records_read_twice,
            }
        )
    return rows
