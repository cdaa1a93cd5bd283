"""How long a rebalance takes: against the size of the group, its polls and heartbeats; and what heartbeats are worth.

Each function plays ready scenarios and gives rows. In most of them one more consumer joins an eager group (assignor
``range``) that is at work; its join makes everybody else join again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from kafkalearn.base.checks import one_of, sequence, whole_number
from kafkalearn.groups.defaults import MOST_CONSUMERS
from kafkalearn.releases.lines import DEFAULT_RELEASE
from kafkalearn.scenarios.outcome import BECAUSE_WORKING, Outcome, read
from kafkalearn.scenarios.playing import simulate

MEMBER_COUNTS = (3, 30, 300, 1000)
HEARTBEATS_MS = (100, 500, 1000, 3000, 10_000)
HUNG_MS = 6 * 3_600_000
SLOW_POLLS_MS: Mapping[str, int] = {"no slow poll": 0, "one poll of 60 s": 60_000, "one poll of 6 h": HUNG_MS}
SESSION_MS = 6000
INTERVALS_MS = (1000, 2000, 3000, 5000)
CUTS_S = (1, 2, 3, 4, 5)
PHASES = 10  # a cut begins at so many places between two heartbeats

WAYS: Mapping[str, Mapping[str, object]] = MappingProxyType(
    {
        "eager": {"assignor": "range"},
        "eager, static members": {"assignor": "range", "group_instance_id": True},
        "cooperative": {"assignor": "cooperative-sticky"},
        "KIP-848": {"protocol": "consumer"},
    }
)
"""The ways in which a group can be deployed, with what `simulate` takes for each."""

FIRST_RESTART_S = 60
WORK_FROM_MS, NEWCOMER_MS = 8000, 9000  # when the long polls begin, and when the newcomer starts

Row = dict[str, object]


def newcomer_ms(work_ms: Sequence[int], heartbeat_interval_ms: int = 3000, max_poll_interval_ms: int = 300_000) -> int:
    """How long the rebalance takes that one more consumer brings, in ms.

    Parameters
    ----------
    work_ms : sequence of int
        For each member of the group how long the poll takes that it is working on, in ms; 0: its polls are short,
        one every 100 ms. The long ones began a second before the newcomer starts.
    heartbeat_interval_ms, max_poll_interval_ms : int
        Of all members.

    Returns
    -------
    int
        From the newcomer's JoinGroup to the state Stable.

    Examples
    --------
    >>> newcomer_ms([0, 0, 0]), newcomer_ms([0, 20_000, 0])
    (2312, 19000)
    """
    return play_newcomer(work_ms, heartbeat_interval_ms, max_poll_interval_ms).rebalances[1]["duration_ms"]


def play_newcomer(work_ms: Sequence[int], heartbeat_interval_ms: int, max_poll_interval_ms: int) -> Outcome:
    """The scenario of `newcomer_ms`, played: the second rebalance is the newcomer's; it is sorted behind m1, m2, ..."""
    works = [
        whole_number("work_ms", each, at_least=0, at_most=HUNG_MS) for each in sequence("work_ms", work_ms, of="times")
    ]
    whole_number("the number of members", len(works), at_least=2, at_most=MOST_CONSUMERS - 1)
    story = [f"topic orders has {len(works)} partitions", f"at 0 s: m1 to m{len(works)} join"]
    story += [f"at {WORK_FROM_MS} ms: m{at} works {ms} ms on one poll" for at, ms in enumerate(works, 1) if ms]
    longest_ms = min(max(works), max_poll_interval_ms) + 2 * heartbeat_interval_ms + 1000
    story += [f"at {NEWCOMER_MS} ms: newcomer joins", f"the end is at {NEWCOMER_MS + longest_ms} ms"]
    return simulate(
        "\n".join(story),
        assignor="range",
        heartbeat_interval_ms=heartbeat_interval_ms,
        max_poll_interval_ms=max_poll_interval_ms,
    )


def by_size(member_counts: Iterable[int] = MEMBER_COUNTS) -> list[Row]:
    """The rebalance by the members that the group has when it is over, in seconds; with and without a slow poll.

    >>> from kafkalearn.base.tables import text_table
    >>> print(text_table(by_size([3, 30])))
    members  no slow poll  one poll of 60 s  one poll of 6 h
    3        2.012         59.0              299.0
    30       2.912         59.0              299.0
    """
    rows: list[Row] = []
    for count in member_counts:
        row: Row = {"members": count}
        for name, ms in SLOW_POLLS_MS.items():
            row[name] = newcomer_ms([ms, *[0] * (count - 2)]) / 1000
        rows.append(row)
    return rows


def by_heartbeat(intervals_ms: Iterable[int] = HEARTBEATS_MS, release: str = DEFAULT_RELEASE) -> list[Row]:
    """The rebalance by ``heartbeat.interval.ms``: c4 joins three others; and what so many heartbeats cost.

    Returns
    -------
    list of dict
        *rebalance_ms*, and how many heartbeats a second reach the coordinator of a group of a thousand members.

    Examples
    --------
    >>> [(row["heartbeat.interval.ms"], row["rebalance_ms"]) for row in by_heartbeat([100, 10_000])]
    [(100, 112), (10000, 8512)]
    """
    story = "topic orders has 6 partitions\nat 0 s: c1, c2 and c3 join\nat 30 s: c4 joins\nthe end is at 45 s"
    rows: list[Row] = []
    for interval_ms in intervals_ms:
        outcome = simulate(story, assignor="range", release=release, heartbeat_interval_ms=interval_ms)
        rows.append(
            {
                "heartbeat.interval.ms": interval_ms,
                "rebalance_ms": outcome.rebalances[1]["duration_ms"],
                "heartbeats a second, 1,000 members": round(1000 * 1000 / interval_ms),
            }
        )
    return rows


def heartbeats_per_session(
    intervals_ms: Iterable[int] = INTERVALS_MS, cuts_s: Sequence[int] = CUTS_S, session_ms: int = SESSION_MS
) -> list[Row]:
    """Of ten cuts of a member's connection, begun at ten places between two heartbeats: how many remove it.

    Parameters
    ----------
    intervals_ms : iterable of int
        ``heartbeat.interval.ms``.
    cuts_s : sequence of int
        How long the connection is cut, in seconds.
    session_ms : int
        ``session.timeout.ms``.

    Examples
    --------
    >>> heartbeats_per_session([2000], [3, 5])
    [{'heartbeat.interval.ms': 2000, 'in a session': 3, 'cut of 3 s': 0, 'cut of 5 s': 5}]
    """
    rows = []
    for interval_ms in intervals_ms:
        row: Row = {"heartbeat.interval.ms": interval_ms, "in a session": session_ms // interval_ms}
        for cut_s in cuts_s:
            begins_ms = (30_000 + interval_ms * phase // PHASES for phase in range(PHASES))
            row[f"cut of {cut_s} s"] = sum(_removes(interval_ms, session_ms, cut_s, each) for each in begins_ms)
        rows.append(row)
    return rows


def _removes(interval_ms: int, session_ms: int, cut_s: int, at_ms: int) -> bool:
    story = (
        f"topic orders has 6 partitions\nat 0 s: c1, c2 and c3 join\nat {at_ms} ms: c2 is cut off for {cut_s} s\n"
        f"the end is at {at_ms // 1000 + cut_s + 10} s"
    )
    values = {"heartbeat_interval_ms": interval_ms, "session_timeout_ms": session_ms}
    return simulate(story, assignor="range", **values).rebalance_count > 1


def rolling_restart(
    member_count: int = 10, work_s: int = 60, every_s: int = 30, way: str = "eager", *, is_one_slow: bool = False
) -> Row:
    """A deployment, one consumer after the other: how long the group rebalances, and how long nobody reads.

    Parameters
    ----------
    member_count : int
        Consumers, and partitions.
    work_s : int
        How long each poll takes.
    every_s : int
        From one restart to the next; each consumer is away for 5 s.
    way : str
        A name in `WAYS`.
    is_one_slow : bool
        Whether only the last consumer's polls take so long, and those of all others 0.1 s.

    Returns
    -------
    dict
        Of the deployment, from the first restart on: the *rebalances*; *minutes without rest*, in which one of them
        was under way; the *longest*; how long *nobody reads*, of how many seconds; and how long *a partition is
        unread*, on average. A consumer that works on one long poll is not idle: its partitions do not count as unread.

    Examples
    --------
    >>> row = rolling_restart(5)
    >>> row["rebalances"], row["minutes without rest"], row["nobody reads, s"], row["a partition is unread, s"]
    (3, 1.3, 0.0, 18.0)
    """
    whole_number("member_count", member_count, at_least=2, at_most=MOST_CONSUMERS)
    whole_number("work_s", work_s, at_least=1, at_most=HUNG_MS // 1000)
    whole_number("every_s", every_s, at_least=1, at_most=HUNG_MS // 1000)
    settings: Mapping[str, Any] = WAYS[one_of("way", way, WAYS)]
    story = [f"topic orders has {member_count} partitions", f"at 0 s: c1 to c{member_count} join"]
    story += [f"at {FIRST_RESTART_S + every_s * at} s: c{at + 1} restarts after 5 s" for at in range(member_count)]
    if is_one_slow:
        last_s = FIRST_RESTART_S + every_s * member_count
        story.append(
            f"every {work_s} s from {work_s // 2} s to {last_s} s: c{member_count} works {work_s - 1} s on one poll"
        )
    outcome = simulate("\n".join(story), processing_ms=100 if is_one_slow else 1000 * work_s, **settings)
    from_ms = 1000 * FIRST_RESTART_S
    later = [row for row in outcome.rebalances if row["from_ms"] >= from_ms]
    reading = read(outcome.scenario, [frame for frame in outcome.trace if frame.state.time_ms >= from_ms])
    unread_ms = sum(reading.unread_ms.values()) - reading.unread_ms_by_reason[BECAUSE_WORKING]
    return {
        "members": member_count,
        "way": way,
        "rebalances": len(later),
        "minutes without rest": round(sum(row["duration_ms"] for row in later) / 60_000, 1),
        "longest, s": max((row["duration_ms"] for row in later), default=0) / 1000,
        "nobody reads, s": round(reading.group_standstill_ms / 1000, 1),
        "of, s": round((outcome.end_ms - from_ms) / 1000),
        "a partition is unread, s": round(unread_ms / member_count / 1000, 1),
    }
