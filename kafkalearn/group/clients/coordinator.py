"""A coordinator in the world of a scenario: a pure simulator, led through virtual time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kafkalearn.group.classic.state import Group as ClassicGroup
from kafkalearn.group.consumer.state import Group as ConsumerGroup
from kafkalearn.group.world.clock import NETWORK, Clock

Group = TypeVar("Group", ClassicGroup, ConsumerGroup)
Event = TypeVar("Event")


@dataclass
class Coordinator(Generic[Group, Event]):
    """Keeps the state of the group; every event finds it at the present moment, and its timers fire in time.

    Parameters
    ----------
    clock : Clock
        The time of the scenario.
    group : Group
        The state, at first that of the start.
    step : callable
        ``step(group, event)`` of the simulator.
    next_deadline_ms : callable
        When the next timer of a group is due.
    time_passed : callable
        Makes the event of a time that passes.
    after_step : callable
        ``after_step(before, event)``, called after each step.
    """

    clock: Clock
    group: Group
    step: Callable[[Group, Event], Group]
    next_deadline_ms: Callable[[Group], int | None]
    time_passed: Callable[[int], Event]
    after_step: Callable[[Group, Event], None]
    _due_ms: int | None = None  # when the next timer is due; at the start none is running
    _timers: set[int] = field(default_factory=set)

    def handle(self, event: Event) -> None:
        """Have a request handled at the present moment."""
        self._pass_time()
        self.take(event)

    def take(self, event: Event) -> None:
        """The next step, at the moment that the group is at."""
        before, self.group = self.group, self.step(self.group, event)
        self.after_step(before, event)
        self._due_ms = due_ms = self.next_deadline_ms(self.group)
        if due_ms is not None and due_ms not in self._timers:
            self._timers.add(due_ms)
            self.clock.at(due_ms, NETWORK, self._fire, due_ms)

    def _fire(self, due_ms: int) -> None:
        self._timers.discard(due_ms)
        self._pass_time()

    def _pass_time(self) -> None:
        now_ms = self.clock.now_ms
        if now_ms > self.group.now_ms or (self._due_ms is not None and self._due_ms <= now_ms):
            self.take(self.time_passed(now_ms - self.group.now_ms))
