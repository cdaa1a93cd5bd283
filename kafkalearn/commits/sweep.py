"""An accident at every point of a run: what is lost and what is doubled, by strategy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeAlias

from kafkalearn.arguments import one_of
from kafkalearn.commits.effects import Polled
from kafkalearn.commits.events import Close, CommitEvent, CommitSync, Crash, Poll, Rebalance, Start
from kafkalearn.commits.lost_and_doubled import doubled, lost
from kafkalearn.commits.simulator import simulate, step
from kafkalearn.commits.state import Pipeline
from kafkalearn.commits.strategies import Strategy, Workload, next_event, settings_for, strategy_of
from kafkalearn.errors import KafkaLearnError
from kafkalearn.trace import Trace, extend

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
