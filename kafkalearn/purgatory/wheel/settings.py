"""The sizes of timing wheels, which stay the same while they turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from kafkalearn.arguments import LARGEST_INT
from kafkalearn.fields import Checked, Millis, Whole

TICK_MS = 1
WHEEL_SIZE = 20
"""The brokers' own: 1 ms and 20 buckets, so the levels cover 20 ms, 400 ms, 8 s, 160 s, 53 min and so on."""


@dataclass(frozen=True, slots=True)
class Settings(Checked):
    """The tick of the finest wheel, how many buckets each wheel has, and the time at which the clock starts.

    Raises
    ------
    KafkaLearnError
        If there is no such wheel: a tick below 1 ms, fewer than two buckets, a time before 0.

    Examples
    --------
    >>> Settings().interval_of(2), Settings(tick_ms=10).tick_of(2)
    (400, 200)
    """

    tick_ms: Annotated[int, Whole(1)] = TICK_MS
    wheel_size: Annotated[int, Whole(2, LARGEST_INT)] = WHEEL_SIZE
    start_ms: Millis = 0

    def tick_of(self, level: int) -> int:
        """What one bucket of a wheel covers, in ms; level 1 is the finest wheel."""
        return self.tick_ms * self.wheel_size ** (level - 1)

    def interval_of(self, level: int) -> int:
        """What a whole wheel covers, in ms: the tick of the next, coarser one."""
        return self.tick_of(level + 1)
