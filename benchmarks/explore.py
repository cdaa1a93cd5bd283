"""How many states `explore` looks at in a second, and what remembering steps by their parts saves.

The same search three ways, in turn: as it is; without relabelled brokers; and with states that are not split, where
each step is worked out anew. Run it with ``python benchmarks/explore.py [states]``.

Of 300,000 states and 1.5 million events tried, some 30,000 steps are worked out; where the time goes is about half the
loop over states and events, a tenth the promises, the rest those steps. On a machine with other work only the column
of processor time says anything, and only beside another run of the same minute.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter, process_time

from kafkalearn.base.search import Model, Search, explore
from kafkalearn.base.tables import text_table
from kafkalearn.base.trace import Parts
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    PROMISES,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerRestarted,
    Fetch,
    HighWatermarkCheckpointed,
    IsrChecked,
    Produce,
    SessionExpired,
    Settings,
    TimePassed,
    start,
)
from kafkalearn.replication.search import alphabet, model
from kafkalearn.replication.simulator import IN_ORDER, NEVER_FALLS

SETTINGS = Settings(replica_count=3, min_insync_replicas=2, fetch_wait_max_ms=0)
EVENTS = alphabet(
    SETTINGS,
    Produce(),
    Produce(acks=1),
    IsrChecked,
    AlterPartitionAnswered,
    TimePassed(30_001),
    Fetch,
    BrokerCrashed,
    BrokerRestarted,
    SessionExpired,
    HighWatermarkCheckpointed,
)
LIMITS = {Produce: 3, BrokerCrashed: 2, TimePassed: 2}
# acks=1 is among the events, and loses records at once; the other promises are kept, so the search goes on.
KEPT = (IN_ORDER, NEVER_FALLS, *(name for name in PROMISES if name != ACKNOWLEDGED_SURVIVE))


def unsplit(whole: Model) -> Model:
    """The same model with one part only: the tuple of its parts."""

    def happen(parts: Parts, event: object) -> None:
        inner = Parts(parts.read(0))
        whole.happen(inner, event)
        parts.write(0, inner.all())

    promises = tuple((name, lambda parts, holds=holds: holds(Parts(parts.read(0)))) for name, holds in whole.promises)
    return Model(whole.settings, whole.step, lambda state: (whole.split(state),), happen, promises)


def measured(searched: Model, budget: int) -> tuple[Search, float, float]:
    """A search, its wall time and its processor time."""
    wall, cpu = perf_counter(), process_time()
    search = explore(searched, start(SETTINGS), EVENTS, budget=budget, at_most=LIMITS)
    return search, perf_counter() - wall, process_time() - cpu


def row(way: str, search: Search, wall: float, cpu: float) -> dict[str, str]:
    return {
        "way": way,
        "states": f"{search.state_count:,}",
        "events tried": f"{search.step_count:,}",
        "depth": str(search.depth),
        "seconds": f"{wall:.1f}",
        "states/s": f"{search.state_count / wall:,.0f}",
        "states/s of processor time": f"{search.state_count / cpu:,.0f}",
    }


def main(budget: int = 300_000) -> None:
    """Measure and print."""
    searched = model(SETTINGS, KEPT)
    ways = {
        "as it is": (searched, budget),
        "without relabelling": (replace(searched, relabellings=()), budget),
        "every step worked out anew": (unsplit(searched), budget // 20),
    }
    print(f"three brokers, {len(EVENTS)} events, {len(KEPT)} promises, Python {sys.version.split()[0]}")
    print(text_table([row(way, *measured(each, states)) for way, (each, states) in ways.items()]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
