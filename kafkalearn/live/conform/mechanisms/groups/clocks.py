"""The broker's clock beside ours: of a timer and a request that come at one moment, only it knows which was first.

What this tolerance could hide, a timer that is wrong by little, `timers` finds: there no request meets a timer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

Seen = Mapping[str, Any]

NEAR_MS = 100  # by so much a timer may be late, or a request on its way
OF_THE_BROKER = ("step", "sent_ms", "seen_ms", "drawn")  # what a step is, when it was, and the ids that were drawn
SHIFTS_MS = tuple((sent, seen) for sent in (0, NEAR_MS, -NEAR_MS) for seen in (0, NEAR_MS, -NEAR_MS))


class HasTime(Protocol):
    """The state of a group."""

    now_ms: int


class Script(Protocol):
    """A group in the simulator that plays what was seen of a broker."""

    group: HasTime

    def copy(self) -> Script:
        """One that goes on from here by itself."""

    def next_deadline_ms(self) -> int | None:
        """When the next timer is due; None if none is running."""


One = TypeVar("One", bound=Script)


def play_near(script: One, seen: Seen, play: Callable[[One, Seen], dict[str, Any]]) -> tuple[One, dict[str, Any]]:
    """A step played at the time of the broker; if a timer is due about then, on the side where the broker had it.

    Returns
    -------
    tuple
        The script after the step, and what the step led to. Where no order of timer, request and look agrees with the
        broker, it is what came at the time that was measured.
    """
    first: tuple[One, dict[str, Any]] | None = None
    for sent_ms, seen_ms in SHIFTS_MS:
        trial = script.copy()
        shifted = {**seen, "sent_ms": seen["sent_ms"] + sent_ms, "seen_ms": seen["seen_ms"] + seen_ms}
        found = {**play(trial, shifted), **{name: seen[name] for name in OF_THE_BROKER if name in seen}}
        if found == seen:
            return trial, found
        first = first or (trial, found)
        if not _is_near(script, trial, seen):
            break
    assert first is not None
    return first


def waits(script: Script, at_ms: int) -> Iterator[int]:
    """How long it is to each timer that is due until a time, and then to that time: so each acts at its own moment.

    Between two of them the caller lets the time pass that it was given.
    """
    while (due_ms := script.next_deadline_ms()) is not None and due_ms <= at_ms:
        yield due_ms - script.group.now_ms
    yield max(0, at_ms - script.group.now_ms)


def _is_near(before: Script, after: Script, seen: Seen) -> bool:
    """Whether a timer is due about the time of a step."""
    due = [each for each in (before.next_deadline_ms(), after.next_deadline_ms()) if each is not None]
    return any(seen["sent_ms"] - NEAR_MS <= each <= seen["seen_ms"] + NEAR_MS for each in due)
