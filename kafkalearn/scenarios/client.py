"""What the clients of both protocols work with: a coordinator that is led through virtual time, and metadata."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kafkalearn.groups.classic.model import Group as ClassicGroup
from kafkalearn.groups.consumer.state import Group as ConsumerGroup
from kafkalearn.groups.mixed import Group as MixedGroup
from kafkalearn.scenarios.consumers import NETWORK, Clock, Consumer
from kafkalearn.scenarios.engine import World

Group = TypeVar("Group", ClassicGroup, ConsumerGroup, MixedGroup)
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


class Metadata:
    """What a process knows of the topics: as they were when it asked last.

    It asks again when that is older than ``metadata.max.age.ms``, or when something is missing.

    References
    ----------
    Apache Kafka, ``ConsumerMetadata``, ``ConsumerCoordinator.maybeUpdateSubscriptionMetadata``.
    """

    def __init__(self, world: World, consumer: Consumer) -> None:
        """As the topics are when the process starts."""
        self._world = world
        self._settings = consumer.settings
        self.topics: dict[str, int] = {}
        self._asked_ms = 0
        self.refresh()

    def refresh(self) -> None:
        """Ask the cluster now."""
        self.topics, self._asked_ms = dict(self._world.topics), self._world.clock.now_ms

    def due_ms(self, is_asked_for: bool) -> int:
        """When the consumer asks next: when its copy is too old, or soon because something is missing.

        A topic that is subscribed to and not there, or a partition that can no longer be fetched, makes it ask again
        after ``retry.backoff.ms``. If the copy is renewed for another reason before, that does not matter: it asks
        once more.
        """
        now_ms, age_ms = self._world.clock.now_ms, max(self._settings.metadata_max_age_ms, 1)
        too_old_ms = self._asked_ms + -(-(now_ms - self._asked_ms) // age_ms) * age_ms
        return min(too_old_ms, now_ms + self._settings.retry_backoff_ms) if is_asked_for else too_old_ms
