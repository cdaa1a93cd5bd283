"""A mechanism that needs no broker, a cluster that does as it is told, and a difference that was put in on purpose."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies

from conformance.mechanism import Answer, Case, Mechanism
from kafkalearn.live.errors import NoAnswer

LIMIT = 10


def summing(ask: Callable, **words: object) -> Mechanism:
    """Lists of numbers; the simulator says their sum."""
    return Mechanism(
        name="sums",
        rules=("lag",),
        cases=lambda release: strategies.lists(strategies.integers(0, 100), max_size=12),
        ask=ask,
        say=lambda release, case, seen: sum(case),
        **words,
    )


def right(cluster: object, case: Case, new_name: Callable[[str], str]) -> Answer:
    """The sum."""
    return sum(case)


def wrong_above_the_limit(cluster: object, case: Case, new_name: Callable[[str], str]) -> Answer:
    """The sum, but one less as soon as it is above the limit: [11] is the shortest case that shows it."""
    return sum(case) - (sum(case) > LIMIT)


class Clusters:
    """Starts clusters that are only counted; some of them are dead from their first question on."""

    def __init__(self, dead: int = 0) -> None:
        self.started = self.closed = 0
        self.dead = dead

    def __call__(self, release: str, **settings: object) -> Clusters:
        return self

    def start(self) -> Clusters:
        self.started += 1
        return self

    def close(self) -> None:
        self.closed += 1

    def refuse_if_dead(self) -> None:
        if self.started <= self.dead:
            raise NoAnswer("the broker is dead")
