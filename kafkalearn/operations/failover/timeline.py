"""A run as rows for a table: who heard what in which second, and for how long each client was not served."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from types import MappingProxyType

from kafkalearn.operations.failover.effects import Heard
from kafkalearn.operations.failover.events import Event
from kafkalearn.operations.failover.state import Failover
from kafkalearn.trace import Trace

Row = tuple[int, str, int, str, str, str]
"""Second, client, broker, API, error, and what the client does then."""


def timeline(trace: Trace[Failover, Event]) -> list[Row]:
    """Every question of every client, with its answer, in order."""
    return [
        (frame.state.second, each.client, each.broker_id, each.api, each.error, each.then)
        for frame in trace
        for each in frame.state.effects
        if isinstance(each, Heard)
    ]


def phases(trace: Trace[Failover, Event]) -> list[tuple[int, int, str, str, str]]:
    """The same in short: first and last second in which a client heard the same of its own request, API, error.

    Searching is left out but where it says that there is no coordinator.
    """
    found = []
    for name in (each.name for each in trace[0].state.clients):
        rows = [(row[0], row[1], row[3], row[4]) for row in timeline(trace) if row[1] == name]
        rows = [row for row in rows if row[2] != "FindCoordinator" or row[3] != "NONE"]
        for (client, api, error), same in groupby(rows, key=lambda row: row[1:]):
            seconds = [second for second, *_ in same]
            found.append((seconds[0], seconds[-1], client, api, error))
    return found


def unserved_seconds(trace: Trace[Failover, Event]) -> Mapping[str, int]:
    """For each client in how many seconds it asked and was not served; 0: it noticed nothing."""
    failed = {(second, client) for second, client, _, _, error, _ in timeline(trace) if error not in ("NONE",)}
    counts = Counter(client for _, client in failed)
    return MappingProxyType({each.name: counts[each.name] for each in trace[0].state.clients})
