"""Everything that takes a group out of Stable, each played: what happens, what the coordinator calls it, when.

The articles name three: members, topics, partitions. The coordinator knows seven causes, and several things that
happen have the same one.
"""

from __future__ import annotations

from types import MappingProxyType

from kafkalearn.group import classic
from kafkalearn.group.classic.effects import StateChanged
from kafkalearn.group.classic.events import JoinGroup, SyncGroup, TimePassed
from kafkalearn.group.scenario.simulator import simulate
from kafkalearn.group_states import PREPARING, STABLE

HAPPENS_MS = 60_000
START = (
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

Row = dict[str, object]


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
    later = [row for row in simulate(f"{START}\n{line}", protocol=protocol).rebalances if row["from_ms"] >= HAPPENS_MS]
    return _row(what, later[0]["cause"], later[0]["from_ms"] - HAPPENS_MS)


def _no_sync() -> Row:
    """With a session longer than the poll interval, else the session ends first."""
    story = f"{START}\nat 60 s: c4 joins\nat 61 s: c4 is cut off for 60 s"
    rebalance = simulate(story, max_poll_interval_ms=10_000).rebalances[2]
    return _row("a consumer joins and is cut off", rebalance["cause"], rebalance["from_ms"] - HAPPENS_MS - 1000)


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
