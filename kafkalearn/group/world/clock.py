"""Virtual time: a queue of what is still to happen, in an order that is the same in every run."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heappop, heappush

from kafkalearn.errors import KafkaLearnError

SCENARIO, NETWORK, HEARTBEAT_THREAD, POLL_THREAD = range(4)
"""Who comes first at one moment: the story, then the coordinator, then each thread of the consumers."""

MOST_CALLS = 2_000_000  # half a minute of real time


class Clock:
    """The present moment, and a queue of calls."""

    def __init__(self) -> None:
        """Time begins at 0."""
        self.now_ms = 0
        self._queue: list[tuple[int, int, int, Callable, tuple]] = []
        self._count = 0

    def at(self, when_ms: int, rank: int, call: Callable, *args: object) -> None:
        """Call something at a moment, not before now."""
        self._count += 1
        heappush(self._queue, (max(when_ms, self.now_ms), rank, self._count, call, args))

    def run(self, end_ms: int, after_each_ms: Callable[[], None]) -> None:
        """Make all calls up to the end; tell when all of one moment are made."""
        while self._queue and self._queue[0][0] <= end_ms:
            if self._count > MOST_CALLS:
                raise KafkaLearnError(
                    f"after {self.now_ms / 1000:g} s of {end_ms / 1000:g} s the scenario has taken {MOST_CALLS} steps: "
                    "let it end earlier, or make heartbeats rarer"
                )
            when_ms, _, _, call, args = heappop(self._queue)
            self.now_ms = when_ms
            call(*args)
            if not self._queue or self._queue[0][0] > when_ms:
                after_each_ms()
        self.now_ms = end_ms
