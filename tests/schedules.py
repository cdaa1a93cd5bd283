"""Schedules that are drawn at random: of their events those that make sense where they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from kafkalearn.base.errors import IllegalEvent
from kafkalearn.base.trace import Trace, run

Settings, State, Event = TypeVar("Settings"), TypeVar("State"), TypeVar("Event")


def sensible_steps(
    step: Callable[[Settings, State, Event], State], settings: Settings, state: State, events: Iterable[Event]
) -> Iterator[tuple[State, Event, State]]:
    """Each event that makes sense, between the state before it and the one after it."""
    for event in events:
        try:
            after = step(settings, state, event)
        except IllegalEvent:
            continue
        yield state, event, after
        state = after


def sensible_run(
    step: Callable[[Settings, State, Event], State], settings: Settings, state: State, events: Iterable[Event]
) -> Trace[State, Event]:
    """The run of the events that make sense."""
    return run(step, settings, state, [event for _, event, _ in sensible_steps(step, settings, state, events)])
