"""What a strategy loses and doubles: an accident at every point of a run, and a crash in what was observed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import groupby
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.base.checks import Checked, Index, Millis, Offset, iterable, one_of, whole_number
from kafkalearn.base.errors import KafkaLearnError
from kafkalearn.base.trace import Frame, Trace, extend
from kafkalearn.commits.model import (
    Answered,
    Close,
    CommitAsync,
    CommitEvent,
    CommitSync,
    Crash,
    Pipeline,
    Poll,
    Polled,
    Process,
    Rebalance,
    Settings,
    Start,
    TimePassed,
    doubled,
    lost,
)
from kafkalearn.commits.simulator import simulate, step
from kafkalearn.commits.strategies import Strategy, Workload, commit_wanted, next_event, settings_for, strategy_of

Run: TypeAlias = Trace[Pipeline, CommitEvent]

ACCIDENTS: MappingProxyType[str, str] = MappingProxyType(
    {
        "crash": "A dies; B starts in its place",
        "close": "A has to stop and calls close at once; B starts in its place",
        "rebalance": "B joins; A gives the partition up in its next poll, having processed what it had",
        "pause": "A stands still for too long; B starts and reads on; A wakes and goes on with its unprocessed records",
    }
)
"""Accidents by name. Each is tried after every event of the undisturbed run."""

MOST_EVENTS = 10_000  # of one run
MOST_POINTS = 1_000  # of a run that is swept


@dataclass(frozen=True, slots=True)
class Outcome:
    """One accident, and what was lost and doubled when all was read."""

    strategy: str
    accident: str
    after: int  # events of the undisturbed run that had happened
    event: CommitEvent  # the last of them
    lost: tuple[int, ...]
    doubled: tuple[int, ...]
    trace: Trace[Pipeline, CommitEvent]


def undisturbed(strategy: str | Strategy, workload: Workload | None = None) -> Trace[Pipeline, CommitEvent]:
    """The run without an accident: consumer A starts and reads all there is.

    Examples
    --------
    >>> trace = undisturbed("each batch", Workload(record_count=4, max_poll_records=2))
    >>> [type(frame.event).__name__ for frame in trace[1:]]
    ['Start', 'Poll', 'Process', 'Process', 'CommitSync', 'Poll', 'Process', 'Process', 'CommitSync']
    """
    strategy, workload = strategy_of(strategy), workload or Workload()
    return _read_on(strategy, workload, simulate(settings_for(strategy, workload), [Start("A")]), "A")


def sweep(strategy: str | Strategy, workload: Workload | None = None, accident: str = "crash") -> tuple[Outcome, ...]:
    """The accident after every event of the undisturbed run, each carried on until all is read.

    Parameters
    ----------
    strategy : str or Strategy
        A name in `kafkalearn.commits.STRATEGIES`, or one of your own.
    workload : Workload, optional
        What there is to read.
    accident : str
        A name in `ACCIDENTS`.

    Returns
    -------
    tuple of Outcome
        In the order of the undisturbed run; each with its trace, to be played.

    Examples
    --------
    >>> short = Workload(record_count=2, max_poll_records=2)
    >>> [(type(each.event).__name__, each.lost, each.doubled) for each in sweep("each batch", short)]
    [('Start', (), ()), ('Poll', (), ()), ('Process', (), (0,)), ('Process', (), (0, 1)), ('CommitSync', (), ())]
    >>> [each.lost for each in sweep("before the batch", short)]
    [(), (), (0, 1), (1,), ()]
    """
    strategy, workload = strategy_of(strategy), workload or Workload()
    one_of("accident", accident, ACCIDENTS)
    whole = undisturbed(strategy, workload)
    points = range(1, len(whole))
    if len(points) > MOST_POINTS:
        raise KafkaLearnError(
            f"the run has {len(points):,} events, and a sweep goes through one of at most {MOST_POINTS:,}, as it plays "
            "the run again for each of them; take fewer records"
        )
    if accident == "rebalance":  # a member learns of it in poll
        points = [at for at in points if at + 1 == len(whole) or isinstance(whole[at + 1].event, Poll)]
    return tuple(_outcome(strategy, workload, whole, at, accident) for at in points)


def _outcome(strategy: Strategy, workload: Workload, whole: Run, at: int, accident: str) -> Outcome:
    before = whole[: at + 1]
    last_event = before[-1].event
    assert last_event is not None, "an accident comes after an event"
    events = _accident(strategy, before[-1].state, accident)
    trace = extend(step, settings_for(strategy, workload), before, events)
    trace = _read_on(strategy, workload, trace, "B")
    if accident == "pause":
        trace = _read_on(strategy, workload, trace, "A")
    last = trace[-1].state
    return Outcome(strategy.name, accident, at, last_event, lost(last), doubled(last), trace)


def _accident(strategy: Strategy, pipeline: Pipeline, accident: str) -> list[CommitEvent]:
    """The events of an accident; an application that commits at the end does so first, if it can."""
    consumer = pipeline.running("A")
    has_news = strategy.at_the_end and consumer.done > (pipeline.committed or 0)
    last_commit = [CommitSync("A", consumer.done)] if has_news else []
    if accident == "crash":
        return [Crash("A"), Start("B")]
    if accident == "close":
        return [*last_commit, Close("A"), Start("B")]
    if accident == "rebalance":
        return [*last_commit, Rebalance("B")]
    return [Start("B")]


def _read_on(strategy: Strategy, workload: Workload, trace: Run, by: str) -> Run:
    """The trace carried on until that consumer has nothing more to do."""
    settings = settings_for(strategy, workload)
    for _ in range(MOST_EVENTS):
        event = next_event(strategy, workload, trace[-1].state, by)
        if event is None:
            return trace
        trace = extend(step, settings, trace, [event])
    raise KafkaLearnError(f"the run does not end within {MOST_EVENTS} events; take fewer records")


def shortest(outcomes: Iterable[Outcome], broken: str) -> Outcome | None:
    """The earliest accident that has lost (or doubled) a record; None: none has.

    >>> shortest(sweep("each batch"), "doubled").after
    3
    >>> shortest(sweep("each batch"), "lost") is None
    True
    """
    one_of("result", broken, ("lost", "doubled"))
    return next((each for each in outcomes if getattr(each, broken)), None)


def rows(outcomes: Iterable[Outcome]) -> list[dict[str, object]]:
    """A sweep as a table: one row for each accident, for pandas or a terminal.

    >>> rows(sweep("each batch", Workload(record_count=2, max_poll_records=2)))[2]
    {'after': 'Process 0', 'committed': 0, 'lost': '', 'doubled': '0'}
    """
    return [
        {
            "after": _name(each),
            "committed": each.trace[each.after].state.committed,
            "lost": ", ".join(map(str, each.lost)),
            "doubled": ", ".join(map(str, each.doubled)),
        }
        for each in outcomes
    ]


def _name(outcome: Outcome) -> str:
    """The event before the accident, with the first offset of what it led to."""
    effect: Any = outcome.trace[outcome.after].state.effects[-1]  # the others have one offset
    offsets = effect.offsets[:1] if isinstance(effect, Polled) else [effect.offset]
    return " ".join([type(outcome.event).__name__, *map(str, offsets)])


def summary(outcomes: Iterable[Outcome]) -> dict[str, object]:
    """A sweep as one row: how many accidents, how many of them lose or double, and how much at worst.

    >>> summary(sweep("each batch"))
    {'strategy': 'each batch', 'accident': 'crash', 'points': 16, 'lose': 0, 'lost at worst': 0,
     'double': 9, 'doubled at worst': 3}
    """
    outcomes = tuple(outcomes)
    if not outcomes:
        raise KafkaLearnError("a summary needs at least one outcome, got none; give it what sweep gives")
    return {
        "strategy": outcomes[0].strategy,
        "accident": outcomes[0].accident,
        "points": len(outcomes),
        "lose": sum(bool(each.lost) for each in outcomes),
        "lost at worst": max(len(each.lost) for each in outcomes),
        "double": sum(bool(each.doubled) for each in outcomes),
        "doubled at worst": max(len(each.doubled) for each in outcomes),
    }


def at_worst(outcomes: Iterable[Outcome]) -> str:
    """What the worst accident of a sweep costs, in words: how many records are lost, how many come twice.

    >>> at_worst(sweep("auto, other threads")), at_worst(sweep("idempotent sink"))
    ('3 lost, 6 twice', 'none')
    """
    row = summary(outcomes)
    costs = ((row["lost at worst"], "lost"), (row["doubled at worst"], "twice"))
    return ", ".join(f"{count} {word}" for count, word in costs if count) or "none"


def by_record(outcomes: Iterable[Outcome]) -> dict[str, dict[str, str]]:
    """What a sweep does to each record, by the event before the accident, and what was committed then.

    >>> by_record(sweep("each batch", Workload(record_count=2, max_poll_records=2)))["3: Process 0, committed 0"]
    {'record 0': 'twice', 'record 1': 'once'}
    """
    return {
        f"{each.after}: {row['after']}, committed {row['committed']}": {
            f"record {offset}": "lost" if offset in each.lost else "twice" if offset in each.doubled else "once"
            for offset in range(each.trace[0].state.log_end)
        }
        for each in outcomes
        for row in rows([each])
    }


# What was observed of a consumer, replayed with any strategy: the simulator's side of `kafkalearn.spark.delivery`.

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
        _go_on(settings, trace, TimePassed(at_ms - trace[-1].state.now_ms), event)
        wanted = commit_wanted(strategy, trace[-1].state, trace[-1].state.running("A"))
        if wanted is not None:
            _go_on(settings, trace, CommitAsync("A", wanted))
            heappush(agenda, (at_ms + commit_ms, order - ARRIVES_FIRST, Answered("A")))
    commit_count = len(trace[-1].state.written)
    _go_on(settings, trace, TimePassed(crashed_ms - trace[-1].state.now_ms), Crash("A"), Start("B"), Poll("B"))
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
