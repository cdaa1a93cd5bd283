"""What was observed of a consumer, replayed with any strategy: which commits it makes, and what a crash costs.

The simulator's side of `kafkalearn.spark.crash_cost`: the same deliveries, record by record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby

from kafkalearn.arguments import iterable, whole_number
from kafkalearn.commits.events import Answered, CommitAsync, CommitEvent, Crash, Poll, Process, Start, Wait
from kafkalearn.commits.lost_and_doubled import doubled, lost
from kafkalearn.commits.settings import Settings
from kafkalearn.commits.simulator import simulate, step
from kafkalearn.commits.state import Pipeline
from kafkalearn.commits.strategies import Strategy, Workload, commit_wanted, settings_for, strategy_of
from kafkalearn.fields import Checked, Index, Millis, Offset
from kafkalearn.trace import Frame, Trace

COMMIT_MS = 2
"""How long a commit is on its way to the coordinator, if nothing else is given."""

ARRIVES_FIRST = 1_000_000_000  # before whatever else happens in the same millisecond


@dataclass(frozen=True, slots=True)
class Delivery(Checked):
    """A record that a poll returned, and when it was processed; None: the crash came first."""

    offset: Offset
    poll: Index
    polled_ms: Millis
    processed_ms: Millis | None


@dataclass(frozen=True, slots=True)
class CrashCost:
    """What the crash at the end of a run costs, once a successor has read on from the committed offset."""

    lost_count: int
    doubled_count: int
    commit_count: int


def replay(
    strategy: str | Strategy, deliveries: Iterable[Delivery], crashed_ms: int, commit_ms: int = COMMIT_MS
) -> tuple[Trace[Pipeline, CommitEvent], CrashCost]:
    """A consumer's run up to its crash, as if it had followed a strategy, and what the crash costs.

    Commits travel for `commit_ms`, while the next record is being worked on; one that has not arrived when the crash
    comes is not stored. An auto commit happens inside poll and counts as stored at once.

    Parameters
    ----------
    strategy : str or Strategy
        When to commit.
    deliveries : iterable of Delivery
        By offset, from 0, without gaps; the records of one poll follow each other.
    crashed_ms : int
        When the consumer died.
    commit_ms : int
        From sending a commit until it is stored.

    Examples
    --------
    >>> seen = [Delivery(0, 0, 0, 10), Delivery(1, 0, 0, 20), Delivery(2, 1, 20, 30), Delivery(3, 1, 20, None)]
    >>> replay("each batch", seen, crashed_ms=35)[1]
    CrashCost(lost_count=0, doubled_count=1, commit_count=1)
    >>> replay("before the batch", seen, crashed_ms=35)[1]
    CrashCost(lost_count=1, doubled_count=0, commit_count=2)
    """
    strategy = strategy_of(strategy)
    deliveries = tuple(iterable("deliveries", deliveries, of="deliveries"))
    whole_number("crashed_ms", crashed_ms, at_least=0)
    whole_number("commit_ms", commit_ms, at_least=0)
    settings = settings_for(strategy, Workload(len(deliveries), max_poll_records=max(1, len(deliveries))))
    trace = list(simulate(settings, [Start("A")]))
    agenda = _observed(deliveries)
    while agenda and agenda[0][0] < crashed_ms:
        at_ms, order, event = heappop(agenda)
        _go_on(settings, trace, Wait(at_ms - trace[-1].state.now_ms), event)
        wanted = commit_wanted(strategy, trace[-1].state, trace[-1].state.running("A"))
        if wanted is not None:
            _go_on(settings, trace, CommitAsync("A", wanted))
            heappush(agenda, (at_ms + commit_ms, order - ARRIVES_FIRST, Answered("A")))
    commit_count = len(trace[-1].state.written)
    _go_on(settings, trace, Wait(crashed_ms - trace[-1].state.now_ms), Crash("A"), Start("B"), Poll("B"))
    _go_on(settings, trace, *[Process("B") for _ in trace[-1].state.running("B").unprocessed])
    end = trace[-1].state
    return Trace(trace), CrashCost(len(lost(end)), len(doubled(end)), commit_count)


def _go_on(settings: Settings, trace: list[Frame[Pipeline, CommitEvent]], *events: CommitEvent) -> None:
    """Append a frame for each event; `extend` would copy the whole trace each time."""
    for event in events:
        trace.append(Frame(len(trace), event, step(settings, trace[-1].state, event)))


def _observed(deliveries: tuple[Delivery, ...]) -> list[tuple[int, int, CommitEvent]]:
    """Polls and processed records as (time, order within it, event): what arrives comes before, a poll last."""
    agenda: list[tuple[int, int, CommitEvent]] = []
    order = 0
    for _, group in groupby(deliveries, key=lambda each: each.poll):
        records = list(group)
        agenda.append((records[0].polled_ms, (order := order + 1), Poll("A", at_most=len(records))))
        for each in records:
            if each.processed_ms is not None:
                agenda.append((each.processed_ms, (order := order + 1), Process("A", each.offset)))
    return sorted(agenda, key=lambda entry: entry[:2])
