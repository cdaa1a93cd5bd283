"""The sizes of timing wheels, which stay the same while they turn."""

from __future__ import annotations

from dataclasses import dataclass

from kafkalearn.arguments import whole_number

TICK_MS = 1
WHEEL_SIZE = 20
"""The brokers' own: 1 ms and 20 buckets, so the levels cover 20 ms, 400 ms, 8 s, 160 s, 53 min and so on."""


@dataclass(frozen=True, slots=True)
class Settings:
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

    tick_ms: int = TICK_MS
    wheel_size: int = WHEEL_SIZE
    start_ms: int = 0

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        whole_number("tick_ms", self.tick_ms, at_least=1)
        whole_number("wheel_size", self.wheel_size, at_least=2)
        whole_number("start_ms", self.start_ms, at_least=0)

    def tick_of(self, level: int) -> int:
        """What one bucket of a wheel covers, in ms; level 1 is the finest wheel."""
        return self.tick_ms * self.wheel_size ** (level - 1)

    def interval_of(self, level: int) -> int:
        """What a whole wheel covers, in ms: the tick of the next, coarser one."""
        return self.tick_of(level + 1)
