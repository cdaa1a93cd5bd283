"""Virtual time: a queue of calls that are still to be made, in an order that is the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeAlias

from kafkalearn.errors import KafkaLearnError

SCENARIO, NETWORK, HEARTBEAT_THREAD, POLL_THREAD = range(4)
"""Who comes first at one moment: the scenario, then the coordinator, then each thread of the consumers."""

MOST_CALLS = 2_000_000  # about half a minute of real time in a group of a few members
SMALL_GROUP = 50  # members; in a larger group each call costs more, as the coordinator looks at all of them

Callback: TypeAlias = Callable[..., None]


def most_calls(member_count: int) -> int:
    """How many calls a scenario with so many consumers may take.

    >>> most_calls(3), most_calls(200)
    (2000000, 400000)
    """
    return MOST_CALLS // (1 + member_count // SMALL_GROUP)


class Clock:
    """The present moment, and a queue of calls.

    >>> clock = Clock()
    >>> clock.at(30, POLL_THREAD, print, "the poll thread")
    >>> clock.at(30, NETWORK, print, "the network")
    >>> clock.run(100, after_each_ms=lambda: print(f"that was at {clock.now_ms} ms"))
    the network
    the poll thread
    that was at 30 ms
    """

    def __init__(self) -> None:
        """Time begins at 0; `step_count` says how many calls have been asked for."""
        self.now_ms = 0
        self._queue: list[tuple[int, int, int, Callback, tuple[object, ...]]] = []
        self.step_count = 0

    def at(self, when_ms: int, rank: int, call: Callback, *args: object) -> None:
        """Make a call at a moment, not before now; of several at one moment, the lower rank comes first."""
        self.step_count += 1
        heappush(self._queue, (max(when_ms, self.now_ms), rank, self.step_count, call, args))

    def run(self, end_ms: int, after_each_ms: Callback, member_count: int = 1) -> None:
        """Make all calls up to the end, and `after_each_ms` when all calls of one moment are made.

        Raises
        ------
        KafkaLearnError
            If there are more calls than anybody waits for: `MOST_CALLS`, in a large group fewer.
        """
        most = most_calls(member_count)
        while self._queue and self._queue[0][0] <= end_ms:
            if self.step_count > most:
                raise KafkaLearnError(
                    f"after {self.now_ms / 1000:g} s of {end_ms / 1000:g} s the scenario has taken {most:,} "
                    "steps: let it end earlier, make heartbeats rarer, or take fewer members"
                )
            when_ms, _, _, call, args = heappop(self._queue)
            self.now_ms = when_ms
            call(*args)
            if not self._queue or self._queue[0][0] > when_ms:
                after_each_ms()
        self.now_ms = end_ms
