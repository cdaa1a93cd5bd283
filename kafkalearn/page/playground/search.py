"""What an exhaustive search would do with a partition, from where a line of moves ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from kafkalearn.errors import KafkaLearnError
from kafkalearn.exercises.kit.game import BETWEEN, moves_of
from kafkalearn.explore import explore, whole
from kafkalearn.page.playground.fields import choice_field, text_field
from kafkalearn.page.playground.partitions import MOVES, moves_in, played_run, settings_of
from kafkalearn.phrases import counted
from kafkalearn.replication import (
    ACKNOWLEDGED_SURVIVE,
    PROMISES,
    AlterPartitionAnswered,
    BrokerCrashed,
    BrokerRestarted,
    Fetch,
    PowerLost,
    Produce,
    SessionExpired,
    Settings,
    broken,
    step,
)
from kafkalearn.replication.events import ReplicationEvent
from kafkalearn.replication.search.find import alphabet, model, renamings
from kafkalearn.replication.state import Partition

SEARCHED = (Fetch, BrokerCrashed, PowerLost, SessionExpired, BrokerRestarted, AlterPartitionAnswered())
"""What the search lets happen, beside one batch of records at most."""

ONE_BATCH: Mapping[type, int] = MappingProxyType({Produce: 1})

BUDGET = 40_000  # states: some seconds in a browser


def search(fields: Mapping[str, object]) -> dict[str, object]:
    """The shortest way to break a promise from where a line of moves ends, as an exhaustive search finds it.

    Parameters
    ----------
    fields : mapping
        As for `play_moves`; ``acks``: of the batch that the search may send, 1 or all; ``promise``: a name in
        `PROMISES`.

    Returns
    -------
    dict
        ``text``, and ``line``: the whole run as moves; empty if none was found, or none in which the controller
        elects by the order of the replicas.

    Examples
    --------
    >>> search({"acks": "1"})["line"]
    'Produce(acks=1) > BrokerCrashed(1) > SessionExpired(1)'
    >>> search({"acks": "1", "line": "Produce(acks=1) > BrokerCrashed(1)"})["text"]
    '1 move more: SessionExpired(1)'
    >>> search({"acks": "1", "line": "Produce(acks=1) > BrokerCrashed(2)"})["text"]
    '3 moves more: BrokerCrashed(1) > SessionExpired(1) > SessionExpired(2)'
    """
    settings, line = settings_of(fields), moves_in(text_field(fields, "line"))
    promise = choice_field(fields, "promise", (ACKNOWLEDGED_SURVIVE, *PROMISES))
    acks = choice_field(fields, "acks", ("1", "all"))
    begin = played_run(settings, line)[-1].state
    may_happen = alphabet(settings, Produce(acks=1 if acks == "1" else acks), *SEARCHED)
    found = explore(model(settings, (promise,)), begin, may_happen, budget=BUDGET, at_most=ONE_BATCH)
    if found.trace is None:
        return {"text": f"{promise}: {found}", "line": ""}
    events = [frame.event for frame in found.trace[1:]]
    if not events:
        return {
            "text": f"The step on show breaks it already: {promise}. Step back, and search on from there.",
            "line": "",
        }
    more = in_the_order(settings, begin, events, promise) or _found_in_the_order(settings, begin, may_happen, promise)
    if more is None:
        words = BETWEEN.join(moves_of(*events))
        text = (
            f"The shortest, {counted(len(events), 'move')}, needs another leader than the order 1, 2, 3 gives: {words}"
        )
        return {"text": text, "line": ""}
    return {"text": f"{counted(len(more), 'move')} more: {BETWEEN.join(more)}", "line": BETWEEN.join([*line, *more])}


def in_the_order(
    settings: Settings, begin: Partition, events: Sequence[ReplicationEvent], promise: str
) -> list[str] | None:
    """A run that a search has found, in moves: with the leaders that the assignment's order gives.

    The search lets the controller elect any candidate, and brokers are alike to it; here they have names. None: under
    no other names does the run break the promise.
    """
    names = ({each: each for each in settings.broker_ids}, *renamings(settings.broker_ids))
    for renamed in names:
        before, state = None, begin
        run = [_without_successor(event, renamed) for event in events]
        try:
            for event in run:
                before, state = state, step(settings, state, event)
        except KafkaLearnError:
            continue
        if broken(settings, state, before, (promise,)):
            return [_words_of(event) for event in run]
    return None


def _found_in_the_order(
    settings: Settings, begin: Partition, may_happen: Sequence[ReplicationEvent], promise: str
) -> list[str] | None:
    """The same by a search that lets the controller elect by the order alone, and so meets more states."""
    by_the_order = [event for event in may_happen if getattr(event, "successor", None) is None]
    in_order = whole(settings, step, {promise: PROMISES[promise]})
    found = explore(in_order, begin, by_the_order, budget=BUDGET, at_most=ONE_BATCH)
    return found.trace and [_words_of(frame.event) for frame in found.trace[1:]]


def _words_of(event: ReplicationEvent) -> str:
    return next(words for words, move in MOVES.items() if move == event)


def _without_successor(event: ReplicationEvent, renamed: Mapping[int, int]) -> ReplicationEvent:
    changed = {"broker_id": renamed[event.broker_id]} if getattr(event, "broker_id", None) else {}
    return replace(event, **changed, **({"successor": None} if hasattr(event, "successor") else {}))
